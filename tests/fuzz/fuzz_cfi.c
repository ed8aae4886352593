/*
 * Fuzzes call frame information of ELF files. Every entry is looked up at its
 * start, at its end, and at some addresses around them.
 */
#include "unwind/cfi.h"
#include "unwind/cfi_entry.h"
#include "unwind/rules.h"

#include "base/error.h"
#include "noted.h"

#include <stdlib.h>

enum { ENTRIES_MAX = 256, STEPS_MAX = 10000 };

static void look_up(struct cfi *cfi, uint64_t vaddr)
{
	unsigned steps = STEPS_MAX;
	struct cfi_rule rule;

	if (!cfi_find(cfi, vaddr, &steps, &rule))
		return;
	if (vaddr < rule.start || vaddr >= rule.end)
		abort();
	note_rule(&arch_x86_64, &rule);
}

static void look_up_entries(struct cfi *cfi, struct elf_file *image, const char *name,
			    bool is_eh_frame)
{
	struct elf_section found = elf_file_section(image, name);
	struct cfi_section section = {.data = found.data,
				      .vaddr = found.vaddr,
				      .is_eh_frame = is_eh_frame,
				      .word_bytes = 8};
	struct cfi_fde fde;
	uint64_t offset = 0;

	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		if (cfi_fde_read(&section, offset, &fde)) {
			look_up(cfi, fde.start - 1);
			look_up(cfi, fde.start);
			look_up(cfi, fde.start + (fde.end - fde.start) / 2);
			look_up(cfi, fde.end - 1);
		}
		if (!cfi_entry_next(&section, &offset))
			return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(elf_file_cleanup) struct elf_file *image = NULL;
	CLEANUP(error_cleanup)
	struct error *err = elf_file_from_memory(data, size, "fuzz", &image);

	if (err)
		return 0;
	CLEANUP(cfi_cleanup) struct cfi *cfi = cfi_new(image, &arch_x86_64);

	cfi_index(cfi, NULL);
	look_up(cfi, 0);
	look_up(cfi, UINT64_MAX);
	look_up_entries(cfi, image, ".eh_frame", true);
	look_up_entries(cfi, image, ".debug_frame", false);
	return 0;
}
