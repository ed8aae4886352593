/*
 * What was in use at the end of a profile of memory: the sums that prof report --leaks shows beside
 * the bytes in use of each row.
 */
#ifndef PROF_CMD_REPORT_LEAKS_H
#define PROF_CMD_REPORT_LEAKS_H

#include "cmd/selection.h"
#include "cmd/ui/table.h"
#include "report/rows.h"

struct leaks {
	bool has_objects, has_allocated;
	struct view objects; /* inuse_objects, of the same selection */
	uint64_t bytes;	     /* in use */
	uint64_t allocated;  /* bytes in all, of the same selection */
	struct rows by_objects;
};

/* Fails if the profile has no event of memory in use; the hint says how to record one. */
MUST_CHECK struct error *leaks_check(const struct profile *profile, const char *path);

/* view: of inuse_space. The result must be deinitialized even after an error. */
MUST_CHECK struct error *leaks_init(struct leaks *leaks, const struct view *view,
				    const struct selection_options *selection, const char *path,
				    enum name_style names);
void leaks_deinit(struct leaks *leaks);

/* Makes the rows of objects. */
MUST_CHECK struct error *leaks_add_rows(struct leaks *leaks, const struct row_by *by);
/* The objects in use of a row of bytes in use. */
uint64_t leaks_objects(const struct leaks *leaks, const struct row *row);

/* "in use at the end: 1.1 MB in 1,040 objects, 0.1 % of the 10.7 GB that were allocated" */
void leaks_header(const struct leaks *leaks, const struct table_writer *writer);

#endif
