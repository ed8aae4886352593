#include "profile/allocation_classes.h"

#include "unit_test.h"

static unsigned rank_of(const char *name)
{
	unsigned rank;

	assert_true(allocation_class_rank(name, &rank));
	return rank;
}

TEST(a_size_is_in_the_class_of_its_power_of_two)
{
	assert_string_equal(allocation_size_class(0), "0 B");
	assert_string_equal(allocation_size_class(1), "1 B");
	assert_string_equal(allocation_size_class(64), "64 B to 127 B");
	assert_string_equal(allocation_size_class(127), "64 B to 127 B");
	assert_string_equal(allocation_size_class(1023), "512 B to 1,023 B");
	assert_string_equal(allocation_size_class(1024), "1 KiB to 2 KiB");
	assert_string_equal(allocation_size_class((512 << 10) - 1), "256 KiB to 512 KiB");
	assert_string_equal(allocation_size_class(1 << 20), "1 MiB to 2 MiB");
	assert_string_equal(allocation_size_class((1 << 30) - 1), "512 MiB to 1 GiB");
	assert_string_equal(allocation_size_class(UINT64_MAX), "1 GiB or more");
}

TEST(a_lifetime_is_in_the_class_of_its_power_of_ten)
{
	assert_string_equal(allocation_lifetime_class(0), "below 1 µs");
	assert_string_equal(allocation_lifetime_class(999), "below 1 µs");
	assert_string_equal(allocation_lifetime_class(1000), "1 µs to 10 µs");
	assert_string_equal(allocation_lifetime_class(99999999), "10 ms to 100 ms");
	assert_string_equal(allocation_lifetime_class(100000000), "100 ms to 1 s");
	assert_string_equal(allocation_lifetime_class(UINT64_MAX), "1,000 s or more");
}

TEST(ranks_follow_sizes_and_lifetimes_and_live_is_last)
{
	unsigned rank;

	for (unsigned bit = 1; bit < 31; bit++)
		assert_int_equal(rank_of(allocation_size_class(UINT64_C(1) << bit)),
				 rank_of(allocation_size_class(UINT64_C(1) << (bit - 1))) + 1);
	for (uint64_t ns = 100; ns < UINT64_C(100000000000); ns *= 10)
		assert_int_equal(rank_of(allocation_lifetime_class(ns * 10)),
				 rank_of(allocation_lifetime_class(ns)) + 1);
	assert_int_equal(rank_of(allocation_live_class()),
			 rank_of(allocation_lifetime_class(UINT64_MAX)) + 1);
	assert_false(allocation_class_rank("64 B", &rank));
	assert_false(allocation_class_rank("", &rank));
}
