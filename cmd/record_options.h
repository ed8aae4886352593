/*
 * What `prof record` can be told: the table of its options, and what they come to.
 */
#ifndef PROF_CMD_RECORD_OPTIONS_H
#define PROF_CMD_RECORD_OPTIONS_H

#include "cmd/checkpoint.h"
#include "cmd/fail_condition.h"
#include "cmd/output_options.h"
#include "cmd/sampling_options.h"

#include <stdint.h>

struct record_options {
	struct sampling_options sampling;
	uint64_t duration_ns; /* 0: until the command or the target ends */
	uint64_t delay_ns;    /* before sampling begins */
	struct checkpoint_interval checkpoint;
	struct output_options output;
	struct fail_conditions conditions;  /* of quality_share(), that make prof fail */
	struct option_list without_meaning; /* options of perf that were taken and do nothing */
};

extern const struct option_entry record_option_table[];

void record_options_init(struct record_options *options);
void record_options_deinit(struct record_options *options);

#endif
