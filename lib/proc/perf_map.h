/*
 * Tracks the generations of a process's perf-PID.map while the process writes
 * it. The lines of the map have no times, so a later line for an address does
 * not contain when the code there was replaced.
 *
 * The map is read when a sample of JIT code is later than the last read, at
 * most every 10 ms. If a new line overlaps code of an older line that has
 * samples, a new generation starts at the time of the map's last modification.
 * The symbols of a generation are those of the lines before the next one
 * started.
 *
 * The file is untrusted. It is read with pread(2) on a helper thread that may
 * be abandoned (base/timed_call.h), within the limits of code_index.h and
 * PERF_MAP_GENERATIONS_MAX.
 */
#ifndef PROF_PROC_PERF_MAP_H
#define PROF_PROC_PERF_MAP_H

#include "base/cleanup.h"
#include "base/timed_call.h"
#include "proc/code_index.h"

struct perf_map;

/* Later generations are merged into the last one. */
enum { PERF_MAP_GENERATIONS_MAX = 1000 };

/* Takes ownership of fd. `place` is as in struct timed_call. */
struct perf_map *perf_map_new(int fd, struct timed_caller *caller, struct code_budget *budget,
			      uint64_t place);
void perf_map_free(struct perf_map *map);
DEFINE_CLEANUP(perf_map, perf_map_free)

/*
 * Opens the map again, even if the process has removed it. Returns a descriptor
 * with its own file position, or -1 with errno.
 */
int perf_map_open_again(const struct perf_map *map);

/*
 * Returns the generation, counted from 0, of a sample at this pc and time.
 * [*start, *end) are the addresses of the function, empty if unknown.
 */
uint32_t perf_map_generation(struct perf_map *map, uint64_t pc, uint64_t time_ns, uint64_t *start,
			     uint64_t *end);
/*
 * Returns how much of the map was written before the next generation started,
 * or UINT64_MAX for the last.
 */
uint64_t perf_map_bytes(const struct perf_map *map, uint32_t generation);

#endif
