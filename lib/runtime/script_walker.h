/*
 * Reads the frames of an interpreter's thread that stands still, for one copier
 * or poller. The steps that read the process's memory may never return
 * (untrusted_read.h); they touch only what the walker owns.
 */
#ifndef PROF_RUNTIME_SCRIPT_WALKER_H
#define PROF_RUNTIME_SCRIPT_WALKER_H

#include "base/cleanup.h"
#include "base/untrusted_read.h"
#include "runtime/scripts.h"

struct script_walker;

struct script_walker *script_walker_new(void);
void script_walker_free(struct script_walker *walker);
DEFINE_CLEANUP(script_walker, script_walker_free)

/* Returns false if the process has no interpreter. */
bool script_walker_begin(struct script_walker *walker, struct scripts *scripts, pid_t pid,
			 pid_t tid);
/* Reads the frames. Called during an untrusted_read. `futex` is the address for
 * which the thread waits with futex(2), or 0. */
void script_walker_read(struct script_walker *walker, uint64_t futex);
/* Returns the holder of the interpreter's lock, or NULL if the thread does not
 * wait for this lock. */
const struct runtime_holder *script_walker_holder(const struct script_walker *walker);
/*
 * Reads the unknown code objects, during `read`, and stores the stack. *is_read:
 * it was read consistently. Returns false if the read was abandoned.
 */
bool script_walker_end(struct script_walker *walker, struct scripts *scripts,
		       struct untrusted_read *read, struct script_stack *ret, bool *is_read);

#endif
