/*
 * Finds the user's own code: functions of the recorded program itself. Code of
 * the kernel, of a language's runtime and its standard library, of the C
 * library, of the system's libraries, and of packages that a package manager
 * has installed is not the user's own.
 *
 * The class of a function (profile/code_origin.h) excludes what is known by
 * name. This module excludes the rest by the paths of the module and of the
 * source file. Code whose paths are unknown counts as the user's own.
 */
#ifndef PROF_REPORT_OWN_CODE_H
#define PROF_REPORT_OWN_CODE_H

#include "report/logical.h"

/*
 * module: the path of the module. file: the source file, "" if unknown. name:
 * demangled.
 */
bool own_code_by_path(const char *module, const char *file, const char *name);

/* Returns whether the function of a label is the user's own. */
bool is_own_code(const struct display_labels *labels, const struct fates *fates, uint32_t label);

#endif
