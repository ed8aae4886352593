/*
 * The user who is responsible for a name that comes from others: a user id, or
 * one of these.
 */
#ifndef PROF_BASE_UNTRUSTED_USER_H
#define PROF_BASE_UNTRUSTED_USER_H

#include <sys/types.h>

/* No user has this id. Files are opened with prof's own permissions. */
#define UNTRUSTED_USER_UNKNOWN ((uid_t)-1)
/* "nobody": only world-readable files are opened. */
#define UNTRUSTED_USER_NOBODY ((uid_t)65534)

#endif
