/*
 * Decides with which user's permissions source files of a profile are opened
 * (base/untrusted_file.h).
 *
 * A module's debug information names files, and every user who may write to the
 * module can make it name any file. Therefore each module has a user: its
 * owner, or nobody if other users may write to it. Modules of root and of
 * prof's own user have SOURCE_USER_PROF. A file that modules of several users
 * name is opened with the permissions that all of them have: those of the user
 * who is not prof, or of nobody.
 */
#ifndef PROF_PROFILE_SOURCE_USERS_H
#define PROF_PROFILE_SOURCE_USERS_H

#include "base/cleanup.h"
#include "profile/profile.h"

#include <sys/types.h>

enum {
	SOURCE_USER_PROF = 0,
	SOURCE_USER_NOBODY = 65534, /* reads only world-readable files */
};

/* Returns the user of a module with this file (elf/file_origin.h). */
uid_t source_user_of_owner(uid_t owner, bool is_untrusted);

/*
 * Marks all modules as written by this user, who has written the profile and
 * may have put any file name into it.
 */
void source_users_distrust(struct profile *profile, uid_t writer);

/* The users of all files of a profile. */
struct source_users;

struct source_users *source_users_new(const struct profile *profile);
void source_users_free(struct source_users *users);
DEFINE_CLEANUP(source_users, source_users_free)

/* file: a string of the profile. */
uid_t source_users_get(const struct source_users *users, string_id file);

#endif
