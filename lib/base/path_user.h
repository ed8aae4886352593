/*
 * Finds the user who can decide to which file a path leads: the least trusted
 * of those who own, or can write to, a directory or a symbolic link on it.
 */
#ifndef PROF_BASE_PATH_USER_H
#define PROF_BASE_PATH_USER_H

#include <sys/types.h>

/*
 * Returns UNTRUSTED_USER_UNKNOWN if only root and prof's user can decide.
 * Returns UNTRUSTED_USER_NOBODY if several other users or a group can, or if
 * the path cannot be followed. The owner of the file itself does not count.
 * Afterwards, only the returned user can change where the path leads.
 */
uid_t path_user(const char *path);

#endif
