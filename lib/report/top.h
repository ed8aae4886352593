/*
 * The hottest functions of a profile: self (the innermost line of a sample's leaf) and total
 * (anywhere in the stack, counted once). Functions of the same name and module are one. Exact, in
 * time linear in the size of the stack trie.
 */
#ifndef PROF_REPORT_TOP_H
#define PROF_REPORT_TOP_H

#include "profile/profile.h"

struct top_row {
	const char *name; /* a function's, or [module+0x1234] for a frame without one; borrowed from
			     top and the profile */
	uint32_t module;
	uint64_t self, total; /* weight */
};

struct top {
	struct top_row *rows; /* by self, then total, then name; none without weight */
	size_t count;
	uint64_t weight;   /* of all samples of the event */
	char **made_names; /* owned: names of frames without one */
	size_t made_count;
};

void top_init(struct top *top, const struct profile *profile, event_id event);
void top_deinit(struct top *top);

#endif
