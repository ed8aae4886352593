/*
 * The processes whose interpreter prof reads, and the code objects that their
 * stacks contained.
 *
 * The reader of the records adds processes; copiers and pollers, which read
 * stacks while their threads stand still, add code objects. All functions may be
 * called from any thread and do not wait for a process.
 */
#ifndef PROF_RUNTIME_SCRIPTS_H
#define PROF_RUNTIME_SCRIPTS_H

#include "base/cleanup.h"
#include "runtime/runtime.h"

struct scripts;

/* `memory` is borrowed. */
struct scripts *scripts_new(const struct script_memory *memory);
void scripts_free(struct scripts *scripts);
DEFINE_CLEANUP(scripts, scripts_free)

const struct script_memory *scripts_memory(const struct scripts *scripts);

/* --- Processes ------------------------------------------------------------ */

/* Adds a process with an interpreter, or replaces its interpreter. */
void scripts_add_process(struct scripts *scripts, pid_t pid, const struct runtime_process *process);
/* The child has a copy of the parent's memory. */
void scripts_fork(struct scripts *scripts, pid_t parent, pid_t child);
/* After an exec or the end of a process. */
void scripts_remove_process(struct scripts *scripts, pid_t pid);
/* Calls `changed` from now on when a process gets or loses an interpreter. It is
 * called by the reader of the records. NULL ends this. */
void scripts_watch(struct scripts *scripts, void (*changed)(void *context, pid_t pid, bool has),
		   void *context);
bool scripts_have_process(struct scripts *scripts, pid_t pid);
/* Whether there was ever a process. */
bool scripts_are_used(const struct scripts *scripts);

/* A thread of such a process. */
struct script_thread {
	pid_t pid, tid;
	struct runtime_process process;
	pid_t own_tid;	/* its id in its own namespace, or 0 if it is not yet known */
	uint64_t state; /* see struct script_runtime; 0 if it is not yet known */
	struct script_places places;
};

/* Returns false if the process has no interpreter. */
bool scripts_find_thread(struct scripts *scripts, pid_t pid, pid_t tid, struct script_thread *ret);
/* Remembers what is not of the process. */
void scripts_note_thread(struct scripts *scripts, const struct script_thread *thread);

/* --- Code objects --------------------------------------------------------- */

/* Sets the ids of known codes, and SCRIPT_NO_CODE for others. */
void scripts_find_codes(struct scripts *scripts, pid_t pid, struct script_code *codes,
			unsigned count);
/*
 * Adds a code. Takes over what the text contains. Returns SCRIPT_NO_CODE if
 * there are too many.
 */
uint32_t scripts_add_code(struct scripts *scripts, pid_t pid, const struct script_code *code,
			  const struct script_runtime *runtime, struct script_text *text);

/* A place in a script. The strings are valid as long as the scripts. */
struct script_place {
	const char *name, *file;
	uint32_t first_line, line; /* 0 if unknown */
};
struct script_place scripts_place(struct scripts *scripts, uint32_t code, int32_t unit);

void script_text_deinit(struct script_text *text);

#endif
