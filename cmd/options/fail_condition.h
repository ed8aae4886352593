/*
 * Conditions of --fail-if, such as "lost>1%".
 */
#ifndef PROF_CMD_OPTIONS_FAIL_CONDITION_H
#define PROF_CMD_OPTIONS_FAIL_CONDITION_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct fail_condition {
	char *text; /* as given */
	char *what;
	double limit; /* a share: 0.01 */
};

struct fail_conditions {
	struct fail_condition *items;
	size_t count, room;
};

/* Takes the argument of one --fail-if. field: a struct fail_conditions. */
MUST_CHECK struct error *fail_condition_append(void *field, const char *argument);
/* Returns true for the condition on the whole, which does not name a function. */
bool fail_condition_is_slower(const struct fail_condition *condition);
void fail_conditions_deinit(struct fail_conditions *list);

#endif
