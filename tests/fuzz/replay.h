/*
 * The outcome of a fuzz target for an input. A replay of the corpus compares it
 * with the corpus's file .outcomes (replay.c), so that the test fails if the
 * result for any input changes.
 */
#ifndef PROF_TESTS_FUZZ_REPLAY_H
#define PROF_TESTS_FUZZ_REPLAY_H

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Adds data to a part of the outcome. NULL under libFuzzer. */
__attribute__((weak)) void replay_note(const char *part, const void *data, size_t len);

/* Skips an input that this build cannot read because it lacks a library. The
 * input then has no outcome. */
__attribute__((weak)) void replay_skip(void);

static inline void note(const char *part, const void *data, size_t len)
{
	if (replay_note)
		replay_note(part, data, len);
}

static inline void note_number(const char *part, uint64_t number)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
	note(part, bytes, sizeof(bytes));
}

/* Notes a text including its end; NULL differs from "". Reads all of it in any
 * case. */
static inline void note_text(const char *part, const char *text)
{
	note(part, text ? text : "\n", text ? strlen(text) + 1 : 1);
}

static inline void note_taken(const char *part, char *text)
{
	note_text(part, text);
	free(text);
}

#endif
