/*
 * The options that select samples of a profile: an event, functions, modules, processes, threads
 * and labels.
 */
#ifndef PROF_CMD_SELECTION_H
#define PROF_CMD_SELECTION_H

#include "cmd/ui/options.h"
#include "report/rows.h"
#include "report/view.h"

struct selection_options {
	const char *event;	   /* NULL: the first */
	struct option_list labels; /* conditions */
	struct view_options view;  /* but for the event and labels */
};
void selection_options_deinit(struct selection_options *options);

/* The entries of a table for struct `type`, which holds the selection_options as `member`. */
#define SELECTION_ENTRIES(type, member)                                                            \
	OPTION_ENTRY('e', "event", "NAME", "show this event (default: the first one)",             \
		     option_string, offsetof(type, member.event)),                                 \
		OPTION_ENTRY(0, "focus", "REGEX", "keep only stacks with a function that matches", \
			     option_string, offsetof(type, member.view.focus)),                    \
		OPTION_ENTRY(0, "ignore", "REGEX", "drop stacks with a function that matches",     \
			     option_string, offsetof(type, member.view.ignore)),                   \
		OPTION_ENTRY(0, "module", "NAME",                                                  \
			     "keep only samples taken in these modules: names, paths or globs, "   \
			     "separated by commas, such as libc.so.6, 'libc*' or [kernel]",        \
			     option_string, offsetof(type, member.view.modules)),                  \
		OPTION_ENTRY(0, "comm", "NAME", "keep only processes of this name", option_string, \
			     offsetof(type, member.view.process)),                                 \
		OPTION_ENTRY(0, "pid", "PID", "keep only this process", selection_take_number,     \
			     offsetof(type, member.view.pid)),                                     \
		OPTION_ENTRY(0, "tid", "TID", "keep only this thread", selection_take_number,      \
			     offsetof(type, member.view.tid)),                                     \
		OPTION_ENTRY(0, "label", "KEY[=GLOB]", SELECTION_LABEL_HELP, option_append,        \
			     offsetof(type, member.labels))
#define SELECTION_LABEL_HELP                                                                       \
	"keep only samples with this label and a value that matches GLOB; repeatable, all must "   \
	"match"

option_take selection_take_number; /* pid_t */
option_take selection_take_by;	   /* struct row_by, from "function" … or "label:KEY" */

/* The view of the selected samples. path: of the file, for error messages. */
MUST_CHECK struct error *selection_view(const struct selection_options *options,
					const struct profile *profile, const char *path,
					enum name_style names, struct view *ret);

/* Finds the event of this name; NULL: the first one. The error for an unknown name lists the
 * events. path: of the file, for error messages. */
MUST_CHECK struct error *selection_find_event(const char *name, const struct profile *profile,
					      const char *path, event_id *ret);

/* True if not all samples of the event are selected. */
bool selection_is_part(const struct selection_options *options);

#endif
