/*
 * Matches function names against patterns: '*' matches any text, '?' matches
 * one byte, and every other character matches itself.
 */
#ifndef PROF_PROBE_PATTERN_H
#define PROF_PROBE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the text contains a '*' or a '?'. */
bool pattern_is(const char *text);
bool pattern_matches(const char *pattern, const char *text);
/*
 * Returns the longest run of letters, digits and '_' in the pattern, which may
 * be empty. Every matching name contains it.
 */
const char *pattern_key(const char *pattern, size_t *len);

#endif
