/*
 * What prof top shows of a profile, as pages of lines for a screen or a stream: a table of
 * functions, modules, processes, threads, files, lines or labels; the call tree; the callers and
 * callees of a function; its source and instructions.
 */
#ifndef PROF_CMD_TOP_DISPLAY_H
#define PROF_CMD_TOP_DISPLAY_H

#include "base/error.h"
#include "cmd/top_line.h"
#include "report/rows.h"
#include "symbol/symbol_options.h"

enum display_page { DISPLAY_TABLE, DISPLAY_CALLS, DISPLAY_FUNCTION, DISPLAY_SOURCE };

struct display_options {
	enum display_page page;
	struct row_by by;	   /* the rows of a table; its label is borrowed */
	enum row_order order;	   /* of a table */
	char *function;		   /* of pages of a function; owned, as all strings here */
	char *function_path;	   /* the path of its module */
	char *process;		   /* only processes of this name; NULL: all */
	pid_t tid;		   /* only this thread; 0: all */
	char *module;		   /* a table of functions: only those of this module; NULL: all */
	const char *const *labels; /* conditions of label_filter(), borrowed */
	size_t label_count;
	char *filter;	    /* a table: only rows that match this expression; NULL: all */
	double least_share; /* of a node of a call tree … */
	bool leaves_out;    /* … and of a row of a table; else all rows are shown */
	event_id event;
	bool logical; /* without the code of runtimes (report/logical.h), but for the source */
	enum name_style names;
	struct symbol_options symbols; /* borrowed */
	size_t columns;		       /* of the screen, for the source; 0: unknown */
};

struct display;

struct display *display_new(void);
void display_free(struct display *display);

/* Changes take effect with the next update. */
struct display_options *display_options(struct display *display);
/* Sets the filter of the page; "" for none. Fails if it is not a regular expression, and the filter
 * stays as it was then. Letters match in both cases unless the text has a capital letter. */
MUST_CHECK struct error *display_set_filter(struct display *display, const char *text);

/* Borrows the profile until the next update. */
void display_update(struct display *display, const struct profile *profile);

size_t display_count(const struct display *display);
/* The title of the page, and the headings of its columns; to be freed. */
char *display_title(const struct display *display);
char *display_heading(const struct display *display, size_t columns);
void display_line(const struct display *display, size_t index, size_t columns,
		  struct top_line *ret);

/* Opens the page about the object of a line: the callers and callees of a function, the functions
 * of a module, process or thread. False if the line has none. */
bool display_enter(struct display *display, size_t index);
/* Opens the source of the function that a line shows. False if it shows none. */
bool display_open_source(struct display *display, size_t index);
/* The line to select first. */
size_t display_hottest(const struct display *display);
/* Returns to the page before. False if this is the first one. */
bool display_back(struct display *display);

#endif
