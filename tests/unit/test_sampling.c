#include "record/sampling.h"

#include "base/alloc.h"
#include "perf/attr.h"
#include "perf/branch.h"

#include "unit_test.h"

#include <linux/perf_event.h>

/* Returns the attribute of the number-th event of a recording. */
static struct perf_event_attr attr_of(const struct record_config *config, size_t number)
{
	CLEANUP(sampling_deinit) struct sampling sampling = {0};
	const struct attr_features features = {0};
	struct perf_event_attr attr;

	assert_null(sampling_choose(&sampling, config));
	assert_true(number < sampling.event_count);
	sampling_set_fields(&sampling, config);
	attr_samples(&attr, &sampling.events[number], &features);
	return attr;
}

static struct record_config config_of(char *const *events, size_t count)
{
	return (struct record_config){
		.events = {.names = events, .count = count, .frequency_hz = 99},
		.stacks.dump_bytes = 8192};
}

enum { DATA = PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC };

TEST(branches_are_asked_for_with_their_filter)
{
	char *events[] = {(char[]){"cycles"}};
	struct record_config config = config_of(events, 1);
	struct perf_event_attr attr = attr_of(&config, 0);

	assert_int_equal(attr.sample_type & (PERF_SAMPLE_BRANCH_STACK | DATA), 0);
	assert_int_equal(attr.branch_sample_type, 0);
	assert_null(branch_filter_parse("any_call,u", &config.events.branch_filter));
	attr = attr_of(&config, 0);
	assert_true(attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	assert_true(attr.sample_type & PERF_SAMPLE_STACK_USER);
	assert_int_equal(attr.branch_sample_type,
			 PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER);
}

TEST(a_call_stack_of_the_cpu_needs_no_copy_of_the_stack)
{
	char *events[] = {(char[]){"cycles"}, (char[]){"cycles/call-graph=fp/"}};
	struct record_config config = config_of(events, 2);
	struct perf_event_attr attr;

	config.stacks.call_graph = CALL_GRAPH_LBR;
	attr = attr_of(&config, 0);
	assert_true(attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	assert_true(attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
	assert_true(attr.branch_sample_type & PERF_SAMPLE_BRANCH_USER);
	assert_false(attr.branch_sample_type & PERF_SAMPLE_BRANCH_KERNEL);
	assert_false(attr.sample_type & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER));
	assert_true(attr.sample_type & PERF_SAMPLE_CALLCHAIN);
	assert_false(attr.exclude_callchain_user);
	assert_false(attr_of(&config, 1).sample_type & PERF_SAMPLE_BRANCH_STACK);
}

TEST(data_sources_are_asked_for_by_option)
{
	char *events[] = {(char[]){"cycles"}};
	struct record_config config = config_of(events, 1);

	config.events.reads_data_sources = true;
	assert_int_equal(attr_of(&config, 0).sample_type & DATA, DATA);
}

TEST(precise_events_of_memory_have_data_sources)
{
	static const struct {
		const char *name;
		unsigned precise;
		bool is_of_memory;
	} cases[] = {{"cpu/mem-loads,ldlat=30/P", 3, true},
		     {"cpu_core/mem-stores/pp", 2, true},
		     {"mem-loads:p", 1, true},
		     {"cpu/mem-loads/", 0, false},
		     {"cycles:ppp", 3, false}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(free_ptr) char *name = xstrdup(cases[i].name);

		assert_int_equal(event_is_of_memory(&(struct event){.name = name,
								    .precise = cases[i].precise}),
				 cases[i].is_of_memory);
	}
}
