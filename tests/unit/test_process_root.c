#include "proc/process_root.h"

#include "folder.h"

#include <unistd.h>

/* What process 34, whose root has this name, calls a file. */
static void assert_name(const char *root, const char *path, const char *expected)
{
	CLEANUP(free_ptr) char *link = path_of("34/root");
	CLEANUP(free_ptr) char *name = NULL;

	unlink(link);
	if (root)
		assert_int_equal(symlink(root, link), 0);
	name = process_root_name(folder, 34, path);
	assert_string_equal(name, expected);
}

static void a_file_below_the_root_is_named_from_there(void **state)
{
	(void)state;
	assert_name("/srv/image", "/srv/image/opt/shop", "/opt/shop");
}

static void a_file_elsewhere_keeps_its_name(void **state)
{
	(void)state;
	assert_name("/srv/image", "/opt/shop", "/opt/shop");
	assert_name("/srv/image", "/srv/image2/opt/shop", "/srv/image2/opt/shop");
	assert_name("/srv/image", "/srv/image", "/srv/image");
}

static void without_another_root_a_file_keeps_its_name(void **state)
{
	(void)state;
	assert_name("/", "/opt/shop", "/opt/shop");
	assert_name(NULL, "/opt/shop", "/opt/shop");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_below_the_root_is_named_from_there),
		TEST(a_file_elsewhere_keeps_its_name),
		TEST(without_another_root_a_file_keeps_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
