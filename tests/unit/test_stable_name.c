#include "report/stable_name.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "unit_test.h"

#include <stdlib.h>

struct pair {
	const char *name, *stable;
};

static void assert_stable_names(const struct pair *pairs, size_t count, char *(*of)(const char *))
{
	for (size_t i = 0; i < count; i++) {
		CLEANUP(free_ptr) char *name = of(pairs[i].name);

		assert_string_equal(name, pairs[i].stable);
	}
}

TEST(clones_are_their_function)
{
	static const struct pair pairs[] = {
		{"parse", "parse"},
		{"parse.constprop.0", "parse"},
		{"parse.part.0.isra.1", "parse"},
		{"parse.cold", "parse"},
		{"parse.constprop.0.cold.1", "parse"},
		{"parse.lto_priv.12", "parse"},
		{"foo(int) [clone .part.0] [clone .isra.1]", "foo(int)"},
		{"operator()(float) const [clone .cold]", "operator()(float) const"},
	};

	assert_stable_names(pairs, ARRAY_SIZE(pairs), stable_function_name);
}

TEST(numbers_of_linker_and_rustc_are_removed)
{
	static const struct pair pairs[] = {
		{"parse.llvm.1234567890", "parse"},
		{"parse.llvm.A5310EB9.cold", "parse"},
		{"core::fmt::write::h0123456789abcdef", "core::fmt::write"},
		{"myapp::parse_[i]", "myapp::parse"},
	};

	assert_stable_names(pairs, ARRAY_SIZE(pairs), stable_function_name);
}

TEST(other_names_stay_whole)
{
	static const struct pair pairs[] = {
		{"", ""},
		{".cold", ".cold"},
		{"main.main.func1", "main.main.func1"},
		{"runtime.coldstart", "runtime.coldstart"},
		{"app.part.of.it", "app.part.of.it"},
		{"::h0123456789abcdef", "::h0123456789abcdef"},
		{"a::hello", "a::hello"},
		{" [clone .cold]", " [clone .cold]"},
		{"_[i]", "_[i]"},
	};

	assert_stable_names(pairs, ARRAY_SIZE(pairs), stable_function_name);
}

TEST(libraries_are_known_without_their_version)
{
	static const struct pair pairs[] = {
		{"/usr/lib/libz.so.1.3.1", "libz.so"},	    {"/usr/lib/libz.so", "libz.so"},
		{"/opt/libz.so.old", "libz.so.old"},	    {"/opt/app-1.2", "app-1.2"},
		{"[kernel.kallsyms]", "[kernel.kallsyms]"}, {"", ""},
	};

	assert_stable_names(pairs, ARRAY_SIZE(pairs), stable_file_name);
}
