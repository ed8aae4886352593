#include "cmd/ui/options.h"

#include "base/alloc.h"
#include "cmd/record/record_options.h"

#include "unit_test.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct wishes {
	bool loud;
	uint64_t count, size, time;
	const char *name;
	struct option_list several, passed_over;
};

#define AT(field) offsetof(struct wishes, field)

static const struct option_entry table[] = {
	OPTION_COMMON(OUTPUT, 'l', "loud", NULL, "be loud; very loud", option_true, AT(loud)),
	OPTION_ENTRY(EVENTS, 'c', "count", "N", "count to N", option_count, AT(count)),
	OPTION_ENTRY(EVENTS, 0, "size", "SIZE", "use SIZE bytes", option_size, AT(size)),
	OPTION_ENTRY(EVENTS, 0, "time", "S", "stop after S seconds", option_time, AT(time)),
	OPTION_COMMON(TARGET, 'n', "name", "NAME", "choose a name", option_string, AT(name)),
	OPTION_ENTRY(TARGET, 'a', NULL, "WORD", "append WORD", option_append, AT(several)),
	OPTION_UNLISTED('z', "zeal", "[N]", AT(passed_over), OPTION_IGNORED),
	OPTION_UNLISTED(0, "later", NULL, 0, OPTION_UNSUPPORTED),
	{0},
};

/* Splits a line into words. The array is borrowed until the next call. */
static char **words_of(const char *line, int *count)
{
	static char copy[256];
	static char *words[32];

	*count = 0;
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[(*count)++] = word;
	words[*count] = NULL;
	return words;
}

static struct error *parse(const char *line, struct wishes *wishes, int *rest)
{
	int count;
	char **words = words_of(line, &count);
	enum option_group help;

	return options_parse(table, count, words, wishes, rest, &help);
}

static void wishes_deinit(struct wishes *wishes)
{
	option_list_deinit(&wishes->several);
	option_list_deinit(&wishes->passed_over);
}

TEST(options_end_at_the_first_other_word)
{
	static const struct {
		const char *line;
		int rest;
	} cases[] = {
		{"prof -l app -c 3", 2}, {"prof -l -- -c", 3}, {"prof app", 1}, {"prof -l", 2},
		{"prof -c 3 app", 3},	 {"prof -c3 app", 2},  {"prof", 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(wishes_deinit) struct wishes wishes = {0};
		int rest;

		assert_null(parse(cases[i].line, &wishes, &rest));
		assert_int_equal(rest, cases[i].rest);
	}
}

TEST(arguments_go_where_the_table_says)
{
	CLEANUP(wishes_deinit) struct wishes wishes = {0};
	int rest;

	assert_null(parse("prof -lc 7 --size=4k --time 0.5 --name x -a one -a two --si 2M", &wishes,
			  &rest));
	assert_true(wishes.loud);
	assert_int_equal(wishes.count, 7);
	assert_int_equal(wishes.size, 2 << 20); /* the last one takes effect */
	assert_int_equal(wishes.time, 500000000);
	assert_string_equal(wishes.name, "x");
	assert_int_equal(wishes.several.count, 2);
	assert_string_equal(wishes.several.items[1], "two");
}

static void assert_error(const char *line, const char *text, const char *hint)
{
	CLEANUP(wishes_deinit) struct wishes wishes = {0};
	int rest;
	CLEANUP(error_cleanup) struct error *err = parse(line, &wishes, &rest);

	assert_non_null(err);
	assert_string_equal(error_text(err), text);
	if (hint)
		assert_string_equal(error_hint_text(err), hint);
}

TEST(what_is_wrong_is_named)
{
	assert_error("prof --luod", "unknown option --luod", "did you mean --loud?");
	assert_error("prof --nothing-like-it", "unknown option --nothing-like-it", NULL);
	assert_error("prof -x", "unknown option -x", NULL);
	assert_error("prof -lx", "unknown option -x", NULL);
	assert_error("prof -c", "-c needs an argument", NULL);
	assert_error("prof --count", "--count needs an argument", NULL);
	assert_error("prof --later", "--later is not supported yet", NULL);
}

TEST(a_number_is_digits_and_nothing_else)
{
	static const char *const bad[] = {"0",	"-1",	"+1",  " 1",
					  "1x", "0x10", "1.5", "18446744073709551616"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint64_t number = 5;
		CLEANUP(error_cleanup) struct error *err = option_count(&number, bad[i]);

		assert_non_null(err);
		assert_non_null(strstr(error_text(err), bad[i]));
		assert_int_equal(number, 5);
	}
}

TEST(a_size_has_a_suffix_or_none)
{
	static const struct {
		const char *text;
		uint64_t size; /* 0 if it is not a size */
	} cases[] = {
		{"1", 1},   {"4k", 4096}, {"4K", 4096}, {"3M", 3 << 20},     {"1G", 1 << 30},
		{"4kk", 0}, {"k", 0},	  {"4t", 0},	{"17179869184G", 0}, {"-1k", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t size = 0;
		CLEANUP(error_cleanup) struct error *err = option_size(&size, cases[i].text);

		assert_int_equal(size, cases[i].size);
		assert_int_equal(err == NULL, cases[i].size != 0);
	}
}

TEST(a_short_time_has_a_unit)
{
	static const struct {
		const char *text;
		uint64_t ns; /* 0 if it is not a time */
	} cases[] = {
		{"500ns", 500}, {"10us", 10000}, {"1.5ms", 1500000}, {"2s", 2000000000},
		{"10", 0},	{"us", 0},	 {"10m", 0},	     {"-1us", 0},
		{"0us", 0},	{"nanus", 0},	 {"1e99s", 0},	     {"0.1ns", 0},
		{"10us ", 0},	{"", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t ns = 0;
		CLEANUP(error_cleanup)
		struct error *err = option_short_time(&ns, cases[i].text);

		assert_int_equal(ns, cases[i].ns);
		assert_int_equal(err == NULL, cases[i].ns != 0);
	}
}

TEST(a_time_is_a_number_of_seconds_above_zero)
{
	static const char *const bad[] = {"", "0", "-1", "1s", "nan", "inf", "1e99"};
	uint64_t time_ns = 0;

	assert_null(option_time(&time_ns, "1.25"));
	assert_int_equal(time_ns, 1250000000);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CLEANUP(error_cleanup) struct error *err = option_time(&time_ns, bad[i]);

		assert_non_null(err);
	}
}

TEST(a_percentage_is_a_number_from_0_to_100)
{
	static const char *const bad[] = {"", "%", "-1", "101", "5%%", "5 %", "nan", "inf", "much"};
	double percent = 5;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CLEANUP(error_cleanup) struct error *err = option_percent(&percent, bad[i]);

		assert_non_null(err);
		assert_true(percent == 5);
	}
	assert_null(option_percent(&percent, "0.5"));
	assert_true(percent == 0.5);
	assert_null(option_percent(&percent, "100%"));
	assert_true(percent == 100);
}

TEST(what_has_no_meaning_is_taken_and_noted)
{
	CLEANUP(wishes_deinit) struct wishes wishes = {0};
	int rest;

	assert_null(parse("prof -z -z9 --zeal --zeal=3 app", &wishes, &rest));
	assert_int_equal(rest, 5);
	assert_int_equal(wishes.passed_over.count, 4);
	assert_string_equal(wishes.passed_over.items[0], "--zeal");
}

static void add_digit(void *to, unsigned number)
{
	char *text = to;

	assert_true(number < 10 && strlen(text) < 15);
	text[strlen(text)] = (char)('0' + number);
}

TEST(ranges_are_numbers_and_pairs_between_commas)
{
	static const struct {
		const char *text, *numbers; /* NULL if malformed */
	} cases[] = {{"1", "1"},	   {"0,2-4", "0234"}, {"3-3", "3"},   {"", NULL},
		     {"1,", NULL},	   {",1", NULL},      {"1,,2", NULL}, {"0-", NULL},
		     {"4-2", NULL},	   {"a", NULL},	      {"1 ", NULL},   {"-1", NULL},
		     {"99999999999", NULL}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char numbers[16] = "";
		bool good = option_ranges(cases[i].text, add_digit, numbers);

		assert_int_equal(good, cases[i].numbers != NULL);
		if (good)
			assert_string_equal(numbers, cases[i].numbers);
	}
}

static enum option_group requested_help(const char *line)
{
	CLEANUP(wishes_deinit) struct wishes wishes = {0};
	enum option_group help;
	int count, rest;
	char **words = words_of(line, &count);

	assert_null(options_parse(table, count, words, &wishes, &rest, &help));
	return help;
}

TEST(help_is_requested_as_a_screen_or_of_all_or_of_a_group)
{
	assert_int_equal(requested_help("prof -l"), GROUP_NONE);
	assert_int_equal(requested_help("prof -l -h"), GROUP_COMMON);
	assert_int_equal(requested_help("prof --help -l"), GROUP_ALL);
	assert_int_equal(requested_help("prof --help EVENTS"), GROUP_EVENTS);
	assert_int_equal(requested_help("prof --help=target"), GROUP_TARGET);
	assert_int_equal(requested_help("prof --help help"), GROUP_HELP);
	assert_error("prof --help memory", "unknown group of options \"memory\"",
		     "the groups are target, events, output");
}

static char *help_text(enum option_group group, const struct option_entry *others)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	options_help(table, group, others, out);
	fclose(out);
	return text;
}

TEST(the_help_of_a_group_has_its_options_in_the_order_of_the_table)
{
	static const struct option_entry others[] = {
		OPTION_ENTRY(TARGET, 'n', "name", "NAME", "choose", option_string, 0), {0}};
	CLEANUP(free_ptr) char *target = help_text(GROUP_TARGET, NULL);
	CLEANUP(free_ptr) char *less = help_text(GROUP_TARGET, others);

	assert_string_equal(target, "Target:\n"
				    "  -n, --name NAME           choose a name\n"
				    "  -a WORD                   append WORD\n");
	assert_string_equal(less, "Target:\n"
				  "  -a WORD                   append WORD\n");
}

TEST(a_summary_is_the_first_part_of_the_help_of_a_common_option)
{
	CLEANUP(free_ptr) char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	options_summarize(table, false, out);
	fclose(out);
	assert_string_equal(text, "  -n, --name NAME           choose a name\n"
				  "  -l, --loud                be loud\n");
}

TEST(no_letter_and_no_name_is_taken_twice)
{
	for (const struct option_entry *a = record_option_table; a->letter || a->name; a++) {
		assert_true(a->letter == 0 || isalpha((unsigned char)a->letter));
		for (const struct option_entry *b = record_option_table; b < a; b++) {
			assert_false(a->letter && a->letter == b->letter);
			assert_false(a->name && b->name && !strcmp(a->name, b->name));
		}
	}
}

static struct error *parse_record(const char *line, struct record_options *options)
{
	int count, rest;
	char **words = words_of(line, &count);
	enum option_group help;

	record_options_init(options);
	return options_parse(record_option_table, count, words, options, &rest, &help);
}

TEST(the_words_of_perf_record_mean_the_same)
{
	CLEANUP(record_options_deinit) struct record_options options;

	assert_null(parse_record("record -F 99 -a -g --call-graph dwarf,16384 -e cpu-clock,faults "
				 "-e cs -m 256 -o x.folded --pid 12,34 -C 0,2-3 -i -B -q",
				 &options));
	assert_int_equal(options.sampling.frequency_hz, 99);
	assert_true(options.sampling.system_wide && options.sampling.no_inherit &&
		    options.output.quiet);
	assert_int_equal(options.sampling.stacks.kind, CALL_GRAPH_DWARF);
	assert_int_equal(options.sampling.stacks.dump_bytes, 16384);
	assert_int_equal(options.sampling.events.count, 3);
	assert_string_equal(options.sampling.events.items[1], "faults");
	assert_int_equal(options.sampling.ring_bytes, 256 * sysconf(_SC_PAGESIZE));
	assert_int_equal(options.sampling.pids.count, 2);
	assert_int_equal(options.sampling.pids.items[1], 34);
	assert_int_equal(options.sampling.cpus.count, 3);
	assert_string_equal(options.without_meaning.items[0], "--no-buildid");
}

TEST(events_are_separated_by_commas_outside_slashes)
{
	static const char *const bad[] = {",", "cycles,", ",cycles", "cycles,,faults"};
	CLEANUP(record_options_deinit) struct record_options options;
	size_t shown = 0;

	assert_null(parse_record("record -e cpu/event=1,umask=2,name=loads/u,cycles:u -e faults "
				 "--show-event faults",
				 &options));
	assert_int_equal(options.sampling.events.count, 3);
	assert_string_equal(options.sampling.events.items[0], "cpu/event=1,umask=2,name=loads/u");
	assert_string_equal(options.sampling.events.items[1], "cycles:u");
	assert_null(sampling_find_event(&options.sampling, &shown));
	assert_int_equal(shown, 2);
	options.sampling.shown_event = "loads";
	assert_null(sampling_find_event(&options.sampling, &shown));
	assert_int_equal(shown, 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CLEANUP(sampling_options_deinit) struct sampling_options none = {0};
		CLEANUP(error_cleanup) struct error *err = sampling_take_events(&none, bad[i]);

		assert_non_null(strstr(error_text(err), "contains an empty name"));
	}
}

TEST(a_stack_is_copied_in_words_and_within_the_kernels_limits)
{
	static const char *const bad[] = {"dwarf,1",  "dwarf,0", "dwarf,", "dwarf,65536",
					  "dwarf,-8", "dwarf,x", "guess"};
	CLEANUP(record_options_deinit) struct record_options options;

	assert_null(parse_record("record --call-graph dwarf,65528", &options));
	assert_int_equal(options.sampling.stacks.dump_bytes, 65528);
	assert_null(parse_record("record --call-graph dwarf,8001", &options));
	assert_int_equal(options.sampling.stacks.dump_bytes, 8008);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CLEANUP(free_ptr) char *line = xasprintf("record --call-graph %s", bad[i]);
		CLEANUP(error_cleanup) struct error *err = parse_record(line, &options);

		assert_non_null(err);
		assert_non_null(strstr(error_text(err), bad[i]));
	}
}

TEST(branches_are_chosen_by_all_name_aliases)
{
	static const struct {
		const char *line;
		uint64_t filter;
	} cases[] = {
		{"record -b", PERF_SAMPLE_BRANCH_ANY},
		{"record --branch-any", PERF_SAMPLE_BRANCH_ANY},
		{"record --branch", PERF_SAMPLE_BRANCH_ANY},
		{"record --branch=any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
		{"record -j any_call,u", PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(record_options_deinit) struct record_options options;

		assert_null(parse_record(cases[i].line, &options));
		assert_null(sampling_options_check(&options.sampling));
		assert_int_equal(options.sampling.branch_filter, cases[i].filter);
	}
}

TEST(a_cpu_records_branches_or_calls)
{
	static const char *const lines[] = {"record -b --call-graph lbr",
					    "record --call-graph lbr --all-kernel",
					    "record -b --off-cpu"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP(record_options_deinit) struct record_options options;
		CLEANUP(error_cleanup) struct error *err = NULL;

		assert_null(parse_record(lines[i], &options));
		err = sampling_options_check(&options.sampling);
		assert_non_null(err);
	}
}

TEST(an_unknown_choice_gets_all_choices_but_aliases)
{
	static const struct option_choice choices[] = {
		{"auto", 0}, {"no", 7}, {"none", 7}, {"all", 2}, {0}};
	int value = -1;
	CLEANUP(error_cleanup) struct error *err = NULL;

	assert_null(option_choice("way", choices, "none", &value));
	assert_int_equal(value, 7);
	err = option_choice("way", choices, "a", &value);
	assert_string_equal(error_text(err), "unknown way \"a\" (auto, no, all)");
	assert_int_equal(value, 7);
}
