/*
 * Options declared as data: parsing, --help and the check of the manual page all come from one
 * table.
 *
 * Options stop at the first word that is none: `prof record -F 99 ./app -g` gives -g to ./app.
 */
#ifndef PROF_CMD_OPTIONS_H
#define PROF_CMD_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Puts the argument (NULL for an option without one) where it belongs. An error says what is wrong
 * with the argument. */
typedef struct error *option_take(void *field, const char *argument);

enum option_standing {
	OPTION_WORKS,
	OPTION_PASSED_OVER, /* taken, as scripts have it; its name is appended to the list at field
			     */
	OPTION_NOT_YET,	    /* an error that says so */
};

struct option_entry {
	char letter;	      /* 0: it has a name only */
	const char *name;     /* NULL: it has a letter only */
	const char *argument; /* what the help calls it, in [] when it may be missing; NULL: none */
	const char *help;     /* NULL: it is not offered */
	option_take *take;
	size_t field; /* offsetof in the command's struct of options */
	enum option_standing standing;
};

/* One that works, for macros that make several. */
#define OPTION_ENTRY(letter, name, argument, help, take, field)                                    \
	{                                                                                          \
		letter, name, argument, help, take, field, OPTION_WORKS                            \
	}

struct option_list {
	char **items;
	size_t count, room;
};
void option_list_deinit(struct option_list *list);

/*
 * entries end with an empty one. *rest: the index of the first word that is no option. With --help
 * or -h nothing but *help is of use.
 */
MUST_CHECK struct error *options_parse(const struct option_entry *entries, int argc, char **argv,
				       void *options, int *rest, bool *help);
void options_help(const struct option_entry *entries, FILE *out);

/* What fields are commonly made of. */
option_take option_true;    /* bool */
option_take option_string;  /* const char *, borrowed from argv */
option_take option_append;  /* struct option_list, copied */
option_take option_count;   /* uint64_t, at least 1 */
option_take option_size;    /* uint64_t bytes, with k, M or G */
option_take option_time;    /* uint64_t ns, from seconds with a fraction */
option_take option_percent; /* double, 0 to 100; a % may stand behind it */

/* "1,5-7" → each number through `add`; false where the text is no such list. */
bool option_ranges(const char *text, void (*add)(void *to, unsigned number), void *to);

/* The candidate nearest to word, where it is near enough to be meant; else NULL. */
const char *option_nearest(const char *word, const char *const *candidates);

#endif
