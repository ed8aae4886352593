#include "profile/source_users.h"

#include "base/alloc.h"
#include "base/idmap.h"

#include <unistd.h>

struct source_users {
	struct idmap by_file;
};

static uid_t source_users_merge(uid_t a, uid_t b)
{
	if (a == b || b == SOURCE_USER_PROF)
		return a;
	return a == SOURCE_USER_PROF ? b : SOURCE_USER_NOBODY;
}

uid_t source_user_of_owner(uid_t owner, bool is_untrusted)
{
	if (owner && owner != geteuid())
		return owner;
	return is_untrusted ? SOURCE_USER_NOBODY : SOURCE_USER_PROF;
}

void source_users_distrust(struct profile *profile, uid_t writer)
{
	profile_set_writer(profile, writer);
	for (uint32_t i = 0; i < profile_module_count(profile); i++) {
		uid_t user = profile_get_module(profile, i)->source_user;

		profile_set_source_user(profile, i, source_users_merge(user, writer));
	}
}

static void source_users_add(struct source_users *users, string_id file, uid_t user)
{
	uint32_t *known = idmap_put(&users->by_file, file, 0);

	*known = *known == IDMAP_NONE ? user : source_users_merge(*known, user);
}

struct source_users *source_users_new(const struct profile *profile)
{
	struct source_users *users = xcalloc(1, sizeof(*users));

	for (frame_id id = 0; id < profile_frame_count(profile); id++) {
		struct profile_frame frame = profile_get_frame(profile, id);
		uid_t user = profile_get_module(profile, frame.module)->source_user;

		for (unsigned i = 0; i < frame.line_count; i++) {
			function_id function = frame.lines[i].function;

			source_users_add(users, profile_get_function(profile, function)->file,
					 user);
		}
	}
	return users;
}

void source_users_free(struct source_users *users)
{
	if (!users)
		return;
	idmap_deinit(&users->by_file);
	free(users);
}

uid_t source_users_get(const struct source_users *users, string_id file)
{
	uint32_t user = idmap_get(&users->by_file, file, 0);

	return user == IDMAP_NONE ? SOURCE_USER_NOBODY : user;
}
