/*
 * Call trees as far as they matter: a node is opened only where it has at least so much weight, so
 * the cost is that of what is shown, not of all that was recorded. What stays closed is known as a
 * sum. A function that calls itself directly is one node.
 *
 * Down from the roots; or from chosen functions down (callees), or up to the roots (callers). A
 * chosen function is a root of its own then, and a sample counts for it once: where it is in the
 * stack for the first time, seen from the root.
 */
#ifndef PROF_REPORT_OUTLINE_H
#define PROF_REPORT_OUTLINE_H

#include "report/view.h"

#define OUTLINE_NO_PARENT UINT32_MAX

struct outline_node {
	uint32_t label;
	uint32_t parent; /* its index, or OUTLINE_NO_PARENT */
	uint32_t depth;	 /* 0: a root */
	uint32_t children;
	bool is_inlined;   /* into its caller */
	bool is_recursive; /* it also calls itself */
	struct sum self;   /* no further: the function itself; of callers, where stacks begin */
	struct sum total;
	struct sum closed; /* of children that are not in the list */
};

struct outline {
	struct outline_node *nodes; /* a parent, then its children with theirs, heaviest first */
	size_t count, room;
	struct sum closed; /* of roots that are not in the list, and of stacks without frames */
};

/* min_weight: of a node that is in the list; 0: all are. */
void outline_calls(struct outline *outline, const struct view *view, uint64_t min_weight);
/* chosen: by label. */
void outline_callees(struct outline *outline, const struct view *view, const bool *chosen,
		     uint64_t min_weight);
void outline_callers(struct outline *outline, const struct view *view, const bool *chosen,
		     uint64_t min_weight);
void outline_deinit(struct outline *outline);

#endif
