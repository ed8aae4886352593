#include "record/quality.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "near.h"
#include "profile/memory_events.h"
#include "report/quality_text.h"
#include "report/stat_text.h"
#include "unit_test.h"

#include <inttypes.h>

static stack_id push(struct profile *profile, stack_id parent, uint32_t module, uint64_t offset)
{
	return profile_push(profile, parent, profile_frame(profile, module, offset, false));
}

static void name(struct profile *profile, uint32_t module, uint64_t offset)
{
	string_id text = strtab_add(profile_strings(profile), "named");
	struct profile_line line = {
		.function = profile_function(
			profile, &(struct profile_function){.name = text, .system_name = text})};

	profile_set_lines(profile, profile_frame(profile, module, offset, false), &line, 1);
}

static void assert_share(const struct quality *quality, const char *name, double expected)
{
	double share = -1;

	assert_true(quality_share(quality, name, &share));
	assert_near(share, expected, 1e-9);
}

TEST(samples_are_unnamed_if_their_function_is_whatever_calls_it)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = profile_add_event(profile, &(struct profile_event){0});
	label_set_id thread = profile_thread_labels(profile, 1, 1, "app", "app");
	stack_id main = push(profile, STACK_EMPTY, 0, 0x10);
	stack_id bare = push(profile, main, 1, 0x20);
	stack_id twice = push(profile, push(profile, bare, 2, 0x30), 1, 0x40);
	stack_id note = profile_push(profile, STACK_EMPTY,
				     profile_synthetic_frame(profile, "[truncated]"));
	struct session_counts counts = {
		.quality = {.samples = 10, .lost = 10, .truncated = 3, .completed = 1200}};
	struct quality quality;

	name(profile, 0, 0x10);
	for (int i = 0; i < 4; i++)
		profile_add(profile, thread, main, event, 1);
	profile_add(profile, thread, bare, event, 1);
	profile_add(profile, thread, twice, event, 1);
	profile_add(profile, thread, twice, event, 1);
	for (int i = 0; i < 3; i++)
		profile_add(profile, thread, note, event, 1);
	quality_init(&quality, profile, &counts, NULL);
	assert_int_equal(quality.counts.unnamed, 3);
	assert_int_equal(quality.module_count, 2);
	assert_int_equal(quality.modules[0].module, 1);
	assert_int_equal(quality.modules[0].samples, 3);
	assert_int_equal(quality.modules[1].module, 2);
	assert_int_equal(quality.modules[1].samples, 0);

	CLEANUP(free_ptr) char *line = quality_text(&quality.counts);
	assert_string_equal(line, "10 samples, 10 lost (50.0 %), 3 truncated (30.0 %), "
				  "1,200 completed from the live stack, "
				  "3 without a symbol (30.0 %)");
	assert_share(&quality, "lost", 0.5);
	assert_share(&quality, "truncated", 0.3);
	assert_share(&quality, "unknown", 0.3);
	assert_false(quality_share(&quality, "found", &(double){0}));
	quality_deinit(&quality);
}

/* 4 samples of CPU time, and 10 of allocations in addition to 10 lost ones. */
TEST(allocations_have_a_quality_of_their_own)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id cpu = profile_add_event(profile, &(struct profile_event){.kind = VALUE_CPU_TIME});
	struct profile_event space = memory_event_make(profile, MEMORY_ALLOC_SPACE);
	struct profile_event in_use = memory_event_make(profile, MEMORY_INUSE_SPACE);
	event_id allocated = profile_add_event(profile, &space);
	event_id live = profile_add_event(profile, &in_use);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "app", "app");
	stack_id named = push(profile, STACK_EMPTY, 0, 0x10);
	stack_id bare = push(profile, STACK_EMPTY, 1, 0x20);
	struct session_counts counts = {.quality.samples = 4, .lost_allocations = 10};
	struct quality quality;

	name(profile, 0, 0x10);
	profile_add_samples(profile, thread, named, cpu, 4, 4);
	profile_add_samples(profile, thread, named, allocated, 8, 800);
	profile_add_samples(profile, thread, bare, allocated, 2, 200);
	profile_add_samples(profile, thread, bare, live, 2, 200);
	quality_init(&quality, profile, &counts, NULL);

	CLEANUP(free_ptr) char *samples = quality_text(&quality.counts);
	CLEANUP(free_ptr) char *allocations = quality_memory_text(&quality.counts);
	assert_string_equal(samples, "4 samples, 0 lost, 0 truncated, 0 without a symbol");
	assert_string_equal(allocations, "10 sampled allocations, 10 lost (50.0 %), 0 truncated, "
					 "2 without a symbol (20.0 %)");
	assert_int_equal(quality.modules[0].samples, 2);
	assert_share(&quality, "lost", 0.5);
	assert_share(&quality, "unknown", 0.2);
	quality_deinit(&quality);
}

TEST(intervals_of_elapsed_time_are_not_further_samples)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id cpu = profile_add_event(profile, &(struct profile_event){.kind = VALUE_CPU_TIME});
	label_set_id thread = profile_thread_labels(profile, 1, 1, "app", "app");
	stack_id bare = push(profile, STACK_EMPTY, 1, 0x20);
	struct session_counts counts = {.quality.samples = 4};
	const char *const names[] = {VALUE_ELAPSED_EVENT, VALUE_CRITICAL_PATH_EVENT};
	struct quality quality;

	profile_add_samples(profile, thread, bare, cpu, 4, 4);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct profile_event event = {
			.kind = VALUE_WALL_TIME,
			.name = strtab_add(profile_strings(profile), names[i])};

		profile_add_samples(profile, thread, bare, profile_add_event(profile, &event), 9,
				    9);
	}
	quality_init(&quality, profile, &counts, NULL);
	assert_int_equal(quality.counts.unnamed, 4);
	assert_int_equal(quality.modules[0].samples, 4);
	quality_deinit(&quality);
}

TEST(waiting_without_a_stack_is_a_share_of_all_waiting)
{
	struct quality quality = {
		.counts.waiting = {.threads = 1, .waiting_ns = 800, .placeless_ns = 200}};

	assert_share(&quality, "placeless", 0.25);
	assert_share(&(struct quality){0}, "placeless", 0);
}

TEST(waits_are_not_samples)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	string_id name = strtab_add(profile_strings(profile), "off-cpu");
	event_id cpu = profile_add_event(profile, &(struct profile_event){0});
	event_id off = profile_add_event(
		profile, &(struct profile_event){.name = name, .kind = VALUE_OFF_CPU_TIME});
	label_set_id thread = profile_thread_labels(profile, 1, 1, "app", "app");
	stack_id bare = push(profile, STACK_EMPTY, 0, 0x10);
	struct session_counts counts = {.quality.samples = 1};
	struct quality quality;

	profile_add(profile, thread, bare, cpu, 1);
	profile_add_samples(profile, thread, bare, off, 7, 7000);
	quality_init(&quality, profile, &counts, NULL);
	assert_int_equal(quality.counts.unnamed, 1);
	assert_int_equal(quality.modules[0].samples, 1);
	assert_int_equal(quality.counts.events[1].unnamed, 7);
	quality_deinit(&quality);
}

TEST(an_empty_profile_has_nothing_to_complain_of)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	struct quality quality;

	quality_init(&quality, profile, &(struct session_counts){0}, NULL);
	CLEANUP(free_ptr) char *line = quality_text(&quality.counts);
	assert_string_equal(line, "0 samples, 0 lost, 0 truncated, 0 without a symbol");
	quality_deinit(&quality);
}

TEST(what_was_counted_is_beside_the_sum_of_the_samples)
{
	static const struct {
		uint64_t sampled_ns;
		const char *text;
	} cases[] = {{300000000, "1.20 s of CPU time, 25.0 % of it sampled"},
		     {1200000000, "1.20 s of CPU time, 100.0 % of it sampled"},
		     {1260000000, "1.20 s of CPU time; its samples add up to 1.26 s"}};
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id cpu = profile_add_event(
		profile,
		&(struct profile_event){.name = strtab_add(profile_strings(profile), "cpu-clock"),
					.kind = VALUE_CPU_TIME});

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event_quality event = {.event = "cpu-clock",
					      .sampled = cases[i].sampled_ns,
					      .counted = 1200000000};
		struct profile_info info = {.quality = {.events = &event, .event_count = 1}};

		profile_set_info(profile, &info);
		CLEANUP(free_ptr) char *text = quality_counted_text(profile, cpu);
		assert_string_equal(text, cases[i].text);
	}
}

/* If threads were sampled for more than their run time, no row is reduced: the
 * rows contain 23.1 %. */
TEST(the_share_that_was_sampled_is_that_of_the_rows)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id cpu = profile_add_event(
		profile,
		&(struct profile_event){.name = strtab_add(profile_strings(profile), "cpu-clock"),
					.kind = VALUE_CPU_TIME});
	const struct event_quality event = {
		.event = "cpu-clock", .sampled = 300000000, .counted = 1200000000};
	struct profile_info info = {.quality = {.events = &event, .event_count = 1}};
	label_set_id thread = profile_thread_labels(profile, 1, 1, "app", "app");
	frame_id rest = profile_synthetic_frame(profile, "[not sampled]");

	profile_set_info(profile, &info);
	profile_add_samples(profile, thread, push(profile, STACK_EMPTY, 0, 0x10), cpu, 300,
			    300000000);
	profile_add_samples(profile, thread, profile_push(profile, STACK_EMPTY, rest), cpu, 0,
			    1000000000);
	CLEANUP(free_ptr) char *text = quality_counted_text(profile, cpu);
	assert_string_equal(text, "1.20 s of CPU time, 23.1 % of it sampled");
}

TEST(numbers_are_formatted_for_people)
{
	assert_string_equal(humanize_count(0).text, "0");
	assert_string_equal(humanize_count(999).text, "999");
	assert_string_equal(humanize_count(1000).text, "1,000");
	assert_string_equal(humanize_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
	assert_string_equal(humanize_share(1, 3).text, "33.3 %");
	assert_string_equal(humanize_share(0, 0).text, "0.0 %");
	assert_string_equal(humanize_bytes(999).text, "999 B");
	assert_string_equal(humanize_bytes(1234).text, "1.2 KB");
	assert_string_equal(humanize_bytes(45678901).text, "46 MB");
	assert_string_equal(humanize_time(4200).text, "4.2 us");
	assert_string_equal(humanize_time(42000000).text, "42 ms");
	assert_string_equal(humanize_time(4200000000).text, "4.20 s");
}

TEST(quality_comes_back_from_its_text)
{
	struct profile_quality quality = {
		.is_known = true, .samples = 1234567, .lost = 12, .spliced = 7, .own_cpu_ns = 99};
	struct event_quality event = {
		.event = "my event=1 x", .samples = 345, .truncated = 2, .unnamed = 1};
	CLEANUP(free_ptr) char *text = quality_encode(&quality);
	CLEANUP(free_ptr) char *event_text = quality_encode_event(&event);
	struct profile_quality again = {0};
	struct event_quality event_again = {0};

	assert_string_equal(text, "prof: samples=1234567 lost=12 truncated=0 spliced=7 unnamed=0 "
				  "own_cpu_ns=99");
	assert_true(quality_decode(text, &again));
	assert_true(again.is_known);
	CLEANUP(free_ptr) char *text_again = quality_encode(&again);
	assert_string_equal(text_again, text);
	assert_string_equal(event_text,
			    "prof: samples=345 truncated=2 unnamed=1 event=my event=1 x");
	assert_true(quality_decode_event(event_text, &event_again));
	assert_string_equal(event_again.event, event.event);
	assert_int_equal(event_again.samples, 345);
	assert_false(quality_decode(event_text, &again));
	assert_false(quality_decode_event(text, &event_again));
	assert_false(quality_decode_event("prof: samples=1 event=", &event_again));
}

TEST(qualities_are_added_key_by_key)
{
	struct profile_quality sum = {0}, more = {0};
	struct event_quality event_sum = {0}, event_more = {0};

	assert_true(quality_decode("prof: samples=1 lost=2 truncated=3 unnamed=4 completed=5 "
				   "spliced=6 compat=7 throttled=8 own_cpu_ns=9 shortened=10 "
				   "lost_changes=11",
				   &sum));
	assert_true(quality_decode("prof: samples=100 lost=100 truncated=100 unnamed=100 "
				   "completed=100 spliced=100 compat=100 throttled=100 "
				   "own_cpu_ns=100 shortened=100 lost_changes=100",
				   &more));
	quality_add(&sum, &more);
	CLEANUP(free_ptr) char *text = quality_encode(&sum);
	assert_string_equal(text, "prof: samples=101 lost=102 lost_changes=111 truncated=103 "
				  "completed=105 spliced=106 unnamed=104 compat=107 "
				  "shortened=110 throttled=108 own_cpu_ns=109");
	assert_true(sum.is_known);
	quality_add(&sum, &(struct profile_quality){0});
	assert_false(sum.is_known);
	assert_true(quality_decode_event("prof: samples=1 truncated=2 unnamed=3 lost=4 sampled=5 "
					 "counted=6 event=faults",
					 &event_sum));
	assert_true(quality_decode_event("prof: samples=10 truncated=10 unnamed=10 lost=10 "
					 "sampled=10 counted=10 event=faults",
					 &event_more));
	event_quality_add(&event_sum, &event_more);
	CLEANUP(free_ptr) char *event_text = quality_encode_event(&event_sum);
	assert_string_equal(event_text, "prof: samples=11 lost=14 truncated=12 unnamed=13 "
					"sampled=15 counted=16 event=faults");
}

TEST(each_count_of_the_table_is_written_and_printed)
{
	struct profile_quality quality = {0};
	char *at = (char *)&quality;
	uint64_t number = 0;

	for (const struct quality_count *count = profile_quality_counts; count->key; count++)
		*(uint64_t *)(at + count->offset) = ++number;

	CLEANUP(free_ptr) char *encoded = quality_encode(&quality);
	CLEANUP(free_ptr) char *printed = quality_text(&quality);

	for (const struct quality_count *count = profile_quality_counts; count->key; count++) {
		CLEANUP(free_ptr)
		char *pair = xasprintf(" %s=%" PRIu64, count->key,
				       quality_count_value(&quality, count));

		assert_non_null(strstr(encoded, pair));
		if (count->text)
			assert_non_null(strstr(printed, strchr(count->text, '#') + 1));
	}
}

TEST(unknown_keys_of_a_quality_are_ignored)
{
	struct profile_quality quality = {0};

	assert_true(quality_decode("prof: later=5 lost=3", &quality));
	assert_int_equal(quality.lost, 3);
	assert_int_equal(quality.samples, 0);
}

TEST(text_that_is_not_a_quality_is_refused)
{
	static const char *const cases[] = {
		"",
		"prof:",
		"prof: ",
		"prof: samples",
		"prof: samples=",
		"prof: samples=x",
		"prof: samples=-1",
		"prof: samples=1 ",
		"prof: samples=1,lost=2",
		"prof: samples=1  lost=2",
		"prof: =1",
		"prof: samples=99999999999999999999",
		"9 samples, 0 lost, 0 truncated",
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile_quality quality = {.samples = 42};

		assert_false(quality_decode(cases[i], &quality));
		assert_int_equal(quality.samples, 42);
	}
}

TEST(the_quality_of_waiting_comes_back_from_its_text)
{
	const struct waiting_quality waiting = {
		.threads = 12,
		.thread_ns = 12000000000,
		.running_ns = 3100000000,
		.wanted_ns = 400000000,
		.waiting_ns = 8500000000,
		.proved_ns = 8500000000,
		.lost = 7,
	};
	CLEANUP(free_ptr) char *text = quality_encode_waiting(&waiting);
	CLEANUP(free_ptr) char *none = quality_encode_waiting(&(struct waiting_quality){0});
	struct waiting_quality again = {0};
	struct profile_quality other = {.waiting = {.threads = 3}};

	assert_string_equal(text, "prof: waiting threads=12 thread_ns=12000000000 "
				  "running_ns=3100000000 wanted_ns=400000000 "
				  "waiting_ns=8500000000 proved_ns=8500000000 lost=7");
	assert_true(quality_decode_waiting(text, &again));
	assert_memory_equal(&again, &waiting, sizeof(waiting));
	assert_string_equal(none, "");
	assert_false(quality_decode(text, &other));
	assert_true(quality_decode("prof: samples=5", &other));
	assert_int_equal(other.waiting.threads, 3);
	assert_true(quality_decode_waiting("prof: waiting later=1 threads=2", &again));
	assert_int_equal(again.threads, 2);
	assert_int_equal(again.waiting_ns, 0);
	assert_false(quality_decode_waiting("prof: waiting thread_ns=2", &again));
	assert_false(quality_decode_waiting("prof: waiting threads=2 event=x", &again));
	assert_false(quality_decode_waiting("prof: waiting ", &again));
	assert_false(quality_decode_waiting("prof: samples=2 threads=2", &again));
	assert_int_equal(again.threads, 2);
}

TEST(what_was_counted_beside_samples_comes_back_from_its_text)
{
	struct profile_info info = {
		.duration_ns = 2000000000,
		.quality.stat = {.values = {[STAT_TASK_CLOCK] = 1000000000,
					    [STAT_CYCLES] = 3000000000,
					    [STAT_INSTRUCTIONS] = 4500000000},
				 .is_known = {[STAT_TASK_CLOCK] = true,
					      [STAT_CONTEXT_SWITCHES] = true,
					      [STAT_CYCLES] = true,
					      [STAT_INSTRUCTIONS] = true}},
	};
	const struct profile_info without = {0};
	CLEANUP(free_ptr) char *text = stat_counts_encode(&info.quality.stat);
	CLEANUP(free_ptr) char *none = stat_counts_encode(&without.quality.stat);
	CLEANUP(free_ptr) char *line = stat_line(&info);
	CLEANUP(free_ptr) char *table = stat_table(&info);
	struct stat_counts again = {0};

	assert_string_equal(text, "prof: stat task-clock=1000000000 context-switches=0 "
				  "cycles=3000000000 instructions=4500000000");
	assert_true(stat_counts_decode(text, &again));
	assert_memory_equal(again.values, info.quality.stat.values, sizeof(again.values));
	assert_memory_equal(again.is_known, info.quality.stat.is_known, sizeof(again.is_known));
	assert_string_equal(line, "0.5 CPUs used, 0 context switches, 1.50 instructions per cycle");
	assert_non_null(strstr(table, "cycles            3 GHz\n"));
	assert_non_null(strstr(table, "instructions      1.50 per cycle\n"));

	assert_string_equal(none, "");
	assert_null(stat_line(&without));
	assert_null(stat_table(&without));
	assert_true(stat_counts_decode("prof: stat later=7 page-faults=2", &again));
	assert_false(again.is_known[STAT_CYCLES]);
	assert_int_equal(again.values[STAT_PAGE_FAULTS], 2);
	assert_false(stat_counts_decode("prof: stat cycles=-1", &again));
	assert_false(stat_counts_decode("prof: stat cycles=99999999999999999999", &again));
	assert_false(stat_counts_decode("prof: stat cycles=1x", &again));
	assert_false(stat_counts_decode("prof: stat cycles", &again));
	assert_false(stat_counts_decode("prof: samples=1", &again));
}

TEST(the_headline_of_one_of_several_events_has_its_own_counts)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	const struct event_quality faults = {
		.event = "page-faults", .samples = 324, .unnamed = 162};
	struct profile_info info = {
		.quality = {.is_known = true, .samples = 606, .events = &faults, .event_count = 1}};
	string_id clock = strtab_add(profile_strings(profile), "cpu-clock");
	string_id name = strtab_add(profile_strings(profile), "page-faults");

	profile_set_info(profile, &info);
	profile_add_event(profile, &(struct profile_event){.name = clock});
	CLEANUP(free_ptr) char *of_only_one = quality_event_headline(profile, 0);
	profile_add_event(profile, &(struct profile_event){.name = name});
	CLEANUP(free_ptr) char *of_unknown = quality_event_headline(profile, 0);
	CLEANUP(free_ptr) char *of_known = quality_event_headline(profile, 1);

	assert_string_equal(of_only_one, "606 samples, 0 lost, 0 truncated, 0 without a symbol");
	assert_string_equal(of_unknown, "cpu-clock");
	assert_string_equal(of_known, "page-faults: 324 samples, 0 truncated, "
				      "162 without a symbol (50.0 %)");
}

TEST(the_headline_of_waiting_alone_says_where_the_time_went)
{
	struct profile_info info = {.headline = "",
				    .quality = {.is_known = true,
						.waiting = {.threads = 1,
							    .thread_ns = 12000000000,
							    .running_ns = 3000000000,
							    .waiting_ns = 9000000000}}};
	CLEANUP(free_ptr) char *text = quality_headline(&info);

	assert_string_equal(text, "12.0 thread-seconds: 3.0 on CPU, 0.0 runnable, 9.0 waiting");
	assert_false(quality_is_of_waiting(&(struct profile_quality){.is_known = true}));
}

TEST(each_of_several_events_has_its_own_quality)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	string_id clock = strtab_add(profile_strings(profile), "cpu-clock");
	string_id faults = strtab_add(profile_strings(profile), "page-faults");
	event_id first = profile_add_event(profile, &(struct profile_event){.name = clock});
	event_id second = profile_add_event(profile, &(struct profile_event){.name = faults});
	label_set_id thread = profile_thread_labels(profile, 1, 1, "app", "app");
	stack_id bare = push(profile, STACK_EMPTY, 1, 0x20);
	stack_id cut = profile_push(profile, STACK_EMPTY,
				    profile_synthetic_frame(profile, "[truncated]"));
	struct quality quality;

	profile_add(profile, thread, bare, first, 1);
	profile_add(profile, thread, cut, second, 1);
	profile_add(profile, thread, push(profile, cut, 1, 0x30), second, 1);
	quality_init(&quality, profile, &(struct session_counts){.quality.samples = 3}, NULL);
	assert_int_equal(quality.counts.event_count, 2);
	assert_string_equal(quality.counts.events[1].event, "page-faults");
	assert_int_equal(quality.counts.events[0].samples, 1);
	assert_int_equal(quality.counts.events[0].truncated, 0);
	assert_int_equal(quality.counts.events[0].unnamed, 1);
	assert_int_equal(quality.counts.events[1].samples, 2);
	assert_int_equal(quality.counts.events[1].truncated, 2);
	assert_int_equal(quality.counts.events[1].unnamed, 1);
	quality_deinit(&quality);
}
