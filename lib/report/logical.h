/*
 * The logical view: a profile without glue (profile/code_origin.h), in which a stack consists of
 * the functions that the program's author knows. The 65 frames of a task of tokio are then four.
 *
 * Each stack is mapped from its root on:
 * - Glue is folded into the next function below it that is not glue: the one that it leads to.
 * - Adaptors at the leaf are part of their caller.
 * - A scheduler that leads to no function of the program keeps one row that names its runtime,
 *   "tokio (runtime)". The work of libraries for it (an allocation, a lock) is part of that row,
 *   the kernel's is not.
 * - So does an entry at the root of a stack that consists of glue alone.
 * - The main() that the compiler of Rust writes is glue: it calls the program's own.
 * Functions of the kernel, reasons of waiting and other notes stay as they are.
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

/* The lines of the stack with the largest weight of its own in a view, and how many are glue. */
struct glue_share {
	uint32_t lines, glue;
};
struct glue_share glue_of_hottest(const struct view *view);

#endif
