#include "segments/files.h"

#include "base/clock.h"

#include "folder.h"
#include "lacking.h"
#include "unit_test.h"

#include <unistd.h>

#define NOW_NS UINT64_C(1795530300000000000)
#define MINUTE_NS (60 * NS_PER_SECOND)

enum { COUNT = 10 };

/* Segments of a minute with 100 bytes each; the last one starts now. */
static size_t expired(struct retention retention, uint64_t now_ns)
{
	struct segment_file items[COUNT] = {0};
	struct segment_files files = {.items = items, .count = COUNT};

	for (size_t i = 0; i < COUNT; i++)
		items[i] = (struct segment_file){
			.last_unix_ns = NOW_NS - (COUNT - 1 - i) * MINUTE_NS, .bytes = 100};
	return segment_files_expired(&files, &retention, now_ns);
}

TEST(all_are_kept_without_a_limit)
{
	assert_int_equal(expired((struct retention){0}, NOW_NS), 0);
}

TEST(those_that_are_too_old_are_removed)
{
	assert_int_equal(expired((struct retention){.keep_ns = 5 * MINUTE_NS}, NOW_NS), 4);
	assert_int_equal(expired((struct retention){.keep_ns = 5 * MINUTE_NS}, NOW_NS - 1), 4);
	assert_int_equal(expired((struct retention){.keep_ns = 5 * MINUTE_NS}, NOW_NS + 1), 5);
	assert_int_equal(expired((struct retention){.keep_ns = 60 * MINUTE_NS}, NOW_NS), 0);
}

TEST(the_oldest_above_the_size_are_removed)
{
	assert_int_equal(expired((struct retention){.max_bytes = 1000}, NOW_NS), 0);
	assert_int_equal(expired((struct retention){.max_bytes = 999}, NOW_NS), 1);
	assert_int_equal(expired((struct retention){.max_bytes = 250}, NOW_NS), 8);
}

TEST(the_newest_one_stays)
{
	assert_int_equal(expired((struct retention){.max_bytes = 1}, NOW_NS), COUNT - 1);
	assert_int_equal(
		expired((struct retention){.keep_ns = MINUTE_NS}, NOW_NS + 1000 * MINUTE_NS),
		COUNT - 1);
}

TEST(those_of_the_future_are_not_old)
{
	assert_int_equal(
		expired((struct retention){.keep_ns = MINUTE_NS}, NOW_NS - 1000 * MINUTE_NS), 0);
}

TEST_IN_FOLDER(segments_of_others_are_only_counted)
{
	CLEANUP(free_ptr) char *theirs = path_of("20261124T140100Z.pb.gz");
	CLEANUP(output_directory_close) struct output_directory directory = {0};
	CLEANUP(segment_files_deinit) struct segment_files files = {0};

	if (geteuid() != 0)
		RETURN_LACKING("root");
	write_file("notes", "x", 1);
	write_file("20261124T140000Z.pb.gz", "x", 1);
	write_file("20261124T140100Z.pb.gz", "x", 1);
	assert_int_equal(chown(theirs, 54321, 54321), 0);
	assert_null(output_directory_open(folder, false, &directory));
	assert_null(segment_files_read(&directory, &files));
	assert_int_equal(files.count, 1);
	assert_int_equal(files.of_others, 1);
	assert_true(segment_files_has(&files, "20261124T140000Z.pb.gz"));
}
