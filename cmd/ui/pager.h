/*
 * Collects text and shows it on stdout. On a terminal the text is as wide as
 * the terminal and goes through a pager (PAGER, default less), which ends by
 * itself if everything fits on one screen. Otherwise it is 120 columns wide.
 * COLUMNS overrides the width. style.h describes when colour is used.
 */
#ifndef PROF_CMD_UI_PAGER_H
#define PROF_CMD_UI_PAGER_H

#include "cmd/ui/style.h"

#include <stdio.h>

struct pager_options {
	enum colour_when colours;
	bool no_pager;
};

/* The entries of an option table for struct `type`, which holds the pager_options as `member`. */
#define PAGER_ENTRIES(type, member)                                                                \
	OPTION_ENTRY(OUTPUT, 0, "color", "auto|always|never",                                      \
		     "use colour (default auto: on a terminal); unless NO_COLOR or CLICOLOR say "  \
		     "otherwise",                                                                  \
		     colour_take_when, offsetof(type, member.colours)),                            \
		OPTION_ENTRY(OUTPUT, 0, "no-pager", NULL, "do not use a pager", option_true,       \
			     offsetof(type, member.no_pager))

struct pager {
	FILE *out; /* collects the text */
	unsigned columns;
	bool has_colours;
	bool is_used; /* false if the text goes to stdout directly */
	char *text;
	size_t len;
};

/* Returns the width of stdout in columns. */
unsigned pager_columns(void);
void pager_open(struct pager *pager, const struct pager_options *options);
/* Returns the sequence that starts a style, or "" without colours. */
const char *pager_sequence(const struct pager *pager, enum style style);
/* Shows the text and waits until the user has left the pager. */
MUST_CHECK struct error *pager_show(struct pager *pager);
void pager_close(struct pager *pager);

#endif
