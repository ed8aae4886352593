/*
 * Patterns of function names: '*' stands for any text, '?' for one byte, all else for itself.
 */
#ifndef PROF_PROBE_PATTERN_H
#define PROF_PROBE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it has a '*' or a '?'. */
bool pattern_is(const char *text);
bool pattern_matches(const char *pattern, const char *text);
/* The longest run of letters, digits and '_', which every name that matches contains; may be
 * empty. */
const char *pattern_key(const char *pattern, size_t *len);

#endif
