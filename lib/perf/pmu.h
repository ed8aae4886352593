/*
 * PMUs: what sysfs says of the kernel's performance monitoring units.
 *
 * Each directory of /sys/bus/event_source/devices is one. `type` is the number that
 * perf_event_attr.type takes; `cpus` lists the CPUs of a core PMU, where a machine has several
 * kinds of CPU; `cpumask` the CPUs on which events of a whole package are opened; `format/TERM` the
 * bits of perf_event_attr.config where a term's value goes; `events/NAME` the terms of an event.
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-events and -format.
 *
 * The files are not believed: a text is at most PMU_TEXT_MAX bytes, names have no slash, lists of
 * CPUs are bounded (cpus.h). A PMU that cannot be understood, or has vanished since the directory
 * was listed, is left out and counted.
 */
#ifndef PROF_PERF_PMU_H
#define PROF_PERF_PMU_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PMU_TEXT_MAX = 4096, /* of one file; sysfs writes a page at most */
	PMUS_MAX = 4096,
};

enum pmu_kind {
	PMU_CORE,    /* of CPUs: it counts what a thread does */
	PMU_PACKAGE, /* of a package, a memory controller, …: no thread's (`cpumask`) */
	PMU_OTHER,   /* software, tracepoint, uprobe, msr, … */
};

struct pmu {
	char *name;
	char *dir;
	enum pmu_kind kind;
	uint32_t type;
	unsigned *cpus; /* where it counts, ascending; NULL: on all CPUs */
	size_t cpu_count;
};

/* Zeroed: none. */
struct pmus {
	struct pmu *items; /* by name */
	size_t count, room;
	size_t ignored;	    /* PMUs that are left out … */
	char *ignored_name; /* … one of them, or NULL */
};

/* root: the directory to list, NULL: the kernel's. Without it there are no PMUs. */
void pmus_read(const char *root, struct pmus *ret);
void pmus_deinit(struct pmus *pmus);

const struct pmu *pmus_find(const struct pmus *pmus, const char *name);
/* Whether CPUs are of several kinds: there are at least two core PMUs, each of some CPUs. */
bool pmus_are_hybrid(const struct pmus *pmus);
/* For messages: "cpu, msr, software"; the caller frees it. */
char *pmus_names(const struct pmus *pmus);

/* Where the value of a term goes: its lowest bit to the lowest one of `bits`, and so on. */
struct pmu_format {
	unsigned field; /* 0: perf_event_attr.config, 1 to 3: config1 to config3 */
	uint64_t bits;
};

/* "config1:0-7,32"; false if it is malformed. */
MUST_CHECK bool pmu_format_parse(const char *text, struct pmu_format *ret);

/* The format of a term; bits is 0 if the PMU has no such term. */
MUST_CHECK struct error *pmu_find_format(const struct pmu *pmu, const char *term,
					 struct pmu_format *ret);
/* The terms of a named event, "event=0xcd,umask=0x1"; NULL: the PMU has no such event. The caller
 * frees it. */
MUST_CHECK struct error *pmu_find_event(const struct pmu *pmu, const char *name, char **ret);

/* For messages: the names of the PMU's events, or of its terms; at most sixteen of each. The caller
 * frees it. */
char *pmu_event_names(const struct pmu *pmu);
char *pmu_term_names(const struct pmu *pmu);

/* All its events, sorted. The caller frees the names and the array. */
char **pmu_events(const struct pmu *pmu, size_t *count);

#endif
