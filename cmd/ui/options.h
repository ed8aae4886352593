/*
 * Command-line options, declared as tables. Each command has one table, which
 * parsing, -h, --help, the shell completions and the check of the manual pages
 * use.
 *
 * Options end at the first word that is not an option: the command line
 * `prof record -F 99 ./app -g` passes -g to ./app.
 */
#ifndef PROF_CMD_UI_OPTIONS_H
#define PROF_CMD_UI_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Parses the argument of an option, which is NULL for an option without one,
 * and stores the value in the field. Fails if the argument is wrong.
 */
typedef struct error *option_take(void *field, const char *argument);

enum option_standing {
	OPTION_WORKS,
	/*
	 * Has no effect, but scripts may use it. Its name is appended to the
	 * option_list at `field`, for a notice.
	 */
	OPTION_IGNORED,
	OPTION_UNSUPPORTED, /* options_parse() fails */
};

/* The headings of --help and of the manual pages, in their order. */
enum option_group {
	/*
	 * The option is not listed. In *help of options_parse(): no help was
	 * requested.
	 */
	GROUP_NONE,
	GROUP_TARGET,
	GROUP_EVENTS,
	GROUP_STACKS,
	GROUP_WAITING,
	GROUP_MEMORY,
	GROUP_INPUT,
	GROUP_SELECTION,
	GROUP_VIEW,
	GROUP_STATISTICS,
	GROUP_ACCESS,
	GROUP_OUTPUT,
	GROUP_SYMBOLS,
	GROUP_CONTROL,
	GROUP_CONTINUOUS,
	GROUP_PUSH,
	GROUP_HELP, /* -h and --help, which every table has */
	GROUP_COUNT,

	/* Requests for help only. */
	GROUP_COMMON, /* -h: the common options */
	GROUP_ALL,    /* --help: all groups */
};

struct option_entry {
	char letter;	  /* 0 if there is none */
	const char *name; /* or NULL */
	/*
	 * The argument as the help shows it, in [] if it is optional. NULL if
	 * the option has none. Lower-case words are choices
	 * ("auto|always|never"). The shell completes FILE, DIR, PID, USER and
	 * FORMAT.
	 */
	const char *argument;
	/*
	 * Starts with a verb. -h and the completions show only the part before
	 * the first "; ", which must be understandable alone. NULL if group is
	 * GROUP_NONE.
	 */
	const char *help;
	option_take *take;
	size_t field; /* offset in the command's struct of options */
	enum option_standing standing;
	enum option_group group;
	bool is_common; /* listed by -h */
};

/*
 * Initializers for entries with OPTION_WORKS. `group` is TARGET, EVENTS, …
 * without GROUP_. OPTION_COMMON is for the options that most users need: -h
 * lists them, and their summary must fit on one line.
 */
#define OPTION_ENTRY(group, letter, name, argument, help, take, field)                             \
	{                                                                                          \
		letter, name, argument, help, take, field, OPTION_WORKS, GROUP_##group, false      \
	}
#define OPTION_COMMON(group, letter, name, argument, help, take, field)                            \
	{                                                                                          \
		letter, name, argument, help, take, field, OPTION_WORKS, GROUP_##group, true       \
	}

/* An option of another program that is ignored or refused. */
#define OPTION_UNLISTED(letter, name, argument, field, standing)                                   \
	{                                                                                          \
		letter, name, argument, NULL, NULL, field, standing, GROUP_NONE, false             \
	}

/* The entry of -q for struct `type`, which holds the bool as `member`. */
#define QUIET_ENTRY(type, member)                                                                  \
	OPTION_ENTRY(OUTPUT, 'q', "quiet", NULL, "print errors only", option_true,                 \
		     offsetof(type, member))

struct option_list {
	char **items;
	size_t count, room;
};
void option_list_deinit(struct option_list *list);

/*
 * Parses the options of a command line into the struct at `options`. The table
 * `entries` ends with an empty entry. Sets *rest to the index of the first word
 * that is not an option. Sets *help to the group whose help is requested:
 * GROUP_COMMON for -h, GROUP_ALL for --help, a group for --help GROUP, else
 * GROUP_NONE. If help is requested, no other result is valid.
 */
MUST_CHECK struct error *options_parse(const struct option_entry *entries, int argc, char **argv,
				       void *options, int *rest, enum option_group *help);

/* Returns whether an entry is the empty one at the end of a table. */
bool option_is_end(const struct option_entry *entry);
/*
 * Prints one group or all groups: a heading and the options with their help,
 * with an empty line between groups. Omits options that the table `others` also
 * has; it may be NULL.
 */
void options_help(const struct option_entry *entries, enum option_group group,
		  const struct option_entry *others, FILE *out);
/* Prints the summaries of the common options, or of all, without headings. */
void options_summarize(const struct option_entry *entries, bool all, FILE *out);
/* Returns the names of the groups in a table, without GROUP_HELP: "target,
 * events". The caller frees it. */
char *options_group_names(const struct option_entry *entries);

/* Common types of fields. */
option_take option_true;       /* bool */
option_take option_string;     /* const char *, borrowed from argv */
option_take option_append;     /* struct option_list, copied */
option_take option_count;      /* uint64_t, at least 1 */
option_take option_size;       /* uint64_t bytes, with k, M or G */
option_take option_time;       /* uint64_t ns, from seconds with a fraction; at least 1 ns */
option_take option_short_time; /* uint64_t ns, from a number with ns, us, ms or s */
option_take option_percent;    /* double, 0 to 100; a % may follow */

/* A word that an option accepts as its argument. A table of choices ends with a
 * zeroed one. */
struct option_choice {
	const char *word;
	int value;
};

/* Returns the choice with this word, or NULL. */
const struct option_choice *option_choice_find(const struct option_choice *choices,
					       const char *word);
/*
 * Finds the choice whose word is `argument` and stores its value in *ret, which
 * may be an enum. `what` is for the error, which lists the choices: unknown
 * WHAT "x" (a, b, c). A choice with the same value as the previous one is an
 * alias, which is not listed.
 */
MUST_CHECK struct error *option_choice(const char *what, const struct option_choice *choices,
				       const char *argument, int *ret);

/* Calls `add` for each number of a list such as "1,5-7". Returns false if the
 * text is not such a list. */
bool option_ranges(const char *text, void (*add)(void *to, unsigned number), void *to);

#endif
