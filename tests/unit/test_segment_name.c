#include "segments/name.h"

#include "base/cleanup.h"

#include "unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* 2026-11-24 18:24:15.273 UTC. */
#define MOMENT_NS UINT64_C(1795544655273000000)

static void check(const char *template, const char *expected)
{
	CLEANUP(free_ptr) char *name = segment_template(template, MOMENT_NS);

	assert_string_equal(name, expected);
}

TEST(the_time_comes_before_the_extension)
{
	check("prof.pb.gz", "prof.20261124-18241527.pb.gz");
	check("out/web.firefox.json.gz", "out/web.20261124-18241527.firefox.json.gz");
	check("a.b/out.folded", "a.b/out.20261124-18241527.folded");
	check("page.html", "page.20261124-18241527.html");
}

TEST(a_name_without_a_known_extension_ends_with_the_time)
{
	check("a.b/out", "a.b/out.20261124-18241527");
}

TEST(a_name_with_a_time_or_a_number_stays)
{
	check("ring/%t.pb.gz", "ring/20261124-18241527.pb.gz");
	check("%p-%n.pb.gz", "%p-%n.pb.gz");
}

TEST(a_percent_sign_is_no_time)
{
	check("100%%t.pb.gz", "100%%t.20261124-18241527.pb.gz");
	check("100%", "100%.20261124-18241527");
}

TEST(segments_of_a_directory_have_the_second_of_utc)
{
	char name[SEGMENT_NAME_BYTES];
	uint64_t unix_ns;

	segment_name(MOMENT_NS, name);
	assert_string_equal(name, "20261124T182415Z.pb.gz");
	assert_true(segment_name_time(name, &unix_ns));
	assert_true(unix_ns == MOMENT_NS - 273000000);
}

TEST(other_names_are_no_segments)
{
	static const char *const names[] = {
		"",
		"20261124T182415Z",
		"20261124T182415Z.pb",
		"20261124T182415Z.pb.gz.old",
		"x20261124T182415Z.pb.gz",
		"20261124T182415.pb.gz",
		"20261324T182415Z.pb.gz",
		"20260230T182415Z.pb.gz",
		"20261124T252415Z.pb.gz",
		"2026112T182415Z.pb.gz",
		" 20261124T182415Z.pb.gz",
		"20261124-18241527.pb.gz",
	};
	uint64_t unix_ns;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_false(segment_name_time(names[i], &unix_ns));
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	return unit_tests_run();
}
