#include "report/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void functions_are_called_by_their_own_name(void **state)
{
	(void)state;
	static const char push_back[] =
		"std::vector<int, std::allocator<int> >::push_back(int&&) const";

	assert_true(match_own_name(push_back, "push_back"));
	assert_true(match_own_name(push_back, "vector::push_back"));
	assert_true(match_own_name(push_back, "std::vector::push_back"));
	assert_false(match_own_name(push_back, "back"));
	assert_false(match_own_name(push_back, "vector"));
	assert_false(match_own_name(push_back, ""));
	assert_true(match_own_name("<alloc::vec::Vec<T> as Extend<T>>::extend", "extend"));
	assert_true(match_own_name("main.(*Server).Serve", "Serve"));
	assert_true(match_own_name("void f<int>(char)", "f"));
	assert_false(match_own_name("malloc_consolidate", "malloc"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_called_by_their_own_name),
	};

	return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
