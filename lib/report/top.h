/*
 * The hottest functions of a profile: self (the innermost line of a sample's leaf) and total
 * (anywhere in the stack, counted once). Functions of the same name and module are one. Exact, in
 * time linear in the size of the stack trie.
 */
#ifndef PROF_REPORT_TOP_H
#define PROF_REPORT_TOP_H

#include "report/labels.h"

struct top_row {
	const char *name; /* of the label; borrowed from top and the profile */
	uint32_t label;
	uint32_t module;
	uint64_t self, total; /* weight */
};

struct top {
	struct top_row *rows; /* by self, then total, then name; none without weight */
	size_t count;
	uint64_t weight; /* of all samples of the event */
	struct labels labels;
};

void top_init(struct top *top, const struct profile *profile, event_id event);
void top_deinit(struct top *top);

#endif
