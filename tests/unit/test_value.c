#include "base/value.h"

#include "base/alloc.h"

#include "unit_test.h"

TEST(the_kind_of_a_files_event_follows_its_name_and_unit)
{
	static const struct {
		const char *name, *unit;
		enum value_kind kind;
	} cases[] = {
		{"cpu", "nanoseconds", VALUE_CPU_TIME},
		{"CPU-time", "microseconds", VALUE_CPU_TIME},
		{"task-clock", "ns", VALUE_CPU_TIME},
		{"wall", "nanoseconds", VALUE_WALL_TIME},
		{"wall-clock", "milliseconds", VALUE_WALL_TIME},
		{"gc_pause", "nanoseconds", VALUE_WALL_TIME},
		{"off-cpu", "nanoseconds", VALUE_OFF_CPU_TIME},
		{"offcpu", "nanoseconds", VALUE_OFF_CPU_TIME},
		{"delay", "nanoseconds", VALUE_OFF_CPU_TIME},
		{"lock_duration", "nanoseconds", VALUE_OFF_CPU_TIME},
		{"alloc_space", "bytes", VALUE_BYTES},
		{"inuse_space", "bytes", VALUE_BYTES},
		{"heap", "kilobytes", VALUE_BYTES},
		{"alloc_objects", "count", VALUE_OBJECTS},
		{"inuse_objects", "count", VALUE_OBJECTS},
		{"live", "objects", VALUE_OBJECTS},
		{"samples", "count", VALUE_COUNT},
		{"contentions", "count", VALUE_COUNT},
		{"goroutine", "count", VALUE_COUNT},
		{"cpu", "count", VALUE_COUNT},
		{"page-faults", "count", VALUE_COUNT},
		{"cpufreq", "nanoseconds", VALUE_WALL_TIME},
		{"", "", VALUE_COUNT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(value_kind_of(cases[i].name, cases[i].unit), cases[i].kind);
}

TEST(a_heading_names_what_is_measured_and_a_count_by_its_event)
{
	assert_string_equal(value_heading(VALUE_CPU_TIME, "cpu-clock"), "CPU time");
	assert_string_equal(value_heading(VALUE_OFF_CPU_TIME, "delay"), "Off-CPU time");
	assert_string_equal(value_heading(VALUE_BYTES, "inuse_space"), "Bytes");
	assert_string_equal(value_heading(VALUE_OBJECTS, "inuse_objects"), "Objects");
	assert_string_equal(value_heading(VALUE_COUNT, "page-faults"), "page-faults");
	assert_string_equal(value_words(VALUE_WALL_TIME, "wall"), "wall time");
	assert_string_equal(value_words(VALUE_WALL_TIME, "elapsed"), "elapsed time");
	assert_string_equal(value_words(VALUE_WALL_TIME, "critical-path"), "critical path");
	assert_string_equal(value_words(VALUE_COUNT, "page-faults"), "page-faults");
}

TEST(a_value_is_written_in_the_unit_of_its_kind)
{
	static const struct {
		enum value_kind kind;
		const char *unit;
		uint64_t value;
		const char *text;
	} cases[] = {
		{VALUE_CPU_TIME, "", 1250000000, "1.25 s"},
		{VALUE_WALL_TIME, "milliseconds", 1250, "1.25 s"},
		{VALUE_BYTES, "bytes", 4200000, "4.2 MB"},
		{VALUE_BYTES, "kilobytes", 2, "2.0 KB"},
		{VALUE_OBJECTS, "count", 12345, "12,345"},
		{VALUE_COUNT, "", 12345, "12,345"},
		{VALUE_COUNT, "seconds", 12345, "12,345"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(
			value_humanize(cases[i].kind, cases[i].unit, cases[i].value).text,
			cases[i].text);
}

TEST(a_value_too_large_to_scale_is_the_largest_number)
{
	assert_true(value_scaled(VALUE_WALL_TIME, "seconds", UINT64_MAX / 2) == UINT64_MAX);
}
