/*
 * Identifies frames of the preloaded agent (libprof-inside.so). Thread starts
 * and malloc() calls go through it. Its frames are removed from stacks because
 * they do not belong to the program.
 */
#ifndef PROF_RECORD_OWN_FRAMES_H
#define PROF_RECORD_OWN_FRAMES_H

#include "proc/address_spaces.h"

#include <stdbool.h>

/* A zeroed struct is empty. */
struct own_frames {
	unsigned char *modules; /* state by module_id: a private enum */
	uint32_t count;
};

void own_frames_deinit(struct own_frames *own);
/* Whether the module is the agent. */
bool own_frames_has(struct own_frames *own, const struct address_spaces *spaces, module_id module);

#endif
