/*
 * The rows of a table: the samples of a view per function, source file, source line, module,
 * process, thread or value of a label. A row's self counts the samples that were taken in it (in
 * the innermost line of the leaf; of waiting, in the function that waits: waiting_place.h; of
 * memory, in the function that allocates: allocating_place.h); its total counts the samples that
 * have it anywhere in the stack, each once. Both are exact; the time is linear in the stack trie
 * and the samples.
 */
#ifndef PROF_REPORT_ROWS_H
#define PROF_REPORT_ROWS_H

#include "report/label_values.h"
#include "report/view.h"

/* What a row is. */
enum row_key {
	ROW_FUNCTION, /* functions of the same name and module are one row */
	ROW_FILE,     /* a source file; a row per module where the file is unknown */
	ROW_LINE,     /* a line of a source file; a row per function where it is unknown */
	ROW_MODULE,
	ROW_PROCESS, /* processes of the same name are one row */
	ROW_THREAD,
	ROW_LABEL, /* a value of a label; samples without one are the row "(none)" */
};

struct row_by {
	enum row_key key;
	const char *label; /* of ROW_LABEL: its key; else NULL */
};

/* Rows are classes of sizes or lifetimes. */
bool row_by_is_class(const struct row_by *by);
/* A row is a task (profile/tasks.h). */
bool row_by_is_task(const struct row_by *by);

#define ROW_NO_LABEL UINT32_MAX

struct row {
	const char *name; /* of the function, process or thread; the path of the module or source
			     file ("": unknown); the value of a label ("": none); borrowed from
			     the view or the rows */
	uint32_t label;	  /* of the function, or of the first function with samples of the line;
			     else ROW_NO_LABEL */
	uint32_t module;  /* of a function, line, file or module */
	string_id file;	  /* of a line or file; "": unknown */
	uint32_t line;	  /* of a line; 0: unknown */
	thread_id thread; /* the thread; the first one of a process */
	struct sum self, total;
	/* Of waiting: the reason with the largest part of self, as a label, and this part;
	 * ROW_NO_LABEL: none. Reasons that differ only in who holds a lock, or whose end it is,
	 * count as one kind, whose part this is; the reason is the largest of it. */
	uint32_t reason;
	uint64_t reason_weight, kind_weight;
};

enum row_order {
	ROWS_BY_SELF,
	ROWS_BY_TOTAL,
	ROWS_BY_NAME,
	ROWS_BY_CLASS, /* of sizes and lifetimes (profile/allocation_classes.h), smallest first */
};

struct rows {
	struct row *items; /* by self, then total, then name; rows without samples are left out */
	size_t count;
	struct sum all;		    /* samples of the view */
	enum row_key key;	    /* as they were made */
	struct label_values values; /* of ROW_LABEL: the names of rows */
};

/* All keys but ROW_LABEL. */
void rows_init(struct rows *rows, const struct view *view, enum row_key key);
/* Any key. Fails if no sample has the label. The result must be deinitialized even then. */
MUST_CHECK struct error *rows_init_by(struct rows *rows, const struct view *view,
				      const struct row_by *by);
void rows_deinit(struct rows *rows);
void rows_sort(struct rows *rows, enum row_order order);
/* The row that is of the same function, line, … as a row of another view of the profile with the
 * same key; NULL: none. `rows` must be sorted by name. */
const struct row *rows_find(const struct rows *rows, const struct row *of);

/* The reason of a row of waiting, with its share unless it is nearly all: "[futex]", "[futex] 81.0
 * %", "[mutex held by several]"; "" without one. To be freed. */
char *row_reason(const struct view *view, const struct row *row);

/* "function", "module", …; the key of a label. */
const char *row_by_name(const struct row_by *by);

#endif
