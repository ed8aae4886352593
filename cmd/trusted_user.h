/*
 * Users who could do themselves what prof does: root, prof's own user and, under sudo(8), the user
 * who has called it.
 */
#ifndef PROF_CMD_TRUSTED_USER_H
#define PROF_CMD_TRUSTED_USER_H

#include <stdbool.h>
#include <sys/types.h>

bool is_trusted_user(uid_t user);
/* The own groups of these users, which usually have no other members. */
bool is_trusted_group(gid_t group);
/* The caller of sudo(8) if prof is root; 0: nobody, or root. */
uid_t sudo_caller(void);
/* His user and group; false if prof is not root or sudo(8) has not started it. */
bool sudo_caller_ids(uid_t *uid, gid_t *gid);

#endif
