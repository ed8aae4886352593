/*
 * Describes a perf.data file: its events, and where and how it was recorded.
 */
#ifndef PROF_PERFDATA_DESCRIPTION_H
#define PROF_PERFDATA_DESCRIPTION_H

#include "base/value.h"
#include "perf/record.h"

struct perfdata_event {
	char *name;
	/* Kind of its periods; their unit is value_unit(kind). */
	enum value_kind kind;
	/* As requested from perf; 0 if sampled by frequency. */
	uint64_t period;
	/* As requested from perf; 0 if sampled by period. */
	uint64_t frequency_hz;
	/* The user registers in its samples, with perf's numbers. */
	uint64_t regs_mask;
	bool counts_occurrences; /* see event_counts_occurrences() */
	bool is_monotonic;	 /* its times are CLOCK_MONOTONIC */
};

/* Where and how the recording was made. Unknown members are NULL or 0. */
struct perfdata_info {
	char *host;
	char *kernel_release;
	char *machine; /* machine of uname(2): "x86_64" */
	char *command; /* perf's own command line */
	/* Build-id of the kernel, and the addresses of its code at the start of
	 * the recording. */
	uint8_t kernel_build_id[RECORD_BUILD_ID_MAX];
	unsigned kernel_build_id_bytes;
	uint64_t kernel_start, kernel_end;
};

#endif
