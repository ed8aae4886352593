/*
 * The program of a process: its layout (layout.h), which a confined process builds from the file's
 * debug information, and where it is loaded.
 *
 * Reading a program of 210 MB takes 0.4 s of CPU time, in that process. Layouts are kept by
 * file, so that each is read once; what could not be read is not tried again.
 */
#ifndef PROF_TASKS_PROGRAM_H
#define PROF_TASKS_PROGRAM_H

#include "base/error.h"
#include "tasks/layout.h"

#include <stdatomic.h>
#include <sys/types.h>

struct task_programs;

/* Once *cancel is set, calls end soon. */
struct task_programs *task_programs_new(const atomic_bool *cancel);
void task_programs_free(struct task_programs *programs);

/* A loaded program. The layout lives as long as task_programs. */
struct task_program {
	const struct task_layout *layout; /* NULL: it has no tasks that can be read */
	uint64_t bias;			  /* what is added to a vaddr of the file */
	uint64_t entry;			  /* an address of its code in the process */
};

/*
 * The program that the process executes. Of one without a layout, problem() says why, with what to
 * do; NULL: it is not a program of tokio, or has ended.
 */
struct task_program task_programs_find(struct task_programs *programs, pid_t pid);
const char *task_programs_problem(const struct task_programs *programs);

#endif
