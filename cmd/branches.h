/*
 * What stands before the nodes of a call tree as text: a node is indented only where its caller has
 * others, so that deep stacks stay on the screen.
 *
 *	main
 *	run
 *	├ parse
 *	│ next
 *	└ write
 */
#ifndef PROF_CMD_BRANCHES_H
#define PROF_CMD_BRANCHES_H

#include "report/outline.h"

struct branches {
	char **prefixes; /* by node */
	size_t count;
};

void branches_init(struct branches *branches, const struct outline *outline);
void branches_deinit(struct branches *branches);

#endif
