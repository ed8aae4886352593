/*
 * Compares what the kernel counted of each event with its samples
 * (unsampled.h).
 *
 * The module decides which events are comparable, and whether the kernel's
 * count or the samples' weight is more exact.
 */
#ifndef PROF_RECORD_ACCOUNTING_H
#define PROF_RECORD_ACCOUNTING_H

#include "record/config.h"
#include "record/pipeline.h"
#include "record/recording_source.h"
#include "record/sampling.h"
#include "record/unsampled.h"

struct accounted_process {
	pid_t pid;
	uint64_t kernel_before_ns; /* its CPU time in the kernel when it was added */
};

/* A zeroed struct is a closed one. */
struct accounting {
	struct unsampled *unsampled;
	const struct record_config *config; /* private, like all members below */
	const struct sampling *sampling;
	const struct recording_source *source;
	/* CPU time of a command that was recorded to its end, and the part of
	 * it that was spent in the kernel. 0 if unknown. */
	uint64_t command_ns, command_kernel_ns;
	struct accounted_process *processes; /* the processes that the recording was attached to */
	size_t process_count, process_room;
};

/* Borrows all arguments. */
void accounting_open(struct accounting *accounting, const struct record_config *config,
		     const struct sampling *sampling, const struct recording_source *source);
/* Adds a process that joins the target later. */
void accounting_add_process(struct accounting *accounting, pid_t pid);
void accounting_close(struct accounting *accounting);

/* Settles all comparable events: see unsampled_settle(). */
void accounting_settle(const struct accounting *accounting, struct pipeline *pipeline, bool all);
/*
 * Must be called when sampling has ended. If the command has ended, too, reads
 * its CPU time and that of the descendants that were waited for. Unless
 * was_paused is set, the weights of a clock's samples must add up to at least
 * that time.
 */
void accounting_end(struct accounting *accounting, bool was_paused);

#endif
