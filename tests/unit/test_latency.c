#include "profile/latency.h"

#include "unit_test.h"

static const char *name_of(uint64_t ns)
{
	static char name[LATENCY_NAME_BYTES];

	latency_class_name(latency_class(ns), name);
	return name;
}

TEST(a_time_is_in_the_class_of_its_power_of_two)
{
	assert_string_equal(name_of(0), "1ns-2ns");
	assert_string_equal(name_of(1), "1ns-2ns");
	assert_string_equal(name_of(999), "512ns-1us");
	assert_string_equal(name_of(1000), "1us-2us");
	assert_string_equal(name_of(64000), "64us-128us");
	assert_string_equal(name_of(127999), "64us-128us");
	assert_string_equal(name_of(128000), "128us-256us");
	assert_string_equal(name_of(999999), "512us-1ms");
	assert_string_equal(name_of(20000000), "16ms-32ms");
	assert_string_equal(name_of(3000000000), "2s-4s");
	assert_string_equal(name_of(UINT64_MAX), "8192s-16384s");
}

TEST(a_class_is_known_by_its_name)
{
	char name[LATENCY_NAME_BYTES];
	unsigned found = 0;

	for (unsigned i = 0; i < LATENCY_CLASSES; i++) {
		latency_class_name(i, name);
		assert_true(latency_class_find(name, &found));
		assert_int_equal(found, i);
	}
	latency_class_name(LATENCY_CLASSES, name);
	assert_false(latency_class_find(name, &found));
	assert_false(latency_class_find("64us", &found));
	assert_false(latency_class_find("", &found));
}
