/* What names a module, what is missing, and the one command that brings it. Pure. */
#ifndef PROF_CMD_DOCTOR_MODULE_ADVICE_H
#define PROF_CMD_DOCTOR_MODULE_ADVICE_H

#include "cmd/doctor/distribution.h"
#include "cmd/doctor/module_list.h"

struct advice_context {
	struct distribution distribution; /* where the modules come from */
	bool has_debuginfod;		  /* DEBUGINFOD_URLS or an option names servers */
	bool is_root;
};

/* Sets state, origin, missing and command. */
void module_advise(struct listed_module *module, const struct advice_context *context);

#endif
