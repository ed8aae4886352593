/*
 * The options that select samples of a profile: an event, functions, modules, processes, threads
 * and labels.
 */
#ifndef PROF_CMD_OPTIONS_SELECTION_H
#define PROF_CMD_OPTIONS_SELECTION_H

#include "cmd/ui/options.h"
#include "report/rows.h"
#include "report/view.h"

struct selection_options {
	const char *event;	   /* NULL for the first event */
	struct option_list labels; /* conditions */
	const char *parallelism;   /* a value or range of this label; NULL for all */
	struct view_options view;  /* all except the event and labels */
};
void selection_options_deinit(struct selection_options *options);

/* The entries of a table for struct `type`, which holds the selection_options as `member`. */
#define SELECTION_ENTRIES(type, member)                                                            \
	OPTION_COMMON(SELECTION, 'e', "event", "NAME", "show this event (default: the first one)", \
		      option_string, offsetof(type, member.event)),                                \
		OPTION_COMMON(SELECTION, 0, "focus", "REGEX",                                      \
			      "keep only stacks with a matching function", option_string,          \
			      offsetof(type, member.view.focus)),                                  \
		OPTION_COMMON(SELECTION, 0, "ignore", "REGEX",                                     \
			      "drop stacks with a matching function", option_string,               \
			      offsetof(type, member.view.ignore)),                                 \
		OPTION_COMMON(SELECTION, 0, "module", "NAME",                                      \
			      "keep only samples in these modules; names, paths or globs, "        \
			      "separated by commas: "                                              \
			      "libc.so.6, 'libc*', [kernel]",                                      \
			      option_string, offsetof(type, member.view.modules)),                 \
		OPTION_COMMON(SELECTION, 0, "comm", "NAME", "keep only processes of this name",    \
			      option_string, offsetof(type, member.view.process)),                 \
		OPTION_ENTRY(SELECTION, 0, "pid", "PID", "keep only this process",                 \
			     selection_take_number, offsetof(type, member.view.pid)),              \
		OPTION_ENTRY(SELECTION, 0, "tid", "TID", "keep only this thread",                  \
			     selection_take_number, offsetof(type, member.view.tid)),              \
		SELECTION_LABEL_ENTRY(type, "label", "keep only samples", member.labels),          \
		SELECTION_PARALLELISM_ENTRY(type, member.parallelism)
#define SELECTION_PARALLELISM_ENTRY(type, member)                                                  \
	OPTION_ENTRY(SELECTION, 0, "parallelism", "N[-N]",                                         \
		     "keep only elapsed time in which N threads ran: 1 or 2-8; shows the event "   \
		     "elapsed",                                                                    \
		     option_string, offsetof(type, member))
#define SELECTION_LABEL_ENTRY(type, name, what, member)                                            \
	OPTION_ENTRY(                                                                              \
		SELECTION, 0, name, "KEY[=GLOB]",                                                  \
		what                                                                               \
		" with this label; and a value that matches GLOB. Repeatable, all must match",     \
		option_append, offsetof(type, member))

option_take selection_take_number; /* pid_t */
option_take selection_take_by;	   /* struct row_by, from "function" or "label:KEY" */

/* Makes the view of the selected samples. path: the file, for error messages. */
MUST_CHECK struct error *selection_view(const struct selection_options *options,
					const struct profile *profile, const char *path,
					enum name_style names, struct view *ret);

/* Finds the event with this name, or the first event if name is NULL. The error
 * for an unknown name lists the events. path: the file, for error messages. */
MUST_CHECK struct error *selection_find_event(const char *name, const struct profile *profile,
					      const char *path, event_id *ret);

/* Flags the samples of other events than elapsed, and those of elapsed time in
 * which this number of threads ran ("1", "2-8"). path: as above. keeps: one flag
 * per sample. */
MUST_CHECK struct error *selection_by_parallelism(const char *range, const struct profile *profile,
						  const char *path, bool *keeps);

/* Returns true if not all samples of the event are selected. */
bool selection_is_part(const struct selection_options *options);

#endif
