/* A list of strings: command lines, environments and messages. */
#ifndef PROF_CMD_STRING_LIST_H
#define PROF_CMD_STRING_LIST_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

/* Zeroed at first. items ends with NULL if it is not empty, as execvp(3)
 * requires. */
struct string_list {
	char **items; /* owned */
	size_t count, room;
};
void string_list_deinit(struct string_list *list);

void string_list_add(struct string_list *list, const char *word);
/* Adds word and takes its ownership. */
void string_list_take(struct string_list *list, char *word);
void string_list_add_all(struct string_list *list, const struct string_list *all);
/* Adds the parts between spaces and tabs. */
void string_list_split(struct string_list *list, const char *text);

bool string_list_have(const struct string_list *list, const char *word);

/* Returns all strings in one text, each followed by a NUL. The caller frees it. */
char *string_list_pack(const struct string_list *list, size_t *len);
/* Adds the strings of such a text. The last one may lack its NUL. */
void string_list_unpack(struct string_list *list, const char *text, size_t len);

#endif
