/*
 * Frames of prof's own library in the sampled program (libprof-inside.so): the start of its threads
 * goes through it, and calls of malloc(). They are not the program's and are left out of stacks.
 */
#ifndef PROF_RECORD_OWN_FRAMES_H
#define PROF_RECORD_OWN_FRAMES_H

#include "proc/address_spaces.h"

#include <stdbool.h>

/* Zeroed: nothing is known yet. */
struct own_frames {
	unsigned char *modules; /* by module_id: an enum of the .c file */
	uint32_t count;
};

void own_frames_deinit(struct own_frames *own);
/* Whether frames of the module are prof's own. */
bool own_frames_has(struct own_frames *own, const struct address_spaces *spaces, module_id module);
/* The same, but changes nothing: true, too, if own_frames_has() has not been asked before. */
bool own_frames_may_have(const struct own_frames *own, module_id module);

#endif
