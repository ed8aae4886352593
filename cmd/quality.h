/*
 * How good a profile is: what was lost, cut off, or left without a name. The line stands in the
 * summary and in the outputs.
 */
#ifndef PROF_CMD_QUALITY_H
#define PROF_CMD_QUALITY_H

#include "profile/profile.h"
#include "session.h"

struct unnamed_module {
	uint32_t module;
	uint64_t samples; /* with at least one frame of it that has no name */
};

struct quality {
	struct session_counts counts;
	uint64_t unnamed;		/* samples with a frame that has no name */
	struct unnamed_module *modules; /* whose frames those are, the costliest first */
	size_t module_count;
};

void quality_init(struct quality *quality, const struct profile *profile,
		  const struct session_counts *counts);
void quality_deinit(struct quality *quality);

/* The share of the samples that are lost, truncated or unknown (with unnamed frames); false: there
 * is no quality of this name. */
bool quality_share(const struct quality *quality, const char *name, double *ret);

/* "12,345 samples, 0 lost, …", to be freed. */
char *quality_line(const struct quality *quality);
/* The number of such a line, out of a file, that stands before "lost"; false: it has none. */
bool quality_number(const char *line, const char *what, uint64_t *ret);

#endif
