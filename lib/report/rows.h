/*
 * The rows of a table: the samples of a view per function, source file, source
 * line, module, process, thread or label value. A row's self counts the samples
 * that were taken in it: in the innermost line of the leaf, for off-CPU time in
 * the blocking function (waiting_place.h), for memory in the function that
 * allocates (allocating_place.h). Its total counts the samples that have it
 * anywhere in the stack, each once. Both are exact. The time is linear in the
 * stack trie and the samples.
 */
#ifndef PROF_REPORT_ROWS_H
#define PROF_REPORT_ROWS_H

#include "report/label_values.h"
#include "report/view.h"

/* The kind of a row. */
enum row_key {
	ROW_FUNCTION, /* functions with the same name and module are one row */
	ROW_FILE,     /* a source file; one row per module if the file is unknown */
	ROW_LINE,     /* a line of a source file; one row per function if it is unknown */
	ROW_MODULE,
	ROW_PROCESS, /* processes with the same name are one row */
	ROW_THREAD,
	ROW_LABEL, /* a value of a label; samples without one are the row "(none)" */
};

struct row_by {
	enum row_key key;
	const char *label; /* the key of ROW_LABEL, else NULL */
};

/* Returns whether rows are buckets of sizes or lifetimes. */
bool row_by_is_class(const struct row_by *by);
/* Returns whether a row is a task (profile/tasks.h). */
bool row_by_is_task(const struct row_by *by);

#define ROW_NO_LABEL UINT32_MAX

struct row {
	/*
	 * The name of the function, process or thread; the path of the module
	 * or source file ("" if unknown); the value of a label ("" if it has
	 * none). It is borrowed from the view or the rows.
	 */
	const char *name;
	/*
	 * The function, or the line's first function with samples, else
	 * ROW_NO_LABEL.
	 */
	uint32_t label;
	uint32_t module;  /* of a function, line, file or module */
	string_id file;	  /* of a line or file; "" if unknown */
	uint32_t line;	  /* of a line; 0 if unknown */
	thread_id thread; /* the thread; for a process, its first thread */
	struct sum self, total;
	/*
	 * For off-CPU time: the reason with the largest part of self, as a
	 * label, and that part. ROW_NO_LABEL if there is none. Reasons that
	 * differ only in the holder of a lock, or in the thread whose end is
	 * awaited, count as one kind. The part is that of the kind, and the
	 * reason is its largest one.
	 */
	uint32_t reason;
	uint64_t reason_weight, kind_weight;
};

enum row_order {
	ROWS_BY_SELF,
	ROWS_BY_TOTAL,
	ROWS_BY_NAME,
	/*
	 * Order by size or lifetime (profile/allocation_classes.h), smallest
	 * first.
	 */
	ROWS_BY_CLASS,
};

struct rows {
	/*
	 * Ordered by self, then total, then name. Rows without samples are
	 * omitted.
	 */
	struct row *items;
	size_t count;
	struct sum all;		    /* samples of the view */
	enum row_key key;	    /* as passed to rows_init() */
	struct label_values values; /* for ROW_LABEL: the names of rows */
};

/* Accepts all keys except ROW_LABEL. */
void rows_init(struct rows *rows, const struct view *view, enum row_key key);
/*
 * Accepts any key. Fails if no sample has the label. The caller must
 * deinitialize the result even after an error.
 */
MUST_CHECK struct error *rows_init_by(struct rows *rows, const struct view *view,
				      const struct row_by *by);
void rows_deinit(struct rows *rows);
void rows_sort(struct rows *rows, enum row_order order);
/*
 * Returns the row of the same function, line, … as a row of another view of the
 * profile with the same key, or NULL. `rows` must be sorted by name.
 */
const struct row *rows_find(const struct rows *rows, const struct row *of);

/*
 * Returns the reason of a row of off-CPU time, with its share unless it is
 * nearly all: "[futex]", "[futex] 81.0 %", "[mutex held by several]"; "" if
 * there is none. The caller frees it.
 */
char *row_reason(const struct view *view, const struct row *row);

/* Returns "function", "module", …, or the key of a label. */
const char *row_by_name(const struct row_by *by);

#endif
