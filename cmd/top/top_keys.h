/*
 * Handles the keys of the live view.
 */
#ifndef PROF_CMD_TOP_TOP_KEYS_H
#define PROF_CMD_TOP_TOP_KEYS_H

#include "cmd/top/top_ui.h"
#include "cmd/ui/options.h"

/* Handles all keys that were pressed. Redraws if there were any. */
void top_keys_take(struct top_ui *ui);

/* The refresh interval: uint64_t ns, at least 0.1 s. */
option_take top_take_delay;

#endif
