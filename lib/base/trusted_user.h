/*
 * Users who could do themselves what prof does: root, prof's own user and,
 * under sudo(8), the user who called it.
 */
#ifndef PROF_BASE_TRUSTED_USER_H
#define PROF_BASE_TRUSTED_USER_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

bool is_trusted_user(uid_t user);
/*
 * Returns whether the mode lets others write to a file or directory. The
 * primary groups of trusted users usually have no other members.
 */
bool is_writable_by_others(const struct stat *st);
/*
 * Returns the caller of sudo(8) if prof is root. Returns 0 if there is none or
 * it is root.
 */
uid_t sudo_caller(void);
/*
 * Stores the user and group of the caller of sudo(8). Returns false if prof is
 * not root or sudo(8) has not started it.
 */
bool sudo_caller_ids(uid_t *uid, gid_t *gid);

#endif
