/*
 * Matches names against several patterns of fnmatch(3): *, ? and [].
 */
#ifndef PROF_BASE_GLOBS_H
#define PROF_BASE_GLOBS_H

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>

static inline bool globs_match(char *const *globs, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(globs[i], name, 0) == 0)
			return true;
	return false;
}

#endif
