#include "proc/process_links.h"

#include "folder.h"
#include "unit_test.h"

#include <unistd.h>

static void add_link(const char *name)
{
	CLEANUP(free_ptr) char *path = path_of(name);

	assert_int_equal(symlink("/", path), 0);
}

static void assert_links(const char *expected)
{
	CLEANUP(free_ptr) char *path = path_of(expected);
	CLEANUP(free_ptr) char *links = process_links(folder, 34);

	assert_string_equal(links, path);
}

TEST_IN_FOLDER(a_process_has_links_of_its_own)
{
	add_link("34/root");
	add_link("34/task/35/root");
	assert_links("34");
}

TEST_IN_FOLDER(without_its_main_thread_the_links_are_those_of_another)
{
	write_file("34/task/34/stat", "", 0);
	write_file("34/task/35/stat", "", 0);
	add_link("34/task/36/root");
	assert_links("34/task/36");
}

TEST_IN_FOLDER(a_process_that_has_ended_has_no_better_ones)
{
	assert_links("34");
}
