#include "base/clock.h"
#include "format/otlp/fields.h"
#include "format/otlp/otlp.h"
#include "profile/part.h"
#include "push/delivery.h"

#include <stdlib.h>
#include <string.h>

#include "sample_profile.h"
#include "unit_test.h"

TEST(targets_have_a_url_with_the_path_of_their_protocol)
{
	static const char *const cases[][2] = {
		{"otlp:http://host:4318", "http://host:4318/v1development/profiles"},
		{"otlp:http://host/v1development/profiles", "http://host/v1development/profiles"},
		{"pyroscope:https://me:word@host//",
		 "https://me:word@host/push.v1.PusherService/Push"},
		{"parca:http://[::1]:7070/base/", "http://[::1]:7070/base/profiles/writeraw"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct push_target target;

		assert_null(push_target_parse(cases[i][0], &target));
		assert_string_equal(target.url, cases[i][1]);
		assert_null(strstr(target.name, "word"));
		push_target_deinit(&target);
	}
}

TEST(passwords_are_left_out_of_any_text)
{
	static const char *const cases[][2] = {
		{"--push=otlp:http://a:b@c:1/x http://d:e@f", "--push=otlp:http://c:1/x http://f"},
		{"http://a@b@host", "http://host"},
		{"http://host/at@sign", "http://host/at@sign"},
		{"no URL: a@b", "no URL: a@b"},
		{"://", "://"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = push_without_passwords(cases[i][0]);

		assert_string_equal(text, cases[i][1]);
		free(text);
	}
}

TEST(waits_double_up_to_half_a_minute_with_jitter)
{
	for (unsigned attempt = 2; attempt < 100; attempt++) {
		uint64_t least = push_backoff_ns(attempt, 0);
		uint64_t most = push_backoff_ns(attempt, UINT32_MAX);
		uint64_t expected = attempt < 8 ? (500 * NS_PER_MS) << (attempt - 2)
						: 30 * NS_PER_SECOND;

		if (expected > 30 * NS_PER_SECOND)
			expected = 30 * NS_PER_SECOND;
		assert_int_equal(least, expected / 2);
		assert_in_range(most, expected - NS_PER_MS, expected);
	}
}

TEST(statuses_mean_what_the_protocols_say)
{
	assert_int_equal(push_outcome_of(200, ""), PUSH_DELIVERED);
	assert_int_equal(push_outcome_of(204, ""), PUSH_DELIVERED);
	assert_int_equal(push_outcome_of(0, ""), PUSH_LATER);
	assert_int_equal(push_outcome_of(429, ""), PUSH_LATER);
	assert_int_equal(push_outcome_of(503, ""), PUSH_LATER);
	assert_int_equal(push_outcome_of(413, ""), PUSH_TOO_LARGE);
	assert_int_equal(push_outcome_of(301, ""), PUSH_REFUSED);
	assert_int_equal(push_outcome_of(401, ""), PUSH_REFUSED);
	assert_int_equal(push_outcome_of(400, "no label"), PUSH_REJECTED);
	assert_int_equal(push_outcome_of(400, "the profile with labels '{}' exceeds the size limit "
					      "(max_profile_size_byte, actual: 9, limit: 4)"),
			 PUSH_TOO_LARGE);
	assert_int_equal(push_outcome_of(400, "http: request body too large"), PUSH_TOO_LARGE);
	assert_int_equal(push_outcome_of(429, "grpc: received message larger than max (9 vs. 4)"),
			 PUSH_TOO_LARGE);
	assert_int_equal(push_outcome_of(100, ""), PUSH_REFUSED);
}

TEST(series_names_are_valid_sorted_and_unique)
{
	struct profile *profile = random_profile(1);
	struct push_labels labels = {0}, series;

	push_labels_add(&labels, "service.name", "shop");
	push_labels_add(&labels, "service_name", "loses");
	push_labels_add(&labels, "1st", "one");
	push_labels_add(&labels, "\xc3\xa9", "accent");
	push_labels_series(&labels, profile, &series);
	assert_int_equal(series.count, 4);
	assert_string_equal(series.items[0].key, "_1st");
	assert_string_equal(series.items[1].key, "__");
	assert_string_equal(series.items[2].key, "__name__");
	assert_string_equal(series.items[2].text, "process_cpu");
	assert_string_equal(series.items[3].key, "service_name");
	assert_string_equal(series.items[3].text, "shop");
	push_labels_deinit(&labels);
	push_labels_deinit(&series);
	profile_free(profile);
}

TEST(the_program_and_the_host_are_labels_that_the_user_can_set)
{
	struct profile *profile = profile_new();
	struct push_labels labels = {0};

	profile_describe_module(
		profile, 0,
		&(struct profile_module){.path = text_of(profile, "/bin/shop"), .is_main = true});
	profile_set_info(profile, &(struct profile_info){.host = "node"});
	push_labels_add(&labels, "host.name", "mine");
	push_labels_add_profile(&labels, profile);
	assert_int_equal(labels.count, 4);
	assert_string_equal(labels.items[0].text, "mine");
	assert_string_equal(labels.items[1].text, "shop");
	assert_string_equal(labels.items[3].text, "/bin/shop");
	push_labels_deinit(&labels);
	profile_free(profile);
}

/* ---- OTLP ---- */

static struct bytes field_of(struct bytes message, uint32_t number, unsigned index)
{
	struct wire_field field;

	while (wire_next(&message, &field))
		if (field.number == number && !index--)
			return field.bytes;
	fail_msg("no field %u", number);
	return (struct bytes){0};
}

static unsigned count_of(struct bytes message, uint32_t number)
{
	struct wire_field field;
	unsigned count = 0;

	while (wire_next(&message, &field))
		count += field.number == number;
	assert_true(bytes_ok(&message));
	return count;
}

static uint64_t number_of(struct bytes message, uint32_t number)
{
	uint64_t values[16] = {0};

	assert_true(wire_scalars(message, values, ARRAY_SIZE(values)));
	return values[number];
}

static struct bytes scope_profiles_of(struct bytes request)
{
	return field_of(field_of(request, OTLP_REQUEST_RESOURCE_PROFILES, 0),
			OTLP_RESOURCE_SCOPE_PROFILES, 0);
}

static struct wire_message encoded(const struct profile *profile)
{
	struct wire_message message = {0};

	assert_null(otlp_encode(profile, &(struct otlp_options){0}, &message));
	return message;
}

static uint64_t sum_of_values(struct bytes profile)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count_of(profile, OTLP_PROFILE_SAMPLE); i++) {
		struct bytes values = field_of(field_of(profile, OTLP_PROFILE_SAMPLE, i),
					       OTLP_SAMPLE_VALUES, 0);

		while (bytes_left(&values))
			sum += bytes_uleb(&values);
	}
	return sum;
}

TEST(each_event_is_a_profile_whose_values_add_up)
{
	struct profile *profile = random_profile(7);
	const struct profile_samples samples = profile_samples(profile);
	struct wire_message message = encoded(profile);
	struct bytes scope = scope_profiles_of(bytes_of(message.bytes, message.len));

	assert_int_equal(count_of(scope, OTLP_SCOPE_PROFILE), profile_event_count(profile));
	for (event_id event = 0; event < profile_event_count(profile); event++) {
		uint64_t sum = 0;

		for (uint64_t i = 0; i < samples.count; i++)
			sum += samples.items[i].event == event ? samples.items[i].weight : 0;
		assert_int_equal(sum_of_values(field_of(scope, OTLP_SCOPE_PROFILE, event)), sum);
	}
	free(message.bytes);
	profile_free(profile);
}

TEST(every_stack_is_once_in_the_table_leaf_first)
{
	struct profile *profile = random_profile(9);
	struct wire_message message = encoded(profile);
	struct bytes request = bytes_of(message.bytes, message.len);
	struct bytes tables = field_of(request, OTLP_REQUEST_DICTIONARY, 0);
	struct bytes scope = scope_profiles_of(request);
	struct bytes first = field_of(field_of(scope, OTLP_SCOPE_PROFILE, 0), OTLP_PROFILE_SAMPLE,
				      0);
	const struct profile_stack *stacks = profile_stacks(profile).items;
	const struct profile_sample *sample = profile_samples(profile).items;
	stack_id stack;
	struct bytes locations = field_of(field_of(tables, OTLP_DICTIONARY_STACK,
						   (unsigned)number_of(first, OTLP_SAMPLE_STACK)),
					  OTLP_STACK_LOCATIONS, 0);
	struct bytes none;

	while (sample->event != 0)
		sample++;
	for (stack = sample->stack; stack != STACK_EMPTY; stack = stacks[stack].parent)
		assert_int_equal(bytes_uleb(&locations), stacks[stack].frame + 1);
	assert_int_equal(bytes_left(&locations), 0);
	assert_int_equal(count_of(tables, OTLP_DICTIONARY_LOCATION),
			 profile_frame_count(profile) + 1);
	assert_int_equal(count_of(tables, OTLP_DICTIONARY_FUNCTION),
			 profile_function_count(profile) + 1);
	none = field_of(tables, OTLP_DICTIONARY_STACK, 0);
	assert_int_equal(bytes_left(&none), 0);
	free(message.bytes);
	profile_free(profile);
}

TEST(times_share_the_weight_of_their_sample)
{
	struct profile *profile = profile_new();
	label_set_id thread = profile_thread_labels(profile, 1, 1, "one", "one");
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	stack_id stack;
	struct wire_message message;
	struct bytes sample, values, times;

	profile_describe_module(profile, 0,
				&(struct profile_module){.path = text_of(profile, "/bin/x")});
	stack = STACK(profile, "main");
	profile_keep_timestamps(profile);
	profile_set_info(profile, &(struct profile_info){.start_unix_ns = 1000, .start_ns = 10});
	for (uint64_t i = 0; i < 3; i++)
		profile_add_timed_sample(profile,
					 &(struct profile_timed_sample){
						 .time_ns = 10 + i,
						 .sample = profile_add(profile, thread, stack,
								       event, 33 + (i == 2))});
	message = encoded(profile);
	sample = field_of(field_of(scope_profiles_of(bytes_of(message.bytes, message.len)),
				   OTLP_SCOPE_PROFILE, 0),
			  OTLP_PROFILE_SAMPLE, 0);
	values = field_of(sample, OTLP_SAMPLE_VALUES, 0);
	times = field_of(sample, OTLP_SAMPLE_TIMESTAMPS, 0);
	assert_int_equal(bytes_uleb(&values), 34);
	assert_int_equal(bytes_uleb(&values), 33);
	assert_int_equal(bytes_uleb(&values), 33);
	assert_int_equal(bytes_left(&values), 0);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(bytes_u64(&times), 1000 + i);
	assert_int_equal(bytes_left(&times), 0);
	free(message.bytes);
	profile_free(profile);
}

TEST(thread_0_has_an_id)
{
	struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	struct wire_message message;
	struct bytes tables, value;

	profile_describe_module(profile, 0,
				&(struct profile_module){.path = text_of(profile, "/bin/x")});
	profile_add(profile, profile_thread_labels(profile, 0, 0, "", ""), STACK(profile, "idle"),
		    event, 1);
	message = encoded(profile);
	tables = field_of(bytes_of(message.bytes, message.len), OTLP_REQUEST_DICTIONARY, 0);
	value = field_of(field_of(tables, OTLP_DICTIONARY_ATTRIBUTE, 1), OTLP_ATTRIBUTE_VALUE, 0);
	assert_int_equal(count_of(value, OTLP_ANY_INT), 1);
	assert_int_equal(number_of(value, OTLP_ANY_INT), 0);
	free(message.bytes);
	profile_free(profile);
}

TEST(counts_of_2_to_the_63_are_refused)
{
	struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	struct wire_message message = {0};
	struct error *err;

	profile_add(profile, profile_thread_labels(profile, 1, 1, "", ""), STACK_EMPTY, event,
		    UINT64_C(1) << 63);
	err = otlp_encode(profile, &(struct otlp_options){0}, &message);
	assert_non_null(err);
	error_free(err);
	free(message.bytes);
	profile_free(profile);
}

TEST(a_complaint_is_read_from_any_bytes)
{
	static const unsigned char nonsense[][6] = {
		{0}, {0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}, {0x0a, 4, 0x08, 0, 0x12, 9}};
	static const unsigned char partial[] = {0x0a, 7, 0x08, 2, 0x12, 3, 'b', 'a', 'd'};
	char *words;

	for (size_t i = 0; i < ARRAY_SIZE(nonsense); i++)
		assert_null(push_otlp.complaint(bytes_of(nonsense[i], sizeof(nonsense[i]))));
	words = push_otlp.complaint(bytes_of(partial, sizeof(partial)));
	assert_string_equal(words, "2 profiles rejected: bad");
	free(words);
}

/* Adds up, by function, the weights of samples and intervals, and how many of
 * them have times. */
static void add_up(const struct profile *profile, uint64_t weights[2], uint64_t *times)
{
	const struct profile_samples samples = profile_samples(profile);
	const struct profile_stacks stacks = profile_stacks(profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		struct profile_frame frame =
			profile_get_frame(profile, stacks.items[samples.items[i].stack].frame);
		const char *name = profile_string(
			profile, profile_get_function(profile, frame.lines[0].function)->name);

		weights[*name == 'b'] += samples.items[i].weight;
	}
	*times += profile_timed_samples(profile).count + profile_intervals(profile).count;
}

TEST(parts_add_up_to_the_profile)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id cpu = add_event(profile, "cpu", VALUE_CPU_TIME);
	event_id waiting = add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	label_set_id labels = profile_thread_labels(profile, 1, 1, "p", "p");
	uint64_t weights[2] = {0}, times = 0;

	profile_keep_timestamps(profile);
	profile_set_info(profile, &(struct profile_info){.host = "web1", .duration_ns = 5});
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t sample = profile_add(profile, labels, STACK(profile, i % 2 ? "b" : "a"),
					      i ? cpu : waiting, 10 + i);

		if (i)
			profile_add_timed_sample(profile,
						 &(struct profile_timed_sample){i, sample, 0});
		else
			profile_add_interval(profile, &(struct profile_interval){1, 2, 10, sample});
	}
	for (uint64_t first = 0; first < 5; first += 2) {
		CLEANUP(profile_cleanup)
		struct profile *part = profile_part(profile, first, first + 2 < 5 ? first + 2 : 5);

		assert_int_equal(profile_event_count(part), 2);
		assert_int_equal(profile_get_info(part)->duration_ns, 5);
		assert_string_equal(profile_get_info(part)->host, "web1");
		add_up(part, weights, &times);
	}
	assert_int_equal(weights[0], 10 + 12 + 14);
	assert_int_equal(weights[1], 11 + 13);
	assert_int_equal(times, 5);
}

TEST(machines_push_at_moments_of_their_own)
{
	unsigned machines[20] = {0};

	for (unsigned i = 0; i < 1000; i++) {
		char host[16];
		uint64_t delay_ns;

		snprintf(host, sizeof(host), "web%u", i);
		delay_ns = push_delay_ns(host, 60 * NS_PER_SECOND);
		assert_true(delay_ns <= 20 * NS_PER_SECOND);
		assert_true(push_delay_ns(host, 2 * NS_PER_SECOND) <= NS_PER_SECOND);
		assert_int_equal(push_delay_ns(host, 0), 0);
		machines[delay_ns / NS_PER_SECOND % 20]++;
	}
	for (size_t second = 0; second < ARRAY_SIZE(machines); second++)
		assert_in_range(machines[second], 20, 90);
}
