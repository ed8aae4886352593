#include "output.h"
#include "report/process_names.h"
#include "sample_profile.h"
#include "unit_test.h"
#include "waiting_profile.h"

#include <inttypes.h>

static struct output svg_of(const struct profile *profile)
{
	return output_of(&format_svg, profile, (struct format_options){0});
}

/* Browser tests check the script and the style. */
static void cut_out(char *text, const char *from, const char *to)
{
	char *begin = strstr(text, from), *end = strstr(text, to);

	memmove(begin + strlen(from), end, strlen(end) + 1);
}

TEST(the_golden_profile_is_drawn_unchanged)
{
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();
	CLEANUP(output_deinit) struct output output = svg_of(profile);

	cut_out(output.data, "<style>", "</style>");
	cut_out(output.data, "<![CDATA[", "]]>");
	assert_golden("shop.svg", output.data);
}

TEST(siblings_are_sorted_by_name_and_have_their_share)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");

	profile_add_samples(profile, thread, STACK(profile, "main", "b"), event, 1000, 1000);
	profile_add_samples(profile, thread, STACK(profile, "main", "a"), event, 3000, 3000);
	CLEANUP(output_deinit) struct output output = svg_of(profile);
	assert_holds(&output,
		     "<title>a (3,000 samples, 75.00%)</title>"
		     "<rect class=\"user b edged\" x=\"0.0000%\" y=\"48\" width=\"75.0000%\"");
	assert_holds(&output,
		     "<title>b (1,000 samples, 25.00%)</title>"
		     "<rect class=\"user b edged\" x=\"75.0000%\" y=\"48\" width=\"25.0000%\"");
	assert_holds(&output, "<title>all (4,000 samples, 100.00%)</title>");
}

TEST(time_that_was_not_sampled_is_last)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	frame_id note = profile_synthetic_frame(profile, "[not sampled]");

	profile_add_samples(profile, thread, profile_push(profile, STACK_EMPTY, note), event, 0, 1);
	profile_add_samples(profile, thread, STACK(profile, "main"), event, 99, 99);
	CLEANUP(output_deinit) struct output output = svg_of(profile);
	assert_true(strstr(output.data, "<title>main (") < strstr(output.data, "<title>[not"));
}

TEST(frames_that_are_too_narrow_are_counted)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");

	profile_add_samples(profile, thread, STACK(profile, "wide"), event, 11800, 11800);
	profile_add_samples(profile, thread, STACK(profile, "narrow", "too"), event, 1, 1);
	profile_add_samples(profile, thread, STACK(profile, "enough"), event, 2, 2);
	CLEANUP(output_deinit) struct output output = svg_of(profile);
	assert_holds(&output, ">2 frames too narrow to draw<");
	assert_lacks(&output, "<title>narrow");
	assert_holds(&output, "<title>enough");
}

/* 64 CPUs have this many cycles in two hours. */
TEST(weights_of_large_machines_have_their_rows)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cycles", VALUE_COUNT);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");

	profile_add_samples(profile, thread, STACK(profile, "main"), event, 1,
			    UINT64_MAX / 11800 + 1);
	CLEANUP(output_deinit) struct output output = svg_of(profile);
	assert_holds(&output, " x=\"0.0000%\" y=\"0\" width=\"100.0000%\" height=\"15\"/>");
	assert_holds(&output, " x=\"0.0000%\" y=\"16\" width=\"100.0000%\" height=\"15\"/>");
}

TEST(names_cannot_break_out)
{
	static const struct {
		const char *name, *written;
	} cases[] = {
		{"a<b> && 'c' \"d\"", "a&lt;b&gt; &amp;&amp; 'c' &quot;d&quot; (1"},
		{"</title><script>", "&lt;/title&gt;&lt;script&gt; (1"},
		{"]]>", "]]&gt; (1"},
		{"\x01\x1b[m\n\x7f\xc2\x85",
		 "\xef\xbf\xbd\xef\xbf\xbd[m\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd (1"},
		{"evil\xe2\x80\xaelive", "evil\xef\xbf\xbdlive (1"},
		{"\xff\xc3z", "\xef\xbf\xbd\xef\xbf\xbdz (1"},
		{"\xef\xbf\xbf", "\xef\xbf\xbd (1"},
		{"na\xc3\xafve \xd7\xa9", "na\xc3\xafve \xd7\xa9 (1"},
		{"", "[unnamed] (1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = profile_new();

		profile_add(profile, profile_thread_labels(profile, 1, 1, cases[i].name, ""),
			    STACK(profile, cases[i].name), add_event(profile, "e", VALUE_COUNT), 1);
		profile_set_info(profile, &(struct profile_info){.command = cases[i].name,
								 .headline = cases[i].name});
		CLEANUP(output_deinit) struct output output = svg_of(profile);
		assert_holds(&output, cases[i].written);
		assert_lacks(&output, "<script>\n<script>");
		assert_lacks(&output, "\xe2\x80\xae");
	}
}

TEST(a_very_long_name_is_shortened)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(free_ptr) char *name = xmalloc(64 * 1024 + 1);

	memset(name, 'x', 64 * 1024);
	name[64 * 1024] = '\0';
	profile_add(profile, profile_thread_labels(profile, 1, 1, name, name),
		    STACK(profile, name, name), add_event(profile, "e", VALUE_COUNT), 1);
	CLEANUP(output_deinit) struct output output = svg_of(profile);
	assert_in_range(output.len, 1, 32 * 1024);
	assert_holds(&output, "xxx… (1 samples");
}

TEST(one_event_of_several_is_named)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id clock = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");

	profile_add(profile, thread, STACK(profile, "main"), clock, 1);
	CLEANUP(output_deinit) struct output alone = svg_of(profile);
	assert_lacks(&alone, ">cpu-clock");
	profile_add(profile, thread, STACK(profile, "main"),
		    add_event(profile, "<faults>", VALUE_COUNT), 1);
	CLEANUP(output_deinit) struct output first = svg_of(profile);
	assert_holds(&first, "y=\"43\">cpu-clock</text>");
	profile_set_info(profile, &(struct profile_info){.headline = "12 samples"});
	CLEANUP(output_deinit)
	struct output second = output_of(&format_svg, profile, (struct format_options){.event = 1});
	assert_holds(&second, "y=\"43\">&lt;faults&gt;: 12 samples</text>");
}

TEST(an_empty_profile_is_drawn_with_a_notice)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(output_deinit) struct output output = svg_of(profile);

	assert_holds(&output, "No samples");
	assert_lacks(&output, "<g>");
}

TEST(processes_are_known_by_their_names)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(process_names_deinit) struct process_names processes;

	profile_thread_labels(profile, 1, 1, "z", "");
	profile_thread_labels(profile, 2, 2, "a", "");
	profile_thread_labels(profile, 3, 3, "z", "worker");
	profile_thread_labels(profile, -1, -1, "", "");
	profile_thread_labels(profile, 5, 5, "", "");
	process_names_init(&processes, profile);
	assert_int_equal(processes.count, 3);
	assert_string_equal(processes.names[processes.of_labels[0]], "z");
	assert_string_equal(processes.names[processes.of_labels[1]], "a");
	assert_int_equal(processes.of_labels[2], processes.of_labels[0]);
	assert_int_equal(processes.of_labels[3], processes.count);
	assert_string_equal(processes.names[processes.of_labels[4]], "");
}

TEST(cpu_time_and_waiting_are_drawn_together_as_time)
{
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(false);
	CLEANUP(output_deinit) struct output both = svg_of(profile);
	CLEANUP(output_deinit)
	struct output alone = output_of(&format_svg, profile,
					(struct format_options){.event_only = true});

	assert_holds(&both, "2.00 thread-seconds: 0.50 on CPU, 0.10 runnable, 1.40 waiting");
	assert_holds(&both, "<title>all (2.00 s, 100.00%)</title>");
	assert_holds(&both, "<title>crunch (300 ms, 15.00%)</title>");
	assert_holds(&both, "<title>[nanosleep] (300 ms, 15.00%)</title>");
	assert_holds(&alone, "<title>crunch (300 samples, 60.00%)</title>");
	assert_lacks(&alone, "[nanosleep]");
}
