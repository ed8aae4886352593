/*
 * A view of a profile: all samples of one event, or a selection of them, with
 * the total of each stack of the trie. Tables and call trees are computed from
 * it. Sums are exact. The time is linear in the stack trie and the samples.
 */
#ifndef PROF_REPORT_VIEW_H
#define PROF_REPORT_VIEW_H

#include "base/error.h"
#include "report/display_labels.h"
#include "report/sum.h"

/*
 * The samples that a view selects. Zeroed, it selects all samples of event 0.
 * focus and ignore are POSIX extended regular expressions that match anywhere
 * in the full or the shown name of a function, inlined or not.
 */
struct view_options {
	event_id event;
	enum name_style names; /* of labels */
	const char *focus;     /* only stacks with a matching function; NULL means all */
	const char *ignore;    /* only stacks without a matching function; NULL means all */
	/*
	 * Only samples that were taken in one of these modules; NULL means all.
	 * A module is given by its name in tables, its path, or a pattern
	 * (glob(7)) that matches one of them. Commas separate modules.
	 */
	const char *modules;
	const char *process; /* only processes with this name; NULL means all */
	pid_t pid, tid;	     /* only this process or thread; 0 means all */
	/*
	 * Only samples that satisfy all of these conditions: see
	 * label_filter().
	 */
	const char *const *labels;
	size_t label_count;
	/* Only time that is not idle (report/idle.h), unless nearly all of it is. */
	bool hides_idle;
};

/*
 * The members are in one struct, not in an array each, so that a walk has only
 * one cache miss per stack. Walks do not follow the order of ids.
 */
struct view_stack {
	struct sum total;
	/* Children are only those with samples; 0 means none. */
	stack_id parent, first_child, next_sibling;
	frame_id frame;
};

struct view {
	const struct profile *profile;
	event_id event;
	struct display_labels labels;
	/*
	 * For each stack, whether its samples are not selected. NULL if all are
	 * selected.
	 */
	unsigned char *excluded;
	bool *idle;	     /* by sample: it is hidden because it is idle; NULL means none */
	struct sum idle_sum; /* of these samples */
	bool *label_sets;    /* by label set: its samples are selected; NULL means all are */
	/* By stack. The total of STACK_EMPTY is that of the view. */
	struct view_stack *stacks;
	bool is_waiting; /* the event has waits, as off-CPU time or elapsed time */
	/*
	 * The line with the self value of each stack: see waiting_place.h for
	 * off-CPU time and allocating_place.h for memory. NULL for other
	 * events.
	 */
	uint32_t *places;
};

/*
 * Initializes a view of all samples of an event. Borrows the profile, which
 * must not change while the view exists.
 */
void view_init(struct view *view, const struct profile *profile, event_id event);
/* Fails if a regular expression is invalid, or if no sample has a label that
 * options->labels requests. */
MUST_CHECK struct error *view_init_selected(struct view *view, const struct profile *profile,
					    const struct view_options *options);
void view_deinit(struct view *view);

/* Returns whether a sample is part of the view. */
static inline bool view_has(const struct view *view, const struct profile_sample *sample)
{
	return sample->event == view->event &&
	       !(view->idle && view->idle[sample - profile_samples(view->profile).items]) &&
	       !(view->excluded && view->excluded[sample->stack]) &&
	       !(view->label_sets && !view->label_sets[sample->labels]);
}

/* Returns the sum of all samples of an event, not only of the selected ones. */
struct sum view_event_sum(const struct profile *profile, event_id event);
/*
 * Returns the index in labels.lines of the function that gets the self value of
 * a stack. For off-CPU time it is the blocking function, for memory the
 * function that allocates, and for other events the function of the leaf.
 */
uint32_t view_self_line(const struct view *view, stack_id stack);
/* Returns the label of the innermost line of a stack's leaf. */
uint32_t view_leaf_label(const struct view *view, stack_id stack);

/*
 * Walks the trie depth-first: enter is called before the children of a stack,
 * leave after them. Stacks without samples are skipped.
 */
typedef void view_visit(void *user, stack_id stack);
void view_walk(const struct view *view, view_visit *enter, view_visit *leave, void *user);

/*
 * Finds functions by name: those with exactly this full or shown name, else
 * those with this unqualified name (match.h), else those whose name matches it
 * as a regular expression. *ret has an element for each label, which is true if
 * the function is found; the caller frees it. *count is the number of functions
 * found.
 */
MUST_CHECK struct error *view_functions(const struct view *view, const char *name, bool **ret,
					uint32_t *count);

#endif
