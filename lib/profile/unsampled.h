/*
 * The names of the synthetic frames that stand for weight which the kernel counted and no sample
 * shows. Each is the whole stack of its samples. lib/record/balance.h states how much they get.
 */
#ifndef PROF_PROFILE_UNSAMPLED_H
#define PROF_PROFILE_UNSAMPLED_H

#include <stdbool.h>
#include <string.h>

#define UNSAMPLED_FRAME "[not sampled]"
#define UNSAMPLED_KERNEL_FRAME "[kernel]" /* it is known to be the kernel's */

/* Whether a synthetic frame of this name is one of them. */
static inline bool unsampled_is_name(const char *name)
{
	return !strcmp(name, UNSAMPLED_FRAME) || !strcmp(name, UNSAMPLED_KERNEL_FRAME);
}

#endif
