/*
 * What --fail-if says: "lost>1%".
 */
#ifndef PROF_CMD_CONDITION_H
#define PROF_CMD_CONDITION_H

#include "base/error.h"

#include <stddef.h>

struct condition {
	char *what;
	double limit; /* a share: 0.01 */
};

struct condition_list {
	struct condition *items;
	size_t count, room;
};

/* An option's argument; another one is one condition more. field: struct condition_list. */
MUST_CHECK struct error *condition_append(void *field, const char *argument);
void condition_list_deinit(struct condition_list *list);

#endif
