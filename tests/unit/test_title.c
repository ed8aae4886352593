#include "report/title.h"

#include "unit_test.h"

#include <stdlib.h>

/* The title of a profile with samples of process 812, nginx. */
static void assert_title(const char *title, const char *command, const char *expected)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(free_ptr) char *found = NULL;

	profile_thread_labels(profile, 812, 813, "nginx", "worker");
	profile_set_info(profile, &(struct profile_info){.title = title, .command = command});
	found = title_of(profile);
	assert_string_equal(found, expected);
}

TEST(the_stored_title_comes_first)
{
	assert_title("redis (pid 1)", "prof record -p 812 -- sleep 8", "redis (pid 1)");
}

TEST(without_one_the_target_in_the_command_line_is_the_title)
{
	static const struct {
		const char *command, *title;
	} cases[] = {
		{"perf record -g -- cargo bench parser", "cargo bench parser"},
		{"prof record -p 812 -- sleep 8", "nginx (pid 812)"},
		{"perf record -F 99 -p812", "nginx (pid 812)"},
		{"perf record --pid=812 -g sleep 8", "nginx (pid 812)"},
		{"perf record -F 99 -ag -- sleep 8", "the whole machine"},
		{"prof record --all-cpus -- sleep 8", "the whole machine"},
		{"prof record -- /bin/app -p 812 a/b", "app -p 812 a/b"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_title("", cases[i].command, cases[i].title);
}

/* A title that may be wrong is worse than a long one. */
TEST(a_command_line_that_does_not_show_the_target_is_the_title_itself)
{
	static const char *const lines[] = {
		"",
		"prof diff a.pb.gz b.pb.gz",
		"perf record ./app -a",
		"perf record ./app -p 3",
		"prof record -p 815 -- sleep 8",
		"prof record --name redis -- sleep 8",
		"prof record -t 813 -- sleep 8",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_title("", lines[i], lines[i]);
}
