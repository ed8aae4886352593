/*
 * What was in use at the end of a profile of memory: the sums that prof report --leaks shows beside
 * the bytes in use of each row.
 */
#ifndef PROF_CMD_REPORT_LEAKS_H
#define PROF_CMD_REPORT_LEAKS_H

#include "cmd/selection.h"
#include "cmd/ui/table.h"
#include "profile/allocation_classes.h"
#include "report/rows.h"

struct leaks {
	bool has_objects, has_allocated;
	struct view objects; /* inuse_objects, of the same selection */
	uint64_t bytes;	     /* in use */
	uint64_t allocated;  /* bytes in all, of the same selection */
	struct rows by_objects;
	/* Of blocks of each class of ages (profile/allocation_classes.h). */
	struct {
		bool has_rows;
		struct view view;
		struct rows rows;
	} ages[ALLOCATION_LIFETIMES];
	bool has_ages;
};

/* Fails if the profile has no event of memory in use; the hint says how to record one. */
MUST_CHECK struct error *leaks_check(const struct profile *profile, const char *path);

/* view: of inuse_space. The result must be deinitialized even after an error. */
MUST_CHECK struct error *leaks_init(struct leaks *leaks, const struct view *view,
				    const struct selection_options *selection, const char *path,
				    enum name_style names);
void leaks_deinit(struct leaks *leaks);

/* Makes the rows of objects and ages. */
MUST_CHECK struct error *leaks_add_rows(struct leaks *leaks, const struct row_by *by);
/* The objects in use of a row of bytes in use. */
uint64_t leaks_objects(const struct leaks *leaks, const struct row *row);

/* The bytes of a row that are of this class of ages. */
uint64_t leaks_bytes_of_age(const struct leaks *leaks, const struct row *row, unsigned age);
/* "10 ms to 10 s": the ages of the youngest and of the oldest blocks of a row; "": unknown. To be
 * freed. */
char *leaks_ages(const struct leaks *leaks, const struct row *row);

/* "in use at the end: 1.1 MB in 1,040 objects, 0.1 % of the 10.7 GB that were allocated" */
void leaks_header(const struct leaks *leaks, const struct table_writer *writer);

#endif
