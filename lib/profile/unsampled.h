/*
 * The names of the synthetic frames for weight that the kernel counted but no
 * sample covers. Each is the whole stack of its samples. lib/record/unsampled.h
 * defines how much weight they get.
 */
#ifndef PROF_PROFILE_UNSAMPLED_H
#define PROF_PROFILE_UNSAMPLED_H

#include <stdbool.h>
#include <string.h>

#define UNSAMPLED_FRAME "[not sampled]"
#define UNSAMPLED_KERNEL_FRAME "[kernel]" /* known to be spent in the kernel */

/*
 * Returns whether a synthetic frame with this name stands for unsampled weight.
 */
static inline bool unsampled_is_name(const char *name)
{
	return !strcmp(name, UNSAMPLED_FRAME) || !strcmp(name, UNSAMPLED_KERNEL_FRAME);
}

#endif
