/*
 * Reads the recordings that prof diff compares: the files of the old and the
 * new side, and the event that all of them have.
 */
#ifndef PROF_CMD_DIFF_DIFF_FILES_H
#define PROF_CMD_DIFF_DIFF_FILES_H

#include "cmd/input/input.h"
#include "report/comparison.h"
#include "report/label_values.h"

struct diff_file {
	const char *path;
	struct input input;
	event_id event;		    /* the compared event */
	bool *label_sets;	    /* by label set: its samples are compared; NULL if all are */
	struct label_values values; /* of the compared label, if there is one */
	double scale;		    /* converts weights to the unit of diff_files_event() */
	/* relative standard error of the sum of all weights; 0 if exact */
	double weight_error;
	/* of the compared samples, in the unit of diff_files_event() */
	struct measurement whole;
};

struct diff_files {
	struct diff_file *items; /* the old files, then the new files */
	size_t count, old_count;
	/* nanoseconds per iteration per unit of weight (diff_iterations.h); 0
	 * if weights are not per iteration */
	double iteration_ns;
	bool by_samples; /* compare numbers of samples, because a file has nothing else */
};

/* The compared event. Strings are borrowed. */
struct diff_event {
	const char *name;
	enum value_kind kind;
	const char *unit;
};

/* Needs at least one file per side. Deinitialize *files even after an error. */
MUST_CHECK struct error *diff_files_read(struct diff_files *files, const struct option_list *old,
					 const struct option_list *new,
					 const struct input_options *options);
void diff_files_deinit(struct diff_files *files);

/* Conditions (label_filter()) for all files, and for the files of one side. */
struct diff_conditions {
	const struct option_list *all, *old, *new;
};

/*
 * Selects the samples that satisfy all conditions, and the label by whose
 * values they are compared. If label is NULL, functions are compared. Fails if
 * a file has no sample with the label.
 */
MUST_CHECK struct error *diff_files_select(struct diff_files *files,
					   const struct diff_conditions *conditions,
					   const char *label);

/*
 * Chooses the event. Call it after diff_files_select(). If name is NULL, the
 * first event that all files have is chosen. All events that count a CPU clock
 * are the same event, whatever their names are; folded stacks match any event.
 * Units may differ, for example microseconds and nanoseconds. Fails if the
 * event has different kinds of values.
 */
MUST_CHECK struct error *diff_files_choose_event(struct diff_files *files, const char *name);

/* Returns the event, as described by a file that names its events, in the
 * smallest unit of all files. */
struct diff_event diff_files_event(const struct diff_files *files);

/* Returns true if all files are recordings of a command from start to end. */
bool diff_files_are_runs(const struct diff_files *files);

/* Returns the harness that ran some file's benchmarks for a fixed time
 * (report/harness.h), or NULL. */
const char *diff_files_harness(const struct diff_files *files);

/* Returns an array by file, as in diff_options. *is_guess is set if a file does
 * not count its samples. The caller frees the array. */
double *diff_files_samples_per_weight(const struct diff_files *files, bool *is_guess);

/* Return arrays by file, as in diff_options. The caller frees them. */
double *diff_files_threads(const struct diff_files *files);
double *diff_files_weight_errors(const struct diff_files *files);

/* Merges the files for the comparison. Each file is a column, of functions or
 * of the values of the label. */
struct profile *diff_files_merge(const struct diff_files *files);
/*
 * Merges the files for difference graphs, into a column of the new side and a
 * column of the old side. The columns are scaled so that equal shares
 * (of_shares), or equal weights per recording, are equal.
 */
struct profile *diff_files_merge_sides(const struct diff_files *files, bool of_shares);

#endif
