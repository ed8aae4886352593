#include "symbol/kallsyms.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <stdbool.h>
#include <string.h>

/* expected[i]: the name at addresses[i], or NULL. */
static void assert_names(const char *text, const uint64_t *addresses, const char *const *expected,
			 size_t count)
{
	CLEANUP(close_file) FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	CLEANUP(free_ptr) const char **names = xcalloc(count, sizeof(*names));
	struct arena arena = {0};

	assert_non_null(file);
	assert_null(kallsyms_find(file, addresses, count, &arena, names));
	for (size_t i = 0; i < count; i++) {
		if (!expected[i])
			assert_null(names[i]);
		else
			assert_string_equal(names[i], expected[i]);
	}
	arena_deinit(&arena);
}

TEST(an_address_gets_the_text_symbol_before_it)
{
	static const char text[] = "ffffffff81000000 T start\n"
				   "ffffffff81000100 t middle\n"
				   "ffffffff81000200 W end\n"
				   "ffffffff81000300 T _etext\n";
	static const uint64_t addresses[] = {0xffffffff80ffffff, 0xffffffff81000000,
					     0xffffffff810000ff, 0xffffffff81000100,
					     0xffffffff81000150, 0xffffffff810002ff};
	static const char *const names[] = {NULL, "start", "start", "middle", "middle", "end"};

	assert_names(text, addresses, names, ARRAY_SIZE(names));
}

TEST(modules_come_in_any_order_and_are_named)
{
	static const char text[] = "ffffffffc0002000 t late\t[two]\n"
				   "ffffffff81000000 T kernel_function\n"
				   "ffffffffc0001000 t early\t[one]\n"
				   "ffffffffc0003000 t bpf_prog_6deef7357e7b4530_x\t[bpf]\n";
	static const uint64_t addresses[] = {0xffffffff81000010, 0xffffffffc0001010,
					     0xffffffffc0001020, 0xffffffffc0002010,
					     0xffffffffc0003010};
	static const char *const names[] = {"kernel_function", "early [one]", "early [one]",
					    "late [two]", "bpf_prog_6deef7357e7b4530_x [bpf]"};

	assert_names(text, addresses, names, ARRAY_SIZE(names));
}

TEST(of_several_functions_the_first_is_chosen)
{
	static const char text[] = "ffffffff81000000 T startup_64\n"
				   "ffffffff81000000 T _stext\n"
				   "ffffffff81000000 T __pi__text\n"
				   "ffffffff81000100 t __do_sys_getpid\n"
				   "ffffffff81000100 T __x64_sys_getpid\n"
				   "ffffffff81000200 d some_data\n"
				   "ffffffff81000200 t some_function\n"
				   "ffffffff81000200 t same_function\n";
	static const uint64_t addresses[] = {0xffffffff81000000, 0xffffffff81000110,
					     0xffffffff81000200};
	static const char *const names[] = {"startup_64", "__do_sys_getpid", "some_function"};

	assert_names(text, addresses, names, ARRAY_SIZE(names));
}

TEST(addresses_after_the_text_have_no_name)
{
	static const char text[] = "ffffffff81000000 T last\n"
				   "ffffffff81001000 T _etext\n"
				   "ffffffff82000000 T alone\n"
				   "ffffffff83000000 T before_data\n"
				   "ffffffff83000100 D data\n";
	static const uint64_t addresses[] = {
		0xffffffff81000fff, 0xffffffff81001000, 0xffffffff81001010, 0xffffffff82000010,
		0xffffffff82800000, 0xffffffff83000010, 0xffffffff83000110};
	static const char *const names[] = {"last", NULL, NULL, "alone", NULL, "before_data", NULL};

	assert_names(text, addresses, names, ARRAY_SIZE(names));
}

TEST(other_lines_are_ignored)
{
	static const char text[] = "\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
				   "hello world\n11111111111111111 T too_long\n"
				   "ffffffff81000000 T real";
	static const uint64_t addresses[] = {0xffffffff81000010};
	static const char *const names[] = {"real"};

	assert_names(text, addresses, names, ARRAY_SIZE(names));
}

TEST(hidden_addresses_are_an_error_with_a_hint)
{
	static const char text[] = "0000000000000000 T start\n0000000000000000 t middle\n";
	static const uint64_t addresses[] = {0xffffffff81000000};
	const char *name = "unset";
	CLEANUP(close_file) FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct arena arena = {0};
	CLEANUP(error_cleanup) struct error *err = kallsyms_find(file, addresses, 1, &arena, &name);

	assert_non_null(err);
	assert_non_null(strstr(error_hint_text(err), "kptr_restrict"));
	assert_null(name);
	arena_deinit(&arena);
}
