/*
 * Decides for a module where its symbols come from, what is missing, and which
 * command provides it. Pure functions.
 */
#ifndef PROF_DOCTOR_MODULE_ADVICE_H
#define PROF_DOCTOR_MODULE_ADVICE_H

#include "doctor/distribution.h"
#include "doctor/module_list.h"

struct advice_context {
	struct distribution distribution; /* where the modules come from */
	bool has_debuginfod;		  /* DEBUGINFOD_URLS or an option names servers */
	bool is_root;
};

/* Sets state, origin, missing and command. */
void module_advise(struct listed_module *module, const struct advice_context *context);

#endif
