/*
 * Instructions per cycle of the rows of a view, which shows cycles or instructions. The profile
 * must have both events, of one PMU and in the same modes: "cycles:u" goes with "instructions:u",
 * "cpu_core/cycles/" with "cpu_core/instructions/". The precision of addresses (modifier p) does
 * not matter.
 */
#ifndef PROF_REPORT_IPC_H
#define PROF_REPORT_IPC_H

#include "report/rows.h"

/* Below this number of samples of either event a ratio is left out: it would be noise. */
enum { IPC_LEAST_SAMPLES = 5 };

/* Zeroed: the view shown is of neither event, or the profile lacks the other one; no ratio is
 * known. */
struct ipc {
	bool is_known;	   /* the profile has both events */
	bool shows_cycles; /* the view shown is of cycles; else of instructions */
	struct view other; /* of the other event, … */
	struct rows rows;  /* … by name */
};

/* The event that `shown` is to be compared with. Returns false if there is none. */
bool ipc_counterpart(const struct profile *profile, event_id shown, event_id *ret);

/* Takes the view of the counterpart, whose samples are selected as those shown. The result must be
 * deinitialized even after an error. */
MUST_CHECK struct error *ipc_init(struct ipc *ipc, const struct view *other,
				  const struct row_by *by);
void ipc_deinit(struct ipc *ipc);

/* Of a row's self, and of all samples. False: there are no cycles or too few samples. */
bool ipc_of_row(const struct ipc *ipc, const struct row *shown, double *ret);
bool ipc_of_all(const struct ipc *ipc, const struct rows *shown, double *ret);

#endif
