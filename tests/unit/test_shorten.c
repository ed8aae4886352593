#include "report/shorten.h"

#include "base/cleanup.h"

#include "unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void assert_short(const char *name, size_t columns, const char *expected)
{
	CLEANUP(free_ptr) char *text = shorten(name, columns);

	assert_string_equal(text, expected);
}

TEST(a_name_that_fits_stays_as_it_is)
{
	assert_short("std::vector<int>::at(unsigned long)", 35,
		     "std::vector<int>::at(unsigned long)");
	assert_short("Zürich", 6, "Zürich");
	assert_short("", 10, "");
}

TEST(the_innermost_brackets_give_way_first)
{
	static const char name[] =
		"map<pair<string<char>, int>, V>::insert(pair<string<char>, int>&&)";

	assert_short(name, 60, "map<pair<string<…>, int>, V>::insert(pair<string<…>, int>&&)");
	assert_short(name, 59, "map<pair<…>, V>::insert(pair<…>&&)");
	assert_short(name, 33, "map<…>::insert(…)");
}

TEST(types_in_brackets_lose_their_scopes_before_all)
{
	static const char name[] = "<alloc::vec::Vec<core::option::Option<T>> as "
				   "core::iter::traits::Extend<T>>::extend_desugared";

	assert_short(name, 60, "<Vec<Option<T>> as Extend<T>>::extend_desugared");
	assert_short(name, 44, "<Vec<…> as Extend<…>>::extend_desugared");
	assert_short(name, 29, "…Extend<…>>::extend_desugared");
	assert_short("std::map<std::string, int>::at(std::string const&)", 40,
		     "std::map<string, int>::at(string const&)");
}

TEST(a_name_that_is_still_too_long_loses_its_beginning)
{
	assert_short("company::product::detail::run<int>()", 11, "…::run<…>()");
	assert_short("company::product::detail::run<int>()", 10, "…run<…>()");
	assert_short("company::product::run [clone .isra.0]", 21, "…run [clone .isra.0]");
	assert_short("Result company::product::run_everything", 37,
		     "…company::product::run_everything");
	assert_short("company::product::run_everything", 10, "run_every…");
	assert_short("finish_task_switch.isra.0", 12, "finish_task…");
	assert_short("Überschallgeschwindigkeit", 6, "Übers…");
}

TEST(a_path_loses_its_beginning)
{
	static const char path[] = "/home/u/.cargo/registry/src/serde_json/src/read.rs:512";

	assert_short(path, 30, "…/serde_json/src/read.rs:512");
	assert_short(path, 28, "…/serde_json/src/read.rs:512");
	assert_short(path, 27, "…/src/read.rs:512");
	assert_short(path, 8, "….rs:512");
	assert_short("github.com/user/repo/pkg.Handle", 16, "…/pkg.Handle");
	assert_short("größe/größe.c", 9, "…/größe.c");
	assert_short("a::operator/(int)", 12, "operator/(…)");
}

TEST(brackets_of_operators_and_arrows_are_not_paired)
{
	assert_short("a<b, c>::operator()(int, long) const", 34, "a<…>::operator()(…) const");
	assert_short("operator<< <char>(ostream<char>&)", 32, "operator<< <char>(ostream<…>&)");
	assert_short("a<b, c>::operator->() const", 26, "a<…>::operator->() const");
	assert_short("call<fn(&str, u64) -> u64>::run", 30, "call<fn(…) -> u64>::run");
	assert_short("(anonymous namespace)::f(int, long)", 34, "(anonymous namespace)::f(…)");
}

TEST(unbalanced_brackets_are_handled)
{
	assert_short("a>>>)))b", 6, "a>>>)…");
	assert_short("a<(<(<(<(<(<b", 6, "a<(<(…");
	assert_short("(((((((((((((", 1, "…");
	assert_short("<T>", 2, "<…");
}

TEST(a_name_that_ends_within_brackets_is_read_to_its_end)
{
	assert_short("map<std::less<std::", 12, "map<less<");
}
