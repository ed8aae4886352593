/*
 * Parses the jitdump format, in which JIT compilers describe the code that they
 * generate. Source: tools/perf/Documentation/jitdump-specification.txt of
 * Linux.
 *
 * A file has a header and then records: load (address, name and bytes of a
 * function), move (of a function's code to another address), debug information
 * (lines of the function in the next load record), unwinding information (of
 * that function), and close. Files of the other byte order are rejected,
 * because their processes cannot run on this machine.
 */
#ifndef PROF_PROC_JITDUMP_FORMAT_H
#define PROF_PROC_JITDUMP_FORMAT_H

#include "base/bytes.h"

enum {
	JITDUMP_HEADER_BYTES = 40,
	JITDUMP_RECORD_BYTES = 16, /* common to all records */
	JITDUMP_LOAD_BYTES = 56,   /* a load record before its name */
	JITDUMP_MOVE_BYTES = 64,
	/* Like for a line of a perf map. Longer names are truncated. */
	JITDUMP_NAME_BYTES_MAX = 4096,
};

enum jitdump_kind {
	JITDUMP_LOAD = 0,
	JITDUMP_MOVE = 1,
	JITDUMP_DEBUG_INFO = 2,
	JITDUMP_CLOSE = 3,
	JITDUMP_UNWINDING_INFO = 4,
};

struct jitdump_header {
	uint32_t size_bytes; /* the records start after it */
	uint32_t machine;    /* EM_* from <elf.h> */
	/* Times are those of the CPU's counter instead of CLOCK_MONOTONIC. */
	bool has_other_clock;
	/*
	 * V8 writes 0xdeadbeef where others write 0. It adds 64 to the
	 * addresses of its lines, because of a bug in perf before Linux 5.8.
	 */
	bool is_v8;
};

struct jitdump_record {
	uint32_t kind; /* enum jitdump_kind; skip any other value */
	uint64_t size_bytes;
	uint64_t time_ns;
};

struct jitdump_load {
	uint64_t address, size_bytes;
	uint64_t code_at;  /* offset of the function's bytes from the start of the record */
	struct bytes name; /* without its NUL */
};

struct jitdump_move {
	uint64_t from, to, size_bytes;
};

/* Returns false if this is not a header, or is truncated. */
bool jitdump_read_header(struct bytes from, struct jitdump_header *ret);
/*
 * Returns false if the record is malformed or has fewer than
 * JITDUMP_RECORD_BYTES.
 */
bool jitdump_read_record(struct bytes from, struct jitdump_record *ret);
/*
 * Return false if the record is malformed, or the bytes end before its name
 * does.
 */
bool jitdump_read_load(struct bytes from, struct jitdump_load *ret);
bool jitdump_read_move(struct bytes from, struct jitdump_move *ret);

/* Returns whether the path has the form of a jitdump's: "…/jit-PID.dump". */
bool jitdump_is_named(struct bytes path);

#endif
