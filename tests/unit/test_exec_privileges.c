#include "proc/exec_privileges.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <linux/capability.h>
#include <stdint.h>
#include <string.h>

enum { USER = 1000, GROUP = 1001 };

static enum exec_privileges judge(mode_t mode, uid_t owner, gid_t group, struct exec_facts facts)
{
	facts.file.st_mode = S_IFREG | mode;
	facts.file.st_uid = owner;
	facts.file.st_gid = group;
	if (!facts.user)
		facts.user = USER;
	facts.group = GROUP;
	return exec_privileges_judge(&facts);
}

TEST(a_file_changes_privileges_by_its_mode_and_owner)
{
	const struct exec_facts usual = {.may_gain = true, .may_read = true};
	const struct exec_facts barred = {.may_read = true, .has_capabilities = true};

	assert_int_equal(judge(0755, 0, 0, usual), EXEC_KEEPS_PRIVILEGES);
	assert_int_equal(judge(04755, 0, 0, usual), EXEC_SETS_USER);
	assert_int_equal(judge(04755, USER, 0, usual), EXEC_KEEPS_PRIVILEGES);
	assert_int_equal(judge(02755, 0, 0, usual), EXEC_SETS_GROUP);
	assert_int_equal(judge(02755, 0, GROUP, usual), EXEC_KEEPS_PRIVILEGES);
	assert_int_equal(judge(02745, 0, 0, usual), EXEC_KEEPS_PRIVILEGES); /* mandatory locking */
	assert_int_equal(judge(06755, 0, 0, barred), EXEC_KEEPS_PRIVILEGES);
}

TEST(capabilities_and_reading_are_judged)
{
	struct exec_facts facts = {.user = USER,
				   .group = GROUP,
				   .may_gain = true,
				   .has_capabilities = true,
				   .may_read = true};

	assert_int_equal(exec_privileges_judge(&facts), EXEC_ADDS_CAPABILITIES);
	facts.user = 0;
	assert_int_equal(exec_privileges_judge(&facts), EXEC_KEEPS_PRIVILEGES);
	facts.may_read = false;
	assert_int_equal(exec_privileges_judge(&facts), EXEC_FORBIDS_READING);
}

TEST(only_permitted_capabilities_count)
{
	struct vfs_cap_data data = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE};

	assert_false(exec_privileges_permits_any(&data, sizeof(data)));
	data.data[0].inheritable = UINT32_MAX;
	assert_false(exec_privileges_permits_any(&data, sizeof(data)));
	data.data[1].permitted = 1;
	assert_true(exec_privileges_permits_any(&data, sizeof(data)));
	assert_false(exec_privileges_permits_any(&data, offsetof(struct vfs_cap_data, data[1])));
	data.data[0].permitted = 1;
	assert_true(exec_privileges_permits_any(&data, sizeof(data)));
}
