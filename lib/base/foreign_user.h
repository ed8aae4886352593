/*
 * The user who is responsible for a name that comes from others: a user id, or one of these.
 */
#ifndef PROF_BASE_FOREIGN_USER_H
#define PROF_BASE_FOREIGN_USER_H

#include <sys/types.h>

/* An id that no user has: files are opened with prof's own rights. */
#define FOREIGN_USER_UNKNOWN ((uid_t)-1)
/* "nobody": files are opened that everybody may read. */
#define FOREIGN_USER_NOBODY ((uid_t)65534)

#endif
