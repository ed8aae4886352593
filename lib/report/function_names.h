/*
 * The names of a profile's functions in a style, for formats that write
 * functions instead of display labels.
 */
#ifndef PROF_REPORT_FUNCTION_NAMES_H
#define PROF_REPORT_FUNCTION_NAMES_H

#include "report/display_labels.h"

struct function_names {
	const struct profile *profile;
	struct display_labels labels;
	const char **shown; /* by function; NULL means all have their full names */
};

/* Borrows the profile. */
void function_names_init(struct function_names *names, const struct profile *profile,
			 enum name_style style);
void function_names_deinit(struct function_names *names);

const char *function_names_get(const struct function_names *names, function_id function);

#endif
