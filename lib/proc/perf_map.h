/*
 * The generations of a process's perf-PID.map, while the process writes it. Its lines have no
 * times, so a later line for an address says nothing about when the code there was replaced.
 *
 * The map is read on at most every 10 ms, when a sample of JIT code is later than the last look.
 * Where a new line covers code of an older line that has samples, a new generation begins, at the
 * time when the map was written last. The names of a generation are those of the lines before the
 * next one began.
 *
 * It is the process's file: read with pread(2) on a helper thread that may be left behind
 * (base/timed_call.h), within the bounds of code_index.h and of GENERATIONS_MAX.
 */
#ifndef PROF_PROC_PERF_MAP_H
#define PROF_PROC_PERF_MAP_H

#include "base/cleanup.h"
#include "base/timed_call.h"
#include "proc/code_index.h"

struct perf_map;

/* Later ones are one. */
enum { PERF_MAP_GENERATIONS_MAX = 1000 };

/* Takes fd. place: as in struct timed_call. */
struct perf_map *perf_map_new(int fd, struct timed_caller *caller, struct code_budget *budget,
			      uint64_t place);
void perf_map_free(struct perf_map *map);
DEFINE_CLEANUP(perf_map, perf_map_free)

/*
 * Opens the map again, also if the process has removed it meanwhile. Returns a descriptor with a
 * position of its own, or -1 with errno.
 */
int perf_map_open_again(const struct perf_map *map);

/*
 * The generation of a sample of that time, which is of this pc; generations count from 0. *start,
 * *end: the addresses of the function there; empty if it is not known.
 */
uint32_t perf_map_generation(struct perf_map *map, uint64_t pc, uint64_t time_ns, uint64_t *start,
			     uint64_t *end);
/* How much of the map was written before the next generation began; UINT64_MAX: it is the last. */
uint64_t perf_map_bytes(const struct perf_map *map, uint32_t generation);

#endif
