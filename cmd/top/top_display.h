/*
 * The content of prof top, as pages of lines for a screen or a stream: a table
 * of functions, modules, processes, threads, files, lines or labels; the call
 * tree; the callers and callees of a function; its source and instructions.
 */
#ifndef PROF_CMD_TOP_TOP_DISPLAY_H
#define PROF_CMD_TOP_TOP_DISPLAY_H

#include "base/error.h"
#include "cmd/top/top_line.h"
#include "report/rows.h"
#include "symbol/symbol_options.h"

enum display_page { DISPLAY_TABLE, DISPLAY_CALLS, DISPLAY_FUNCTION, DISPLAY_SOURCE };

struct display_options {
	enum display_page page;
	struct row_by by;	   /* rows of a table; borrows its label */
	enum row_order order;	   /* order of a table */
	char *function;		   /* for pages of a function; owned, like all strings here */
	char *function_path;	   /* the path of its module */
	char *process;		   /* only processes with this name, or NULL */
	pid_t tid;		   /* only this thread; 0 for all */
	char *module;		   /* for a table of functions: only this module, or NULL */
	const char *const *labels; /* conditions of label_filter(), borrowed */
	size_t label_count;
	char *filter;	    /* for a table: only rows that match this expression, or NULL */
	double least_share; /* minimum share of a node of a call tree */
	bool leaves_out;    /* least_share applies to rows of tables, too */
	event_id event;
	bool hides_idle; /* see view_options */
	/* without code of runtimes (report/logical.h), except on the source
	 * page */
	bool logical;
	/*
	 * The view turns logical with the first update that has mostly glue,
	 * and stays so, because the share varies from one update to the next.
	 */
	bool may_turn_logical;
	enum name_style names;
	struct symbol_options symbols; /* borrowed */
	size_t columns;		       /* width of the screen for the source; 0 if unknown */
};

struct display;

struct display *display_new(void);
void display_free(struct display *display);

/* Changes take effect with the next update. */
struct display_options *display_options(struct display *display);
/*
 * Sets the filter of the page; "" removes it. Fails if text is not a regular
 * expression; the old filter then remains. Case matters only if the text has a
 * capital letter.
 */
MUST_CHECK struct error *display_set_filter(struct display *display, const char *text);

/* Borrows the profile until the next update. */
void display_update(struct display *display, const struct profile *profile);

size_t display_count(const struct display *display);
/*
 * Returns the sum of hidden idle time for a title, ", 2 s idle hidden (--idle)",
 * or "". The caller frees it.
 */
char *display_idle(const struct display *display);
/* Return the title of the page and the headings of its columns. The caller
 * frees them. */
char *display_title(const struct display *display);
char *display_heading(const struct display *display, size_t columns);
void display_line(const struct display *display, size_t index, size_t columns,
		  struct top_line *ret);

/*
 * Opens the page about the object of a line: the callers and callees of a
 * function, or the functions of a module, process or thread. Returns false if
 * the line has no object.
 */
bool display_enter(struct display *display, size_t index);
/* Opens the source of the function on a line. Returns false if there is none. */
bool display_open_source(struct display *display, size_t index);
/* Returns the line to select first. */
size_t display_hottest(const struct display *display);
/* Returns to the previous page. Returns false if this is the first one. */
bool display_back(struct display *display);

#endif
