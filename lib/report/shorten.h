/*
 * Names of functions for tables. Templates and generics make names of kilobytes, and the part that
 * tells most, the function's own name, stands at the end of them.
 */
#ifndef PROF_REPORT_SHORTEN_H
#define PROF_REPORT_SHORTEN_H

#include <stddef.h>

/*
 * The name itself where it has no more characters than `columns`. Else types in brackets lose their
 * scopes; then what is in brackets gives way to "…", the innermost first:
 * "std::vector<pair<…>>::push_back(…)", "<Vec<…> as Extend>::extend"; and when that is not enough,
 * the beginning of the scopes, and at last the end of the function's own name. UTF-8; to be freed.
 */
char *shorten(const char *name, size_t columns);

#endif
