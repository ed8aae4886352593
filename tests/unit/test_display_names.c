#include "report/display_names.h"

#include "base/cleanup.h"

#include "unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Checks how several names are shown next to each other. */
static void assert_shown(enum name_style style, struct display_name *names, uint32_t count,
			 const char *const *expected)
{
	struct arena arena = {0};

	for (uint32_t i = 0; i < count; i++)
		names[i].plain = names[i].plain ? names[i].plain : names[i].full;
	display_names_resolve(names, count, style, &arena);
	for (uint32_t i = 0; i < count; i++)
		assert_string_equal(names[i].shown, expected[i]);
	arena_deinit(&arena);
}

TEST(full_names_stay)
{
	struct display_name names[] = {{.full = "std::vector<int>::at(int)"}, {.full = "main"}};

	assert_shown(NAMES_FULL, names, 2,
		     (const char *const[]){"std::vector<int>::at(int)", "main"});
}

TEST(short_names_that_differ_stay_short)
{
	struct display_name names[] = {{.full = "<alloc::vec::Vec<u8>>::push"},
				       {.full = "<alloc::vec::Vec<u16>>::push"},
				       {.full = "shop::cart::total::<f64>"}};

	assert_shown(NAMES_SHORT, names, 3,
		     (const char *const[]){"Vec<u8>::push", "Vec<u16>::push", "shop::cart::total"});
}

TEST(instances_that_would_look_equal_show_their_arguments)
{
	struct display_name names[] = {{.full = "shop::cart::total::<f64>"},
				       {.full = "shop::cart::total::<alloc::vec::Vec<u8>>"}};

	assert_shown(NAMES_SHORT, names, 2,
		     (const char *const[]){"shop::cart::total<f64>", "shop::cart::total<Vec<u8>>"});
}

TEST(overloads_show_their_parameters)
{
	struct display_name names[] = {{.full = "area(geometry::Circle const&)"},
				       {.full = "area(geometry::Square const&)"}};

	assert_shown(NAMES_SHORT, names, 2,
		     (const char *const[]){"area(Circle const&)", "area(Square const&)"});
}

TEST(types_of_one_name_show_their_scopes)
{
	struct display_name names[] = {{.full = "tokio::runtime::scheduler::Handle::spawn"},
				       {.full = "tokio::runtime::blocking::Handle::spawn"},
				       {.full = "tokio::runtime::task::State::drop_ref"}};

	assert_shown(NAMES_SHORT, names, 3,
		     (const char *const[]){"tokio::runtime::scheduler::Handle::spawn",
					   "tokio::runtime::blocking::Handle::spawn",
					   "tokio::State::drop_ref"});
}

TEST(methods_of_two_traits_show_the_trait)
{
	struct display_name names[] = {{.full = "<shop::Cart as shop::Load>::run"},
				       {.full = "<shop::Cart as shop::Save>::run"}};

	assert_shown(NAMES_SHORT, names, 2,
		     (const char *const[]){"<Cart as Load>::run", "<Cart as Save>::run"});
}

TEST(clones_show_what_they_are)
{
	struct display_name names[] = {{.full = "parse(int)"},
				       {.full = "parse(int) [clone .cold]"}};

	assert_shown(NAMES_SHORT, names, 2, (const char *const[]){"parse", "parse [clone .cold]"});
}

TEST(closures_that_differ_in_nothing_else_show_their_line)
{
	struct display_name names[] = {{.full = "shop::main::{{closure}}", .line = 41},
				       {.full = "shop::main::{{closure}}", .line = 47},
				       {.full = "shop::total::{{closure}}", .line = 9}};

	assert_shown(NAMES_SHORT, names, 3,
		     (const char *const[]){"shop::main::{closure:41}", "shop::main::{closure:47}",
					   "shop::total::{closure}"});
}

TEST(without_generics_nothing_in_brackets_is_shown)
{
	struct display_name names[] = {
		{.full = "<alloc::vec::Vec<u8> as core::clone::Clone>::clone",
		 .plain = "<alloc::vec::Vec as core::clone::Clone>::clone"},
		{.full = "std::vector<int>::push_back(int)", .plain = "std::vector::push_back"}};

	assert_shown(NAMES_NO_GENERICS, names, 2,
		     (const char *const[]){"Vec::clone", "std::vector::push_back"});
}

TEST(the_order_of_names_does_not_matter)
{
	struct display_name names[] = {
		{.full = "b::x::T::f"}, {.full = "c::f"}, {.full = "b::y::T::f"}};
	struct display_name turned[] = {
		{.full = "b::y::T::f"}, {.full = "b::x::T::f"}, {.full = "c::f"}};

	assert_shown(NAMES_SHORT, names, 3,
		     (const char *const[]){"b::x::T::f", "c::f", "b::y::T::f"});
	assert_shown(NAMES_SHORT, turned, 3,
		     (const char *const[]){"b::y::T::f", "b::x::T::f", "c::f"});
}
