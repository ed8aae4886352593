#include "perf/branch.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t filter_of(const char *list)
{
	uint64_t filter;

	assert_null(branch_filter_parse(list, &filter));
	return filter;
}

static void words_of_perf_choose_branches(void **state)
{
	(void)state;
	assert_int_equal(filter_of("any"), PERF_SAMPLE_BRANCH_ANY);
	assert_int_equal(filter_of("any_call,any_ret,u"), PERF_SAMPLE_BRANCH_ANY_CALL |
								  PERF_SAMPLE_BRANCH_ANY_RETURN |
								  PERF_SAMPLE_BRANCH_USER);
	assert_int_equal(filter_of("ind_call,call,cond"), PERF_SAMPLE_BRANCH_IND_CALL |
								  PERF_SAMPLE_BRANCH_CALL |
								  PERF_SAMPLE_BRANCH_COND);
}

static void words_that_choose_none_choose_all(void **state)
{
	(void)state;
	assert_int_equal(filter_of("u,k,save_type"),
			 PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
				 PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_TYPE_SAVE);
}

static void an_unknown_word_is_an_error_with_a_suggestion(void **state)
{
	(void)state;
	uint64_t filter;
	struct error *err = branch_filter_parse("any_cal,u", &filter);

	assert_string_equal(error_text(err), "\"any_cal\" is not a kind of branch");
	assert_string_equal(error_hint_text(err), "did you mean any_call?");
	error_free(err);
	err = branch_filter_parse("", &filter);
	assert_non_null(err);
	error_free(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_perf_choose_branches),
		cmocka_unit_test(words_that_choose_none_choose_all),
		cmocka_unit_test(an_unknown_word_is_an_error_with_a_suggestion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
