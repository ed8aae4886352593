#include "report/match.h"

#include "unit_test.h"

#include <stdint.h>

TEST(functions_are_called_by_their_own_name)
{
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
