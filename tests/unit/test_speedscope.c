#include "output.h"
#include "sample_profile.h"

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

static void the_golden_profile_is_written_as_ever(void **state)
{
	(void)state;
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(output_deinit)
	struct output output = output_of(&format_speedscope, profile, (struct format_options){0});

	assert_golden("shop.speedscope.json", output.data);
}

static void samples_stand_in_the_order_of_time(void **state)
{
	(void)state;
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", true);
	thread_id one = profile_thread(profile, 1, 1, "p", "p");
	thread_id two = profile_thread(profile, 1, 2, "p", "w");
	uint32_t cells[3];

	profile_keep_moments(profile);
	cells[0] = profile_add(profile, one, STACK(profile, "a"), event, 10);
	profile_add(profile, one, profile_get_cell(profile, cells[0])->stack, event, 30);
	cells[1] = profile_add(profile, one, STACK(profile, "b"), event, 5);
	cells[2] = profile_add(profile, two, STACK(profile, "b"), event, 7);
	profile_add_moment(profile, &(struct profile_moment){1, cells[0], 0});
	profile_add_moment(profile, &(struct profile_moment){2, cells[2], 1});
	profile_add_moment(profile, &(struct profile_moment){3, cells[1], 0});
	profile_add_moment(profile, &(struct profile_moment){4, cells[0], 0});
	assert_file(profile,
		    "\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":["
		    "{\"type\":\"sampled\",\"name\":\"p 1/1\",\"unit\":\"nanoseconds\","
		    "\"startValue\":0,\"endValue\":45,"
		    "\"samples\":[[0],[1],[0]],\"weights\":[20,5,20]},"
		    "{\"type\":\"sampled\",\"name\":\"p 1/2 w\",\"unit\":\"nanoseconds\","
		    "\"startValue\":0,\"endValue\":7,\"samples\":[[1]],\"weights\":[7]}],"
		    "\"activeProfileIndex\":0}\n");
}

static void events_have_tracks_of_their_own(void **state)
{
	(void)state;
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id cycles = add_event(profile, "cycles", false);
	event_id faults = add_event(profile, "page-faults", false);
	thread_id idle = profile_thread(profile, 1, 1, "p", "p");
	thread_id busy = profile_thread(profile, 1, 2, "p", "p");
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

static void a_stack_without_frames_is_an_empty_sample(void **state)
{
	(void)state;
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();

	profile_add(profile, profile_thread(profile, 1, 1, "p", ""), STACK_EMPTY,
		    add_event(profile, "e", false), 5);
	assert_file(profile, "\"shared\":{\"frames\":[]},\"profiles\":[{\"type\":\"sampled\","
			     "\"name\":\"p 1/1\",\"unit\":\"none\",\"startValue\":0,"
			     "\"endValue\":5,\"samples\":[[]],\"weights\":[5]}],"
			     "\"activeProfileIndex\":0}\n");
}

static void nothing_makes_a_file_of_nothing(void **state)
{
	(void)state;
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();

	assert_file(profile, "\"shared\":{\"frames\":[]},\"profiles\":[{\"type\":\"sampled\","
			     "\"name\":\"no samples\",\"unit\":\"none\",\"startValue\":0,"
			     "\"endValue\":0,\"samples\":[],\"weights\":[]}],"
			     "\"activeProfileIndex\":0}\n");
}

static void a_full_disk_is_an_error(void **state)
{
	(void)state;
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(close_file) FILE *full = fopen("/dev/full", "w");
	CLEANUP(error_cleanup)
	struct error *err = format_speedscope.write(profile, &(struct format_options){0}, full);

	assert_non_null(err);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_golden_profile_is_written_as_ever),
		cmocka_unit_test(samples_stand_in_the_order_of_time),
		cmocka_unit_test(events_have_tracks_of_their_own),
		cmocka_unit_test(a_stack_without_frames_is_an_empty_sample),
		cmocka_unit_test(nothing_makes_a_file_of_nothing),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests_name("speedscope", tests, NULL, NULL);
}
