/*
 * Checkpoints: while a recording goes on, its output files are written at intervals, so that a prof
 * that is killed loses little. FIFOs, devices and stdout are written at the end only.
 *
 * A checkpoint symbolizes the frames that are new since the last one, which the end then need not
 * do; the rings are read in between. A forked child, which shares the memory of prof, writes the
 * files; it replaces the previous checkpoint, and completes its work even if prof is killed. A
 * perf.data file grows under its name from the first checkpoint on.
 *
 * Unless the user has chosen it, the interval is stretched so that writing costs at most 0.1 % of a
 * CPU: the cost of the next checkpoint is estimated from that of the last one and the growth of the
 * profile. What fails is reported once and tried again; the recording goes on.
 */
#ifndef PROF_CMD_CHECKPOINT_H
#define PROF_CMD_CHECKPOINT_H

#include "cmd/forked_writer.h"
#include "cmd/kept_symbolizer.h"
#include "cmd/outputs.h"

struct checkpoint_interval {
	uint64_t ns;	  /* 0: no checkpoints */
	bool is_shortest; /* it is stretched where checkpoints are expensive */
};

/* The time from a checkpoint to the next, which is expected to cost this much CPU time. */
uint64_t checkpoint_wait_ns(struct checkpoint_interval interval, uint64_t cost_ns);

struct checkpoints {
	/* Set before checkpoints_begin(), borrowed. */
	struct checkpoint_interval interval;
	struct recording *recording;
	struct outputs *outputs;
	struct kept_symbolizer *symbolizer;
	/* Called in the child: writes the prepared outputs. False: one of them failed. */
	bool (*write)(void *user, bool prints_errors);
	void *user;

	uint64_t last_ns;      /* the last checkpoint was begun then */
	uint64_t last_entries; /* of the profile */
	double ns_per_entry;   /* CPU time */
	uint64_t own_cpu_ns;   /* of the last checkpoint, without the child */
	struct forked_writer writer;
	bool has_failed;
	double written_seconds; /* of the recording that are in the files; 0: no checkpoint */
	double writing_seconds; /* in the files that the child writes */
};

/* Sampling has begun. */
void checkpoints_begin(struct checkpoints *checkpoints);
/* clock_now_ns() at which checkpoints_step() has something to do. */
uint64_t checkpoints_next_ns(const struct checkpoints *checkpoints);
/* Makes a checkpoint if it is due. Call it between two runs of the loop. */
void checkpoints_step(struct checkpoints *checkpoints);
/* Sampling has ended: ends the child. */
void checkpoints_end(struct checkpoints *checkpoints);

#endif
