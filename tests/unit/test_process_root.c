#include "proc/process_root.h"

#include "folder.h"
#include "unit_test.h"

#include <unistd.h>

/* Checks the path of a file as seen by process 34, whose root has this name. */
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

TEST_IN_FOLDER(a_file_below_the_root_is_named_from_there)
{
	assert_name("/srv/image", "/srv/image/opt/shop", "/opt/shop");
}

TEST_IN_FOLDER(a_file_elsewhere_keeps_its_name)
{
	assert_name("/srv/image", "/opt/shop", "/opt/shop");
	assert_name("/srv/image", "/srv/image2/opt/shop", "/srv/image2/opt/shop");
	assert_name("/srv/image", "/srv/image", "/srv/image");
}

TEST_IN_FOLDER(without_another_root_a_file_keeps_its_name)
{
	assert_name("/", "/opt/shop", "/opt/shop");
	assert_name(NULL, "/opt/shop", "/opt/shop");
}
