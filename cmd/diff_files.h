/*
 * The recordings that `prof diff` compares: files of a side before and a side after, and the event
 * that all of them have.
 */
#ifndef PROF_CMD_DIFF_FILES_H
#define PROF_CMD_DIFF_FILES_H

#include "cmd/input.h"
#include "report/comparison.h"

struct diff_file {
	const char *path;
	struct input input;
	event_id event;		  /* the one that is compared */
	struct measurement whole; /* of it, as the file counts */
};

struct diff_files {
	struct diff_file *items; /* those of before, then those of after */
	size_t count, old_count;
	bool by_samples; /* a file says nothing but how many samples it has, and so are all compared
			  */
};

/* At least one a side. The result must be deinitialized even after an error. */
MUST_CHECK struct error *diff_files_read(struct diff_files *files, const struct option_list *old,
					 const struct option_list *new,
					 const struct input_options *options);
void diff_files_deinit(struct diff_files *files);

/* name: NULL takes the first that all files have. What the clocks of CPUs count is one event,
 * whatever its name; folded stacks are samples of anything. */
MUST_CHECK struct error *diff_files_choose_event(struct diff_files *files, const char *name);

/* Of a file that says what it is. */
const struct profile_event *diff_files_event(const struct diff_files *files, const char **name);

/* Is each one a recording of a command from its start to its end? */
bool diff_files_are_runs(const struct diff_files *files);

/* By file, as of diff_options; *is_guess: not all of them count their samples. To be freed. */
double *diff_files_samples_per_weight(const struct diff_files *files, bool *is_guess);

/* By file: threads that have samples; 0 where the file does not tell its threads. To be freed. */
double *diff_files_threads(const struct diff_files *files);

/* For the comparison: a column a file. */
struct profile *diff_files_merge(const struct diff_files *files);
/*
 * For pictures: a column of what has become of each stack, then one of what it was. Scaled so that
 * what is equal is as much: the shares (of_shares), or the cost of a recording.
 */
struct profile *diff_files_merge_sides(const struct diff_files *files, bool of_shares);

#endif
