/*
 * Who can decide to which file a path leads: the least trusted of those who own, or can write to, a
 * directory or a symbolic link on it.
 */
#ifndef PROF_BASE_PATH_USER_H
#define PROF_BASE_PATH_USER_H

#include <sys/types.h>

/*
 * FOREIGN_USER_UNKNOWN if root and the user of prof alone can; FOREIGN_USER_NOBODY if several
 * others, or a group, can, or if the path cannot be followed. An owner of the file itself does not
 * count: only he can have written what is in it. What the path leads to can change afterwards only
 * with the rights of that user.
 */
uid_t path_user(const char *path);

#endif
