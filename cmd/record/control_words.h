/*
 * Parses the commands of a control channel, whose bytes may come from anyone.
 * There is one command per line: a command of perf record (enable, disable,
 * ping, stop) or "snapshot FILE".
 *
 * A line ends with a newline or a NUL, because programs write either. A command
 * of perf is also accepted without a line end, as perf does. Spaces around a
 * command and empty lines are ignored. Memory is bounded: a line that is too
 * long is discarded.
 */
#ifndef PROF_CMD_RECORD_CONTROL_WORDS_H
#define PROF_CMD_RECORD_CONTROL_WORDS_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

/* The size of a path and a word. */
enum { CONTROL_LINE_MAX = 4096 + 256 };

enum control_word {
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_SNAPSHOT,
	CONTROL_WRONG, /* a line that is not a command */
};

struct control_command {
	enum control_word word;
	/* The file of CONTROL_SNAPSHOT, or the reason for CONTROL_WRONG as a
	 * message; otherwise "". Valid until the next call. */
	const char *argument;
};

struct control_words;

struct control_words *control_words_new(void);
void control_words_free(struct control_words *words);
DEFINE_CLEANUP(control_words, control_words_free)

/* Adds received bytes. Take all earlier commands first; otherwise they are
 * kept, too. */
void control_words_put(struct control_words *words, const char *bytes, size_t len);
/* Returns the next command, or false if its line is not complete. */
bool control_words_next(struct control_words *words, struct control_command *ret);

#endif
