/*
 * Counts events of the target in addition to sampling (--stat), for consecutive
 * profiles.
 */
#ifndef PROF_RECORD_STAT_COUNTING_H
#define PROF_RECORD_STAT_COUNTING_H

#include "profile/stat_counts.h"
#include "record/config.h"
#include "record/sampling.h"

/* If zeroed, nothing is counted and all functions do nothing. */
struct stat_counting {
	struct target_counters *counters;
	bool starts_at_exec;
	struct stat_counts before; /* counts at the end of the previous profile */
	struct stat_counts now;	   /* counts since then, when last settled */
};

/* Opens the counters if config requests them. */
void stat_counting_open(struct stat_counting *counting, const struct record_config *config,
			const struct sampling *sampling);
void stat_counting_close(struct stat_counting *counting);

/* Must be called when sampling starts or is resumed. A command is counted from
 * its exec. */
void stat_counting_enable(struct stat_counting *counting);
void stat_counting_disable(struct stat_counting *counting);

void stat_counting_settle(struct stat_counting *counting);
/* Attributes what was settled to the previous profile. */
void stat_counting_begin_profile(struct stat_counting *counting);

#endif
