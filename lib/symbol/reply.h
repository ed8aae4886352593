/*
 * Encodes the symbols of one module as bytes, which an unprivileged process
 * sends to prof. They are written from an engine's result. The reading process
 * trusts nothing in them.
 *
 * All numbers are ULEB128. A reply consists of:
 * - problem and symbols (the enums of source.h);
 * - sources (name_sources.h): the bits, the number of split units, the number
 *   of missing units, whether it is Rust, then the debug file and the missing
 *   file, each as length and bytes;
 * - the number of strings, and each string as length and bytes;
 * - the number of functions, and for each its name, system name and file
 *   (strings, numbered from 1; 0 is "") and start line;
 * - for each requested address the number of lines, and for each line its
 *   function (numbered from 0) and line number. An address without lines has
 *   the distance from the start of its function in bytes instead (0 if
 *   unknown).
 */
#ifndef PROF_SYMBOL_REPLY_H
#define PROF_SYMBOL_REPLY_H

#include "base/bytes.h"
#include "base/cleanup.h"
#include "symbol/engine.h"

enum {
	/* Inline chains are truncated at half of this (dwarf/chain.c). */
	REPLY_LINES_MAX = 1024,
	/* The readers truncate names and paths to a fraction of this. */
	REPLY_STRING_BYTES_MAX = 1 << 20,
};

/* Returns the bytes, which the caller frees. */
void *reply_write(const struct engine_result *result, size_t addresses, size_t *len);

/* A decoded reply. */
struct reply;

struct reply_function {
	uint32_t name, system_name, file; /* string numbers */
	uint32_t start_line;
};

struct reply_line {
	uint32_t function;
	uint32_t line;
};

/*
 * Decodes an untrusted reply. Takes ownership of data, which must come from
 * malloc(), even on failure. Returns NULL unless it is a valid reply for this
 * number of addresses. Uses at most 6 * len bytes of memory.
 */
struct reply *reply_read(void *data, size_t len, size_t addresses);
void reply_free(struct reply *reply);
DEFINE_CLEANUP(reply, reply_free)

/*
 * Notes that libdw could not be used, so that names may be missing. This is not
 * part of the encoded reply.
 */
void reply_set_reduced(struct reply *reply);
bool reply_is_reduced(const struct reply *reply);

/* Returns the encoded reply. */
struct bytes reply_bytes(const struct reply *reply);
enum source_problem reply_problem(const struct reply *reply);
enum source_symbols reply_symbols(const struct reply *reply);

/* The strings are borrowed from the reply. */
struct name_sources reply_sources(const struct reply *reply);

uint32_t reply_function_count(const struct reply *reply);
struct reply_function reply_function(const struct reply *reply, uint32_t function);
/* Returns a string without a terminating NUL. */
struct bytes reply_string(const struct reply *reply, uint32_t string);
/* Stores the lines of an address, innermost first, and returns their number. */
unsigned reply_lines(const struct reply *reply, size_t address,
		     struct reply_line lines[REPLY_LINES_MAX]);
/* Returns into_function of struct symbolized. The value is not validated. */
uint64_t reply_into_function(const struct reply *reply, size_t address);

#endif
