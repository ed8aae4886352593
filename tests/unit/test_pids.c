#include "base/pids.h"

#include "base/cleanup.h"

#include "folder.h"
#include "unit_test.h"

TEST_IN_FOLDER(only_numbers_are_ids)
{
	static const char *const names[] = {"17", "self", "sys", "4", "-3"};
	CLEANUP(close_dir) DIR *dir = NULL;
	pid_t pid, sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", folder, names[i]);

		assert_int_equal(mkdir(path, 0700), 0);
	}
	dir = opendir(folder);
	while ((pid = pids_next(dir))) {
		assert_true(pid == 17 || pid == 4);
		sum += pid;
	}
	assert_int_equal(sum, 17 + 4);
}

TEST(a_directory_that_cannot_be_opened_has_no_ids)
{
	assert_int_equal(pids_next(opendir("/nowhere")), 0);
}
