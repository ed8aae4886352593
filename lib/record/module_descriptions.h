/*
 * Describes modules to a profile: kind, path, build-id, segments, and with whose rights their
 * source files may be read.
 */
#ifndef PROF_RECORD_MODULE_DESCRIPTIONS_H
#define PROF_RECORD_MODULE_DESCRIPTIONS_H

#include "proc/address_spaces.h"
#include "profile/profile.h"

/*
 * Describes the modules of the profile's frames, and the main one even if it has none, unless they
 * are described already. The main module is main_module, which need not exist, and those whose path
 * is main_path, which may be NULL.
 */
void describe_modules(struct profile *profile, const struct address_spaces *spaces,
		      module_id main_module, const char *main_path);

#endif
