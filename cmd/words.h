/* A list of words: command lines, environments, and messages that consist of words. */
#ifndef PROF_CMD_WORDS_H
#define PROF_CMD_WORDS_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

/* Zeroed at first. items ends with NULL once there is a word, as execvp(3) needs it. */
struct words {
	char **items; /* owned */
	size_t count, room;
};
void words_deinit(struct words *words);

void words_add(struct words *words, const char *word);
/* Takes word. */
void words_take(struct words *words, char *word);
void words_add_all(struct words *words, const struct words *all);
/* The parts between spaces and tabs. */
void words_split(struct words *words, const char *text);

bool words_have(const struct words *words, const char *word);

/* The words in one text, each followed by a NUL; to be freed. */
char *words_pack(const struct words *words, size_t *len);
/* Adds the words of such a text; the last one may lack its NUL. */
void words_unpack(struct words *words, const char *text, size_t len);

#endif
