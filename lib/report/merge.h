/*
 * Several recordings as one profile, so that they can be laid side by side: each recording's
 * samples are those of a column, which is an event of the result.
 *
 * What is the same function in two builds is one here: it has the same name (report/counterpart.h)
 * in a file of the same name, or in the program itself, whatever its file is called. Where one of
 * the recordings does not say in which files its functions are (folded stacks), names alone decide.
 * Each function is a frame of its own: inlined in one build and called in the other, it is the same
 * stack. Addresses that nothing names are compared one by one where the file is the same one, by
 * its build-id, in all recordings; else they are "[libfoo.so]", all together.
 */
#ifndef PROF_REPORT_MERGE_H
#define PROF_REPORT_MERGE_H

#include "profile/profile.h"

struct merge_input {
	const struct profile *profile;
	event_id event;
	uint32_t column;
	double sample_scale,
		weight_scale; /* what they are multiplied by, and rounded in each cell */
};

struct merge_column {
	char name[24]; /* no two are the same */
	bool counts_ns;
};

/*
 * Where the inputs call a file, a program or a process differently, the last input's word is taken.
 * The event of column i is i.
 */
struct profile *merge_profiles(const struct merge_input *inputs, size_t input_count,
			       const struct merge_column *columns, uint32_t column_count);

#endif
