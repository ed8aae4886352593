/*
 * Describes modules in a profile: kind, path, build-id, segments, and the user
 * whose permissions apply to reading their source files.
 */
#ifndef PROF_RECORD_MODULE_DESCRIPTIONS_H
#define PROF_RECORD_MODULE_DESCRIPTIONS_H

#include "proc/address_spaces.h"
#include "profile/profile.h"

/* Returns the profile's value for a kind of module. */
enum profile_module_kind described_kind(enum module_kind kind);

/*
 * Describes all modules of the profile's frames that have no description yet.
 * The main modules are described, too, even if they have no frame: main_module,
 * which need not exist, and all modules with the path main_path, which may be
 * NULL.
 */
void describe_modules(struct profile *profile, const struct address_spaces *spaces,
		      module_id main_module, const char *main_path);

#endif
