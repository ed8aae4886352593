/*
 * Parses and prints CPU lists in the format of the kernel: "0-3,8,10-11".
 */
#ifndef PROF_PERF_CPUS_H
#define PROF_PERF_CPUS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns each CPU once, in ascending order; the caller frees *ret. Returns
 * false and leaves *ret untouched if the list is malformed, empty, or has a CPU
 * above 65535. */
MUST_CHECK bool cpus_parse(const char *list, unsigned **ret, size_t *ret_count);

/* Reads /sys/devices/system/cpu/online. Without /sys, returns the CPUs that
 * prof itself may run on. The caller frees *ret. */
MUST_CHECK struct error *cpus_online(unsigned **ret, size_t *ret_count);

/* Returns the wanted CPUs, each once, or all online CPUs if `wanted` is NULL.
 * Fails if a wanted CPU is offline. The caller frees *ret. */
MUST_CHECK struct error *cpus_choose(const unsigned *wanted, size_t wanted_count, unsigned **ret,
				     size_t *ret_count);

/* Returns the size of an array that is indexed by CPU. */
size_t cpus_end(const unsigned *cpus, size_t count);

/* Returns the list as text ("0-3,8"). cpus must be in ascending order. The
 * caller frees it. */
char *cpus_text(const unsigned *cpus, size_t count);

#endif
