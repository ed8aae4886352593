/*
 * The options of commands that sample: a struct for their values and the entries of the option
 * table.
 */
#ifndef PROF_CMD_OPTIONS_SAMPLING_OPTIONS_H
#define PROF_CMD_OPTIONS_SAMPLING_OPTIONS_H

#include "cmd/options/memory_options.h"
#include "cmd/options/target_options.h"
#include "cmd/options/waiting_options.h"
#include "cmd/ui/options.h"
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
	struct option_list events;	     /* if empty: cycles, or cpu-clock */
	struct option_list filters, weights; /* by event; "" if there is none */
	struct role_list roles;		     /* by event: their groups */
	struct waiting_options waiting;
	struct memory_options memory;
	const char *shown_event; /* one of the events, or off-cpu; NULL for the default */
	uint64_t frequency_hz;	 /* or RECORD_FREQUENCY_MAX; 0 for the default */
	uint64_t period;	 /* 0 if the rate is a frequency */
	uint64_t least_call_ns;	 /* of --calls */
	struct user user;	 /* sampling_find_targets() adds the user's processes to pids */
	struct id_list pids, tids;
	bool with_children; /* sampling_find_targets() adds the running children of pids */
	/* the number of pids, at the end, that were found rather than given */
	size_t found_count;
	struct target_options target;
	struct cpu_list cpus; /* empty for all CPUs */
	bool system_wide;
	bool no_inherit;
	bool all_user, all_kernel;
	struct stacks stacks;
	uint64_t branch_filter; /* 0 if branches are not recorded */
	bool data_sources;	/* also for events whose name is not one of memory */
	uint64_t ring_bytes;	/* 0 for the default */
	uint64_t depth;		/* maximum number of frames per stack */
	enum record_via via;
};

void sampling_options_init(struct sampling_options *options);
void sampling_options_deinit(struct sampling_options *options);

/* Returns true if the command is the target. Otherwise the command only limits
 * how long another target is sampled. */
bool sampling_is_of_command(const struct sampling_options *options);
/* Returns true if no CPU event is sampled. */
bool sampling_is_of_nothing(const struct sampling_options *options);
/* Adds the event that --wall samples by default. Call it before the functions
 * below. */
void sampling_choose_events(struct sampling_options *options);
/* Returns an error if options exclude each other. */
MUST_CHECK struct error *sampling_options_check(const struct sampling_options *options);
/* Finds the index of shown_event among the events of the profile. The error for
 * an unknown name has a suggestion. */
MUST_CHECK struct error *sampling_find_event(const struct sampling_options *options, size_t *ret);
/*
 * If -u, -G, --container, --name or --children is given, finds the processes
 * and adds them to pids, except prof itself. says_wait: as in
 * target_options_find().
 */
MUST_CHECK struct error *sampling_find_targets(struct sampling_options *options, bool says_wait);
/* Stores the targets, or the whole machine, in config. The lists are borrowed. */
void sampling_targets_apply(const struct sampling_options *options, struct record_config *config);
void sampling_options_apply(const struct sampling_options *options, struct record_config *config);

/* Takes --weight field:NAME for the last event so far. */
MUST_CHECK struct error *sampling_weigh_by(struct sampling_options *options, const char *field);

option_take sampling_take_events;     /* struct sampling_options */
option_take sampling_take_filter;     /* struct sampling_options */
option_take sampling_take_calls;      /* struct option_list */
option_take sampling_take_rate;	      /* uint64_t Hz */
option_take sampling_take_ids;	      /* struct id_list */
option_take sampling_take_cpus;	      /* struct cpu_list */
option_take sampling_take_user;	      /* struct user */
option_take sampling_take_g;	      /* struct stacks */
option_take sampling_take_call_graph; /* struct stacks */
option_take sampling_take_branches;   /* uint64_t, a filter for branches */
option_take sampling_take_ring;	      /* uint64_t bytes */
option_take sampling_take_depth;      /* uint64_t frames */
option_take sampling_take_via;	      /* enum record_via */

/*
 * Table entries of the options that choose processes, threads and CPUs, for struct `type`, which
 * has the sampling_options as `member`.
 */
#define SAMPLING_TARGET_ENTRIES(type, member)                                                      \
	OPTION_COMMON(                                                                             \
		TARGET, 'p', "pid", "PID[,PID]",                                                   \
		"sample running processes; also their threads and children that start later, and " \
		"with --children those that already run",                                          \
		sampling_take_ids, offsetof(type, member.pids)),                                   \
		OPTION_ENTRY(TARGET, 0, "children", NULL,                                          \
			     "with -p, also sample running child processes; recursively",          \
			     option_true, offsetof(type, member.with_children)),                   \
		OPTION_ENTRY(TARGET, 't', "tid", "TID[,TID]", "sample only these threads",         \
			     sampling_take_ids, offsetof(type, member.tids)),                      \
		OPTION_ENTRY(TARGET, 'u', "uid", "USER",                                           \
			     "sample the running processes of a user and their children; USER is " \
			     "a name or a "                                                        \
			     "number",                                                             \
			     sampling_take_user, offsetof(type, member.user)),                     \
		OPTION_COMMON(TARGET, 'a', "all-cpus", NULL, "sample the whole machine",           \
			      option_true, offsetof(type, member.system_wide)),                    \
		OPTION_ENTRY(TARGET, 'C', "cpu", "LIST", "sample only these CPUs, such as 0,2-4",  \
			     sampling_take_cpus, offsetof(type, member.cpus)),                     \
		TARGET_ENTRIES(type, member.target),                                               \
		OPTION_ENTRY(TARGET, 'i', "no-inherit", NULL,                                      \
			     "do not sample new threads and child processes", option_true,         \
			     offsetof(type, member.no_inherit))

/* Table entries of the options that choose events and what to record of each. */
#define SAMPLING_EVENT_ENTRIES(type, member, rate_help)                                            \
	OPTION_COMMON(                                                                             \
		EVENTS, 'e', "event", "EVENT[:MODIFIERS]",                                         \
		"sample EVENT (default cycles, else cpu-clock); for example page-faults, "         \
		"sched:sched_switch, cpu/event=0x3c,umask=1/, cycles/period=100000/, or a group "  \
		"'{cycles,instructions}:S'. Repeatable. prof list lists the events",               \
		sampling_take_events, offsetof(type, member)),                                     \
		OPTION_COMMON(EVENTS, 'F', "freq", "N|max", rate_help, sampling_take_rate,         \
			      offsetof(type, member.frequency_hz)),                                \
		OPTION_ENTRY(EVENTS, 'c', "count", "N",                                            \
			     "sample every N events instead of at a rate", option_count,           \
			     offsetof(type, member.period)),                                       \
		OPTION_ENTRY(EVENTS, 0, "all-user", NULL, "sample user space only", option_true,   \
			     offsetof(type, member.all_user)),                                     \
		OPTION_ENTRY(EVENTS, 0, "all-kernel", NULL, "sample the kernel only", option_true, \
			     offsetof(type, member.all_kernel)),                                   \
		OPTION_ENTRY(EVENTS, 0, "show-event", "NAME",                                      \
			     "show this event first (default: the first event)", option_string,    \
			     offsetof(type, member.shown_event)),                                  \
		OPTION_ENTRY(EVENTS, 'm', "mmap-pages", "PAGES|SIZE",                              \
			     "set the size of each CPU's ring buffer; in pages, or in bytes with " \
			     "k or M",                                                             \
			     sampling_take_ring, offsetof(type, member.ring_bytes)),               \
		OPTION_COMMON(STACKS, 'g', NULL, NULL, "record call graphs (default)",             \
			      sampling_take_g, offsetof(type, member.stacks)),                     \
		OPTION_COMMON(STACKS, 0, "call-graph", "auto|dwarf[,SIZE]|fp|lbr|no",              \
			      "choose how stacks are unwound (default auto); auto: by call frame " \
			      "information, "                                                      \
			      "else by frame pointers. dwarf: like auto, with SIZE bytes of "      \
			      "stack per sample "                                                  \
			      "(default 32k). fp: frame pointers only. lbr: calls that the CPU "   \
			      "records. no: no "                                                   \
			      "stacks",                                                            \
			      sampling_take_call_graph, offsetof(type, member.stacks)),            \
		OPTION_ENTRY(                                                                      \
			STACKS, 0, "max-stack", "FRAMES",                                          \
			"keep at most this many frames of a stack (default 1024); a deeper stack " \
			"loses its middle",                                                        \
			sampling_take_depth, offsetof(type, member.depth)),                        \
		WAITING_ENTRIES(type, member.waiting)

#endif
