/*
 * What a command that samples can be told about what to sample and how: a struct for its options
 * and the entries for its table.
 */
#ifndef PROF_CMD_SAMPLING_OPTIONS_H
#define PROF_CMD_SAMPLING_OPTIONS_H

#include "cmd/options.h"

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

struct user {
	bool is_given;
	uid_t id;
};

struct rate {
	uint64_t frequency_hz;
	bool max; /* as fast as the kernel allows */
};

struct stacks {
	enum call_graph kind;
	uint64_t dump_bytes;
};

/* If nothing is said: 999 rather than 1000, so as not to beat in time with what programs do a
 * thousand times a second. */
enum { SAMPLING_FREQUENCY_HZ = 999 };

struct sampling_options {
	struct option_list events; /* none: cycles, or what comes nearest to it */
	struct rate rate;
	uint64_t period;  /* 0: by rate */
	struct user user; /* whose processes become pids: targets_find() */
	struct id_list pids, tids;
	struct cpu_list cpus; /* none: all */
	bool system_wide;
	bool no_inherit;
	bool all_user, all_kernel;
	struct stacks stacks;
	uint64_t ring_bytes; /* 0: the default */
	uint64_t depth;	     /* frames of a stack, at most */
};

void sampling_options_init(struct sampling_options *options);
void sampling_options_deinit(struct sampling_options *options);

/* Is a command what is sampled, or does it only bound the sampling of another target? */
bool sampling_is_of_command(const struct sampling_options *options);
/* What excludes each other. */
MUST_CHECK struct error *sampling_options_check(const struct sampling_options *options);
/* Brings rate and rings within what is possible; says so, unless quiet. */
void sampling_options_settle(struct sampling_options *options, bool quiet);

option_take sampling_take_events;     /* struct option_list */
option_take sampling_take_rate;	      /* struct rate */
option_take sampling_take_ids;	      /* struct id_list */
option_take sampling_take_cpus;	      /* struct cpu_list */
option_take sampling_take_user;	      /* struct user */
option_take sampling_take_g;	      /* struct stacks */
option_take sampling_take_call_graph; /* struct stacks */
option_take sampling_take_ring;	      /* uint64_t bytes */
option_take sampling_take_depth;      /* uint64_t frames */

#define SAMPLING_ENTRY(letter, name, argument, help, take, field)                                  \
	{                                                                                          \
		letter, name, argument, help, take, field, OPTION_WORKS                            \
	}

/* Which processes, threads and CPUs: entries of a table for struct `type`, which holds the
 * sampling_options as `member`. */
#define SAMPLING_TARGET_ENTRIES(type, member)                                                      \
	SAMPLING_ENTRY('p', "pid", "PID[,PID]",                                                    \
		       "these running processes, their threads and what they fork",                \
		       sampling_take_ids, offsetof(type, member.pids)),                            \
		SAMPLING_ENTRY('t', "tid", "TID[,TID]", "these threads alone", sampling_take_ids,  \
			       offsetof(type, member.tids)),                                       \
		SAMPLING_ENTRY('u', "uid", "USER",                                                 \
			       "the running processes of this user (a name or a number), and "     \
			       "what they fork",                                                   \
			       sampling_take_user, offsetof(type, member.user)),                   \
		SAMPLING_ENTRY('a', "all-cpus", NULL, "the whole machine", option_true,            \
			       offsetof(type, member.system_wide)),                                \
		SAMPLING_ENTRY('C', "cpu", "LIST", "on these CPUs alone, such as 0,2-4",           \
			       sampling_take_cpus, offsetof(type, member.cpus)),                   \
		SAMPLING_ENTRY('i', "no-inherit", NULL, "do not follow new threads and children",  \
			       option_true, offsetof(type, member.no_inherit))

/* Which events, and what of each. */
#define SAMPLING_EVENT_ENTRIES(type, member, rate_help)                                            \
	SAMPLING_ENTRY('F', "freq", "N|max", rate_help, sampling_take_rate,                        \
		       offsetof(type, member.rate)),                                               \
		SAMPLING_ENTRY('c', "count", "N", "a sample every N events instead", option_count, \
			       offsetof(type, member.period)),                                     \
		SAMPLING_ENTRY(                                                                    \
			'e', "event", "EVENT[:ukp]",                                               \
			"what to sample: cycles, cpu-clock, page-faults, sched:sched_switch, "     \
			"...; if not said, cycles, or cpu-clock where there is no hardware "       \
			"counter",                                                                 \
			sampling_take_events, offsetof(type, member.events)),                      \
		SAMPLING_ENTRY(0, "all-user", NULL, "leave the kernel out", option_true,           \
			       offsetof(type, member.all_user)),                                   \
		SAMPLING_ENTRY(0, "all-kernel", NULL, "leave user space out", option_true,         \
			       offsetof(type, member.all_kernel)),                                 \
		SAMPLING_ENTRY(                                                                    \
			'g', NULL, NULL,                                                           \
			"call graphs, which are recorded without it too: --call-graph auto",       \
			sampling_take_g, offsetof(type, member.stacks)),                           \
		SAMPLING_ENTRY(                                                                    \
			0, "call-graph", "HOW",                                                    \
			"auto (the kernel's chain, and the user stack by call frame information, " \
			"frame pointers where there is none), dwarf[,SIZE] (the same, with SIZE "  \
			"bytes of stack copied; 32k if not said), fp (frame pointers alone), no",  \
			sampling_take_call_graph, offsetof(type, member.stacks)),                  \
		SAMPLING_ENTRY(0, "max-stack", "FRAMES",                                           \
			       "of deeper stacks leave the middle out; 1024 if not said",          \
			       sampling_take_depth, offsetof(type, member.depth)),                 \
		SAMPLING_ENTRY('m', "mmap-pages", "PAGES|SIZE",                                    \
			       "the ring buffer of each CPU: pages, or bytes with k or M",         \
			       sampling_take_ring, offsetof(type, member.ring_bytes))

#endif
