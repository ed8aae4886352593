#include "report/display_names.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Several names, which are shown beside each other, and what is shown of each. */
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

static void full_names_stay(void **state)
{
	(void)state;
	struct display_name names[] = {{.full = "std::vector<int>::at(int)"}, {.full = "main"}};

	assert_shown(NAMES_FULL, names, 2,
		     (const char *const[]){"std::vector<int>::at(int)", "main"});
}

static void short_names_that_differ_stay_short(void **state)
{
	(void)state;
	struct display_name names[] = {{.full = "<alloc::vec::Vec<u8>>::push"},
				       {.full = "<alloc::vec::Vec<u16>>::push"},
				       {.full = "shop::cart::total::<f64>"}};

	assert_shown(NAMES_SHORT, names, 3,
		     (const char *const[]){"Vec<u8>::push", "Vec<u16>::push", "shop::cart::total"});
}

static void instances_that_would_look_equal_show_their_arguments(void **state)
{
	(void)state;
	struct display_name names[] = {{.full = "shop::cart::total::<f64>"},
				       {.full = "shop::cart::total::<alloc::vec::Vec<u8>>"}};

	assert_shown(NAMES_SHORT, names, 2,
		     (const char *const[]){"shop::cart::total<f64>", "shop::cart::total<Vec<u8>>"});
}

static void overloads_show_their_parameters(void **state)
{
	(void)state;
	struct display_name names[] = {{.full = "area(geometry::Circle const&)"},
				       {.full = "area(geometry::Square const&)"}};

	assert_shown(NAMES_SHORT, names, 2,
		     (const char *const[]){"area(Circle const&)", "area(Square const&)"});
}

static void types_of_one_name_show_their_scopes(void **state)
{
	(void)state;
	struct display_name names[] = {{.full = "tokio::runtime::scheduler::Handle::spawn"},
				       {.full = "tokio::runtime::blocking::Handle::spawn"},
				       {.full = "tokio::runtime::task::State::drop_ref"}};

	assert_shown(NAMES_SHORT, names, 3,
		     (const char *const[]){"tokio::runtime::scheduler::Handle::spawn",
					   "tokio::runtime::blocking::Handle::spawn",
					   "tokio::State::drop_ref"});
}

static void methods_of_two_traits_show_the_trait(void **state)
{
	(void)state;
	struct display_name names[] = {{.full = "<shop::Cart as shop::Load>::run"},
				       {.full = "<shop::Cart as shop::Save>::run"}};

	assert_shown(NAMES_SHORT, names, 2,
		     (const char *const[]){"<Cart as Load>::run", "<Cart as Save>::run"});
}

static void clones_show_what_they_are(void **state)
{
	(void)state;
	struct display_name names[] = {{.full = "parse(int)"},
				       {.full = "parse(int) [clone .cold]"}};

	assert_shown(NAMES_SHORT, names, 2, (const char *const[]){"parse", "parse [clone .cold]"});
}

static void closures_that_differ_in_nothing_else_show_their_line(void **state)
{
	(void)state;
	struct display_name names[] = {{.full = "shop::main::{{closure}}", .line = 41},
				       {.full = "shop::main::{{closure}}", .line = 47},
				       {.full = "shop::total::{{closure}}", .line = 9}};

	assert_shown(NAMES_SHORT, names, 3,
		     (const char *const[]){"shop::main::{closure:41}", "shop::main::{closure:47}",
					   "shop::total::{closure}"});
}

static void without_generics_nothing_in_brackets_is_shown(void **state)
{
	(void)state;
	struct display_name names[] = {
		{.full = "<alloc::vec::Vec<u8> as core::clone::Clone>::clone",
		 .plain = "<alloc::vec::Vec as core::clone::Clone>::clone"},
		{.full = "std::vector<int>::push_back(int)", .plain = "std::vector::push_back"}};

	assert_shown(NAMES_NO_GENERICS, names, 2,
		     (const char *const[]){"Vec::clone", "std::vector::push_back"});
}

static void the_order_of_names_does_not_matter(void **state)
{
	(void)state;
	struct display_name names[] = {
		{.full = "b::x::T::f"}, {.full = "c::f"}, {.full = "b::y::T::f"}};
	struct display_name turned[] = {
		{.full = "b::y::T::f"}, {.full = "b::x::T::f"}, {.full = "c::f"}};

	assert_shown(NAMES_SHORT, names, 3,
		     (const char *const[]){"b::x::T::f", "c::f", "b::y::T::f"});
	assert_shown(NAMES_SHORT, turned, 3,
		     (const char *const[]){"b::y::T::f", "b::x::T::f", "c::f"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_names_stay),
		cmocka_unit_test(short_names_that_differ_stay_short),
		cmocka_unit_test(instances_that_would_look_equal_show_their_arguments),
		cmocka_unit_test(overloads_show_their_parameters),
		cmocka_unit_test(types_of_one_name_show_their_scopes),
		cmocka_unit_test(methods_of_two_traits_show_the_trait),
		cmocka_unit_test(clones_show_what_they_are),
		cmocka_unit_test(closures_that_differ_in_nothing_else_show_their_line),
		cmocka_unit_test(without_generics_nothing_in_brackets_is_shown),
		cmocka_unit_test(the_order_of_names_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
