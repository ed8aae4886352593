#include "perf/attr.h"

#include "lacking.h"
#include "unit_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* include/uapi/linux/perf_event.h of Linux 6.19: bits of the word at byte 40. */
#define DEFER_CALLCHAIN (UINT64_C(1) << 38)
#define DEFER_OUTPUT (UINT64_C(1) << 39)

static uint64_t flags_of(const struct perf_event_attr *attr)
{
	uint64_t flags;

	memcpy(&flags, (const unsigned char *)attr + 40, sizeof(flags));
	return flags;
}

static uint64_t deferring(bool event_may, bool kernel_can)
{
	const struct event event = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.frequency_hz = 99,
		.fields = {.kernel_chain = true, .user_chain = true, .may_defer_chain = event_may},
	};
	struct attr_features features = {.defers_chains = kernel_can};
	struct perf_event_attr attr;

	attr_samples(&attr, &event, &features);
	assert_true(attr.disabled); /* bit 0 of the same word */
	return flags_of(&attr) & (DEFER_CALLCHAIN | DEFER_OUTPUT);
}

TEST(user_chains_are_deferred_where_event_and_kernel_agree)
{
	assert_int_equal(deferring(true, true), DEFER_CALLCHAIN | DEFER_OUTPUT);
	assert_int_equal(deferring(true, false), 0);
	assert_int_equal(deferring(false, true), 0);
}

/* Older kernels refuse unknown bits, so this decides whether the event can be
 * opened at all. */
TEST(a_kernel_before_6_19_is_found_not_to_defer_chains)
{
	struct attr_features features = {.defers_chains = true};
	CLEANUP(error_cleanup) struct error *err = attr_probe(&features);
	unsigned major = 0, minor = 0;
	struct utsname system;

	if (err)
		RETURN_LACKING("the right to sample");
	uname(&system);
	assert_int_equal(sscanf(system.release, "%u.%u", &major, &minor), 2);
	if (major < 6 || (major == 6 && minor < 19))
		assert_false(features.defers_chains);
}
