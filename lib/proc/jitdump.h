/*
 * Finds JIT code in its process's jitdump (jitdump_format.h): (pc, time) → the
 * file offset of the code byte that was at pc at that time. Code that was
 * replaced by another function keeps its name and its bytes.
 *
 * In live mode, the file is read while its process writes it: when a pc is
 * looked up for a time that the file does not reach yet, at most every 100 ms.
 * Compilers buffer their output, so the record of a new function can come much
 * later, or when the process ends. Until the file has reached the time of a
 * sample, its pc is "open". An open pc gets an offset of its own, which
 * jitdump_settle() resolves at the end. All samples of a pc share one such
 * offset if they lie between the same two known functions.
 *
 * The file is untrusted. It is read with pread(2) into private memory, on a
 * helper thread that may be abandoned (base/timed_call.h), within limits on
 * bytes and memory that leave a share for other processes. Whatever a process
 * writes affects only its own symbols.
 */
#ifndef PROF_PROC_JITDUMP_H
#define PROF_PROC_JITDUMP_H

#include "base/cleanup.h"
#include "base/timed_call.h"
#include "proc/code_index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum number of bytes that are read from a file. */
#define JITDUMP_BYTES_MAX (UINT64_C(1) << 30)

/*
 * Offsets of open pcs have this bit. They are even, so that the next one is
 * free for a return address.
 */
#define JITDUMP_OPEN (UINT64_C(1) << 62)

struct jitdump;

struct jitdump_options {
	struct timed_caller *caller;
	struct code_budget *budget; /* outlives the jitdump */
	uint64_t place;		    /* as in struct timed_call */
	uint64_t time_offset_ns;    /* how far its clock is ahead (clock_offset_ns()) */
	bool is_complete;	    /* a recorded file, which will not grow */
	bool has_other_time;	    /* sample times are not CLOCK_MONOTONIC */
};

/* Takes ownership of fd. */
struct jitdump *jitdump_new(int fd, const struct jitdump_options *options);
void jitdump_free(struct jitdump *jitdump);
DEFINE_CLEANUP(jitdump, jitdump_free)

/* Returns the descriptor of the file, for reading symbols. */
int jitdump_fd(const struct jitdump *jitdump);

struct jitdump_place {
	uint64_t offset;     /* in the file, of the byte at pc; or the offset of an open pc */
	uint64_t start, end; /* addresses of the function; empty if pc is open */
};

/*
 * Returns false if pc is not in this file, or there is no room for another open
 * pc.
 */
bool jitdump_locate(struct jitdump *jitdump, uint64_t pc, uint64_t time_ns,
		    struct jitdump_place *ret);

/*
 * Reads what was written since the last read, without waiting for the interval.
 * Call this before a series of jitdump_settle().
 */
void jitdump_read_on(struct jitdump *jitdump);
/*
 * Resolves an offset with JITDUMP_OPEN. Returns true with its offset in the
 * file in *ret, or false with the pc in *ret if the record was never written.
 */
bool jitdump_settle(const struct jitdump *jitdump, uint64_t offset, uint64_t *ret);

/* Returns the number of known functions, for tests. */
size_t jitdump_count(const struct jitdump *jitdump);

#endif
