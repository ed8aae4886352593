/* Fuzzes a perf map that grows while its process is sampled. */
#include "proc/perf_map.h"

#include "base/alloc.h"

#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = {0, 0x10, 0x1000, 0x1010, 0x7f0000001010, UINT64_MAX};
	static struct timed_caller *caller;
	struct code_budget budget = {0};
	CLEANUP(perf_map_cleanup) struct perf_map *map = NULL;
	int fd = memfd_create("map", MFD_CLOEXEC);
	uint64_t start, end;

	if (!caller)
		caller = timed_caller_new();
	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		close_fd(&fd);
		return 0;
	}
	map = perf_map_new(fd, caller, &budget, 0);
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		uint32_t generation = perf_map_generation(map, addresses[i], i, &start, &end);

		assert(generation < PERF_MAP_GENERATIONS_MAX);
		assert(start == end || (addresses[i] >= start && addresses[i] < end));
	}
	return 0;
}
