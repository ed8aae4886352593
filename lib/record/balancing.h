/*
 * Holds what the kernel has counted of each event against its samples (balance.h): of which events
 * both can be compared, and which of them is the more exact.
 */
#ifndef PROF_RECORD_BALANCING_H
#define PROF_RECORD_BALANCING_H

#include "record/balance.h"
#include "record/config.h"
#include "record/intake.h"
#include "record/pipeline.h"
#include "record/sampling.h"

struct balanced_process {
	pid_t pid;
	uint64_t kernel_before_ns; /* that it was in the kernel until then */
};

/* Zeroed: not open. */
struct balancing {
	struct balance *balance;
	const struct record_config *config; /* private, as all below */
	const struct sampling *sampling;
	const struct intake *intake;
	/* Of a command that was recorded to its end, and of it in the kernel; 0: unknown. */
	uint64_t command_ns, command_kernel_ns;
	struct balanced_process *processes; /* that the recording was attached to */
	size_t process_count, process_room;
};

/* Borrows all. */
void balancing_open(struct balancing *balancing, const struct record_config *config,
		    const struct sampling *sampling, const struct intake *intake);
/* A process that the target got later. */
void balancing_add_process(struct balancing *balancing, pid_t pid);
void balancing_close(struct balancing *balancing);

/* As balance_settle(). */
void balancing_settle(const struct balancing *balancing, struct pipeline *pipeline, bool all);
/*
 * Sampling has ended. If the command has, too, its own CPU time and that of those descendants that
 * were waited for is known; unless was_paused, it is to be that of the samples.
 */
void balancing_end(struct balancing *balancing, bool was_paused);

#endif
