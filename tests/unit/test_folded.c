#include "output.h"
#include "sample_profile.h"
#include "unit_test.h"
#include "waiting_profile.h"

#include <inttypes.h>

static void assert_folded(const struct profile *profile, struct format_options options,
			  const char *expected)
{
	CLEANUP(output_deinit) struct output output = output_of(&format_folded, profile, options);

	assert_string_equal(output.data, expected);
}

TEST(the_golden_profile_is_written_unchanged)
{
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(output_deinit)
	struct output plain = output_of(&format_folded, profile, (struct format_options){0});
	CLEANUP(output_deinit)
	struct output full = output_of(&format_folded, profile,
				       (struct format_options){.folded.weight = WEIGHT_NS,
							       .folded.show_tid = true,
							       .folded.annotate = true});

	assert_golden("shop.folded", plain.data);
	assert_golden("shop_annotated.folded", full.data);
}

TEST(stacks_of_the_same_names_are_one_line)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id threads[] = {profile_thread_labels(profile, 1, 1, "p", "p"),
				  profile_thread_labels(profile, 1, 2, "p", "second"),
				  profile_thread_labels(profile, 3, 3, "p", "p")};

	for (unsigned i = 0; i < ARRAY_SIZE(threads); i++)
		profile_add(profile, threads[i], STACK(profile, "main", "f"), event, 1);
	assert_folded(profile, (struct format_options){0}, "p;main;f 3\n");
	assert_folded(profile, (struct format_options){.folded.show_pid = true},
		      "p-1;main;f 2\np-3;main;f 1\n");
	assert_folded(profile, (struct format_options){.folded.show_tid = true},
		      "p-1/1;main;f 1\np-1/2;main;f 1\np-3/3;main;f 1\n");
}

TEST(a_frame_is_written_with_its_inlined_functions_behind_it)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	frame_id frame = add_frame(profile, (const char *const[]){"inner", "outer", "real", NULL});

	profile_add(profile, profile_thread_labels(profile, 1, 1, "p", "p"),
		    profile_push(profile, STACK_EMPTY, frame), event, 1);
	assert_folded(profile, (struct format_options){0}, "p;real;outer;inner 1\n");
	assert_folded(profile, (struct format_options){.folded.annotate = true},
		      "p;real;outer_[i];inner_[i] 1\n");
}

TEST(names_cannot_break_a_line)
{
	static const struct {
		const char *name, *line;
	} cases[] = {
		{"a;b", "p;a:b 1\n"},
		{"a\nb\r\tc\x7f", "p;a\xef\xbf\xbd"
				  "b\xef\xbf\xbd\xef\xbf\xbd"
				  "c\xef\xbf\xbd 1\n"},
		{"", "p;[unnamed] 1\n"},
		{"bad\xff\xc3", "p;bad\xef\xbf\xbd\xef\xbf\xbd 1\n"},
		{"\xe2\x80\xa8", "p;\xef\xbf\xbd 1\n"}, /* LINE SEPARATOR */
		{"\xc2\x85", "p;\xef\xbf\xbd 1\n"},	/* NEXT LINE */
		{"na\xc3\xafve", "p;na\xc3\xafve 1\n"},
		{"operator new (unsigned)", "p;operator new (unsigned) 1\n"},
		{"part 12", "p;part_12 1\n"},
		{"12", "p;12 1\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = profile_new();

		profile_add(profile, profile_thread_labels(profile, 1, 1, "p", "p"),
			    STACK(profile, cases[i].name), add_event(profile, "e", VALUE_COUNT), 1);
		assert_folded(profile, (struct format_options){0}, cases[i].line);
	}
}

TEST(spaces_in_a_process_name_are_replaced)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);

	profile_add(profile, profile_thread_labels(profile, 1, 1, "Web Content 3", ""),
		    STACK(profile, "f"), event, 1);
	profile_add(profile, profile_thread_labels(profile, 2, 2, "", ""), STACK(profile, "f"),
		    event, 1);
	profile_add(profile, profile_thread_labels(profile, 3, 3, "a;b\n", ""), STACK(profile, "f"),
		    event, 1);
	assert_folded(profile, (struct format_options){0},
		      "Web_Content_3;f 1\n[unnamed];f 1\na:b\xef\xbf\xbd;f 1\n");
}

TEST(the_requested_weight_is_written)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "task-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	stack_id stack = STACK(profile, "f");

	profile_add(profile, thread, stack, event, 1000);
	profile_add(profile, thread, stack, event, 500);
	profile_add(profile, thread, STACK(profile, "of no weight"), event, 0);
	assert_folded(profile, (struct format_options){.folded.weight = WEIGHT_SAMPLES},
		      "p;f 2\np;of no weight 1\n");
	assert_folded(profile, (struct format_options){.folded.weight = WEIGHT_NS}, "p;f 1500\n");
	assert_folded(profile, (struct format_options){.folded.weight = WEIGHT_PERIOD},
		      "p;f 1500\n");
}

TEST(elapsed_time_is_in_nanoseconds)
{
	static const char *const names[] = {VALUE_ELAPSED_EVENT, VALUE_CRITICAL_PATH_EVENT};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = profile_new();
		event_id event = add_event(profile, names[i], VALUE_WALL_TIME);

		profile_add_samples(profile, profile_thread_labels(profile, 1, 1, "p", "p"),
				    STACK(profile, "f"), event, 2, 1500);
		assert_folded(profile, (struct format_options){0}, "p;f 1500\n");
		assert_folded(profile, (struct format_options){.folded.weight = WEIGHT_SAMPLES},
			      "p;f 2\n");
	}
}

TEST(an_event_that_is_not_a_clock_has_no_nanoseconds)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	struct format_options options = {.folded.weight = WEIGHT_NS};
	CLEANUP(error_cleanup) struct error *err = NULL;

	add_event(profile, "cycles", VALUE_COUNT);
	err = format_folded.write(profile, &options, stdout);
	assert_non_null(err);
	assert_string_equal(error_text(err), "cycles does not count nanoseconds");
	assert_non_null(strstr(error_hint_text(err), "--weight period"));
}

TEST(an_empty_profile_is_an_empty_file)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();

	assert_folded(profile, (struct format_options){0}, "");
	add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	assert_folded(profile, (struct format_options){.folded.weight = WEIGHT_NS}, "");
}

TEST(the_order_in_which_samples_come_does_not_matter)
{
	static const char *const names[] = {"a", "b", "a b", "a;b", "c"};
	CLEANUP(output_deinit) struct output first = {0}, second = {0};

	for (int round = 0; round < 2; round++) {
		CLEANUP(profile_cleanup) struct profile *profile = profile_new();
		event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);

		for (int i = 0; i < 125; i++) {
			int n = round ? 124 - i : i;
			label_set_id thread = profile_thread_labels(profile, n % 2, n % 4, "p",
								    "t");

			profile_add(profile, thread,
				    STACK(profile, names[n % 5], names[n / 5 % 5], names[n / 25]),
				    event, 1);
		}
		*(round ? &second : &first) = output_of(
			&format_folded, profile, (struct format_options){.folded.show_pid = 1});
	}
	assert_string_equal(first.data, second.data);
}

TEST(any_number_of_events_and_names_can_be_written)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	event_id event = 0;
	char name[16];

	/* The product does not fit into 32 bits. */
	for (unsigned i = 0; i < 65536; i++) {
		snprintf(name, sizeof(name), "e%u", i);
		event = add_event(profile, name, VALUE_COUNT);
		add_frame(profile, (const char *const[]){name, NULL});
	}
	profile_add(profile, thread, STACK(profile, "f"), event, 1);
	assert_folded(profile, (struct format_options){.event = event}, "p;f 1\n");
}

TEST(cpu_time_and_waiting_are_nanoseconds_that_add_up)
{
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(false);
	static const char run[] = "shop;main;crunch 300000000\n";
	static const char join[] = "shop;main;pthread_join;[futex] 700000000\n";
	static const char work[] = "shop;worker;holds_lock 150000000\n";
	static const char nap[] = "shop;worker;naps;std::this_thread::sleep_for 50000000\n";
	static const char wait[] =
		"shop;worker;holds_lock;pthread_mutex_lock;__lll_lock_wait;"
		"[mutex held by shop in crunch] 400000000\n"
		"shop;worker;holds_lock;pthread_mutex_lock;__lll_lock_wait;[runnable] "
		"100000000\n";
	static const char sleep[] =
		"shop;worker;naps;std::this_thread::sleep_for;[nanosleep] 300000000\n";
	CLEANUP(free_ptr)
	char *both = xasprintf("%s%s%s%s%s%s", run, join, work, wait, nap, sleep);
	CLEANUP(free_ptr) char *waiting = xasprintf("%s%s%s", join, wait, sleep);

	assert_folded(profile, (struct format_options){0}, both);
	assert_folded(profile, (struct format_options){.event = 1, .event_only = true}, waiting);
	assert_folded(profile, (struct format_options){.event_only = true},
		      "shop;main;crunch 300\nshop;worker;holds_lock 150\n"
		      "shop;worker;naps;std::this_thread::sleep_for 50\n");
	assert_folded(profile,
		      (struct format_options){
			      .event = 1, .event_only = true, .folded.weight = WEIGHT_SAMPLES},
		      "shop;main;pthread_join;[futex] 1\n"
		      "shop;worker;holds_lock;pthread_mutex_lock;__lll_lock_wait;"
		      "[mutex held by shop in crunch] 1\n"
		      "shop;worker;holds_lock;pthread_mutex_lock;__lll_lock_wait;[runnable] "
		      "1\n"
		      "shop;worker;naps;std::this_thread::sleep_for;[nanosleep] 1\n");
}

TEST(waiting_counts_as_many_samples_as_cpu_time_would_have_had)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id cpu = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	event_id off = add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");

	profile_add_samples(profile, thread, STACK(profile, "f"), cpu, 3, 3 * MS);
	profile_add(profile, thread, STACK(profile, "g"), off, 5 * MS);
	assert_folded(profile, (struct format_options){.folded.weight = WEIGHT_SAMPLES},
		      "p;f 3\np;g 5\n");
}
