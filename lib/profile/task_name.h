/*
 * Makes the names of tasks (tasks.h).
 */
#ifndef PROF_PROFILE_TASK_NAME_H
#define PROF_PROFILE_TASK_NAME_H

#include "profile/task_rules.h"

#include <stdbool.h>
#include <stdint.h>

/* The function where a task starts. */
struct task_function {
	const char *name; /* demangled */
	const char *file; /* "" if unknown */
	uint32_t line;	  /* where it is declared; 0 if unknown */
};

/*
 * Returns whether the demangled name of a function identifies its task: the
 * function is the body or the poll() of a future, and the name contains its
 * path.
 */
bool task_is_complete(const char *name);
/* Returns the name of the task. The caller frees it. */
char *task_name(const struct task_function *function, enum task_kind kind);

/*
 * Returns the short form of a source path: "src/main.rs",
 * "tokio-1.38.0/src/task/spawn.rs". It is borrowed from the path.
 */
const char *task_file(const char *path);

#endif
