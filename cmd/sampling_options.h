/*
 * The options of commands that sample: a struct for their values and the entries of the option
 * table.
 */
#ifndef PROF_CMD_SAMPLING_OPTIONS_H
#define PROF_CMD_SAMPLING_OPTIONS_H

#include "cmd/memory_options.h"
#include "cmd/target_options.h"
#include "cmd/ui/options.h"
#include "cmd/waiting_options.h"
#include "record/config.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct id_list {
	pid_t *items;
	size_t count, room;
};

struct cpu_list {
	unsigned *items;
	size_t count, room;
};

struct role_list {
	enum event_role *items;
	size_t count, room;
};

struct user {
	bool is_given;
	uid_t id;
};

struct stacks {
	enum call_graph kind;
	uint32_t dump_bytes;
};

struct sampling_options {
	struct option_list events;	     /* none: cycles, or cpu-clock */
	struct option_list filters, weights; /* of those events; "": none */
	struct role_list roles;		     /* likewise: their groups */
	struct waiting_options waiting;
	struct memory_options memory;
	const char *shown_event; /* one of them, or off-cpu; NULL: the usual one */
	uint64_t frequency_hz;	 /* or RECORD_FREQUENCY_MAX; 0: the default */
	uint64_t period;	 /* 0: by frequency */
	uint64_t least_call_ns;	 /* of --latency */
	struct user user;	 /* his processes become pids: sampling_find_targets() */
	struct id_list pids, tids;
	bool with_children; /* of pids: sampling_find_targets() adds those that run already */
	size_t found_count; /* so many of pids, the last ones, were found and not given */
	struct target_options target;
	struct cpu_list cpus; /* none: all */
	bool system_wide;
	bool no_inherit;
	bool all_user, all_kernel;
	struct stacks stacks;
	uint64_t branch_filter; /* 0: no branches */
	bool data_sources;	/* of events that are not of memory by their name, too */
	uint64_t ring_bytes;	/* 0: the default */
	uint64_t depth;		/* frames of a stack, at most */
	enum record_via via;
};

void sampling_options_init(struct sampling_options *options);
void sampling_options_deinit(struct sampling_options *options);

/* Whether the command is the target; else it only limits how long another target is sampled. */
bool sampling_is_of_command(const struct sampling_options *options);
/* Whether no event of the CPU is sampled. */
bool sampling_is_of_nothing(const struct sampling_options *options);
/* Adds the event that --wall samples by default. To be called before the functions below. */
void sampling_choose_events(struct sampling_options *options);
/* Returns an error if options exclude each other. */
MUST_CHECK struct error *sampling_options_check(const struct sampling_options *options);
/* The index of shown_event among the events of the profile; an unknown name is an error with a
 * suggestion. */
MUST_CHECK struct error *sampling_find_event(const struct sampling_options *options, size_t *ret);
/* If a user is given, or -G, --container, --name or --children, finds the processes and adds them,
 * except prof itself, to pids. says_wait: as target_options_find(). */
MUST_CHECK struct error *sampling_find_targets(struct sampling_options *options, bool says_wait);
/* Set the targets, or everything, in config; the options' lists are borrowed. */
void sampling_targets_apply(const struct sampling_options *options, struct record_config *config);
void sampling_options_apply(const struct sampling_options *options, struct record_config *config);

/* --weight field:NAME, of the last event so far. */
MUST_CHECK struct error *sampling_weigh_by(struct sampling_options *options, const char *field);

option_take sampling_take_events;     /* struct sampling_options */
option_take sampling_take_filter;     /* struct sampling_options */
option_take sampling_take_latency;    /* struct option_list */
option_take sampling_take_rate;	      /* uint64_t Hz */
option_take sampling_take_ids;	      /* struct id_list */
option_take sampling_take_cpus;	      /* struct cpu_list */
option_take sampling_take_user;	      /* struct user */
option_take sampling_take_g;	      /* struct stacks */
option_take sampling_take_call_graph; /* struct stacks */
option_take sampling_take_branches;   /* uint64_t, a filter of branches */
option_take sampling_take_ring;	      /* uint64_t bytes */
option_take sampling_take_depth;      /* uint64_t frames */
option_take sampling_take_via;	      /* enum record_via */

#define SAMPLING_ENTRY(letter, name, argument, help, take, field)                                  \
	{                                                                                          \
		letter, name, argument, help, take, field, OPTION_WORKS                            \
	}

/*
 * Table entries of the options that choose processes, threads and CPUs, for struct `type`, which
 * has the sampling_options as `member`.
 */
#define SAMPLING_TARGET_ENTRIES(type, member)                                                      \
	SAMPLING_ENTRY('p', "pid", "PID[,PID]",                                                    \
		       "sample these running processes: their threads, and children that start "   \
		       "later; --children adds those that run already",                            \
		       sampling_take_ids, offsetof(type, member.pids)),                            \
		SAMPLING_ENTRY(0, "children", NULL,                                                \
			       "with -p, also sample the children of these processes that run "    \
			       "already, and their children",                                      \
			       option_true, offsetof(type, member.with_children)),                 \
		SAMPLING_ENTRY('t', "tid", "TID[,TID]", "sample only these threads",               \
			       sampling_take_ids, offsetof(type, member.tids)),                    \
		SAMPLING_ENTRY('u', "uid", "USER",                                                 \
			       "sample this user's running processes and their children (a name "  \
			       "or a number)",                                                     \
			       sampling_take_user, offsetof(type, member.user)),                   \
		TARGET_ENTRIES(type, member.target),                                               \
		SAMPLING_ENTRY('a', "all-cpus", NULL, "sample the whole machine", option_true,     \
			       offsetof(type, member.system_wide)),                                \
		SAMPLING_ENTRY('C', "cpu", "LIST", "sample only these CPUs, such as 0,2-4",        \
			       sampling_take_cpus, offsetof(type, member.cpus)),                   \
		SAMPLING_ENTRY('i', "no-inherit", NULL, "do not follow new threads and children",  \
			       option_true, offsetof(type, member.no_inherit))

/* Table entries of the options that choose events and what to record of each. */
#define SAMPLING_EVENT_ENTRIES(type, member, rate_help)                                            \
	SAMPLING_ENTRY('F', "freq", "N|max", rate_help, sampling_take_rate,                        \
		       offsetof(type, member.frequency_hz)),                                       \
		SAMPLING_ENTRY('c', "count", "N", "sample every N events instead", option_count,   \
			       offsetof(type, member.period)),                                     \
		SAMPLING_ENTRY(                                                                    \
			'e', "event", "EVENT[:MODIFIERS]",                                         \
			"sample this event: cycles, cpu-clock, page-faults, sched:sched_switch, "  \
			"cpu/event=0x3c,umask=1/, cycles/period=100000/, or a group "              \
			"'{cycles,instructions}:S'; prof list shows all (default cycles, or "      \
			"cpu-clock without hardware counters)",                                    \
			sampling_take_events, offsetof(type, member)),                             \
		WAITING_ENTRIES(type, member.waiting),                                             \
		SAMPLING_ENTRY(0, "show-event", "NAME",                                            \
			       "show this one of several events (default: the first)",             \
			       option_string, offsetof(type, member.shown_event)),                 \
		SAMPLING_ENTRY(0, "all-user", NULL, "do not sample the kernel", option_true,       \
			       offsetof(type, member.all_user)),                                   \
		SAMPLING_ENTRY(0, "all-kernel", NULL, "do not sample user space", option_true,     \
			       offsetof(type, member.all_kernel)),                                 \
		SAMPLING_ENTRY('g', NULL, NULL,                                                    \
			       "record call graphs: --call-graph auto, the default",               \
			       sampling_take_g, offsetof(type, member.stacks)),                    \
		SAMPLING_ENTRY(                                                                    \
			0, "call-graph", "auto|dwarf[,SIZE]|fp|lbr|no",                            \
			"unwind user stacks by call frame information, or by frame pointers if "   \
			"there is none (auto); the same with a copy of SIZE bytes of stack "       \
			"(dwarf, default 32k); only by frame pointers (fp); by the CPU's "         \
			"records of calls (lbr); or not at all (no)",                              \
			sampling_take_call_graph, offsetof(type, member.stacks)),                  \
		SAMPLING_ENTRY(0, "max-stack", "FRAMES",                                           \
			       "keep this many frames, half from either end (default 1024)",       \
			       sampling_take_depth, offsetof(type, member.depth)),                 \
		SAMPLING_ENTRY(                                                                    \
			'm', "mmap-pages", "PAGES|SIZE",                                           \
			"set the size of each CPU's ring buffer, in pages, or bytes with k or M",  \
			sampling_take_ring, offsetof(type, member.ring_bytes))

#endif
