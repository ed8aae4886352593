/* Fuzzes /proc/kallsyms. */
#include "symbol/kallsyms.h"

#include "base/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = {0, 0x10, 0x1000, 0xffffffff81000010, UINT64_MAX};
	const char *names[ARRAY_SIZE(addresses)];
	CLEANUP(close_file) FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	struct arena arena = {0};

	if (file)
		error_free(kallsyms_find(file, addresses, ARRAY_SIZE(addresses), &arena, names));
	arena_deinit(&arena);
	return 0;
}
