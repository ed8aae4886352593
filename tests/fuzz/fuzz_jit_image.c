/* Fuzzes objects that a JIT compiler has registered. */
#include "proc/jit_image.h"

#include "base/alloc.h"
#include "elf/elf_file.h"
#include "unwind/cfi.h"

#include "replay.h"

#include <assert.h>
#include <string.h>

enum { STEPS = 1 << 12 };

static void check_part(const struct jit_image *image, const struct jit_image_part *part)
{
	assert(part->len && part->offset <= image->len && part->len <= image->len - part->offset);
	assert(part->address + part->len > part->address);
	note_number("address", part->address);
	note_number("length", part->len);
}

/* Its bytes in memory must be those of the object. */
static void check_elf(const struct jit_image *image, struct elf_file *elf)
{
	CLEANUP(cfi_cleanup) struct cfi *cfi = cfi_new(elf, &arch_x86_64);
	struct cfi_rule rule;

	cfi_index(cfi, NULL);
	for (size_t i = 0; i < image->part_count; i++) {
		unsigned steps = STEPS;
		uint64_t vaddr = 0;

		if (!image->parts[i].is_code)
			continue;
		assert(elf_file_offset_to_vaddr(elf, image->parts[i].offset, &vaddr));
		note_number("vaddr", vaddr);
		note_number("has a rule", cfi_find(cfi, image->parts[i].address, &steps, &rule));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(jit_image_deinit) struct jit_image image;
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;

	if (!jit_image_read(data, size, &image))
		return 0;
	for (size_t i = 0; i < image.part_count; i++)
		check_part(&image, &image.parts[i]);
	error_free(elf_file_from_user(image.bytes, image.len, "[jit]", 0, &elf));
	if (elf)
		check_elf(&image, elf);
	return 0;
}
