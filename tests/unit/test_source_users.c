#include "profile/source_users.h"

#include "base/strtab.h"

#include "unit_test.h"

#include <unistd.h>

static const uid_t somebody = 54321, another = 54322;

/* Adds a frame in this file, of a module of this user. */
static string_id add_frame(struct profile *profile, uint32_t module, uid_t user, const char *file)
{
	string_id path = strtab_add(profile_strings(profile), file);
	const struct profile_line line = {
		.function = profile_function(profile, &(struct profile_function){.file = path}),
		.line = 1,
	};

	profile_describe_module(
		profile, module,
		&(struct profile_module){.kind = PROFILE_MODULE_FILE, .source_user = user});
	profile_set_lines(profile, profile_frame(profile, module, 1, false), &line, 1);
	return path;
}

TEST(a_file_is_opened_with_rights_that_all_who_name_it_have)
{
	struct profile *profile = profile_new();
	string_id own = add_frame(profile, 0, SOURCE_USER_PROF, "own.c");
	string_id theirs = add_frame(profile, 1, somebody, "theirs.c");
	string_id shared = add_frame(profile, 2, SOURCE_USER_PROF, "shared.c");
	string_id strange = add_frame(profile, 3, somebody, "strange.c");
	struct source_users *users;

	add_frame(profile, 4, somebody, "shared.c");
	add_frame(profile, 5, another, "strange.c");
	users = source_users_new(profile);
	assert_int_equal(source_users_get(users, own), SOURCE_USER_PROF);
	assert_int_equal(source_users_get(users, theirs), somebody);
	assert_int_equal(source_users_get(users, shared), somebody);
	assert_int_equal(source_users_get(users, strange), SOURCE_USER_NOBODY);
	source_users_free(users);
	assert_int_equal(profile_writer(profile), 0);
	source_users_distrust(profile, another);
	assert_int_equal(profile_writer(profile), another);
	users = source_users_new(profile);
	assert_int_equal(source_users_get(users, own), another);
	assert_int_equal(source_users_get(users, theirs), SOURCE_USER_NOBODY);
	source_users_free(users);
	profile_free(profile);
}

TEST(a_module_that_others_can_write_has_no_user)
{
	assert_int_equal(source_user_of_owner(0, false), SOURCE_USER_PROF);
	assert_int_equal(source_user_of_owner(geteuid(), false), SOURCE_USER_PROF);
	assert_int_equal(source_user_of_owner(0, true), SOURCE_USER_NOBODY);
	assert_int_equal(source_user_of_owner(geteuid() + 1, true), geteuid() + 1);
}
