/*
 * Matches function names against user input.
 */
#ifndef PROF_REPORT_MATCH_H
#define PROF_REPORT_MATCH_H

#include <stdbool.h>

/*
 * Returns whether the word is the unqualified name of the function, or an end
 * of its qualified name, without template arguments and parameters: "push_back"
 * and "vector::push_back" match "std::vector<int>::push_back(int&&)", "back"
 * does not.
 */
bool match_own_name(const char *name, const char *word);

#endif
