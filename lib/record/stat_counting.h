/* Counts events of the target beside its samples (--stat), for one profile after the other. */
#ifndef PROF_RECORD_STAT_COUNTING_H
#define PROF_RECORD_STAT_COUNTING_H

#include "profile/stat_counts.h"
#include "record/config.h"
#include "record/sampling.h"

/* Zeroed: nothing is counted, and all calls are without effect. */
struct stat_counting {
	struct target_counters *counters;
	bool starts_at_exec;
	struct stat_counts before; /* of earlier profiles … */
	struct stat_counts now;	   /* … and since them, when it was settled last */
};

/* Opens the counters if config asks for them. */
void stat_counting_open(struct stat_counting *counting, const struct record_config *config,
			const struct sampling *sampling);
void stat_counting_close(struct stat_counting *counting);

/* Sampling begins, or goes on after a pause. A command is counted from its exec on. */
void stat_counting_enable(struct stat_counting *counting);
void stat_counting_disable(struct stat_counting *counting);

void stat_counting_settle(struct stat_counting *counting);
/* What has been settled is of the former profile. */
void stat_counting_begin_profile(struct stat_counting *counting);

#endif
