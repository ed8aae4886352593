/*
 * The description of a perf.data file: its events, and where and how it was recorded.
 */
#ifndef PROF_PERFDATA_DESCRIPTION_H
#define PROF_PERFDATA_DESCRIPTION_H

#include "base/value.h"
#include "perf/record.h"

struct perfdata_event {
	char *name;
	enum value_kind kind;	 /* of its periods; their unit is value_unit(kind) */
	uint64_t period;	 /* as asked of perf; 0: by frequency */
	uint64_t frequency_hz;	 /* as asked of perf; 0: by period */
	uint64_t regs_mask;	 /* the user registers in its samples, by perf's numbers */
	bool counts_occurrences; /* as event_counts_occurrences() */
	bool is_monotonic;	 /* its times are of CLOCK_MONOTONIC */
};

/* Where and how the recording was made. NULL or 0: unknown. */
struct perfdata_info {
	char *host;
	char *kernel_release;
	char *machine; /* as uname(2) calls it: "x86_64" */
	char *command; /* perf's own command line */
	/* The build-id of the kernel, and the addresses of its code when the recording began. */
	uint8_t kernel_build_id[RECORD_BUILD_ID_MAX];
	unsigned kernel_build_id_bytes;
	uint64_t kernel_start, kernel_end;
};

#endif
