/*
 * Command-line options declared as tables, from which parsing, --help and the check of the manual
 * page are made.
 *
 * Options end at the first word that is not one: `prof record -F 99 ./app -g` passes -g to ./app.
 */
#ifndef PROF_CMD_UI_OPTIONS_H
#define PROF_CMD_UI_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Stores the argument (NULL for an option without one) in the field. The error says what is wrong
 * with the argument. */
typedef struct error *option_take(void *field, const char *argument);

enum option_standing {
	OPTION_WORKS,
	OPTION_IGNORED, /* accepted for scripts; its name is appended to the option_list at field */
	OPTION_UNSUPPORTED, /* an error that says so */
};

struct option_entry {
	char letter;	  /* 0: none */
	const char *name; /* NULL: none */
	/* As the help shows it, in [] if it is optional; NULL: none. Lower-case words are choices
	 * ("auto|always|never"); the shell completes FILE, DIR, PID, USER and FORMAT. */
	const char *argument;
	const char *help; /* NULL: not listed in the help */
	option_take *take;
	size_t field; /* offsetof in the command's struct of options */
	enum option_standing standing;
};

/* An entry with standing OPTION_WORKS, for macros that make several. */
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
 * entries end with an empty one. *rest: the index of the first word that is not an option. After
 * --help or -h only *help is valid.
 */
MUST_CHECK struct error *options_parse(const struct option_entry *entries, int argc, char **argv,
				       void *options, int *rest, bool *help);
void options_help(const struct option_entry *entries, FILE *out);

/* Common types of fields. */
option_take option_true;       /* bool */
option_take option_string;     /* const char *, borrowed from argv */
option_take option_append;     /* struct option_list, copied */
option_take option_count;      /* uint64_t, at least 1 */
option_take option_size;       /* uint64_t bytes, with k, M or G */
option_take option_time;       /* uint64_t ns, from seconds with a fraction; at least 1 ns */
option_take option_short_time; /* uint64_t ns, from a number with ns, us, ms or s */
option_take option_percent;    /* double, 0 to 100; a % may follow */

/* A word that is a value of an option. A table of them ends with a zeroed one. */
struct option_choice {
	const char *word;
	int value;
};

/* NULL if there is no such word. */
const struct option_choice *option_choice_find(const struct option_choice *choices,
					       const char *word);
/*
 * Stores the value of the choice called argument; *ret may be an enum. The error lists all choices
 * but those with the value of the one before, which are aliases: unknown WHAT "x" (a, b, c).
 */
MUST_CHECK struct error *option_choice(const char *what, const struct option_choice *choices,
				       const char *argument, int *ret);

/* Calls `add` for each number of a list such as "1,5-7". False if the text is not such a list. */
bool option_ranges(const char *text, void (*add)(void *to, unsigned number), void *to);

#endif
