/*
 * The recordings that prof diff compares: the files of the old and the new side, and the event that
 * all of them have.
 */
#ifndef PROF_CMD_DIFF_FILES_H
#define PROF_CMD_DIFF_FILES_H

#include "cmd/input.h"
#include "report/comparison.h"
#include "report/label_values.h"

struct diff_file {
	const char *path;
	struct input input;
	event_id event;		    /* the one that is compared */
	bool *label_sets;	    /* by label set: its samples are compared; NULL: all are */
	struct label_values values; /* of the label that is compared, if any */
	double scale;	     /* its weights times this are in the unit of diff_files_event() */
	double weight_error; /* standard error of the sum of all weights, as a share; 0: exact */
	struct measurement whole; /* of what is compared; weights in the unit of all */
};

struct diff_files {
	struct diff_file *items; /* the old files, then the new ones */
	size_t count, old_count;
	double iteration_ns; /* nanoseconds of an iteration per unit of weight (diff_iterations.h);
				0: weights are not per iteration */
	bool by_samples;     /* a file holds only numbers of samples, so all are compared by them */
};

/* What is compared. Strings are borrowed. */
struct diff_event {
	const char *name;
	enum value_kind kind;
	const char *unit;
};

/* At least one file per side. The result must be deinitialized even after an error. */
MUST_CHECK struct error *diff_files_read(struct diff_files *files, const struct option_list *old,
					 const struct option_list *new,
					 const struct input_options *options);
void diff_files_deinit(struct diff_files *files);

/* Conditions (label_filter()) of all files, and of those of a side. */
struct diff_conditions {
	const struct option_list *all, *old, *new;
};

/*
 * Which samples are compared: those that meet all conditions, and by which label: NULL compares
 * functions. Fails if a file has no sample with such a label.
 */
MUST_CHECK struct error *diff_files_select(struct diff_files *files,
					   const struct diff_conditions *conditions,
					   const char *label);

/*
 * After diff_files_select(). name: NULL takes the first that all files have. What the clocks of
 * CPUs count is one event, whatever its name; folded stacks are samples of anything. Units may
 * differ, as microseconds and nanoseconds do. Fails if the event measures different kinds of
 * values.
 */
MUST_CHECK struct error *diff_files_choose_event(struct diff_files *files, const char *name);

/* The event, as a file describes it that names events, in the smallest unit of all files. */
struct diff_event diff_files_event(const struct diff_files *files);

/* True if all files are recordings of a command from start to end. */
bool diff_files_are_runs(const struct diff_files *files);

/* The harness that some file's benchmarks ran in for a fixed time (report/harness.h); NULL: none.
 */
const char *diff_files_harness(const struct diff_files *files);

/* By file, as in diff_options; *is_guess: not all files count their samples. To be freed. */
double *diff_files_samples_per_weight(const struct diff_files *files, bool *is_guess);

/* By file, as in diff_options; to be freed. */
double *diff_files_threads(const struct diff_files *files);
double *diff_files_weight_errors(const struct diff_files *files);

/* For the comparison: a column a file, of functions or of the values of the label. */
struct profile *diff_files_merge(const struct diff_files *files);
/*
 * For difference graphs: a column of the new side, then one of the old side. They are scaled so
 * that equal shares (of_shares), or equal weights per recording, are equal.
 */
struct profile *diff_files_merge_sides(const struct diff_files *files, bool of_shares);

#endif
