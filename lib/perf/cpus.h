/*
 * Lists of CPUs, as the kernel and people write them: "0-3,8,10-11".
 */
#ifndef PROF_PERF_CPUS_H
#define PROF_PERF_CPUS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The list in ascending order without doubles; false (and nothing written) when it is malformed,
 * empty, or names a CPU beyond 65535. The caller frees *ret. */
MUST_CHECK bool cpus_parse(const char *list, unsigned **ret, size_t *ret_count);

/* /sys/devices/system/cpu/online. */
MUST_CHECK struct error *cpus_online(unsigned **ret, size_t *ret_count);

#endif
