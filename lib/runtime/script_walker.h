/*
 * Reads the frames of an interpreter's thread that stands still, for one
 * copier. The steps that read the process's memory may never return
 * (untrusted_read.h); they touch only what the walker owns.
 */
#ifndef PROF_RUNTIME_SCRIPT_WALKER_H
#define PROF_RUNTIME_SCRIPT_WALKER_H

#include "base/cleanup.h"
#include "runtime/scripts.h"

struct script_walker;

struct script_walker *script_walker_new(void);
void script_walker_free(struct script_walker *walker);
DEFINE_CLEANUP(script_walker, script_walker_free)

/* Returns false if the process has no interpreter. */
bool script_walker_begin(struct script_walker *walker, struct scripts *scripts, pid_t pid,
			 pid_t tid);
/* Reads the frames. */
void script_walker_read(struct script_walker *walker);
/* Looks up the code objects. Returns whether some are unknown. */
bool script_walker_look_up(struct script_walker *walker, struct scripts *scripts);
/* Reads the unknown code objects. */
void script_walker_read_codes(struct script_walker *walker);
/* Adds them, and stores the stack. Returns false if it cannot be read
 * consistently. */
bool script_walker_end(struct script_walker *walker, struct scripts *scripts,
		       struct script_stack *ret);

#endif
