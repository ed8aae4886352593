/*
 * The places of JIT code in its process's jitdump (jitdump_format.h): (pc, time) → offset in the
 * file of the byte of code that was at pc at that time. So code that another function's replaced
 * keeps its name, and its bytes.
 *
 * Live, the file is read on while its process writes it: when a pc is looked up at a time that the
 * file does not reach yet, at most every 100 ms. Compilers buffer what they write (V8 and CPython
 * 4 KB each), so the record of the newest functions can come any time later, or when the process
 * ends. Until the file has reached the time of a sample, a pc is "open": it gets an offset of its
 * own, which jitdump_settle() turns into a place at the end. All samples of a pc between two
 * functions that the file is known to have there share one.
 *
 * The file is its process's: it is read with pread(2) into private memory, on a helper thread that
 * may be left behind (base/timed_call.h), within bounds of bytes and of memory, of which other
 * processes' files keep their share. What a process writes costs its own names.
 */
#ifndef PROF_PROC_JITDUMP_H
#define PROF_PROC_JITDUMP_H

#include "base/cleanup.h"
#include "base/timed_call.h"
#include "proc/code_index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most that is read of a file. */
#define JITDUMP_BYTES_MAX (UINT64_C(1) << 30)

/* Offsets of open pcs. They are even, so that the one after, of a return address, is free. */
#define JITDUMP_OPEN (UINT64_C(1) << 62)

struct jitdump;

struct jitdump_options {
	struct timed_caller *caller;
	struct code_budget *budget; /* outlives it */
	uint64_t place;		    /* as in struct timed_call */
	uint64_t time_offset_ns;    /* by how much its times are ahead (clock_offset_ns()) */
	bool is_complete;	    /* a recorded file: it will not grow */
	bool has_other_time;	    /* samples have times of another clock than CLOCK_MONOTONIC */
};

/* Takes fd. */
struct jitdump *jitdump_new(int fd, const struct jitdump_options *options);
void jitdump_free(struct jitdump *jitdump);
DEFINE_CLEANUP(jitdump, jitdump_free)

/* Of the file, for whoever reads names from it. */
int jitdump_fd(const struct jitdump *jitdump);

struct jitdump_place {
	uint64_t offset;     /* in the file, of the byte at pc; or of an open pc */
	uint64_t start, end; /* the function's addresses; empty if pc is open */
};

/* False if pc is not of this file, or there is no room for another open one. */
bool jitdump_locate(struct jitdump *jitdump, uint64_t pc, uint64_t time_ns,
		    struct jitdump_place *ret);

/* Reads what was written since, whenever that was. Before a series of jitdump_settle(). */
void jitdump_read_on(struct jitdump *jitdump);
/*
 * offset: JITDUMP_OPEN. True: *ret is its place in the file; false: its record was not written, and
 * *ret is the pc.
 */
bool jitdump_settle(const struct jitdump *jitdump, uint64_t offset, uint64_t *ret);

/* For tests: the functions that it knows. */
size_t jitdump_count(const struct jitdump *jitdump);

#endif
