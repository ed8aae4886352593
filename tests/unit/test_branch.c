#include "perf/branch.h"

#include "unit_test.h"

#include <linux/perf_event.h>

static uint64_t filter_of(const char *list)
{
	uint64_t filter;

	assert_null(branch_filter_parse(list, &filter));
	return filter;
}

TEST(words_of_perf_choose_branches)
{
	assert_int_equal(filter_of("any"), PERF_SAMPLE_BRANCH_ANY);
	assert_int_equal(filter_of("any_call,any_ret,u"), PERF_SAMPLE_BRANCH_ANY_CALL |
								  PERF_SAMPLE_BRANCH_ANY_RETURN |
								  PERF_SAMPLE_BRANCH_USER);
	assert_int_equal(filter_of("ind_call,call,cond"), PERF_SAMPLE_BRANCH_IND_CALL |
								  PERF_SAMPLE_BRANCH_CALL |
								  PERF_SAMPLE_BRANCH_COND);
}

TEST(words_that_choose_none_choose_all)
{
	assert_int_equal(filter_of("u,k,save_type"),
			 PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
				 PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_TYPE_SAVE);
}

TEST(an_unknown_word_is_an_error_with_a_suggestion)
{
	uint64_t filter;
	struct error *err = branch_filter_parse("any_cal,u", &filter);

	assert_string_equal(error_text(err), "\"any_cal\" is not a branch filter");
	assert_string_equal(error_hint_text(err), "did you mean any_call?");
	error_free(err);
	err = branch_filter_parse("", &filter);
	assert_non_null(err);
	error_free(err);
}
