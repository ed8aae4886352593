/* Why the names of a module are missing or incomplete, and what brings them, in words. */
#ifndef PROF_SYMBOL_MODULE_PROBLEM_H
#define PROF_SYMBOL_MODULE_PROBLEM_H

#include "proc/address_spaces.h"
#include "profile/profile.h"
#include "symbol/inquiry.h"

/*
 * Of an inquiry whose lines the profile has got. Returns one sentence, or NULL: there is nothing to
 * say. *fact: the part of it that says what is missing, alone, or NULL. Both are to be freed.
 */
char *module_problem(const struct inquiry *inquiry, const struct address_spaces *spaces,
		     const struct profile *profile, char **fact);

#endif
