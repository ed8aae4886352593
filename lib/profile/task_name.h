/* The names of tasks (tasks.h). */
#ifndef PROF_PROFILE_TASK_NAME_H
#define PROF_PROFILE_TASK_NAME_H

#include "profile/task_rules.h"

#include <stdbool.h>
#include <stdint.h>

/* The function where a task begins. */
struct task_function {
	const char *name; /* demangled */
	const char *file; /* "" when unknown */
	uint32_t line;	  /* where it is declared; 0 when unknown */
};

/*
 * True if the demangled name of a function says which task it is: that of a body or of the poll()
 * of a future, with its path.
 */
bool task_is_complete(const char *name);
/* To be freed. */
char *task_name(const struct task_function *function, enum task_kind kind);

/* A source file as people call it: "src/main.rs", "tokio-1.38.0/src/task/spawn.rs". Borrowed. */
const char *task_file(const char *path);

#endif
