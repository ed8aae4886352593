/*
 * The logical view: a profile without glue (profile/code_origin.h), in which a stack consists of
 * the functions that the program's author knows. The 65 frames of a task of tokio are then four.
 *
 * Each stack is mapped from its root on:
 * - Glue is folded into the next function below it that is not glue: the one that it leads to.
 * - Adaptors at the leaf are part of their caller.
 * - A scheduler that leads to no function of the program keeps one row that names its runtime,
 *   "[tokio runtime]". The work of libraries for it (an allocation, a lock) is part of that row,
 *   the kernel's is not.
 * - So does an entry at the root of a stack that consists of glue alone.
 * - The main() that the compiler of Rust writes is glue: it calls the program's own.
 * Functions of the kernel, reasons of waiting and other notes stay as they are. Folded stacks do
 * not say what these are; then names in brackets and the entries of the kernel are known by their
 * spelling.
 *
 * Samples, weights, events, threads, labels and times are those of the original: all totals are
 * equal. Each line says how many lines were folded into it (profile_line.folded).
 *
 * The time is linear in the stacks; names are matched once per distinct function.
 */
#ifndef PROF_REPORT_LOGICAL_H
#define PROF_REPORT_LOGICAL_H

#include "report/view.h"

/* To be freed. The frames of `from` must be symbolized. */
struct profile *logical_profile(const struct profile *from);

/*
 * How a label is treated, for outputs that can show both views: web/page/logical.js maps stacks as
 * logical.c does.
 */
enum fate {
	FATE_PROGRAM,
	FATE_WORK,
	FATE_ADDRESS, /* of a library without symbols: WORK, but at the root of a stack an entry */
	FATE_ADAPTOR,
	FATE_ENTRY,
	FATE_SCHEDULER,
	FATE_FIXED, /* the kernel's, or a note: never leads to the program */
};
struct fates {
	struct label_fate {
		enum fate fate;
		uint32_t runtime; /* of an entry and a scheduler: index in runtimes */
	} * items;		  /* by label */
	struct runtime_row {
		char *name;	 /* "[tokio runtime]" */
		uint32_t module; /* of the first function of it */
	} * runtimes;
	uint32_t runtime_count, runtime_room;
};
#define NO_RUNTIME UINT32_MAX
void fates_init(struct fates *fates, const struct display_labels *labels);
void fates_deinit(struct fates *fates);

/* The lines of the stack with the largest weight of its own in a view, and how many are glue. */
struct glue_share {
	uint32_t lines, glue;
};
struct glue_share glue_of_hottest(const struct view *view);

#endif
