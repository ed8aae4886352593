/* Fuzzes ELF files, which are also their own debug files. Every symbol is
 * looked up at its start and at its end. */
#include "replay.h"
#include "symbol/symtab.h"

#include <assert.h>

static void find_around(const struct symtab *symtab, uint64_t vaddr, struct arena *arena)
{
	struct symbol symbol;

	if (!symtab_find(symtab, vaddr, arena, &symbol))
		return;
	assert(vaddr - symbol.vaddr < symbol.size_bytes);
	assert(symbol.name[0]);
	note_text("symbols", symbol.name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(elf_file_cleanup) struct elf_file *image = NULL;
	CLEANUP(symtab_cleanup) struct symtab *symtab = NULL;
	struct error *err = elf_file_from_memory(data, size, "fuzz", &image);
	struct arena arena = {0};

	if (err) {
		error_free(err);
		return 0;
	}
	symtab = symtab_new(image, image);
	/* Small files have small addresses. Malicious files may have any. */
	for (uint64_t vaddr = 0; vaddr < 0x10000; vaddr += 8)
		find_around(symtab, vaddr, &arena);
	find_around(symtab, UINT64_MAX, &arena);
	arena_deinit(&arena);
	return 0;
}
