/*
 * The options that choose processes by a cgroup, a container or a name, and threads by a name: a
 * struct for their values and the entries of the option table.
 */
#ifndef PROF_CMD_TARGET_OPTIONS_H
#define PROF_CMD_TARGET_OPTIONS_H

#include "cmd/ui/options.h"
#include "proc/cgroup.h"
#include "record/config.h"

/* -G A,B gives each event a cgroup of its own, as in perf; -G A -G B all events all cgroups. */
struct cgroup_options {
	struct option_list names;
	unsigned given; /* how often -G is given */
};

struct target_options {
	struct cgroup_options cgroups;
	const char *container;	    /* NULL: not given */
	struct option_list names;   /* globs of processes' names */
	bool waits;		    /* until there is such a process */
	struct option_list threads; /* globs of threads' names; none: all */
	bool includes_self;

	/* What target_options_find() has found. */
	struct option_list directories; /* of the cgroups, none of which is in another */
	int *directory_fds;		/* of them; NULL: not all of them take events */
	struct process_choice choice;
	bool is_awaited; /* the recording begins before there is such a process */
};

void target_options_deinit(struct target_options *options);

/* Whether -G, --container or --name chooses the target. */
bool target_is_chosen(const struct target_options *options);
/* What it is, for messages: "container web"; the caller frees it. */
char *target_text(const struct target_options *options);
/* An error if options exclude each other. event_count: how many events are given by -e. */
MUST_CHECK struct error *target_options_check(const struct target_options *options,
					      size_t event_count);
/*
 * Finds the cgroups, with --wait not before they exist, and their processes or those of the names,
 * which the caller frees. A recording of names waits for the first process itself. says_wait: a
 * message says what is waited for.
 */
MUST_CHECK struct error *target_options_find(struct target_options *options, size_t event_count,
					     bool says_wait, pid_t **ret, size_t *ret_count);
void target_options_apply(const struct target_options *options, struct record_config *config);

option_take target_take_names;	 /* struct option_list */
option_take target_take_cgroups; /* struct cgroup_options */

/* The entries of a table for struct `type`, which holds the target_options as `member`. */
#define TARGET_ENTRIES(type, member)                                                               \
	OPTION_ENTRY('G', "cgroup", "PATH[,PATH]",                                                 \
		     "sample the processes of this cgroup and of those in it, also future ones; "  \
		     "repeatable; A,B with as many events: each event in its own; pid:PID is the " \
		     "cgroup of a process",                                                        \
		     target_take_cgroups, offsetof(type, member.cgroups)),                         \
		OPTION_ENTRY(0, "container", "ID|NAME",                                            \
			     "sample this container (id, or its first digits) or systemd service", \
			     option_string, offsetof(type, member.container)),                     \
		OPTION_ENTRY(0, "name", "NAME[,NAME]",                                             \
			     "sample the processes with this name, such as nginx or 'post*', "     \
			     "their children, and those that begin later",                         \
			     target_take_names, offsetof(type, member.names)),                     \
		OPTION_ENTRY('w', "wait", NULL,                                                    \
			     "wait until there is such a process (-G, --container, --name)",       \
			     option_true, offsetof(type, member.waits)),                           \
		OPTION_ENTRY(0, "filter-thread", "NAME[,NAME]",                                    \
			     "keep only samples of threads with this name, such as 'tokio*'",      \
			     target_take_names, offsetof(type, member.threads)),                   \
		OPTION_ENTRY(0, "include-self", NULL, "keep samples of prof itself", option_true,  \
			     offsetof(type, member.includes_self))

#endif
