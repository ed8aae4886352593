#include "base/alloc.h"
#include "format/folded/read.h"

#include "output.h"
#include "sample_profile.h"
#include "unit_test.h"

#include <errno.h>

static struct error *read_text(const char *text, size_t len, struct profile *profile)
{
	CLEANUP(close_file)
	FILE *in = len ? fmemopen((void *)(uintptr_t)text, len, "r") : fopen("/dev/null", "r");

	return folded_read(in, profile);
}

static struct profile *must_read(const char *text)
{
	struct profile *profile = profile_new();
	CLEANUP(error_cleanup) struct error *err = read_text(text, strlen(text), profile);

	if (err)
		fail_msg("%s", error_text(err));
	return profile;
}

static void assert_becomes(const char *text, const char *expected)
{
	CLEANUP(profile_cleanup) struct profile *profile = must_read(text);
	CLEANUP(output_deinit)
	struct output output = output_of(&format_folded, profile, (struct format_options){0});

	assert_string_equal(output.data, expected);
}

static void assert_refused(const char *text, const char *why)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(error_cleanup) struct error *err = read_text(text, strlen(text), profile);

	if (!err || !strstr(error_text(err), why))
		fail_msg("\"%s\" instead of \"%s\"", err ? error_text(err) : "no error", why);
}

TEST(what_prof_has_written_comes_back_byte_for_byte)
{
	for (uint64_t seed = 1; seed < 30; seed++) {
		CLEANUP(profile_cleanup) struct profile *profile = random_profile(seed);
		struct format_options options = {.folded.show_tid = seed % 2,
						 .folded.annotate = seed % 3 == 0};
		CLEANUP(output_deinit)
		struct output folded = output_of(&format_folded, profile, options);

		assert_becomes(folded.data, folded.data);
	}
}

TEST(it_also_comes_back_through_pprof)
{
	CLEANUP(profile_cleanup) struct profile *shop = shop_profile();
	struct format_options options = {0};
	CLEANUP(output_deinit) struct output folded = output_of(&format_folded, shop, options);
	CLEANUP(profile_cleanup) struct profile *read = must_read(folded.data);
	CLEANUP(output_deinit) struct output pprof = output_of(&format_pprof, read, options);
	CLEANUP(profile_cleanup) struct profile *again = profile_new();
	CLEANUP(close_file) FILE *in = fmemopen(pprof.data, pprof.len, "r");
	CLEANUP(error_cleanup) struct error *err = format_pprof.read(in, again);

	assert_null(err);

	CLEANUP(output_deinit) struct output last = output_of(&format_folded, again, options);

	assert_string_equal(last.data, folded.data);
}

/* expected: the process and the depth of the first sample, "shop 2". */
static void assert_first(const char *text, const char *expected)
{
	CLEANUP(profile_cleanup) struct profile *profile = must_read(text);
	const struct profile_sample *sample = &profile_samples(profile).items[0];
	const struct profile_stacks stacks = profile_stacks(profile);
	const struct profile_thread *thread = profile_thread_of(profile, sample->labels);
	unsigned depth = 0;

	for (stack_id i = sample->stack; i != STACK_EMPTY; i = stacks.items[i].parent)
		depth++;

	CLEANUP(free_ptr)
	char *got = xasprintf("%s %u", profile_string(profile, thread->process), depth);

	assert_string_equal(got, expected);
	assert_int_equal(thread->pid, -1);
	assert_becomes(text, text);
}

TEST(the_first_frame_is_a_function)
{
	assert_first("main 2\nmain;serve 3\n", " 1");
	assert_first("main;serve 3\n", " 2");
	assert_first("main;a;_start 3\n", " 3");
	assert_first("_start;main 3\n", " 2");
	assert_first("[GC tid=5];clone3;start_thread 3\n", " 3");
}

TEST(the_first_frame_is_a_process_if_the_next_one_has_no_caller)
{
	assert_first("shop;_start;main 3\n", "shop 2");
	assert_first("shop-12/34;clone3;start_thread;work 3\n", "shop-12/34 3");
	assert_first("kworker/0:1;ret_from_fork_[k] 3\n", "kworker/0:1 1");
	assert_first("shop;[unknown] 1\nshop;_start 3\n", "shop 1");
	assert_first("idle;work 1\nshop;_start 3\n", " 2");
}

TEST(stacks_come_in_any_order_and_more_than_once)
{
	assert_becomes("p;b 1\np;a 2\np;b 3\np 4", "p 4\np;a 2\np;b 4\n");
}

TEST(ends_of_lines_and_empty_ones_do_not_matter)
{
	assert_becomes("\r\np;a 1\r\n \n\np;b 2 \n\n", "p;a 1\np;b 2\n");
}

TEST(names_may_hold_spaces_and_any_letters)
{
	assert_becomes("p;operator new(unsigned long);\xc3\xa9 7\n",
		       "p;operator new(unsigned long);\xc3\xa9 7\n");
	assert_becomes("p;a\xff\xfe"
		       "b;\t1x\x1b[0m 7\n",
		       "p;a\xef\xbf\xbd\xef\xbf\xbd"
		       "b;\xef\xbf\xbd"
		       "1x\xef\xbf\xbd[0m 7\n");
}

TEST(names_may_be_long_and_stacks_deep)
{
	CLEANUP(output_deinit) struct output text = {0};
	FILE *out = open_memstream(&text.data, &text.len);

	fprintf(out, "p;%065536d", 0);
	for (unsigned i = 0; i < 10000; i++)
		fprintf(out, ";f%u", i % 10);
	fprintf(out, " 1\n");
	fclose(out);
	assert_becomes(text.data, text.data);
}

/* Returns the start, then f `frames` times, with the count 1. The caller frees
 * it. */
static char *deep_line(const char *start, size_t frames)
{
	size_t len = strlen(start);
	char *line = xmalloc(len + 2 * frames + sizeof(" 1\n"));

	strcpy(line, start);
	for (size_t i = 0; i < frames; i++)
		memcpy(line + len + 2 * i, ";f", 2);
	strcpy(line + len + 2 * frames, " 1\n");
	return line;
}

TEST(a_stack_of_millions_of_frames_is_cut_at_its_root)
{
	CLEANUP(free_ptr) char *deep = deep_line("p", 3000000);
	CLEANUP(free_ptr) char *cut = deep_line("[truncated]", FOLDED_DEPTH_MAX);
	CLEANUP(free_ptr) char *deepest = deep_line("p", FOLDED_DEPTH_MAX - 1);

	assert_becomes(deep, cut);
	assert_becomes(deepest, deepest);
}

TEST(an_endless_line_is_an_error)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(close_file) FILE *zeros = fopen("/dev/zero", "r");
	CLEANUP(error_cleanup) struct error *err = folded_read(zeros, profile);

	assert_non_null(err);
	assert_non_null(strstr(error_text(err), "line 1: it is longer than 64 MB"));
}

TEST(the_fraction_of_a_count_is_cut_off)
{
	static const char text[] = "p;a 3.5\np;b 2.\np;c 1.0\np;d 7\np;e 0.75\n";
	CLEANUP(profile_cleanup) struct profile *profile = must_read(text);

	assert_becomes(text, "p;a 3\np;b 2\np;c 1\np;d 7\n");
	assert_string_equal(profile_get_info(profile)->problems,
			    "dropped the fractions of 2 counts\n");
}

TEST(the_sum_of_all_counts_never_wraps)
{
	static const char text[] = "p;a 9223372036854775800\np;b 8\np;c 7\np;d 1\n"
				   "p;e 18446744073709551615\np;f 18446744073709551616\n";
	CLEANUP(profile_cleanup) struct profile *profile = must_read(text);

	assert_becomes(text, "p;a 9223372036854775800\np;c 7\n");
	assert_string_equal(profile_get_info(profile)->problems,
			    "skipped 4 lines, the first is line 2: the sum of all counts would "
			    "exceed 2^63 - 1\n");
}

TEST(a_line_that_is_not_a_stack_with_a_count_is_skipped_and_counted)
{
	static const char *const lines[] = {"p;a",    "p;a ",	"p;a x1",   "p;a 1x",	 "7",
					    "p;a -1", "p;a .5", "p;a;12",   "p;a 1.2.3", "p;a 1e3",
					    "p;b\t5", ".",	"p;a 1 23", "p;a 1.5 2", "p;a ."};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP(free_ptr) char *text = xasprintf("p;a 1\n\n%s\np;a 2\n", lines[i]);
		CLEANUP(profile_cleanup) struct profile *profile = must_read(text);

		assert_becomes(text, "p;a 3\n");
		if (!strstr(profile_get_info(profile)->problems,
			    "skipped 1 line, the first is line 3: it "))
			fail_msg("%s: %s", lines[i], profile_get_info(profile)->problems);
	}
}

TEST(a_file_without_a_good_line_is_an_error_that_says_why)
{
	assert_refused("\np;a\np;b\n", "line 2: it does not end in a space and a count");
	assert_refused("p;a 1 3\np;a 12 34\n", "line 1: it has two counts");
}

TEST(comments_are_ignored)
{
	static const char text[] = "# austin: 3.3.0\n#\n# interval: 100\n#<Class>#f;a 1\n";
	CLEANUP(profile_cleanup) struct profile *profile = must_read(text);

	assert_becomes(text, "#<Class>#f;a 1\n");
	assert_string_equal(profile_get_info(profile)->problems, "");
}

TEST(empty_frames_and_stacks_without_frames_are_unnamed_functions)
{
	assert_becomes("p;;a 1\np; 2\n", "p;[unnamed] 2\np;[unnamed];a 1\n");
	assert_becomes(";a 1\n; 2\n 4\n", "[unnamed] 4\n[unnamed];[unnamed] 2\n[unnamed];a 1\n");
}

TEST(a_file_without_a_stack_is_an_error)
{
	assert_refused("", "no stack");
	assert_refused("\n\n", "no stack");
}

TEST(a_read_error_is_one)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(close_file) FILE *folder = fopen("/", "r");
	CLEANUP(error_cleanup) struct error *err = folded_read(folder, profile);

	assert_int_equal(error_number(err), EISDIR);
}

TEST(text_is_recognized)
{
	static const char text[] = "\n\np;a\xc3\xa9;b 1\r\n";

	assert_ptr_equal(format_by_content((const unsigned char *)text, strlen(text)),
			 &format_folded);
	assert_ptr_equal(format_by_content((const unsigned char *)"*;\"a 2", 6), &format_folded);
	assert_null(format_by_content((const unsigned char *)"a\0b", 3));
}
