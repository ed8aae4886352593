/*
 * The format of a jitdump file: what a JIT compiler writes of the code that it makes. Source:
 * tools/perf/Documentation/jitdump-specification.txt of Linux.
 *
 * A header, then records: a load (address, name and bytes of a function), a move (of a function's
 * code to another address), debug information (lines of the function whose load follows), unwinding
 * information (of the function whose load follows), the end. Files of the other byte order are
 * refused, as their processes cannot run here.
 */
#ifndef PROF_PROC_JITDUMP_FORMAT_H
#define PROF_PROC_JITDUMP_FORMAT_H

#include "base/bytes.h"

enum {
	JITDUMP_HEADER_BYTES = 40,
	JITDUMP_RECORD_BYTES = 16, /* what all records begin with */
	JITDUMP_LOAD_BYTES = 56,   /* of a load, before its name */
	JITDUMP_MOVE_BYTES = 64,
	JITDUMP_NAME_BYTES_MAX = 4096, /* as of a line of a perf map; longer names are cut */
};

enum jitdump_kind {
	JITDUMP_LOAD = 0,
	JITDUMP_MOVE = 1,
	JITDUMP_DEBUG_INFO = 2,
	JITDUMP_CLOSE = 3,
	JITDUMP_UNWINDING_INFO = 4,
};

struct jitdump_header {
	uint32_t size_bytes; /* the records begin after it */
	uint32_t machine;    /* EM_*, of <elf.h> */
	/* Times are of the CPU's counter, not of CLOCK_MONOTONIC. */
	bool has_other_clock;
	/*
	 * V8 writes 0xdeadbeef where others have 0. It adds 64 to the addresses of its lines, for
	 * an error that perf had before Linux 5.8.
	 */
	bool is_v8;
};

struct jitdump_record {
	uint32_t kind; /* enum jitdump_kind; others are to be skipped */
	uint64_t size_bytes;
	uint64_t time_ns;
};

struct jitdump_load {
	uint64_t address, size_bytes;
	uint64_t code_at;  /* of its bytes, from the start of the record */
	struct bytes name; /* without its NUL */
};

struct jitdump_move {
	uint64_t from, to, size_bytes;
};

/* False if it is none, or not all of it is there. */
bool jitdump_read_header(struct bytes from, struct jitdump_header *ret);
/* False if not all of its JITDUMP_RECORD_BYTES are there, or it is malformed. */
bool jitdump_read_record(struct bytes from, struct jitdump_record *ret);
/* False if it is malformed, or the bytes end before its name does. */
bool jitdump_read_load(struct bytes from, struct jitdump_load *ret);
bool jitdump_read_move(struct bytes from, struct jitdump_move *ret);

/* Whether a file of this path is one: "…/jit-PID.dump". */
bool jitdump_is_named(struct bytes path);

#endif
