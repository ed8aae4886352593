/* Fuzzes perf-PID.map. */
#include "symbol/perfmap.h"

#include "base/alloc.h"
#include "base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = {0, 0x10, 0x1000, 0x1010, 0x7f0000001010, UINT64_MAX};
	const char *names[ARRAY_SIZE(addresses)];
	CLEANUP(close_file) FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	struct arena arena = {0};

	if (file)
		perfmap_find(file, UINT64_MAX, addresses, ARRAY_SIZE(addresses), &arena, names);
	arena_deinit(&arena);
	return 0;
}
