/*
 * Writes checkpoints: the output files are written at intervals during a
 * recording, so that a prof that is killed loses little. FIFOs, devices and
 * stdout are written only at the end.
 *
 * A checkpoint symbolizes the frames that are new since the last one, so the
 * end of the recording need not do it. The rings are read in between. A forked
 * child, which shares the memory of prof, writes the files. It replaces the
 * previous checkpoint, and finishes even if prof is killed. A perf.data file
 * grows under its final name from the first checkpoint on.
 *
 * Unless the user has chosen the interval, it is stretched so that writing
 * costs at most 0.1 % of a CPU. The cost of the next checkpoint is estimated
 * from the cost of the last one and the growth of the profile. A failure is
 * reported once, and the write is tried again; the recording continues.
 */
#ifndef PROF_CMD_RECORD_CHECKPOINT_H
#define PROF_CMD_RECORD_CHECKPOINT_H

#include "cmd/outputs.h"
#include "cmd/record/forked_writer.h"
#include "cmd/record/kept_symbolizer.h"

struct checkpoint_interval {
	uint64_t ns;	  /* 0 without checkpoints */
	bool is_shortest; /* may be stretched if checkpoints are expensive */
};

/* Returns the time between a checkpoint and the next one, which is expected to
 * need this much CPU time. */
uint64_t checkpoint_wait_ns(struct checkpoint_interval interval, uint64_t cost_ns);

struct checkpoints {
	/* Set before checkpoints_begin(). Borrowed. */
	struct checkpoint_interval interval;
	struct recording *recording;
	struct outputs *outputs;
	struct kept_symbolizer *symbolizer;
	/* Writes the prepared outputs. Called in the child. Returns false if
	 * one failed. */
	bool (*write)(void *user, bool prints_errors);
	void *user;

	uint64_t last_ns;      /* when the last checkpoint was started */
	uint64_t last_entries; /* entries of the profile at the last checkpoint */
	double ns_per_entry;   /* CPU time per entry */
	uint64_t own_cpu_ns;   /* CPU time of the last checkpoint without the child */
	struct forked_writer writer;
	bool has_failed;
	/* seconds of the recording that are in the files; 0 before the first
	 * checkpoint */
	double written_seconds;
	double writing_seconds; /* the same in the files that the child is writing */
};

/* Call it when sampling has started. */
void checkpoints_begin(struct checkpoints *checkpoints);
/* Returns the clock_now_ns() at which checkpoints_step() has something to do. */
uint64_t checkpoints_next_ns(const struct checkpoints *checkpoints);
/* Makes a checkpoint if it is due. Call it between two runs of the loop. */
void checkpoints_step(struct checkpoints *checkpoints);
/* Ends the child. Call it when sampling has ended. */
void checkpoints_end(struct checkpoints *checkpoints);

#endif
