/*
 * Classifies functions by the name of their module and their own name: origin
 * and role (code_rules.h).
 *
 * Names are matched as demangled, with generic arguments, before they are
 * shortened. The work per name is bounded by the size of the table and the
 * length of the name.
 */
#ifndef PROF_PROFILE_CODE_ORIGIN_H
#define PROF_PROFILE_CODE_ORIGIN_H

#include "profile/code_rules.h"

/*
 * module: without its directory. name: demangled; "" if unknown,
 * "[module+0x1234]" for an address.
 */
struct code_class code_class_of(const char *module, const char *name);

enum code_origin code_origin_of(const char *module, const char *name);

#endif
