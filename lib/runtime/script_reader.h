/*
 * Reads the memory of a process in windows, so that structures that are near
 * each other cost one system call.
 */
#ifndef PROF_RUNTIME_SCRIPT_READER_H
#define PROF_RUNTIME_SCRIPT_READER_H

#include "proc/memory.h"

/* How the memory of a process is read: like the functions of proc/memory.h. */
struct script_memory {
	size_t (*read)(pid_t tid, uint64_t address, void *into, size_t len);
	void (*read_parts)(pid_t tid, struct memory_part *parts, size_t count);
};

enum { SCRIPT_WINDOWS = 24, SCRIPT_WINDOW_BYTES = 2048 };

/* Where the windows of a walk were. */
struct script_places {
	uint64_t starts[SCRIPT_WINDOWS];
	unsigned count;
};

struct script_window {
	uint64_t start;
	size_t len;
	bool is_used;
	unsigned char bytes[SCRIPT_WINDOW_BYTES];
};

struct script_reader {
	const struct script_memory *memory;
	pid_t tid;
	unsigned next; /* the window that is replaced next */
	struct script_window windows[SCRIPT_WINDOWS];
};

/* Forgets the windows: the thread may have run since. */
void script_reader_begin(struct script_reader *reader, const struct script_memory *memory,
			 pid_t tid);
/*
 * Reads all windows that an earlier walk has used with one system call, because
 * the next walk of the thread usually needs the same ones.
 */
void script_reader_expect(struct script_reader *reader, const struct script_places *places);
/* Stores which windows were used. */
void script_reader_end(const struct script_reader *reader, struct script_places *ret);
/* Copies at most 512 bytes. Returns false if not all of them can be read. */
bool script_read(struct script_reader *reader, uint64_t address, void *into, size_t len);
bool script_read_u64(struct script_reader *reader, uint64_t address, uint64_t *ret);

#endif
