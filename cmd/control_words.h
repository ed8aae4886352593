/*
 * The words of a control channel, of bytes that anybody may have written: one command per line, in
 * the words of perf record (enable, disable, ping, stop) and "snapshot FILE".
 *
 * A line ends with a newline or a NUL, because programs write either. One of perf's words is also
 * taken without an end, as perf takes it. Spaces around a word do not count, and empty lines are
 * nothing. The memory is bounded: of a line that is too long nothing is kept.
 */
#ifndef PROF_CMD_CONTROL_WORDS_H
#define PROF_CMD_CONTROL_WORDS_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

/* A path and a word. */
enum { CONTROL_LINE_MAX = 4096 + 256 };

enum control_word {
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_SNAPSHOT,
	CONTROL_WRONG, /* a line that is none of these */
};

struct control_command {
	enum control_word word;
	/* CONTROL_SNAPSHOT: the file; CONTROL_WRONG: what is wrong, as a message; else "". Valid
	 * until the next call. */
	const char *argument;
};

struct control_words;

struct control_words *control_words_new(void);
void control_words_free(struct control_words *words);
DEFINE_CLEANUP(control_words, control_words_free)

/* Adds what came. All commands before should have been taken: else it is kept, too. */
void control_words_put(struct control_words *words, const char *bytes, size_t len);
/* The next command; false: its end has not come yet. */
bool control_words_next(struct control_words *words, struct control_command *ret);

#endif
