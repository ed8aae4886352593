/*
 * The options that choose processes by a cgroup, a container or a name, and threads by a name: a
 * struct for their values and the entries of the option table.
 */
#ifndef PROF_CMD_OPTIONS_TARGET_OPTIONS_H
#define PROF_CMD_OPTIONS_TARGET_OPTIONS_H

#include "cmd/ui/options.h"
#include "proc/cgroup.h"
#include "record/config.h"

/* -G A,B gives each event a cgroup of its own, as in perf. -G A -G B gives all
 * cgroups to all events. */
struct cgroup_options {
	struct option_list names;
	unsigned given; /* how many times -G is given */
};

struct target_options {
	struct cgroup_options cgroups;
	const char *container;	    /* NULL if not given */
	struct option_list names;   /* globs of process names */
	bool waits;		    /* wait until there is such a process */
	struct option_list threads; /* globs of thread names; empty for all threads */
	bool includes_self;

	/* The result of target_options_find(). */
	struct option_list directories; /* the cgroups, none of which is inside another */
	/* descriptors of the cgroups; NULL if not all of them accept events */
	int *directory_fds;
	struct process_choice choice;
	bool is_awaited; /* the recording starts before there is such a process */
};

void target_options_deinit(struct target_options *options);

/* Returns true if -G, --container or --name chooses the target. */
bool target_is_chosen(const struct target_options *options);
/* Returns a description of the target for messages: "container web". The caller
 * frees it. */
char *target_text(const struct target_options *options);
/* Returns an error if options exclude each other. event_count: the number of -e
 * events. */
MUST_CHECK struct error *target_options_check(const struct target_options *options,
					      size_t event_count);
/*
 * Finds the cgroups and their processes, or the processes with the names. With
 * --wait, waits until the cgroups exist; a recording by name waits for its
 * first process itself. says_wait: print a message about the wait. The caller
 * frees the result.
 */
MUST_CHECK struct error *target_options_find(struct target_options *options, size_t event_count,
					     bool says_wait, pid_t **ret, size_t *ret_count);
void target_options_apply(const struct target_options *options, struct record_config *config);

option_take target_take_names;	 /* struct option_list */
option_take target_take_cgroups; /* struct cgroup_options */

/* The entries of a table for struct `type`, which holds the target_options as `member`. */
#define TARGET_ENTRIES(type, member)                                                               \
	OPTION_ENTRY(TARGET, 'G', "cgroup", "PATH[,PATH]",                                         \
		     "sample the processes of a cgroup; also those of the cgroups below it and "   \
		     "future ones. "                                                               \
		     "Repeatable. A,B with as many events samples each event in its own cgroup. "  \
		     "pid:PID is the cgroup of a process",                                         \
		     target_take_cgroups, offsetof(type, member.cgroups)),                         \
		OPTION_ENTRY(TARGET, 0, "container", "ID|NAME",                                    \
			     "sample a container or systemd service; the first digits of an ID "   \
			     "suffice",                                                            \
			     option_string, offsetof(type, member.container)),                     \
		OPTION_COMMON(TARGET, 0, "name", "NAME[,NAME]",                                    \
			      "sample the processes of this name; also their children, and "       \
			      "processes that start "                                              \
			      "later. NAME may be a pattern such as 'post*'",                      \
			      target_take_names, offsetof(type, member.names)),                    \
		OPTION_ENTRY(TARGET, 'w', "wait", NULL,                                            \
			     "wait until the target of --name, --container or -G exists",          \
			     option_true, offsetof(type, member.waits)),                           \
		OPTION_ENTRY(TARGET, 0, "filter-thread", "NAME[,NAME]",                            \
			     "keep only samples of threads of this name, such as 'tokio*'",        \
			     target_take_names, offsetof(type, member.threads)),                   \
		OPTION_ENTRY(TARGET, 0, "include-self", NULL, "keep samples of prof itself",       \
			     option_true, offsetof(type, member.includes_self))

#endif
