#include "cmd/program_name.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <stdlib.h>

static void assert_name(const char *path, const char *expected)
{
	CLEANUP(free_ptr) char *name = program_name(path);

	assert_string_equal(name, expected);
}

TEST(test_a_program_has_the_name_of_its_file_without_a_hash)
{
	assert_name("/x/target/debug/deps/parser-3f9a8b7c12345678", "parser");
	assert_name("target/debug/shop", "shop");
	assert_name("/x/a-b-0123456789abcdef", "a-b");
	assert_name("/x/parser-3f9a8b7c1234567", "parser-3f9a8b7c1234567");
	assert_name("/x/parser-3f9a8b7c1234567g", "parser-3f9a8b7c1234567g");
	assert_name("/x/-0123456789abcdef", "-0123456789abcdef");
	assert_name("/tmp/rustdoctestAbc/rust_out", "doctest");
}

static void assert_profile(const char *path, const char *environment, const char *expected,
			   struct string_list *taken)
{
	CLEANUP(string_list_deinit) struct string_list words = {0};
	CLEANUP(free_ptr) char *variables = xstrdup(environment);
	CLEANUP(free_ptr) char *name = NULL;

	string_list_split(&words, variables);
	name = program_profile_name(path, &words, taken);
	assert_string_equal(name, expected);
}

TEST(test_profiles_of_one_name_get_their_package_or_a_number)
{
	CLEANUP(string_list_deinit) struct string_list taken = {0};

	assert_profile("/x/it-0123456789abcdef", "CARGO_PKG_NAME=shop", "it", &taken);
	assert_profile("/x/it-0123456789abcdee", "CARGO_PKG_NAME=cart", "cart.it", &taken);
	assert_profile("/x/it-0123456789abcdee", "CARGO_PKG_NAME=cart", "cart.it-2", &taken);
	assert_profile("/x/it-0123456789abcdee", "", "it-2", &taken);
	assert_profile("/x/shop-0123456789abcdee", "CARGO_PKG_NAME=shop", "shop", &taken);
	assert_profile("/x/shop-0123456789abcdef", "CARGO_PKG_NAME=shop", "shop-2", &taken);
}

TEST(test_a_test_of_nextest_has_its_own_name)
{
	CLEANUP(string_list_deinit) struct string_list taken = {0};

	assert_profile("/x/it-0123456789abcdef",
		       "CARGO_PKG_NAME=shop NEXTEST_BINARY_ID=shop::bin/shop "
		       "NEXTEST_TEST_NAME=cart::tests::adds",
		       "shop.bin_shop.cart.tests.adds", &taken);
}

TEST(test_names_of_profiles_are_plain)
{
	CLEANUP(string_list_deinit) struct string_list taken = {0};

	assert_profile("/x/.hidden%e", "", "_hidden_e", &taken);
	assert_profile("/x/..", "", "_.", &taken);
}
