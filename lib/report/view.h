/*
 * What one looks at: one event of a profile, with all samples or a selection of them; and what each
 * stack of the trie weighs together with all stacks that go on from it. Tables and call trees are
 * made of it. Exact, in time linear in the stack trie and the cells.
 */
#ifndef PROF_REPORT_VIEW_H
#define PROF_REPORT_VIEW_H

#include "base/error.h"
#include "report/labels.h"
#include "report/sum.h"

/* A zeroed one, but for the event, selects all. Expressions are POSIX extended ones, found anywhere
 * in the name of a function; inlined ones count. */
struct view_options {
	event_id event;
	const char *focus;   /* only stacks with such a function; NULL: all */
	const char *ignore;  /* no stack with such a function; NULL: none */
	const char *modules; /* only samples that were taken in one of these; NULL: all. Names as
				tables have them, whole paths, or patterns (glob(7)) of either,
				separated by commas */
	const char *process; /* only processes of this name; NULL: all */
	pid_t pid, tid;	     /* only these; 0: all */
};

/* All that a walk needs of a stack lies together: one comes by each of them in no order of memory.
 */
struct view_stack {
	struct sum total;
	stack_id parent, first_child, next_sibling; /* children: those with samples; 0: none */
	frame_id frame;
};

struct view {
	const struct profile *profile;
	event_id event;
	struct labels labels;
	unsigned char *passed_over; /* by stack: its samples do not count; NULL: all do */
	bool *threads;		    /* by thread: its samples count; NULL: all do */
	struct view_stack *stacks;  /* by stack; the total of STACK_EMPTY is that of all */
};

/* All samples of an event. Borrows the profile, which must not change meanwhile. */
void view_init(struct view *view, const struct profile *profile, event_id event);
/* Fails where an expression is none. */
MUST_CHECK struct error *view_init_selected(struct view *view, const struct profile *profile,
					    const struct view_options *options);
void view_deinit(struct view *view);

/* Do these samples count? */
static inline bool view_has(const struct view *view, const struct profile_cell *cell)
{
	return cell->event == view->event &&
	       !(view->passed_over && view->passed_over[cell->stack]) &&
	       !(view->threads && !view->threads[cell->thread]);
}

/* All samples of an event, whatever is selected. */
struct sum view_event_sum(const struct profile *profile, event_id event);
/* The samples of a stack itself. */
struct sum view_self(const struct view *view, stack_id stack);

/*
 * Goes through the trie: enter is called for a stack before those that go on from it, leave behind
 * them. Stacks without samples are left out.
 */
typedef void view_visit(void *user, stack_id stack);
void view_walk(const struct view *view, view_visit *enter, view_visit *leave, void *user);

/*
 * The functions that are meant by a name: those called so; where there is none, those whose own
 * name it is (match.h); where there is none either, those that it is found in as an expression.
 * true by label; *count: how many. To be freed.
 */
MUST_CHECK struct error *view_functions(const struct view *view, const char *name, bool **ret,
					uint32_t *count);

#endif
