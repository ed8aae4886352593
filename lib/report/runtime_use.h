/*
 * The language runtimes of a profile (profile/runtime.h): how many samples they
 * have, and whether their functions have names.
 */
#ifndef PROF_REPORT_RUNTIME_USE_H
#define PROF_REPORT_RUNTIME_USE_H

#include "profile/profile.h"
#include "profile/runtime.h"

struct runtime_use {
	uint64_t samples;
	uint64_t named;	  /* of those, samples with a function that the runtime lists */
	const char *path; /* of its program or library; NULL if it has no samples */
};

struct runtime_uses {
	struct runtime_use of[RUNTIMES];
	uint64_t samples; /* of the profile */
};

/*
 * A sample belongs to the runtime of the innermost frame in a runtime's file.
 * JIT code in a stack without such a frame belongs to the runtime of the
 * process.
 */
void runtime_uses_count(const struct profile *profile, struct runtime_uses *ret);
/*
 * Whether the runtime has at least 5 % of the samples, and no more than 5 % of
 * its samples have a function that it lists.
 */
bool runtime_is_nameless(const struct runtime_uses *uses, enum runtime runtime);
/*
 * Returns a text about a nameless runtime, such as "97.1 % of the samples are in
 * Python, whose functions have no names". The caller frees it.
 */
char *runtime_use_fact(const struct runtime_uses *uses, enum runtime runtime);
/*
 * Returns a line for each nameless runtime: the fact, ": " and its advice. NULL
 * if there is none. The caller frees it.
 */
char *runtime_use_text(const struct profile *profile);

#endif
