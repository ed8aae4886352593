/*
 * What `prof record` can be told: the table of its options, and what they come to.
 */
#ifndef PROF_CMD_RECORD_OPTIONS_H
#define PROF_CMD_RECORD_OPTIONS_H

#include "cmd/delivery_options.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum call_graph { CALL_GRAPH_AUTO, CALL_GRAPH_DWARF, CALL_GRAPH_FP, CALL_GRAPH_NO };

struct id_list {
	pid_t *items;
	size_t count, room;
};

struct cpu_list {
	unsigned *items;
	size_t count, room;
};

struct rate {
	uint64_t frequency_hz;
	bool max; /* as fast as the kernel allows */
};

struct stacks {
	enum call_graph kind;
	uint64_t dump_bytes;
};

struct record_options {
	struct option_list events; /* none: cycles, or what comes nearest to it */
	struct rate rate;
	uint64_t period; /* 0: by rate */
	struct id_list pids, tids;
	struct cpu_list cpus; /* none: all */
	bool system_wide;
	bool no_inherit;
	bool all_user, all_kernel;
	struct stacks stacks;
	uint64_t ring_bytes;  /* 0: the default */
	uint64_t duration_ns; /* 0: until the command or the target ends */
	struct delivery_options delivery;
	struct option_list without_meaning; /* options of perf that were taken and do nothing */
};

extern const struct option_entry record_option_table[];

void record_options_init(struct record_options *options);
void record_options_deinit(struct record_options *options);

#endif
