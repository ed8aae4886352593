/*
 * Computes what was in use at the end of a memory profile: the sums that prof
 * report --leaks shows next to the bytes in use of each row.
 */
#ifndef PROF_CMD_REPORT_REPORT_LEAKS_H
#define PROF_CMD_REPORT_REPORT_LEAKS_H

#include "cmd/options/selection.h"
#include "cmd/ui/table.h"
#include "profile/allocation_classes.h"
#include "report/rows.h"

struct leaks {
	bool has_objects, has_allocated;
	struct view objects; /* inuse_objects, with the same selection */
	uint64_t bytes;	     /* in use */
	uint64_t allocated;  /* all allocated bytes, with the same selection */
	struct rows by_objects;
	/* Blocks by bucket of age (profile/allocation_classes.h). */
	struct {
		bool has_rows;
		struct view view;
		struct rows rows;
	} ages[ALLOCATION_LIFETIMES];
	bool has_ages;
};

/* Fails if the profile has no event of memory in use. The hint is the command
 * that records one. */
MUST_CHECK struct error *leaks_check(const struct profile *profile, const char *path);

/* view: the view of inuse_space. Deinitialize *leaks even after an error. */
MUST_CHECK struct error *leaks_init(struct leaks *leaks, const struct view *view,
				    const struct selection_options *selection, const char *path,
				    enum name_style names);
void leaks_deinit(struct leaks *leaks);

/* Makes the rows of objects and ages. */
MUST_CHECK struct error *leaks_add_rows(struct leaks *leaks, const struct row_by *by);
/* Returns the objects in use of a row of bytes in use. */
uint64_t leaks_objects(const struct leaks *leaks, const struct row *row);

/* Returns the bytes of a row in this age bucket. */
uint64_t leaks_bytes_of_age(const struct leaks *leaks, const struct row *row, unsigned age);
/* Returns the ages of the youngest and the oldest blocks of a row: "10 ms to 10
 * s", or "" if unknown. The caller frees it. */
char *leaks_ages(const struct leaks *leaks, const struct row *row);

/* Prints "in use at the end: 1.1 MB in 1,040 objects, 0.1 % of the 10.7 GB that
 * were allocated". */
void leaks_header(const struct leaks *leaks, const struct table_writer *writer);

#endif
