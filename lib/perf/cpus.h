/*
 * Lists of CPUs, as the kernel and people write them: "0-3,8,10-11".
 */
#ifndef PROF_PERF_CPUS_H
#define PROF_PERF_CPUS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The CPUs in ascending order, each once; the caller frees *ret. False, and *ret untouched, if the
 * list is malformed, empty, or has a CPU above 65535. */
MUST_CHECK bool cpus_parse(const char *list, unsigned **ret, size_t *ret_count);

/* /sys/devices/system/cpu/online; without /sys the CPUs that prof itself may run on. The caller
 * frees *ret. */
MUST_CHECK struct error *cpus_online(unsigned **ret, size_t *ret_count);

/* The wanted CPUs, each once, which must be online; NULL: all that are. The caller frees *ret. */
MUST_CHECK struct error *cpus_choose(const unsigned *wanted, size_t wanted_count, unsigned **ret,
				     size_t *ret_count);

/* The list as text: "0-3,8"; cpus are in ascending order. The caller frees it. */
char *cpus_text(const unsigned *cpus, size_t count);

#endif
