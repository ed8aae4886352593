/*
 * Shortens names of functions for tables. Templates and generics make names of kilobytes, and the
 * most important part, the function's own name, is at the end.
 */
#ifndef PROF_REPORT_SHORTEN_H
#define PROF_REPORT_SHORTEN_H

#include <stddef.h>

/*
 * Returns the name if it has at most `columns` characters. Otherwise types in brackets lose their
 * scopes; then the contents of brackets become "…", the innermost first:
 * "std::vector<pair<…>>::push_back(…)", "<Vec<…> as Extend>::extend"; then the beginning of the
 * scopes is cut off, and at last the end of the function's own name. UTF-8; to be freed.
 */
char *shorten(const char *name, size_t columns);

/* Types in brackets lose their scopes: "sum<Point>(vector<Point>)". To be freed. */
char *shorten_types(const char *name);

#endif
