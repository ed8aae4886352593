/*
 * Finds the layout (layout.h) of the program that a process executes, and its
 * load address.
 *
 * A confined process builds the layout from the file's debug information.
 * Layouts are cached by file, so each file is read once, even if that fails.
 * Not thread-safe.
 */
#ifndef PROF_TASKS_PROGRAM_H
#define PROF_TASKS_PROGRAM_H

#include "base/error.h"
#include "tasks/layout.h"

#include <stdatomic.h>
#include <sys/types.h>

struct task_programs;

/* Calls return early once *cancel is set. */
struct task_programs *task_programs_new(const atomic_bool *cancel);
void task_programs_free(struct task_programs *programs);

/* A loaded program. The layout lives as long as task_programs. */
struct task_program {
	const struct task_layout *layout; /* NULL if it has no readable tasks */
	uint64_t bias;			  /* added to a vaddr of the file */
	uint64_t entry;			  /* an address of its code in the process */
};

/*
 * Returns the program that the process executes. If it has no layout,
 * task_programs_problem() returns the reason with a hint, or NULL if the
 * program does not use tokio or has ended.
 */
struct task_program task_programs_find(struct task_programs *programs, pid_t pid);
const char *task_programs_problem(const struct task_programs *programs);

#endif
