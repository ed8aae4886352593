/*
 * Configures an event in the terms of its PMU: "cpu/event=0x3c,umask=0x1,inv/",
 * "cpu/mem-loads,ldlat=30/".
 *
 * A term is one of these:
 *
 *  - the name of a format, with a value, or alone for 1;
 *  - the name of an event in sysfs, which stands for its terms;
 *  - config, config1, config2 or config3 with a value for all bits;
 *  - a raw number for config ("r1a8");
 *  - alone, on a core PMU, a generic event ("cpu_core/cycles/").
 *
 * The user's terms replace those of an event in sysfs. The user must give each
 * term whose value in sysfs is "?".
 */
#ifndef PROF_PERF_PMU_EVENT_H
#define PROF_PERF_PMU_EVENT_H

#include "base/error.h"
#include "perf/event_terms.h"
#include "perf/pmu.h"

#include <stdint.h>

/* Members of perf_event_attr. */
struct pmu_event {
	uint32_t type;
	uint64_t config[4]; /* config to config3 */
};

/* is_common returns whether a term applies to events of all PMUs, such as
 * period. These terms are ignored. */
MUST_CHECK struct error *pmu_event_configure(const struct pmu *pmu, const struct event_terms *terms,
					     bool (*is_common)(const char *term),
					     struct pmu_event *ret);

/* Parses a raw number as in the manual of a CPU ("r1a8"). */
MUST_CHECK bool pmu_event_parse_raw(const char *text, uint64_t *ret);

/* Returns the config of a generic event that is counted by this PMU only. */
uint64_t pmu_event_generic_config(const struct pmu *pmu, uint64_t config);

#endif
