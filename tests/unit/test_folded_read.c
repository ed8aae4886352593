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
		struct format_options options = {.show_tid = seed % 2, .annotate = seed % 3 == 0};
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

TEST(the_first_frame_is_the_process)
{
	CLEANUP(profile_cleanup) struct profile *profile = must_read("shop;main;serve 3\nidle 2\n");
	const struct profile_thread *thread = profile_get_thread(profile, 0);

	assert_string_equal(profile_string(profile, thread->process), "shop");
	assert_int_equal(thread->pid, -1);
	assert_int_equal(profile_stacks(profile).count, 3);
	assert_int_equal(profile_frame_count(profile), 2);
	assert_int_equal(profile_samples(profile).items[1].stack, STACK_EMPTY);
	assert_int_equal(profile_samples(profile).items[1].samples, 2);
	assert_int_equal(profile_samples(profile).items[1].weight, 2);
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

/* The process, then `frames` times f, whose count is 1. To be freed. */
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
	CLEANUP(free_ptr) char *cut = deep_line("p;[truncated]", FOLDED_DEPTH_MAX);
	CLEANUP(free_ptr) char *deepest = deep_line("p", FOLDED_DEPTH_MAX);

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

TEST(counts_have_64_bits)
{
	assert_becomes("p;a 18446744073709551615\n", "p;a 18446744073709551615\n");
	assert_refused("p;a 1\np;a 18446744073709551616\n", "line 2: ");
}

TEST(a_line_without_a_count_is_an_error_that_tells_which)
{
	static const char *const lines[] = {"p;a", "p;a ",   "p;a x1",	"p;a 1x", "7",
					    " 7",  "p;a -1", "p;a 1.5", "p;a;12"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP(free_ptr) char *text = xasprintf("p;a 1\n\n%s\np;a 1\n", lines[i]);

		assert_refused(text, "line 3: ");
	}
}

TEST(an_empty_frame_is_an_error)
{
	static const char *const lines[] = {";a 1", "p; 1", "p;;a 1", "; 1"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_refused(lines[i], "line 1: a frame is empty");
}

TEST(a_difference_is_refused)
{
	assert_refused("p;a 1\np;a 12 34\n", "line 2: it has two counts");
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
