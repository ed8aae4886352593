#include "output.h"
#include "sample_profile.h"
#include "unit_test.h"
#include "waiting_profile.h"

static void assert_file(const struct profile *profile, const char *expected)
{
	static const char head[] =
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		"\"exporter\":\"prof\",\"name\":\"prof\",";
	CLEANUP(output_deinit)
	struct output output = output_of(&format_speedscope, profile, (struct format_options){0});

	assert_memory_equal(output.data, head, strlen(head));
	assert_string_equal(output.data + strlen(head), expected);
}

TEST(the_golden_profile_is_written_unchanged)
{
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(output_deinit)
	struct output output = output_of(&format_speedscope, profile, (struct format_options){0});

	assert_golden("shop.speedscope.json", output.data);
}

TEST(samples_are_in_time_order)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id one = profile_thread_labels(profile, 1, 1, "p", "p");
	label_set_id two = profile_thread_labels(profile, 1, 2, "p", "w");
	uint32_t samples[3];

	profile_keep_timestamps(profile);
	samples[0] = profile_add(profile, one, STACK(profile, "a"), event, 10);
	profile_add(profile, one, profile_samples(profile).items[samples[0]].stack, event, 30);
	samples[1] = profile_add(profile, one, STACK(profile, "b"), event, 5);
	samples[2] = profile_add(profile, two, STACK(profile, "b"), event, 7);
	profile_add_timed_sample(profile, &(struct profile_timed_sample){1, samples[0], 0});
	profile_add_timed_sample(profile, &(struct profile_timed_sample){2, samples[2], 1});
	profile_add_timed_sample(profile, &(struct profile_timed_sample){3, samples[1], 0});
	profile_add_timed_sample(profile, &(struct profile_timed_sample){4, samples[0], 0});
	assert_file(profile,
		    "\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":["
		    "{\"type\":\"sampled\",\"name\":\"p 1/1\",\"unit\":\"nanoseconds\","
		    "\"startValue\":0,\"endValue\":45,"
		    "\"samples\":[[0],[1],[0]],\"weights\":[20,5,20]},"
		    "{\"type\":\"sampled\",\"name\":\"p 1/2 w\",\"unit\":\"nanoseconds\","
		    "\"startValue\":0,\"endValue\":7,\"samples\":[[1]],\"weights\":[7]}],"
		    "\"activeProfileIndex\":0}\n");
}

/* Makes a profile with CPU time, and a block that is in use for a long time. */
static struct profile *allocating_profile(void)
{
	struct profile *profile = profile_new();
	event_id cpu = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	event_id space = add_event(profile, "alloc_space", VALUE_BYTES);
	label_set_id labels = profile_thread_labels(profile, 1, 1, "p", "p");
	uint32_t runs, allocates;

	profile_keep_timestamps(profile);
	runs = profile_add(profile, labels, STACK(profile, "a"), cpu, 10);
	allocates = profile_add(profile, labels, STACK(profile, "b"), space, 4096);
	profile_add_timed_sample(profile, &(struct profile_timed_sample){5, runs, 0});
	profile_add_interval(profile, &(struct profile_interval){1, 9000, 4096, allocates});
	return profile;
}

TEST(blocks_of_memory_are_not_on_the_track_of_a_thread)
{
	CLEANUP(profile_cleanup) struct profile *profile = allocating_profile();
	CLEANUP(output_deinit)
	struct output cpu = output_of(&format_speedscope, profile, (struct format_options){0});
	CLEANUP(output_deinit)
	struct output space = output_of(&format_speedscope, profile,
					(struct format_options){.event = 1});

	assert_non_null(strstr(cpu.data, "\"samples\":[[0]],\"weights\":[10]"));
	assert_null(strstr(cpu.data, "4096"));
	assert_non_null(strstr(space.data, "\"unit\":\"bytes\""));
	assert_non_null(strstr(space.data, "\"weights\":[4096]"));
}

TEST(firefox_shows_memory_without_times)
{
	CLEANUP(profile_cleanup) struct profile *profile = allocating_profile();

	for (event_id event = 0; event < 2; event++) {
		CLEANUP(output_deinit)
		struct output output = output_of(&format_firefox, profile,
						 (struct format_options){.event = event});

		assert_true(output.len > 0);
	}
}

TEST(samples_of_a_thread_are_on_one_track_whatever_their_other_labels)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	struct profile_thread thread = {.pid = 1, .tid = 1, .process = text_of(profile, "p")};
	struct profile_label label = {.key = text_of(profile, "request"),
				      .text = text_of(profile, "checkout")};
	stack_id stack = STACK(profile, "a");

	profile_add(profile, profile_label_set(profile, &thread, NULL, 0), stack, event, 10);
	profile_add(profile, profile_label_set(profile, &thread, &label, 1), stack, event, 5);
	assert_file(profile, "\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":["
			     "{\"type\":\"sampled\",\"name\":\"p 1/1\",\"unit\":\"nanoseconds\","
			     "\"startValue\":0,\"endValue\":15,"
			     "\"samples\":[[0],[0]],\"weights\":[10,5]}],"
			     "\"activeProfileIndex\":0}\n");
}

TEST(events_have_tracks_of_their_own)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id cycles = add_event(profile, "cycles", VALUE_COUNT);
	event_id faults = add_event(profile, "page-faults", VALUE_COUNT);
	label_set_id idle = profile_thread_labels(profile, 1, 1, "p", "p");
	label_set_id busy = profile_thread_labels(profile, 1, 2, "p", "p");
	stack_id stack = STACK(profile, "f");

	profile_add(profile, idle, stack, cycles, 1);
	profile_add(profile, busy, stack, cycles, 2);
	profile_add(profile, idle, stack, faults, 3);
	assert_file(profile,
		    "\"shared\":{\"frames\":[{\"name\":\"f\"}]},\"profiles\":["
		    "{\"type\":\"sampled\",\"name\":\"p 1/1 (cycles)\",\"unit\":\"none\","
		    "\"startValue\":0,\"endValue\":1,\"samples\":[[0]],\"weights\":[1]},"
		    "{\"type\":\"sampled\",\"name\":\"p 1/2 (cycles)\",\"unit\":\"none\","
		    "\"startValue\":0,\"endValue\":2,\"samples\":[[0]],\"weights\":[2]},"
		    "{\"type\":\"sampled\",\"name\":\"p 1/1 (page-faults)\",\"unit\":\"none\","
		    "\"startValue\":0,\"endValue\":3,\"samples\":[[0]],\"weights\":[3]}],"
		    "\"activeProfileIndex\":1}\n");
}

TEST(a_stack_without_frames_is_an_unnamed_one)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();

	profile_add(profile, profile_thread_labels(profile, 1, 1, "p", ""), STACK_EMPTY,
		    add_event(profile, "e", VALUE_COUNT), 5);
	assert_file(profile, "\"shared\":{\"frames\":[{\"name\":\"[unnamed]\"}]},\"profiles\":[{"
			     "\"type\":\"sampled\",\"name\":\"p 1/1\",\"unit\":\"none\","
			     "\"startValue\":0,\"endValue\":5,\"samples\":[[0]],\"weights\":[5]}],"
			     "\"activeProfileIndex\":0}\n");
}

TEST(an_empty_profile_is_written)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();

	assert_file(profile, "\"shared\":{\"frames\":[]},\"profiles\":[{\"type\":\"sampled\","
			     "\"name\":\"no samples\",\"unit\":\"none\",\"startValue\":0,"
			     "\"endValue\":0,\"samples\":[],\"weights\":[]}],"
			     "\"activeProfileIndex\":0}\n");
}

TEST(too_many_threads_and_events_are_refused)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(close_file) FILE *out = fopen("/dev/null", "w");
	char name[16];

	for (unsigned i = 0; i < 65536; i++) {
		snprintf(name, sizeof(name), "e%u", i);
		add_event(profile, name, VALUE_COUNT);
		profile_thread_labels(profile, 1, (pid_t)i, "p", "p");
	}
	profile_add(profile, 65535, STACK(profile, "f"), 65535, 1);
	for (int i = 0; i < 2; i++) {
		CLEANUP(error_cleanup)
		struct error *err = (i ? &format_speedscope : &format_firefox)
					    ->write(profile, &(struct format_options){0}, out);

		assert_non_null(err);
		assert_non_null(strstr(error_text(err), "65536 threads with 65536 events"));
	}
}

TEST(waits_are_tracks_of_their_own_in_time_order)
{
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(true);
	CLEANUP(output_deinit)
	struct output output = output_of(&format_speedscope, profile, (struct format_options){0});

	assert_holds(&output, "\"name\":\"shop 7/8 worker (off-cpu)\",\"unit\":\"nanoseconds\","
			      "\"startValue\":0,\"endValue\":800000000,");
	assert_holds(&output, "\"weights\":[400000000,300000000,100000000]}");
	assert_holds(&output, "\"weights\":[700000000]}");
	assert_holds(&output, "\"name\":\"shop 7/7 (cpu-clock)\",\"unit\":\"nanoseconds\","
			      "\"startValue\":0,\"endValue\":300000000,");
}
