/* Fuzzes Go executables. Addresses all over the code are resolved. */
#include "symbol/gopclntab.h"

#include <assert.h>

static void resolve(const struct gopclntab *table, uint64_t vaddr, struct arena *arena)
{
	struct inline_chain chain = gopclntab_resolve(table, vaddr, arena);
	struct symbol symbol;

	assert(gopclntab_find(table, vaddr, arena, &symbol) == (chain.count > 0));
	for (unsigned i = 0; i < chain.count; i++)
		assert(chain.calls[i].name && chain.calls[i].name[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(elf_file_cleanup) struct elf_file *image = NULL;
	CLEANUP(gopclntab_cleanup) struct gopclntab *table = NULL;
	struct error *err = elf_file_from_memory(data, size, "fuzz", &image);
	struct arena arena = {0};

	if (err) {
		error_free(err);
		return 0;
	}
	table = gopclntab_new(image);
	/* The code of the corpus is at 0x401000. */
	for (uint64_t vaddr = 0x401000; table && vaddr < 0x401040; vaddr += 4)
		resolve(table, vaddr, &arena);
	if (table)
		resolve(table, UINT64_MAX, &arena);
	arena_deinit(&arena);
	return 0;
}
