/*
 * The interpreters whose frames prof reads from outside. Each is one file with
 * a struct script_runtime and a line in runtime.c.
 *
 * The interpreter's memory is read only while its thread stands still, except to
 * find the holder of its lock. All that is read is untrusted: a process can forge
 * everything.
 */
#ifndef PROF_RUNTIME_RUNTIME_H
#define PROF_RUNTIME_RUNTIME_H

#include "elf/elf_file.h"
#include "runtime/cpython_layout.h"
#include "runtime/script_walk.h"

/* A loop has a few parts. */
enum { RUNTIME_LOOPS_MAX = 16 };

/* An interpreter in a file. Addresses are vaddrs. */
struct runtime_image {
	const struct script_runtime *runtime; /* NULL if the file contains none */
	/* Why its frames are not read, as part of a sentence, or NULL. */
	const char *refusal;
	/* The code of the loop that runs the frames. */
	struct runtime_range {
		uint64_t start, end;
	} loops[RUNTIME_LOOPS_MAX];
	unsigned loop_count;
	uint64_t state;
	uint64_t code_type, text_type, bytes_type;
	struct cpython_layout layout;
};

/* An interpreter in a process. */
struct runtime_process {
	struct runtime_image image;
	uint64_t bias; /* address - vaddr */
};

enum runtime_reading {
	RUNTIME_READ,
	RUNTIME_NO_THREAD,    /* the thread does not belong to the interpreter */
	RUNTIME_INCONSISTENT, /* the frames were being changed, or are forged */
};

/* The thread that holds the lock of an interpreter. */
struct runtime_holder {
	uint64_t lock; /* its address */
	pid_t own_tid; /* the thread's id in its own pid namespace, or 0 if unknown */
	uint64_t code; /* the function that the thread runs, or 0 if unknown */
};

struct script_runtime {
	const char *name;
	/* Returns false if the file is not such an interpreter. */
	bool (*detect)(struct elf_file *elf, struct runtime_image *ret);
	/*
	 * Adds the frames of a thread, whose id is that in its own pid
	 * namespace. *state is the address of the thread's state from an
	 * earlier call, or 0.
	 */
	enum runtime_reading (*walk)(const struct runtime_process *process, pid_t own_tid,
				     uint64_t *state, struct script_walk *walk);
	/* Identifies the codes from number `first` on. Returns false if the
	 * frames are inconsistent with them. */
	bool (*identify)(const struct runtime_process *process, struct script_walk *walk,
			 unsigned first);
	/*
	 * Returns whether the thread with this state, which waits for a futex,
	 * waits for the interpreter's lock. The holder may run while it is read.
	 */
	bool (*find_holder)(const struct runtime_process *process, uint64_t state, uint64_t futex,
			    const struct script_reader *reader, struct runtime_holder *ret);
	/* Returns false if the code has no valid name. The caller frees what
	 * *ret contains. */
	bool (*read_text)(const struct runtime_process *process, struct script_reader *reader,
			  const struct script_code *code, struct script_text *ret);
	/* Returns the line of an instruction, or 0 if it is unknown. */
	uint32_t (*line)(const struct script_text *text, int32_t unit);
};

extern const struct script_runtime cpython_runtime;

/* Finds the interpreter in a file. Returns false if there is none. */
bool runtime_detect(struct elf_file *elf, struct runtime_image *ret);

/* Adds a part of the interpreter's loop, unless there are too many. */
void runtime_add_loop(struct runtime_image *image, uint64_t start, uint64_t end);
/* Whether the vaddr belongs to the interpreter's loop. */
bool runtime_is_loop(const struct runtime_image *image, uint64_t vaddr);

#endif
