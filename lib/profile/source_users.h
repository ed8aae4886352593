/*
 * With whose rights the source files that a profile names are opened (base/foreign_file.h).
 *
 * A module's debug information names files, and whoever may write to the module can have it name
 * any file. Therefore each module has a user: its owner, or nobody if others than its owner may
 * write to it. Root's modules and those of prof's own user have SOURCE_USER_PROF. A file that
 * modules of several users name is opened with the rights that all of them have: of the one who is
 * not prof, or of nobody.
 */
#ifndef PROF_PROFILE_SOURCE_USERS_H
#define PROF_PROFILE_SOURCE_USERS_H

#include "base/cleanup.h"
#include "profile/profile.h"

#include <sys/types.h>

enum {
	SOURCE_USER_PROF = 0,
	SOURCE_USER_NOBODY = 65534, /* reads what everybody may read */
};

/* The user of a module with this file (elf/file_origin.h). */
uid_t source_user_of_owner(uid_t owner, bool is_foreign);

/* The profile was written by this user, who can have written names of files into all modules. */
void source_users_distrust(struct profile *profile, uid_t writer);

/* Of all files of a profile. */
struct source_users;

struct source_users *source_users_new(const struct profile *profile);
void source_users_free(struct source_users *users);
DEFINE_CLEANUP(source_users, source_users_free)

/* file: a string of the profile. */
uid_t source_users_get(const struct source_users *users, string_id file);

#endif
