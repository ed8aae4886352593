#include "output.h"
#include "sample_profile.h"
#include "unit_test.h"

#define NS_PER_S 1000000000ull
#define HEAD(time, event, unit)                                                                    \
	"{\"time\":" time ",\"host\":\"web1\",\"event\":\"" event "\",\"unit\":\"" unit "\","

/* The profile was started at 2026-11-24T14:05:00.5Z, when the clock of its
 * samples was at 7 s. */
static struct profile *started_profile(void)
{
	struct profile *profile = profile_new();

	profile_keep_timestamps(profile);
	profile_set_info(profile, &(struct profile_info){.start_unix_ns = 1795529100ull * NS_PER_S +
									  500000000,
							 .start_ns = 7 * NS_PER_S,
							 .host = "web1",
							 .command = "prof",
							 .kernel = ""});
	return profile;
}

static void assert_rows(const struct profile *profile, struct format_options options,
			const char *expected)
{
	CLEANUP(output_deinit) struct output output = output_of(&format_ndjson, profile, options);

	assert_string_equal(output.data, expected);
}

TEST(the_golden_profile_is_written_unchanged)
{
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(output_deinit)
	struct output output = output_of(&format_ndjson, profile, (struct format_options){0});

	assert_golden("shop.ndjson", output.data);
}

#define LABELLED(process, labels)                                                                  \
	"\"process\":\"" process "\",\"pid\":1,\"thread\":\"" process "\",\"tid\":1,"              \
	"\"labels\":{" labels "},\"stack\":"
#define CPU(time) HEAD("\"2026-11-24T14:05:" time "Z\"", "cpu", "nanoseconds")

TEST(samples_of_a_second_with_the_same_names_are_one_row)
{
	CLEANUP(profile_cleanup) struct profile *profile = started_profile();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id labels = profile_thread_labels(profile, 1, 1, "p", "p");
	/* The functions are the same at two addresses. */
	uint32_t one = profile_add_samples(profile, labels, STACK(profile, "a", "b"), event, 3, 10);
	uint32_t other = profile_add(profile, labels, STACK(profile, "a", "b"), event, 5);
	const struct profile_timed_sample timed[] = {
		{7 * NS_PER_S, one, 0},
		{7 * NS_PER_S + 400000000, other, 0},
		{7 * NS_PER_S + 500000000, one, 0},
		/* a nanosecond before the next second */
		{7 * NS_PER_S + 499999999, one, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(timed); i++)
		profile_add_timed_sample(profile, &timed[i]);
	assert_rows(
		profile, (struct format_options){0},
		CPU("00") "\"samples\":2,\"value\":9," LABELLED("p", "") "[\"a\",\"b\"]}\n" CPU(
			"01") "\"samples\":2,\"value\":6," LABELLED("p", "") "[\"a\",\"b\"]}\n");
}

TEST(what_has_no_time_is_of_the_start)
{
	CLEANUP(profile_cleanup) struct profile *profile = started_profile();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	event_id space = add_event(profile, "alloc_space", VALUE_BYTES);
	label_set_id labels = profile_thread_labels(profile, 1, 1, "p", "p");
	uint32_t known = profile_add_samples(profile, labels, STACK(profile, "a"), event, 2, 10);
	uint32_t block = profile_add(profile, labels, STACK(profile, "b"), space, 4096);

	profile_add_samples(profile, labels, STACK(profile, "c"), event, 0, 7);
	profile_add_timed_sample(profile, &(struct profile_timed_sample){8 * NS_PER_S, known, 0});
	profile_add_interval(profile,
			     &(struct profile_interval){8 * NS_PER_S, 9 * NS_PER_S, 4096, block});
	assert_rows(profile, (struct format_options){0},
		    CPU("01") "\"samples\":1,\"value\":5," LABELLED("p", "") "[\"a\"]}\n" CPU("00") "\"samples\":1,\"value\":5," LABELLED(
			    "p",
			    "") "[\"a\"]}\n" HEAD("\"2026-11-24T14:05:00Z\"", "alloc_space",
						  "bytes") "\"samples\":1,\"value\":"
							   "4096," LABELLED(
								   "p",
								   "") "[\"b\"]}"
								       "\n" CPU(
									       "00") "\"samples\":"
										     "0,\"value\":"
										     "7," LABELLED(
											     "p",
											     "") "["
												 "\"c\"]}\n");
}

TEST(a_wait_is_of_the_second_in_which_it_ends)
{
	CLEANUP(profile_cleanup) struct profile *profile = started_profile();
	event_id event = add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	label_set_id labels = profile_thread_labels(profile, 1, 1, "p", "p");
	uint32_t wait = profile_add(profile, labels, STACK(profile, "a"), event, 3 * NS_PER_S);

	profile_add_interval(profile, &(struct profile_interval){8 * NS_PER_S, 11 * NS_PER_S,
								 3 * NS_PER_S, wait});
	assert_rows(
		profile, (struct format_options){0},
		HEAD("\"2026-11-24T14:05:04Z\"", "off-cpu",
		     "nanoseconds") "\"samples\":1,\"value\":3000000000," LABELLED("p", "") "[\"a\""
											    "]}\n");
}

TEST(all_rows_have_the_keys_of_all_labels)
{
	CLEANUP(profile_cleanup) struct profile *profile = started_profile();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	struct profile_thread thread = {.pid = 1,
					.tid = 1,
					.process = text_of(profile, "p"),
					.name = text_of(profile, "p")};
	struct profile_label some[] = {
		{.key = text_of(profile, "request"), .text = text_of(profile, "pay")},
		{.key = text_of(profile, "env"), .text = text_of(profile, "test")},
		{.key = text_of(profile, "size"), .number = -64},
		{.key = text_of(profile, "request"), .text = text_of(profile, "\xff")}};
	struct format_label given[] = {{FORMAT_LABEL_HOST, "db\"1"}, {"env", "prod"}};

	profile_add(profile, profile_label_set(profile, &thread, NULL, 0), STACK(profile, "a"),
		    event, 1);
	profile_add(profile, profile_label_set(profile, &thread, some, ARRAY_SIZE(some)),
		    STACK(profile, ""), event, 2);
#define DB                                                                                         \
	"{\"time\":\"2026-11-24T14:05:00Z\",\"host\":\"db\\\"1\",\"event\":\"cpu\","               \
	"\"unit\":\"nanoseconds\","
	assert_rows(profile, (struct format_options){.rows.labels = given, .rows.label_count = 2},
		    DB "\"samples\":1,\"value\":1," LABELLED(
			    "p", "\"env\":\"prod\",\"request\":\"\",\"size\":"
				 "\"\"") "[\"a\"]}\n" DB
					 "\"samples\":1,\"value\":2," LABELLED(
						 "p", "\"env\":\"test\","
						      "\"request\":\"pay,"
						      "\xef\xbf\xbd\",\"size\":\"-"
						      "64\"") "[\"[unnamed]\"]}\n");
}

TEST(what_is_unknown_has_the_type_of_what_is_known)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id labels = profile_thread_labels(profile, -1, -1, "", "");

	profile_add(profile, labels, STACK_EMPTY, event, 1);
	assert_rows(profile, (struct format_options){0},
		    "{\"time\":null,\"host\":\"\",\"event\":\"cpu\",\"unit\":\"nanoseconds\","
		    "\"samples\":1,\"value\":1,\"process\":\"\",\"pid\":-1,\"thread\":\"\","
		    "\"tid\":-1,\"labels\":{},\"stack\":[\"[unnamed]\"]}\n");
}

TEST(the_chosen_event_is_alone)
{
	CLEANUP(profile_cleanup) struct profile *profile = random_profile(1);
	CLEANUP(output_deinit)
	struct output output = output_of(&format_ndjson, profile,
					 (struct format_options){.event = 1, .event_only = true});

	assert_non_null(strstr(output.data, "page-faults"));
	assert_null(strstr(output.data, "cpu"));
}

TEST(too_many_labels_are_an_error)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	struct profile_thread thread = {.pid = 1, .tid = 1};
	struct profile_label labels[300];
	CLEANUP(error_cleanup) struct error *err = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		char key[8];

		snprintf(key, sizeof(key), "%zu", i);
		labels[i] = (struct profile_label){.key = text_of(profile, key)};
	}
	profile_label_set(profile, &thread, labels, ARRAY_SIZE(labels));
	err = format_ndjson.write(profile, &(struct format_options){0}, stderr);
	assert_string_equal(error_text(err), "rows have a column per label, at most 256");
}
