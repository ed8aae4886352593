#include "format/format.h"

#include "sample_profile.h"
#include "unit_test.h"

#include <errno.h>
#include <string.h>

TEST(a_format_is_found_by_its_name)
{
	for (const struct format *const *format = formats; *format; format++)
		assert_ptr_equal(format_by_name((*format)->name), *format);
	assert_null(format_by_name("fold"));
	assert_null(format_by_name(""));
}

TEST(a_format_is_found_by_the_end_of_a_path)
{
	assert_ptr_equal(format_by_path("out.pb.gz"), &format_pprof);
	assert_ptr_equal(format_by_path("/tmp/a.folded/out.pprof"), &format_pprof);
	assert_ptr_equal(format_by_path("out.folded"), &format_folded);
	assert_ptr_equal(format_by_path("out.pb.gz.folded"), &format_folded);
	assert_null(format_by_path("out.gz"));
	assert_null(format_by_path("folded"));
	assert_null(format_by_path(""));
}

TEST(no_extension_belongs_to_two_formats)
{
	for (const struct format *const *format = formats; *format; format++)
		for (const char *const *extension = (*format)->extensions; *extension;
		     extension++) {
			char path[64];

			snprintf(path, sizeof(path), "x%s", *extension);
			assert_int_equal(*extension[0], '.');
			assert_ptr_equal(format_by_path(path), *format);
		}
}

TEST(a_full_disk_is_an_error_of_every_format)
{
	CLEANUP(profile_cleanup) struct profile *profile = shop_profile();

	for (const struct format *const *format = formats; *format; format++) {
		CLEANUP(close_file) FILE *full = fopen("/dev/full", "w");
		CLEANUP(error_cleanup) struct error *err = NULL;

		if (!(*format)->write)
			continue;
		err = (*format)->write(profile, &(struct format_options){0}, full);
		assert_non_null(err);
		assert_int_equal(error_number(err), ENOSPC);
	}
}
