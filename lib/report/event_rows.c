#include "report/event_rows.h"

struct error *event_rows_init(struct event_rows *event, const struct view *view,
			      const struct row_by *by)
{
	struct error *err;

	*event = (struct event_rows){.is_known = true, .view = *view};
	err = rows_init_by(&event->rows, &event->view, by);
	if (!err)
		rows_sort(&event->rows, ROWS_BY_NAME);
	return err;
}

void event_rows_deinit(struct event_rows *event)
{
	if (!event->is_known)
		return;
	rows_deinit(&event->rows);
	view_deinit(&event->view);
}

const struct row *event_rows_find(const struct event_rows *event, const struct row *shown)
{
	return rows_find(&event->rows, shown);
}
