/*
 * Describes in words why the symbols of a module are missing or incomplete, and
 * how to get them.
 */
#ifndef PROF_SYMBOL_MODULE_PROBLEM_H
#define PROF_SYMBOL_MODULE_PROBLEM_H

#include "proc/address_spaces.h"
#include "profile/profile.h"
#include "symbol/symbol_request.h"

/*
 * Describes a symbol request whose lines have been added to the profile.
 * Returns one sentence, or NULL if there is no problem. *fact is the part of
 * the sentence that describes what is missing, or NULL. The caller frees both.
 */
char *module_problem(const struct symbol_request *request, const struct address_spaces *spaces,
		     const struct profile *profile, char **fact);

#endif
