/*
 * The logical view: a profile without glue (profile/code_origin.h), in which a
 * stack consists of the functions that the program's author knows.
 *
 * Each stack is mapped from its root:
 * - Glue is folded into the next function below it that is not glue, which is
 *   the function that it leads to.
 * - Adaptors at the leaf are part of their caller.
 * - A scheduler that leads to no function of the program keeps one row with the
 *   name of its runtime, "[tokio runtime]". The work of libraries for it (an
 *   allocation, a lock) is part of that row; the kernel's work is not.
 * - An entry at the root of a stack that consists only of glue keeps such a
 *   row, too.
 * - The main() that the Rust compiler writes is glue, because it calls the
 *   program's main().
 *
 * Functions of the kernel, reasons of waits and other notes stay as they are.
 * Folded stacks do not contain these kinds; there, names in brackets and the
 * kernel's entry points are recognized by their names.
 *
 * Samples, weights, events, threads, labels and times are those of the original
 * profile, so all totals are equal. Each line contains how many lines were
 * folded into it (profile_line.folded).
 *
 * The time is linear in the stacks. Names are matched once per distinct
 * function.
 */
#ifndef PROF_REPORT_LOGICAL_H
#define PROF_REPORT_LOGICAL_H

#include "report/display_labels.h"

/*
 * Returns the logical profile, which the caller frees. The frames of `from`
 * must be symbolized.
 */
struct profile *logical_profile(const struct profile *from);

/*
 * How a label is treated, for outputs that can show both views.
 * web/page/logical.js maps stacks like logical.c.
 */
enum fate {
	FATE_PROGRAM,
	FATE_WORK,
	/*
	 * An address in a library without symbols: WORK, but an entry at the
	 * root of a stack.
	 */
	FATE_ADDRESS,
	FATE_ADAPTOR,
	FATE_ENTRY,
	FATE_SCHEDULER,
	FATE_FIXED, /* the kernel, or a note: never leads to the program */
};
struct fates {
	struct label_fate {
		enum fate fate;
		uint32_t runtime; /* for an entry and a scheduler: index in runtimes */
	} * items;		  /* by label */
	struct runtime_row {
		char *name;	 /* "[tokio runtime]" */
		uint32_t module; /* of the runtime's first function */
	} * runtimes;
	uint32_t runtime_count, runtime_room;
};
#define NO_RUNTIME UINT32_MAX
void fates_init(struct fates *fates, const struct display_labels *labels);
void fates_deinit(struct fates *fates);

/*
 * The mean number of lines, and of glue lines, in the stacks of event 0,
 * weighted like its samples. Functions of the kernel and notes do not count.
 */
struct glue_share {
	double lines, glue;
	/* The share of the samples that contain a function of a script, which an
	 * interpreter runs (PROFILE_MODULE_INTERPRETED). */
	double scripts;
};
struct glue_share glue_share_of(const struct profile *profile);
/*
 * Returns whether outputs for people open on the logical view: more than half
 * of the lines are glue, or more than half of the samples are of a script. The
 * glue must be more than that which starts a C program. Outputs for programs
 * never do.
 */
bool glue_share_is_most(const struct glue_share *share);

#endif
