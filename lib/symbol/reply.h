/*
 * The symbols of one module as bytes, which a process without privileges sends to prof: written
 * from an engine's result, and read by somebody who believes nothing of it.
 *
 * All numbers are ULEB128. A reply is: problem, symbols (the enums of source.h), sources
 * (name_sources.h: the bits, split units, missing units, whether it is Rust, debug file and missing
 * file as length and bytes); the number of strings, each as length and bytes; the number of
 * functions, each as name, system name, file (strings; 0: "", the others from 1) and start line;
 * then for each address that was asked for the number of lines, each as function (from 0) and line;
 * of an address without lines, the bytes from the start of its function (0: unknown).
 */
#ifndef PROF_SYMBOL_REPLY_H
#define PROF_SYMBOL_REPLY_H

#include "base/bytes.h"
#include "base/cleanup.h"
#include "symbol/engine.h"

enum {
	/* Inlining is cut off at half of this (dwarf/chain.c). */
	REPLY_LINES_MAX = 1024,
	/* Names and paths are cut off at a fraction of this where they are read. */
	REPLY_STRING_BYTES_MAX = 1 << 20,
};

/* Returns the bytes, which the caller frees. */
void *reply_write(const struct engine_result *result, size_t addresses, size_t *len);

/* A reply that was read. */
struct reply;

struct reply_function {
	uint32_t name, system_name, file; /* strings */
	uint32_t start_line;
};

struct reply_line {
	uint32_t function;
	uint32_t line;
};

/*
 * Takes data, allocated with malloc(), also on failure. NULL if it is not a reply for that many
 * addresses in every detail. Memory is at most six times len.
 */
struct reply *reply_read(void *data, size_t len, size_t addresses);
void reply_free(struct reply *reply);
DEFINE_CLEANUP(reply, reply_free)

enum source_problem reply_problem(const struct reply *reply);
enum source_symbols reply_symbols(const struct reply *reply);

/* Borrows from the reply. */
struct name_sources reply_sources(const struct reply *reply);

uint32_t reply_function_count(const struct reply *reply);
struct reply_function reply_function(const struct reply *reply, uint32_t function);
/* Without a NUL. */
struct bytes reply_string(const struct reply *reply, uint32_t string);
/* The lines of an address, innermost first. Returns their number. */
unsigned reply_lines(const struct reply *reply, size_t address,
		     struct reply_line lines[REPLY_LINES_MAX]);
/* As in struct symbolized; any number. */
uint64_t reply_into_function(const struct reply *reply, size_t address);

#endif
