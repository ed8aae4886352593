#include "symbol/perfmap.h"

#include "folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

static void assert_names(const char *text, const uint64_t *addresses, const char *const *expected,
			 size_t count)
{
	CLEANUP(close_file) FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	CLEANUP(free_ptr) const char **names = xcalloc(count, sizeof(*names));
	struct arena arena = {0};

	assert_non_null(file);
	perfmap_find(file, addresses, count, &arena, names);
	for (size_t i = 0; i < count; i++) {
		if (!expected[i])
			assert_null(names[i]);
		else
			assert_string_equal(names[i], expected[i]);
	}
	arena_deinit(&arena);
}

static void a_name_covers_its_size(void **state)
{
	(void)state;
	static const char text[] = "7f0000001000 100 LazyCompile:*hot /srv/app.js:12:3\n"
				   "0x7f0000002000 0x10 with a prefix\n";
	static const uint64_t addresses[] = {0x7f0000000fff, 0x7f0000001000, 0x7f00000010ff,
					     0x7f0000001100, 0x7f000000200f, 0x7f0000002010};
	static const char *const names[] = {NULL,
					    "LazyCompile:*hot /srv/app.js:12:3",
					    "LazyCompile:*hot /srv/app.js:12:3",
					    NULL,
					    "with a prefix",
					    NULL};

	assert_names(text, addresses, names, ARRAY_SIZE(names));
}

static void later_lines_win(void **state)
{
	(void)state;
	static const char text[] = "1000 100 first\n1040 20 second\n";
	static const uint64_t addresses[] = {0x1010, 0x1050, 0x1070};
	static const char *const names[] = {"first", "second", "first"};

	assert_names(text, addresses, names, ARRAY_SIZE(names));
}

static void other_lines_are_passed_over(void **state)
{
	(void)state;
	static const char text[] = "\n1000\n1000 \n1000 10\n1000 10 \n-1 -1 minus\n1000 zz zz\n"
				   "fffffffffffffff0 ffffffffffffffff wraps\n"
				   "1000 10 real";
	static const uint64_t addresses[] = {0x10, 0x1000, 0x2000};
	static const char *const names[] = {NULL, "real", NULL};

	assert_names(text, addresses, names, ARRAY_SIZE(names));
}

static void the_map_is_found_by_the_process_own_pid_and_folder(void **state)
{
	(void)state;
	static const char status[] = "Name:\tnode\nPid:\t34\nNSpid:\t34\t12\n";
	static const char line[] = "1000 10 inside\n";
	CLEANUP(close_file) FILE *map = NULL;
	char text[64];

	write_file("34/status", status, strlen(status));
	assert_null(perfmap_open(folder, 34));
	write_file("34/root/tmp/perf-12.map", line, strlen(line));
	map = perfmap_open(folder, 34);
	assert_non_null(map);
	assert_non_null(fgets(text, sizeof(text), map));
	assert_string_equal(text, line);
}

static void a_pipe_in_the_maps_place_does_not_block(void **state)
{
	(void)state;
	CLEANUP(free_ptr) char *path = path_of("34/root/tmp/perf-34.map");

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_null(perfmap_open(folder, 34));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_covers_its_size),
		cmocka_unit_test(later_lines_win),
		cmocka_unit_test(other_lines_are_passed_over),
		cmocka_unit_test_setup_teardown(the_map_is_found_by_the_process_own_pid_and_folder,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_pipe_in_the_maps_place_does_not_block,
						make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
