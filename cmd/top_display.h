/*
 * What prof top shows of a profile: lines of text, for a screen or for a stream. A table of
 * functions (or of modules, processes, threads, files, lines), the call tree, or all about one
 * function: who calls it and whom it calls; its source and its instructions.
 */
#ifndef PROF_CMD_TOP_DISPLAY_H
#define PROF_CMD_TOP_DISPLAY_H

#include "report/outline.h"
#include "report/top.h"

#include <regex.h>

enum display_page { DISPLAY_TABLE, DISPLAY_CALLS, DISPLAY_FUNCTION, DISPLAY_SOURCE };

struct display_options {
	enum display_page page;
	enum top_key by;      /* of a table */
	enum top_order order; /* of a table */
	char *function;	      /* of its pages, and the path of its module; owned, as all strings */
	char *function_path;
	char *process;	    /* only processes of this name; NULL: all */
	pid_t tid;	    /* only this thread; 0: all */
	char *module;	    /* a table of functions: only of this module; NULL: all */
	char *filter;	    /* a table: only what this regular expression matches; NULL: all */
	double least_share; /* of what a call tree opens … */
	bool leaves_out;    /* … and of what a table lists; else all */
	event_id event;
	const char *debug_dir; /* where separate debug files are; borrowed */
	size_t columns;	       /* of the screen, for the source; 0: not known */
};

/* Is it worth a look? */
enum heat { HEAT_NONE, HEAT_WARM, HEAT_HOT };

/* Columns before bar, module and name: the shares. */
enum { DISPLAY_SHARES = 16 };

struct display_line {
	char *text;	       /* printable; owned */
	unsigned names_at;     /* byte where module and name begin … */
	unsigned names_column; /* … which is this column */
	enum heat heat;	       /* of its shares */
	bool is_heading;       /* of a part of a page */
};

struct display;

struct display *display_new(void);
void display_free(struct display *display);

/* Changes take effect with the next update. */
struct display_options *display_options(struct display *display);
/* "": no filter. Without a capital letter it matches those, too. Where it is no regular
 * expression, the filter stays as it was. The next page has none. */
MUST_CHECK struct error *display_set_filter(struct display *display, const char *text);

/* Borrows the profile until the next update. */
void display_update(struct display *display, const struct profile *profile);

size_t display_count(const struct display *display);
/* What is shown, in words; to be freed, as the heading of the columns is. */
char *display_title(const struct display *display);
char *display_heading(const struct display *display, size_t columns);
void display_line(const struct display *display, size_t index, size_t columns,
		  struct display_line *ret);
void display_line_deinit(struct display_line *line);

/* What the line is about becomes what is shown: a function's own page, the functions of a module, a
 * process, a thread. False where there is nothing more. */
bool display_enter(struct display *display, size_t index);
/* The function that the line is about, or whose page is shown, is shown line by line. False where
 * it is about none. */
bool display_open_source(struct display *display, size_t index);
/* Where to look first. */
size_t display_hottest(const struct display *display);
/* What was shown before. False: that was the first. */
bool display_back(struct display *display);

#endif
