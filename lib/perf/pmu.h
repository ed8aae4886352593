/*
 * Reads the kernel's performance monitoring units (PMUs) from sysfs.
 *
 * Each directory of /sys/bus/event_source/devices describes one PMU:
 *
 *  - `type` is the number for perf_event_attr.type.
 *  - `cpus` lists the CPUs of a core PMU on a machine with several kinds of
 *    CPU.
 *  - `cpumask` lists the CPUs on which events of a whole package are opened.
 *  - `format/TERM` contains the bits of perf_event_attr.config for a term.
 *  - `events/NAME` contains the terms of an event.
 *
 * Source: Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-events and -format.
 *
 * The files are untrusted: a text has at most PMU_TEXT_MAX bytes, names have no
 * slash, and CPU lists are bounded (cpus.h). A PMU that is malformed, or has
 * vanished since the directory was listed, is ignored and counted.
 */
#ifndef PROF_PERF_PMU_H
#define PROF_PERF_PMU_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* Maximum size of a file; sysfs writes at most a page. */
	PMU_TEXT_MAX = 4096,
	PMUS_MAX = 4096,
};

enum pmu_kind {
	PMU_CORE, /* counts for a thread: a PMU of CPUs */
	/* Counts for a package, memory controller …, not for a thread
	 * (`cpumask`). */
	PMU_PACKAGE,
	/* Any other PMU, such as software, tracepoint, uprobe and msr. */
	PMU_OTHER,
};

struct pmu {
	char *name;
	char *dir;
	enum pmu_kind kind;
	uint32_t type;
	unsigned *cpus; /* CPUs where it counts, ascending; NULL for all */
	size_t cpu_count;
};

/* Zeroed: none. */
struct pmus {
	struct pmu *items; /* sorted by name */
	size_t count, room;
	size_t ignored;	    /* number of ignored PMUs */
	char *ignored_name; /* name of an ignored PMU, or NULL */
};

/* root is the directory to list, or NULL for the kernel's. If it does not
 * exist, the list is empty. */
void pmus_read(const char *root, struct pmus *ret);
void pmus_deinit(struct pmus *pmus);

const struct pmu *pmus_find(const struct pmus *pmus, const char *name);
/* Returns whether the machine has several kinds of CPU: at least two core PMUs,
 * each for a part of the CPUs. */
bool pmus_are_hybrid(const struct pmus *pmus);
/* Returns the names for a message ("cpu, msr, software"). The caller frees
 * it. */
char *pmus_names(const struct pmus *pmus);

/* The bits where the value of a term is stored: the lowest bit of the value
 * goes to the lowest bit of `bits`, and so on. */
struct pmu_format {
	/* 0 for perf_event_attr.config, 1 to 3 for config1 to config3. */
	unsigned field;
	uint64_t bits;
};

/* Parses "config1:0-7,32". Returns false if it is malformed. */
MUST_CHECK bool pmu_format_parse(const char *text, struct pmu_format *ret);

/* Returns the format of a term; its bits are 0 if the PMU has no such term. */
MUST_CHECK struct error *pmu_find_format(const struct pmu *pmu, const char *term,
					 struct pmu_format *ret);
/* Returns the terms of a named event ("event=0xcd,umask=0x1") in *ret, or NULL
 * if the PMU has no such event. The caller frees it. */
MUST_CHECK struct error *pmu_find_event(const struct pmu *pmu, const char *name, char **ret);

/* Returns the names of the PMU's events, or of its terms, for a message: at
 * most sixteen. The caller frees it. */
char *pmu_event_names(const struct pmu *pmu);
char *pmu_term_names(const struct pmu *pmu);

/* Returns all events of the PMU, sorted. The caller frees the names and the
 * array. */
char **pmu_events(const struct pmu *pmu, size_t *count);

#endif
