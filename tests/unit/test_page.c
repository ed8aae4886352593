#include "base/gzip.h"
#include "base/utf8.h"
#include "format/page/intervals.h"
#include "output.h"
#include "page_data.h"
#include "sample_profile.h"
#include "unit_test.h"

/* Other tests run the page in node and in a browser. These test the data that
 * is written into it. */

static struct output page_of(const struct profile *profile)
{
	return output_of(&format_html, profile, (struct format_options){0});
}

static struct output data_of(const struct output *page)
{
	struct output data;

	data.data = page_data(page->data, &data.len);
	return data;
}

static bool holds(const struct output *data, const char *text)
{
	return memmem(data->data, data->len, text, strlen(text)) != NULL;
}

TEST(the_data_has_the_names_and_what_is_known_of_the_recording)
{
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(output_deinit) struct output page = page_of(profile);
	CLEANUP(output_deinit) struct output data = data_of(&page);

	assert_true(holds(&data, "shop::serve<u32>"));
	assert_true(holds(&data, "[libfoo.so.1+0x1a2b]"));
	assert_true(holds(&data, "src/serve.rs"));
	assert_true(holds(&data, "/usr/bin/shop"));
	assert_true(holds(&data, "worker 1"));
	assert_true(holds(&data, "example"));
	assert_true(holds(&data, "6.18.0"));
	assert_true(holds(&data, "prof record -- shop"));
	assert_true(holds(&data, "9 samples, 0 lost"));
	assert_null(strstr(page.data, "shop::serve"));
}

TEST(names_that_are_no_utf8_are_made_valid)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	label_set_id thread = profile_thread_labels(profile, 1, 1, "\xff", "\xc0\x80");

	profile_add(profile, thread, STACK(profile, "bad \xfe\xff name"),
		    add_event(profile, "cpu-clock", VALUE_CPU_TIME), 1);
	CLEANUP(output_deinit) struct output page = page_of(profile);
	CLEANUP(output_deinit) struct output data = data_of(&page);

	assert_true(holds(&data, "bad " UTF8_REPLACEMENT UTF8_REPLACEMENT " name"));
	assert_false(holds(&data, "\xfe"));
}

TEST(any_weight_time_and_interval_can_be_written)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	label_set_id thread = profile_thread_labels(profile, -1, -1, "", "");
	event_id event = add_event(profile, "cycles", VALUE_COUNT);

	profile_keep_timestamps(profile);
	profile_add_samples(profile, thread, STACK(profile, "a"), event, 1, UINT64_MAX);
	profile_add_samples(profile, thread, STACK(profile, "b"), event, 0, 0);
	profile_add_samples(profile, thread, STACK_EMPTY, event, UINT64_MAX, 1);
	profile_add_timed_sample(
		profile, &(struct profile_timed_sample){.time_ns = UINT64_MAX, .sample = 0});
	profile_add_timed_sample(
		profile, &(struct profile_timed_sample){.time_ns = 0, .sample = 1, .cpu = 7});
	profile_add_interval(profile, &(struct profile_interval){.start_ns = UINT64_MAX,
								 .end_ns = 0,
								 .weight = UINT64_MAX});
	profile_add_interval(profile, &(struct profile_interval){
					      .start_ns = 0, .end_ns = UINT64_MAX, .weight = 1});
	profile_add_marker(profile, &(struct profile_marker){.kind = PROFILE_MARKER_LOST,
							     .pid = -1,
							     .tid = -1,
							     .count = UINT64_MAX});
	CLEANUP(output_deinit) struct output page = page_of(profile);
	CLEANUP(output_deinit) struct output data = data_of(&page);

	assert_true(holds(&data, "[unnamed]"));
}

/* Makes a profile of a thread that waits at `places` stacks in turn, for a part
 * of each microsecond. */
static struct profile *waiting_profile(uint64_t intervals, uint32_t places)
{
	struct profile *profile = profile_new();
	label_set_id thread = profile_thread_labels(profile, 1, 1, "app", "app");
	event_id event = add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	uint32_t samples[16];

	assert_true(places <= 16);
	profile_keep_timestamps(profile);
	for (uint32_t i = 0; i < places; i++) {
		char name[] = {'f', (char)('a' + i), '\0'};

		samples[i] = profile_add(profile, thread, STACK(profile, name), event, 0);
	}
	for (uint64_t i = 0; i < intervals; i++)
		profile_add_interval(profile,
				     &(struct profile_interval){.start_ns = i * 1000,
								.end_ns = i * 1000 + 600,
								.weight = 500,
								.sample = samples[i % places]});
	return profile;
}

static uint64_t sum_of(const struct merged_intervals *intervals)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < intervals->count; i++) {
		const struct profile_interval *item = &intervals->items[i];

		assert_true(item->weight <= item->end_ns - item->start_ns);
		sum += item->weight;
	}
	return sum;
}

TEST(few_intervals_are_left_as_they_are)
{
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(1000, 3);
	CLEANUP(merged_intervals_deinit) struct merged_intervals intervals;

	merge_intervals(profile, 1000, &intervals);
	assert_int_equal(intervals.count, 1000);
	assert_int_equal(intervals.span_ns, 0);
	assert_int_equal(sum_of(&intervals), 1000 * 500);
}

TEST(many_intervals_become_few_that_weigh_the_same)
{
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(100000, 3);
	CLEANUP(merged_intervals_deinit) struct merged_intervals intervals;

	merge_intervals(profile, 1000, &intervals);
	assert_in_range(intervals.count, 300, 1000);
	assert_int_equal(sum_of(&intervals), 100000 * 500);
	for (uint64_t i = 0; i < intervals.count; i++)
		assert_true(intervals.items[i].end_ns - intervals.items[i].start_ns <
			    2 * intervals.span_ns);
}

TEST(a_long_interval_is_not_merged_while_short_ones_can_be)
{
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(10000, 1);
	CLEANUP(merged_intervals_deinit) struct merged_intervals intervals;
	bool is_left = false;

	profile_add_interval(profile, &(struct profile_interval){.start_ns = 10000000,
								 .end_ns = 30000000,
								 .weight = 20000000,
								 .sample = 0});
	merge_intervals(profile, 100, &intervals);
	assert_in_range(intervals.count, 2, 100);
	for (uint64_t i = 0; i < intervals.count; i++)
		is_left |= intervals.items[i].weight == 20000000;
	assert_true(is_left);
}

TEST(each_sample_keeps_one_interval_however_few_are_asked_for)
{
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(1000, 5);
	CLEANUP(merged_intervals_deinit) struct merged_intervals intervals;

	merge_intervals(profile, 1, &intervals);
	assert_int_equal(intervals.count, 5);
	assert_int_equal(sum_of(&intervals), 1000 * 500);
}

TEST(the_largest_number_of_a_process_can_be_written)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();

	profile_thread_labels(profile, INT32_MAX, INT32_MAX, "large", "");
	CLEANUP(output_deinit) struct output page = page_of(profile);
	CLEANUP(output_deinit) struct output data = data_of(&page);
	/* 2^31 twice. "None" is -1 and is written as 0. */
	assert_true(holds(&data, "\x80\x80\x80\x80\x08"
				 "\x80\x80\x80\x80\x08"
				 "\x05"
				 "large"));
}
