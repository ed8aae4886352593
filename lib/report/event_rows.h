/*
 * The rows of another event than the shown one, for a column with its values:
 * instructions per cycle (ipc.h), elapsed time.
 */
#ifndef PROF_REPORT_EVENT_ROWS_H
#define PROF_REPORT_EVENT_ROWS_H

#include "report/rows.h"

/* Zeroed: unknown, because the profile lacks the other event. */
struct event_rows {
	bool is_known;
	struct view view;
	struct rows rows; /* by name */
};

/*
 * Takes ownership of a view of the other event, which must select the same
 * samples as the shown view. The caller must deinitialize the result even after
 * an error.
 */
MUST_CHECK struct error *event_rows_init(struct event_rows *event, const struct view *view,
					 const struct row_by *by);
void event_rows_deinit(struct event_rows *event);

/* Returns the row of the other event for a shown row, or NULL. */
const struct row *event_rows_find(const struct event_rows *event, const struct row *shown);

#endif
