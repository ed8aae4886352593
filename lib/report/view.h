/*
 * A view of a profile: all samples of one event, or a selection of them, and the total of each
 * stack of the trie. Tables and call trees are computed from it. Sums are exact; the time is linear
 * in the stack trie and the samples.
 */
#ifndef PROF_REPORT_VIEW_H
#define PROF_REPORT_VIEW_H

#include "base/error.h"
#include "report/display_labels.h"
#include "report/sum.h"

/*
 * Which samples a view selects; zeroed: all of event 0. focus and ignore are POSIX extended regular
 * expressions that match anywhere in the full or the shown name of a function, inlined or not.
 */
struct view_options {
	event_id event;
	enum name_style names; /* of labels */
	const char *focus;     /* only stacks with a matching function; NULL: all */
	const char *ignore;    /* not stacks with a matching function; NULL: all */
	const char *modules;   /* only samples that were taken in one of these modules; NULL: all.
				  Names as in tables, paths, or patterns (glob(7)) of either,
				  separated by commas */
	const char *process;   /* only processes with this name; NULL: all */
	pid_t pid, tid;	       /* only this process or thread; 0: all */
	const char *const *labels; /* only samples that meet all of these conditions: see
				      label_filter() */
	size_t label_count;
};

/* One struct per stack, because walks do not follow the order of ids: one cache miss per stack. */
struct view_stack {
	struct sum total;
	stack_id parent, first_child, next_sibling; /* children: those with samples; 0: none */
	frame_id frame;
};

struct view {
	const struct profile *profile;
	event_id event;
	struct display_labels labels;
	unsigned char *excluded;   /* by stack: its samples are not selected; NULL: none */
	bool *label_sets;	   /* by label set: its samples are selected; NULL: all */
	struct view_stack *stacks; /* by stack; the total of STACK_EMPTY is that of all */
	bool is_waiting;
	/* Of waiting: waiting_place.h; of memory: allocating_place.h; NULL: of anything else. */
	uint32_t *places;
};

/* All samples of an event. Borrows the profile, which must not change while the view exists. */
void view_init(struct view *view, const struct profile *profile, event_id event);
/* Fails if a regular expression is invalid, or if no sample has a label. */
MUST_CHECK struct error *view_init_selected(struct view *view, const struct profile *profile,
					    const struct view_options *options);
void view_deinit(struct view *view);

/* True if these samples are part of the view. */
static inline bool view_has(const struct view *view, const struct profile_sample *sample)
{
	return sample->event == view->event && !(view->excluded && view->excluded[sample->stack]) &&
	       !(view->label_sets && !view->label_sets[sample->labels]);
}

/* The sum of all samples of an event, not only of the selected ones. */
struct sum view_event_sum(const struct profile *profile, event_id event);
/* The index in labels.lines of the function to which the samples of a stack are self: that of its
 * leaf; of waiting, the function that waits; of memory, the function that allocates. */
uint32_t view_self_line(const struct view *view, stack_id stack);
/* The label of the innermost line of a stack's leaf. */
uint32_t view_leaf_label(const struct view *view, stack_id stack);
/* The samples of a stack without those of its callees. */
struct sum view_self(const struct view *view, stack_id stack);

/*
 * Walks the trie depth-first: enter is called before the children of a stack, leave after them.
 * Stacks without samples are skipped.
 */
typedef void view_visit(void *user, stack_id stack);
void view_walk(const struct view *view, view_visit *enter, view_visit *leave, void *user);

/*
 * Finds the functions of a name: those of exactly this name, full or as shown; if there are none,
 * those whose unqualified name it is (match.h); if there are none either, those whose name matches
 * it as a regular expression. *ret is by label, to be freed; *count: the number of functions.
 */
MUST_CHECK struct error *view_functions(const struct view *view, const char *name, bool **ret,
					uint32_t *count);

#endif
