/*
 * Instructions per cycle for the rows of a view of cycles or instructions. The
 * profile must have both events, of one PMU and in the same modes: "cycles:u"
 * matches "instructions:u", "cpu_core/cycles/" matches
 * "cpu_core/instructions/". The precision of addresses (modifier p) does not
 * matter.
 */
#ifndef PROF_REPORT_IPC_H
#define PROF_REPORT_IPC_H

#include "report/event_rows.h"

/* A ratio is omitted as noise if either event has fewer samples. */
enum { IPC_LEAST_SAMPLES = 5 };

/*
 * Zeroed: no ratio is known, because the view is of neither event or the
 * profile lacks the other one.
 */
struct ipc {
	bool shows_cycles; /* the view is of cycles, else of instructions */
	struct event_rows other;
};

/*
 * Stores the event that `shown` is to be compared with. Returns false if there
 * is none.
 */
bool ipc_counterpart(const struct profile *profile, event_id shown, event_id *ret);

/*
 * Takes ownership of a view of the counterpart, which must select the same
 * samples as the shown view. The caller must deinitialize the result even after
 * an error.
 */
MUST_CHECK struct error *ipc_init(struct ipc *ipc, const struct view *other,
				  const struct row_by *by);
void ipc_deinit(struct ipc *ipc);

/*
 * Compute the ratio of a row's self, and of all samples. Return false if there
 * are no cycles or too few samples.
 */
bool ipc_of_row(const struct ipc *ipc, const struct row *shown, double *ret);
bool ipc_of_all(const struct ipc *ipc, const struct rows *shown, double *ret);

#endif
