/*
 * An event in the terms of its PMU: "cpu/event=0x3c,umask=0x1,inv/", "cpu/mem-loads,ldlat=30/".
 *
 * A term is the name of a format, with a value or alone for 1; the name of an event in sysfs, which
 * stands for its terms; config, config1, config2 or config3 with a value for all bits; a raw number
 * for config ("r1a8"); or alone, on a core PMU, an event of all machines ("cpu_core/cycles/").
 * The user's terms replace those of an event in sysfs. A term of that with value "?" is the user's
 * to give.
 */
#ifndef PROF_PERF_PMU_EVENT_H
#define PROF_PERF_PMU_EVENT_H

#include "base/error.h"
#include "perf/event_terms.h"
#include "perf/pmu.h"

#include <stdint.h>

/* The members of perf_event_attr. */
struct pmu_event {
	uint32_t type;
	uint64_t config[4]; /* config to config3 */
};

/* is_common: which terms are not the PMU's to know, such as period. */
MUST_CHECK struct error *pmu_event_configure(const struct pmu *pmu, const struct event_terms *terms,
					     bool (*is_common)(const char *term),
					     struct pmu_event *ret);

/* "r1a8": a raw number, as it is in the manual of a processor. */
MUST_CHECK bool pmu_event_parse_raw(const char *text, uint64_t *ret);

/* The config of an event of all machines that only this PMU is to count. */
uint64_t pmu_event_generic_config(const struct pmu *pmu, uint64_t config);

#endif
