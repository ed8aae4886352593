/*
 * Defines and runs the tests of a program with cmocka.
 *
 *	TEST(a_stack_ends_at_its_root)
 *	{
 *		assert_int_equal(…);
 *	}
 *
 * A test is registered before main(). The main() of unit_test_main.c runs all tests of the program
 * in the order of their definitions. A program that has to check something first has its own
 *main(), which returns unit_tests_run().
 */
#ifndef PROF_TESTS_UNIT_TEST_H
#define PROF_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST(name) TEST_WITH(NULL, NULL, name)

/* set_up and tear_down are called before and after the test. set_up stores the
 * test's data in *state. */
#define TEST_WITH(set_up, tear_down, name)                                                         \
	static void name(void **state);                                                            \
	__attribute__((constructor)) static void add_##name(void)                                  \
	{                                                                                          \
		unit_test_add(#name, name, set_up, tear_down);                                     \
	}                                                                                          \
	static void name(void **state __attribute__((unused)))

/* The name is borrowed. */
void unit_test_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
		   CMFixtureFunction tear_down);

/* Returns the number of tests that failed. */
int unit_tests_run(void);

#endif
