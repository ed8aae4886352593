/*
 * Merges several recordings into one profile in which each recording is a
 * column: an event with its samples.
 *
 * Functions of two builds are the same if they have the same stable name
 * (report/stable_name.h) in a file with the same name, or in the main program,
 * whatever its file is called. If one of the recordings has no files (folded
 * stacks), only names are compared. Each function is a frame of its own, so a
 * stack does not depend on whether a function is inlined or called.
 * Unsymbolized addresses are compared one by one if all recordings have the
 * same file according to its build-id. Otherwise they are merged into
 * "[libfoo.so]".
 */
#ifndef PROF_REPORT_MERGE_H
#define PROF_REPORT_MERGE_H

#include "report/label_values.h"

struct merge_input {
	const struct profile *profile;
	event_id event;
	uint32_t column;
	double sample_scale, weight_scale; /* factors; each sample is rounded */
	const bool *label_sets;		   /* the label sets to merge; NULL means all */
	/*
	 * If set, it must be set in all inputs. The stack of each sample is
	 * then one frame: the value or "(none)".
	 */
	const struct label_values *values;
};

struct merge_column {
	char name[24];	      /* unique */
	enum value_kind kind; /* the kind of its weights */
	const char *unit;     /* the unit of its weights; NULL means the default of the kind */
};

/*
 * If the inputs have different names for a file, program or process, the last
 * input's name is used. Column i is event i.
 */
struct profile *merge_profiles(const struct merge_input *inputs, size_t input_count,
			       const struct merge_column *columns, uint32_t column_count);

#endif
