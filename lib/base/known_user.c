#include "base/known_user.h"

#ifdef PROF_STATIC

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* name: NULL finds the id. */
static const struct passwd *known_user_find(const char *name, uid_t id)
{
	CLEANUP(close_file) FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *user = NULL;

	while (file && (user = fgetpwent(file)))
		if (name ? !strcmp(user->pw_name, name) : user->pw_uid == id)
			break;
	return user;
}

const struct passwd *known_user_by_name(const char *name)
{
	return known_user_find(name, 0);
}

const struct passwd *known_user_by_id(uid_t id)
{
	return known_user_find(NULL, id);
}

#else

const struct passwd *known_user_by_name(const char *name)
{
	return getpwnam(name);
}

const struct passwd *known_user_by_id(uid_t id)
{
	return getpwuid(id);
}

#endif
