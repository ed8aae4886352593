/*
 * Which function people mean by a word.
 */
#ifndef PROF_REPORT_MATCH_H
#define PROF_REPORT_MATCH_H

#include <stdbool.h>

/*
 * Is it the function's own name, or the end of its full one, without template arguments and
 * parameters? "push_back" and "vector::push_back" are "std::vector<int>::push_back(int&&)", "back"
 * is not.
 */
bool match_own_name(const char *name, const char *word);

#endif
