/*
 * The hottest functions of a view, or files, source lines, modules, processes, threads: self (where
 * the samples were taken: the innermost line of a stack's leaf) and total (anywhere in the stack,
 * counted once). Exact, in time linear in the size of the stack trie.
 */
#ifndef PROF_REPORT_TOP_H
#define PROF_REPORT_TOP_H

#include "report/view.h"

/* What the samples are told apart by. */
enum top_key {
	TOP_FUNCTION, /* of the same name and module: one */
	TOP_FILE,     /* of source; where none is known, one for each module */
	TOP_LINE,     /* of a source file; where none is known, one for each function */
	TOP_MODULE,
	TOP_PROCESS, /* of the same name: one */
	TOP_THREAD,
};

#define TOP_NO_LABEL UINT32_MAX

struct top_row {
	const char *name; /* the function's; of a source file "" when unknown; of a module its path;
			     of a process or thread its name; borrowed from the view */
	uint32_t label;	  /* of a function, or of the first that has samples of the line; else
			     TOP_NO_LABEL */
	uint32_t module;  /* of what is in one … */
	string_id file;	  /* of a line or file; "" when unknown */
	uint32_t line;	  /* of a line; 0 when unknown */
	thread_id thread; /* of a thread; the first of a process */
	struct sum self, total;
};

enum top_order { TOP_BY_SELF, TOP_BY_TOTAL, TOP_BY_NAME };

struct top {
	struct top_row *rows; /* by self, then total, then name; none without samples */
	size_t count;
	struct sum all; /* samples of the view */
};

void top_init(struct top *top, const struct view *view, enum top_key key);
void top_deinit(struct top *top);
void top_sort(struct top *top, enum top_order order);

#endif
