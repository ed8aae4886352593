#include "base/gzip.h"
#include "output.h"
#include "sample_profile.h"
#include "unit_test.h"
#include "waiting_profile.h"

static struct output json_with(const struct profile *profile, struct format_options options)
{
	CLEANUP(output_deinit)
	struct output packed = output_of(&format_firefox, profile, options);
	FILE *in = fmemopen(packed.data, packed.len, "r");
	FILE *gzip = gzip_reader(in, 1 << 20);
	struct output output = {.data = calloc(1, 1 << 20)};

	assert_memory_equal(packed.data + 4, "\0\0\0\0", 4); /* no time */
	output.len = fread(output.data, 1, (1 << 20) - 1, gzip);
	assert_int_equal(fclose(gzip), 0);
	fclose(in);
	return output;
}

static struct output json_of(const struct profile *profile)
{
	return json_with(profile, (struct format_options){0});
}

TEST(the_golden_profile_is_written_unchanged)
{
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(output_deinit) struct output output = json_of(profile);

	assert_golden("shop.firefox.json", output.data);
}

static struct profile *timed_profile(void)
{
	struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id one = profile_thread_labels(profile, 7, 7, "p", "p");
	uint32_t samples[2];

	profile_keep_timestamps(profile);
	samples[0] = profile_add_samples(profile, one, STACK(profile, "a"), event, 2, 3000000);
	samples[1] = profile_add(profile, one, STACK(profile, "b"), event, 1000000);
	profile_add_timed_sample(profile,
				 &(struct profile_timed_sample){1001000000, samples[0], 0});
	profile_add_timed_sample(profile,
				 &(struct profile_timed_sample){1003001999, samples[1], 1});
	profile_add_timed_sample(profile,
				 &(struct profile_timed_sample){1002999999, samples[0], 2});
	profile_set_info(profile, &(struct profile_info){.start_unix_ns = 5000000000,
							 .start_ns = 1000000000,
							 .duration_ns = 10000000});
	return profile;
}

TEST(samples_have_their_times_and_cpu_time)
{
	CLEANUP(profile_cleanup) struct profile *profile = timed_profile();
	CLEANUP(output_deinit) struct output output = json_of(profile);

	assert_holds(&output,
		     "\"samples\":{\"length\":3,\"weightType\":\"samples\",\"weight\":null,"
		     "\"stack\":[0,1,0],\"timeDeltas\":[1,2.001,0],"
		     "\"threadCPUDelta\":[1500,1000,1500]}");
	assert_holds(&output, "\"startTime\":5000,");
}

TEST(markers_are_in_their_threads)
{
	CLEANUP(profile_cleanup) struct profile *profile = timed_profile();

	profile_thread_labels(profile, 7, 8, "p", "second");
	profile_add_marker(profile, &(struct profile_marker){PROFILE_MARKER_FORK, 1000500000, 0, 7,
							     8, text_of(profile, "child"), 0});
	profile_add_marker(profile, &(struct profile_marker){PROFILE_MARKER_LOST, 1000600000, 0, -1,
							     -1, 0, 12});
	CLEANUP(output_deinit) struct output output = json_of(profile);
	assert_holds(&output, "\"startTime\":[0.6],\"endTime\":[null],\"phase\":[0],"
			      "\"category\":[0],\"data\":[{\"type\":\"lost\",\"samples\":12}],"
			      "\"length\":1}");
	assert_holds(&output,
		     "\"startTime\":[0.5],\"endTime\":[null],\"phase\":[0],"
		     "\"category\":[0],\"data\":[{\"type\":\"fork\",\"process\":\"child\"}],"
		     "\"length\":1}");
}

TEST(without_times_a_stack_has_the_weight_of_all_its_samples)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id one = profile_thread_labels(profile, 7, 7, "p", "p");

	profile_add_samples(profile, one, STACK(profile, "a"), event, 2, 3000000);
	profile_add_samples(profile, one, STACK(profile, "b"), event, 5, 1000000);
	profile_set_info(profile, &(struct profile_info){.duration_ns = 10000000});
	CLEANUP(output_deinit) struct output output = json_of(profile);
	assert_holds(&output, "\"samples\":{\"length\":2,\"weightType\":\"samples\","
			      "\"weight\":[2,5],\"stack\":[0,1],\"timeDeltas\":[0,5]}");
	assert_holds(&output, "\"unknown: ");
}

TEST(a_weight_of_no_samples_and_a_stack_without_frames_are_written)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id one = profile_thread_labels(profile, 7, 7, "p", "p");

	profile_add_samples(profile, one, STACK(profile, "a"), event, 0, 3000000);
	profile_add_samples(profile, one, STACK_EMPTY, event, 1, 1);
	CLEANUP(output_deinit) struct output output = json_of(profile);
	assert_holds(&output, "\"weight\":[0,1],\"stack\":[0,1]");
}

TEST(a_build_id_becomes_one_of_breakpad)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	struct profile_module module = {
		.path = text_of(profile, "/usr/bin/x"),
		.build_id = text_of(profile, "0123456789abcdef0123456789abcdef01234567"),
	};

	profile_describe_module(profile, 0, &module);
	profile_add(profile, profile_thread_labels(profile, 1, 1, "p", "p"), STACK(profile, "f"),
		    add_event(profile, "e", VALUE_COUNT), 1);
	CLEANUP(output_deinit) struct output output = json_of(profile);
	assert_holds(&output, "\"breakpadId\":\"67452301AB89EFCD0123456789ABCDEF0\","
			      "\"codeId\":\"0123456789abcdef0123456789abcdef01234567\"");
}

static struct profile *one_wait(bool has_times)
{
	struct profile *profile = profile_new();
	label_set_id thread = profile_thread_labels(profile, 7, 7, "p", "p");

	add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	if (has_times)
		profile_keep_timestamps(profile);
	add_run(profile, thread, STACK(profile, "f"), 0, 2);
	add_wait(profile, thread, reason_at(profile, STACK(profile, "g"), "[futex]"), 2, 27, 20);
	add_run(profile, thread, STACK(profile, "f"), 28, 29);
	profile_set_info(profile, &(struct profile_info){.start_ns = has_times ? 1000 * MS : 0,
							 .duration_ns = 30 * MS});
	return profile;
}

TEST(a_wait_is_samples_without_cpu_time_from_its_start_to_its_end)
{
	CLEANUP(profile_cleanup) struct profile *profile = one_wait(true);
	CLEANUP(output_deinit) struct output output = json_of(profile);

	assert_holds(&output, "\"weightType\":\"tracing-ms\","
			      "\"weight\":[1,1,6.666666,6.666667,6.666667,0,1],"
			      "\"stack\":[0,0,2,2,2,2,3],"
			      "\"timeDeltas\":[1,1,0,8.333,8.333,8.334,2],"
			      "\"threadCPUDelta\":[1000,1000,0,0,0,0,1000]}");
	assert_holds(&output,
		     "\"startTime\":[2],\"endTime\":[27],\"phase\":[1],\"category\":[8],"
		     "\"data\":[{\"type\":\"wait\",\"reason\":\"[futex]\"}],\"length\":1}");
	assert_holds(&output, "{\"label\":\"Events\",\"format\":\"string\","
			      "\"value\":\"cpu-clock and off-cpu\"}");
	assert_holds(&output, "\"category\":[1,1,8,1]");
}

TEST(waiting_alone_is_empty_between_two_waits)
{
	CLEANUP(profile_cleanup) struct profile *profile = one_wait(true);
	CLEANUP(output_deinit)
	struct output output = json_with(profile,
					 (struct format_options){.event = 1, .event_only = true});

	assert_holds(&output, "\"weight\":[6.666666,6.666667,6.666667,0],"
			      "\"stack\":[2,2,2,null],\"timeDeltas\":[2,8.333,8.333,8.334]}");
}

TEST(cpu_time_alone_is_as_without_waiting)
{
	CLEANUP(profile_cleanup) struct profile *profile = one_wait(true);
	CLEANUP(output_deinit)
	struct output output = json_with(profile, (struct format_options){.event_only = true});

	assert_holds(&output, "\"weightType\":\"samples\",\"weight\":null,\"stack\":[0,0,3],"
			      "\"timeDeltas\":[1,1,27]");
}

TEST(waits_without_times_have_their_weight)
{
	CLEANUP(profile_cleanup) struct profile *profile = one_wait(false);
	CLEANUP(output_deinit) struct output output = json_of(profile);

	assert_holds(&output, "\"weightType\":\"tracing-ms\",\"weight\":[2,1,20],"
			      "\"stack\":[0,3,2],\"timeDeltas\":[0,10,10]}");
	assert_holds(&output, "\"unknown: ");
}
