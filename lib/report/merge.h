/*
 * Merges several recordings into one profile, in which each recording is a column: an event that
 * holds its samples.
 *
 * Functions of two builds are the same if they have the same stable name (report/stable_name.h) in
 * a file of the same name, or in the main program, whatever its file is called. If one of the
 * recordings has no files (folded stacks), names alone decide. Each function is a frame of its own,
 * so a stack is the same whether a function is inlined or called. Addresses without a name are
 * compared one by one if all recordings have the same file by its build-id; otherwise they are
 * "[libfoo.so]" all together.
 */
#ifndef PROF_REPORT_MERGE_H
#define PROF_REPORT_MERGE_H

#include "report/label_values.h"

struct merge_input {
	const struct profile *profile;
	event_id event;
	uint32_t column;
	double sample_scale, weight_scale; /* factors; each sample is rounded */
	const bool *label_sets;		   /* the label sets that are merged; NULL: all */
	/* If set, in all inputs: the stack of each sample is one frame, its value or "(none)". */
	const struct label_values *values;
};

struct merge_column {
	char name[24];	      /* unique */
	enum value_kind kind; /* of its weights … */
	const char *unit;     /* … and their unit; NULL: the usual one */
};

/*
 * If the inputs have different names for a file, program or process, the last input's name is used.
 * Column i is event i.
 */
struct profile *merge_profiles(const struct merge_input *inputs, size_t input_count,
			       const struct merge_column *columns, uint32_t column_count);

#endif
