/*
 * Shortens function names for tables. Names with templates and generics can
 * have kilobytes, and the most important part, the function's own name, is at
 * the end.
 */
#ifndef PROF_REPORT_SHORTEN_H
#define PROF_REPORT_SHORTEN_H

#include <stddef.h>

/*
 * Returns the name if it has at most `columns` characters. Otherwise it is
 * shortened in this order: types in brackets lose their scopes; the contents of
 * brackets become "…", the innermost first
 * ("std::vector<pair<…>>::push_back(…)", "<Vec<…> as Extend>::extend"); the
 * scopes are cut from their start; the function's own name is cut at its end.
 * The result is UTF-8, and the caller frees it.
 *
 * A path is cut at its start instead, between two parts if possible:
 * "…/src/read.rs:512".
 */
char *shorten(const char *name, size_t columns);

/*
 * Removes the scopes of types in brackets: "sum<Point>(vector<Point>)". The
 * caller frees the result.
 */
char *shorten_types(const char *name);

#endif
