/*
 * Conditions of --fail-if: "lost>1%".
 */
#ifndef PROF_CMD_FAIL_CONDITION_H
#define PROF_CMD_FAIL_CONDITION_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct fail_condition {
	char *text; /* as it was given */
	char *what;
	double limit; /* a share: 0.01 */
};

struct fail_conditions {
	struct fail_condition *items;
	size_t count, room;
};

/* Takes the argument of one --fail-if. field: struct fail_conditions. */
MUST_CHECK struct error *fail_condition_append(void *field, const char *argument);
/* True for the condition on the whole, which is no function's name. */
bool fail_condition_is_slower(const struct fail_condition *condition);
void fail_conditions_deinit(struct fail_conditions *list);

#endif
