/*
 * Which samples of a profile are looked at: an event, and of its samples those with some functions,
 * of some process or thread.
 */
#ifndef PROF_CMD_SELECTION_H
#define PROF_CMD_SELECTION_H

#include "cmd/options.h"
#include "report/view.h"

struct selection_options {
	const char *event;	  /* NULL: the first */
	struct view_options view; /* but for the event */
};

/* The entries of a table for struct `type`, which holds the selection_options as `member`. */
#define SELECTION_ENTRIES(type, member)                                                            \
	OPTION_ENTRY('e', "event", "NAME", "look at this event; if not said, at the first",        \
		     option_string, offsetof(type, member.event)),                                 \
		OPTION_ENTRY(0, "focus", "REGEX", "only stacks with such a function",              \
			     option_string, offsetof(type, member.view.focus)),                    \
		OPTION_ENTRY(0, "ignore", "REGEX", "no stacks with such a function",               \
			     option_string, offsetof(type, member.view.ignore)),                   \
		OPTION_ENTRY(0, "module", "NAME",                                                  \
			     "only samples that were taken in this module, such as libc.so.6, "    \
			     "'libc*' or [kernel]; several are separated by commas",               \
			     option_string, offsetof(type, member.view.modules)),                  \
		OPTION_ENTRY(0, "comm", "NAME", "only processes of this name", option_string,      \
			     offsetof(type, member.view.process)),                                 \
		OPTION_ENTRY(0, "pid", "PID", "only this process", selection_take_number,          \
			     offsetof(type, member.view.pid)),                                     \
		OPTION_ENTRY(0, "tid", "TID", "only this thread", selection_take_number,           \
			     offsetof(type, member.view.tid))

option_take selection_take_number; /* pid_t */

/* The view of a profile that is asked for. path: of the file, for what is said where the event is
 * not there. */
MUST_CHECK struct error *selection_view(const struct selection_options *options,
					const struct profile *profile, const char *path,
					struct view *ret);

/* Is it less than all samples of the event? */
bool selection_is_part(const struct selection_options *options);

#endif
