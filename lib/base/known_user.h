/*
 * Users by name and id: getpwnam(3) and getpwuid(3). A static program knows only
 * the users in /etc/passwd, because other sources are libraries of the C library
 * that it was linked with.
 *
 * Results are valid until the next call. NULL means that the user is unknown.
 */
#ifndef PROF_BASE_KNOWN_USER_H
#define PROF_BASE_KNOWN_USER_H

#include <pwd.h>

const struct passwd *known_user_by_name(const char *name);
const struct passwd *known_user_by_id(uid_t id);

#endif
