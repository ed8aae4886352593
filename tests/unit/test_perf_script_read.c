#include "format/perf_script/read.h"

#include "output.h"
#include "sample_profile.h"
#include "unit_test.h"

static struct error *read_text(const char *text, struct profile *profile)
{
	CLEANUP(close_file) FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	return perf_script_read(in, profile);
}

static struct profile *must_read(const char *text)
{
	struct profile *profile = profile_new();
	CLEANUP(error_cleanup) struct error *err = read_text(text, profile);

	if (err)
		fail_msg("%s", error_text(err));
	return profile;
}

static void assert_folds(const char *text, struct format_options options, const char *expected)
{
	CLEANUP(profile_cleanup) struct profile *profile = must_read(text);
	CLEANUP(output_deinit)
	struct output output = output_of(&format_folded, profile, options);

	assert_string_equal(output.data, expected);
}

static void assert_becomes(const char *text, const char *expected)
{
	assert_folds(text, (struct format_options){0}, expected);
}

static void assert_problems(const char *text, const char *expected)
{
	CLEANUP(profile_cleanup) struct profile *profile = must_read(text);

	assert_string_equal(profile_get_info(profile)->problems, expected);
}

TEST(each_name_alias_of_the_line_about_a_sample_is_read)
{
	static const struct {
		const char *line, *root;
	} heads[] = {
		{"java 25607 4794564.109216: cycles:", "java/25607"},
		{"java 12688 [002] 6544038.708352: 235 cpu-clock:", "java/12688"},
		{"V8 WorkerThread 24636/25607 [000] 94564.109216:   100 cycles:ppp: ",
		 "V8_WorkerThread-24636/25607"},
		{"            vote   913    72.176760:     257597 cycles:uppp:", "vote/913"},
		{"java 19983 cycles:", "java/19983"},
		{"a 5 b 1234 12.3: 1 cycles:", "a_5_b/1234"},
		{"a 5 6 1234/7 1.000000001: cycles:", "a_5_6-1234/7"},
		{":-1    -1/-1 [001] 1.5: cpu/event=0x3c,umask=0x1/u:", ":-1"},
		{"a 1/2 [000] U 1.5: 1 cycles:", "a-1/2"},
		{"a 1/2 1.5:", "a-1/2"},
		{"a 1/2 :          5 e: ", "a-1/2"},
		{"a 1/2 [7]", "a-1/2"},
		{"a 1/2 [000] 1.5: sched:sched_switch: prev_comm=x (y)", "a-1/2"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		CLEANUP(free_ptr)
		char *text = xasprintf("%s\n\t401 f+0x1 (/x)\n\t402 main (/x)\n\n", heads[i].line);
		CLEANUP(free_ptr) char *expected = xasprintf("%s;main;f 1\n", heads[i].root);

		assert_folds(text, (struct format_options){.folded.show_tid = true}, expected);
		assert_problems(text, "");
	}
}

TEST(a_sample_has_its_thread_time_cpu_and_period)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = must_read("a b 7/8 [003] 12.5:  300 cycles:u: \n\t1 f (/x)\n\n"
					    "c     9 [001] 11.000000007: 5 cpu-clock: \n\n");
	const struct profile_thread *thread = profile_get_thread(profile, 0);
	struct profile_timed_samples timed = profile_timed_samples(profile);

	assert_int_equal(thread->pid, 7);
	assert_int_equal(thread->tid, 8);
	assert_string_equal(profile_string(profile, thread->process), "a b");
	assert_string_equal(profile_string(profile, thread->name), "a b");
	assert_int_equal(profile_get_thread(profile, 1)->pid, -1);
	assert_int_equal(profile_get_thread(profile, 1)->tid, 9);
	assert_int_equal(timed.count, 2);
	assert_int_equal(timed.items[0].time_ns, 11000000007);
	assert_int_equal(timed.items[0].cpu, 1);
	assert_int_equal(timed.items[1].time_ns, 12500000000);
	assert_int_equal(profile_samples(profile).items[0].weight, 300);
	assert_string_equal(profile_string(profile, profile_get_event(profile, 0)->name),
			    "cycles:u");
	assert_int_equal(profile_get_event(profile, 0)->kind, VALUE_COUNT);
	assert_int_equal(profile_get_event(profile, 1)->kind, VALUE_CPU_TIME);
	assert_int_equal(profile_get_info(profile)->start_ns, 11000000007);
	assert_int_equal(profile_get_info(profile)->duration_ns, 1499999993);
}

TEST(without_periods_samples_are_counted)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = must_read("a 1 1.0: cpu-clock:\n\t1 f (/x)\n\n"
					    "a 1 2.0: 100 cpu-clock:\n\t1 f (/x)\n\n");

	assert_true(profile_get_event(profile, 0)->one_value);
	assert_int_equal(profile_get_event(profile, 0)->kind, VALUE_COUNT);
	assert_int_equal(profile_samples(profile).items[0].weight, 2);
}

TEST(names_are_those_of_the_stackcollapse_tools)
{
	static const struct {
		const char *frame, *name;
	} frames[] = {
		{"main+0x1f (/x)", "main"},
		{"a+0xz (/x)", "a+0xz"},
		{"a::b(int, char) const (/x)", "a::b"},
		{"(anonymous namespace)::f(int) (/x)", "(anonymous namespace)::f"},
		{"net/http.(*Client).Do (/x)", "net/http.(*Client).Do"},
		{"{lambda(int)#1}::operator()(int) const (/x)", "{lambda(int)#1}::operator"},
		{"std::function<void (int)>::call(int) (/x)", "std::function<void (int)>::call"},
		{"p::operator->() const (/x)", "p::operator->"},
		{"_$LT$T$u20$as$u20$U$GT$::f::h0123456789abcdef+0x1 (/x)", "<T as U>::f"},
		{"a..b::h0123456789abcdef (/x)", "a::b"},
		{"a..b::h0123456789abcdeg (/x)", "a..b::h0123456789abcdeg"},
		{"[unknown] (/lib/libc.so.6)", "[libc.so.6]"},
		{"[unknown] ([unknown])", "[unknown]"},
		{"[unknown] (/tmp/a b (deleted))", "[a b (deleted)]"},
		{" (/lib/libc.so.6)", "[libc.so.6]"},
		{"f (/lib/libc.so.6+0x12)", "f"},
		{"Lorg/x/Y;::f (/tmp/perf-7.map)", "Lorg/x/Y:::f"},
		{"f", "f"},
		{"RegExp:[&<>\"'] (/tmp/perf-7.map)", "RegExp:[&<>\"']"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		CLEANUP(free_ptr)
		char *text = xasprintf("a 1 1.0: e:\n\t7f01 %s\n\n", frames[i].frame);
		CLEANUP(free_ptr) char *expected = xasprintf("a;%s 1\n", frames[i].name);

		assert_becomes(text, expected);
	}
	assert_becomes("java 1 1.0: e:\n\t1 Lorg/x/Y;::f (/tmp/perf-7.map)\n\t2 Lf (/x)\n",
		       "java;Lf;org/x/Y:::f 1\n");
}

TEST(inlined_functions_are_lines_of_one_frame)
{
	static const char text[] = "a 1 1.0: e:\n\t10 f (inlined)\n\t10 g (inlined)\n"
				   "\t10 main (/x)\n\t20 h (inlined)\n\t30 start (/x)\n"
				   "\t40 a->b->c+0x1 (/tmp/perf-1.map)\n\t50 sys ([k])\n\n";
	CLEANUP(profile_cleanup) struct profile *profile = must_read(text);

	assert_int_equal(profile_get_frame(profile, 0).line_count, 3);
	assert_int_equal(profile_get_frame(profile, 0).offset, 0x10);
	assert_becomes(text, "a;sys;a;b;c;start;h;main;g;f 1\n");
	assert_folds(text, (struct format_options){.folded.annotate = true},
		     "a;sys_[k];a_[j];b_[i];c_[i];start;h;main;g_[i];f_[i] 1\n");
}

TEST(lines_of_source_belong_to_the_frame_before)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = must_read(
		"a 1 1.0: e:\n\t10 f (/x)\n  f.c:12\n\t20 g (/x)\n  x[20]\n"
		"\t30 h (/x)\n  :0\n\n");
	struct profile_line line = profile_get_frame(profile, 0).lines[0];

	assert_int_equal(line.line, 12);
	assert_string_equal(
		profile_string(profile, profile_get_function(profile, line.function)->file), "f.c");
	assert_int_equal(profile_get_frame(profile, 1).lines[0].line, 0);
	assert_string_equal(profile_get_info(profile)->problems, "");
}

TEST(a_frame_may_stand_on_the_line_of_its_sample)
{
	assert_becomes("false 39654 19.4: 1 cycles:u:  ffffffff9b201293 [unknown] ([unknown])\n"
		       " dead 39654 19.5: 1 cycles:u:      7fa68b1f2d84 f+0x4 (/ld.so)\n"
		       "a 1 19.6: sched:x: text 17 more     7fa68b1f2d84 g ([k])\n",
		       "dead;f 1\nfalse;[unknown] 1\n");
}

TEST(samples_without_frames_are_of_an_unnamed_function)
{
	assert_becomes("a 1 1.0: 1 e: \n\nbad 1 [000] 2.0: 1 e: \nbad 1 [000] 3.0: 1 e: \n",
		       "a;[unnamed] 1\nbad;[unnamed] 2\n");
}

TEST(the_header_describes_the_recording)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = must_read("# ========\n# hostname : web1\n# os release : 6.1\n"
					    "# cmdline : /usr/bin/perf record -F 99 : x\n#\n"
					    "a 1 1.0: e:\n\t1 f (/x)\n\n");
	const struct profile_info *info = profile_get_info(profile);

	assert_string_equal(info->host, "web1");
	assert_string_equal(info->kernel, "6.1");
	assert_string_equal(info->command, "/usr/bin/perf record -F 99 : x");
}

TEST(what_cannot_be_read_is_counted_and_costs_nothing_else)
{
	static const char text[] = "Failed to open /tmp/perf-7.map\n"
				   "a 1 [000] 0.5: PERF_RECORD_MMAP2 1/1: [0x1(0x2)] x\n"
				   "a 1 [000] 0.5: PERF_RECORD_COMM: a:1/1\n"
				   "a 1 1.0: e:\n\t1 f (/x)\n\tWEIRD\n\t2 main (/x)\n"
				   " 0x40/0x58/P/-/-/0  0x1/0x2/M/-/-/0\n\n"
				   "\t3 orphan (/x)\n";

	assert_becomes(text, "a;main;f 1\n");
	assert_problems(text, "skipped 3 lines that perf script does not print, the first is line "
			      "1\nskipped 1 line with branch stacks\n");
}

TEST(a_stack_that_is_too_deep_loses_its_callers)
{
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs("a 1 1.0: e:\n", out);
	for (unsigned i = 0; i <= SCRIPT_DEPTH_MAX; i++)
		fprintf(out, "\t%x f (/x)\n", i % 2);
	fclose(out);
	profile = must_read(text);
	assert_int_equal(profile_stacks(profile).count, SCRIPT_DEPTH_MAX + 2);
	assert_string_equal(profile_get_info(profile)->problems,
			    "dropped the outer callers of 1 stack of more than 65536 frames\n");
}

TEST(what_prof_has_written_comes_back)
{
	CLEANUP(profile_cleanup) struct profile *shop = shop_profile();
	CLEANUP(output_deinit)
	struct output first = output_of(&format_perf_script, shop, (struct format_options){0});
	CLEANUP(profile_cleanup) struct profile *read = must_read(first.data);

	assert_string_equal(profile_get_info(read)->problems, "");
	assert_int_equal(profile_timed_samples(read).count, profile_timed_samples(shop).count);
}

TEST(a_text_is_recognized_by_its_first_lines)
{
	static const struct {
		const char *text;
		bool is_script;
	} texts[] = {
		{"# ========\n# captured on: x\n", true},
		{"java 1 [002] 6544038.708352: 235 cpu-clock:\n", true},
		{"V8 WorkerThread 24636/25607 [000] 94564.109216:   100 cyc", true},
		{"V8 WorkerThread 24636/25607 [000]", true},
		{"Failed to open x\n\njava 1 1.5: cycles:\n", true},
		{"java 1 cycles:\nffff f (/x)\n", true},
		{"java 1 cycles:\n", false},
		{"java;f 1\n", false},
		{"java 12;f 1:2 1\n", false},
		{"a 1\nb 2\n", false},
		{"", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const unsigned char *first = (const unsigned char *)texts[i].text;
		size_t len = strlen(texts[i].text);

		if (perf_script_recognize(first, len) != texts[i].is_script)
			fail_msg("%s", texts[i].text);
		assert_true(!texts[i].is_script || !format_folded.recognize(first, len));
	}
}

TEST(a_text_without_samples_is_refused)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(error_cleanup) struct error *err = read_text("# ========\n", profile);

	assert_non_null(err);
	assert_non_null(strstr(error_text(err), "no samples"));
}
