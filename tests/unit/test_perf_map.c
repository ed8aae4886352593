#include "proc/perf_map.h"

#include "base/alloc.h"
#include "base/clock.h"

#include "unit_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t clock_ns = NS_PER_SECOND;
uint64_t __wrap_clock_now_ns(void); /* NOLINT: the name that the linker wants */
uint64_t __wrap_clock_now_ns(void)  /* NOLINT */
{
	return clock_ns;
}

/* Makes a map whose first lines all describe the same megabyte of code. */
static struct perf_map *map_of(unsigned overlapping, const char *last, struct code_budget *budget,
			       struct timed_caller *caller)
{
	int fd = memfd_create("map", MFD_CLOEXEC);

	for (unsigned i = 0; i < overlapping; i++)
		dprintf(fd, "%x %x f%u\n", 0x100000 + i % 997, 0x100000, i);
	dprintf(fd, "%s\n", last);
	return perf_map_new(fd, caller, budget, 0);
}

static bool knows(struct perf_map *map, uint64_t pc)
{
	uint64_t start, end;

	perf_map_generation(map, pc, clock_ns, &start, &end);
	return start != end;
}

TEST(lines_that_say_nothing_take_their_time_too)
{
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();
	struct code_budget budget = {0};
	char empty[1 << 20];
	int fd = memfd_create("map", MFD_CLOEXEC);

	memset(empty, '\n', sizeof(empty));
	assert_int_equal(write(fd, empty, sizeof(empty)), sizeof(empty));
	dprintf(fd, "7000 10 f\n");
	CLEANUP(perf_map_cleanup) struct perf_map *map = perf_map_new(fd, caller, &budget, 0);

	assert_false(knows(map, 0x7000));
	while (!knows(map, 0x7000))
		clock_ns += NS_PER_SECOND;
}

TEST(a_map_that_takes_long_is_read_by_and_by_and_others_meanwhile)
{
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();
	struct code_budget budget = {0};
	CLEANUP(perf_map_cleanup)
	struct perf_map *slow = map_of(5000, "7000 10 f", &budget, caller);
	CLEANUP(perf_map_cleanup) struct perf_map *other = map_of(0, "7000 10 g", &budget, caller);
	unsigned seconds = 0;

	assert_false(knows(slow, 0x7000));
	assert_true(knows(other, 0x7000));
	for (; !knows(slow, 0x7000); seconds++) {
		assert_in_range(budget.reading.spent_ns, 1, 2 * CODE_READING_MAX_NS);
		clock_ns += NS_PER_SECOND;
	}
	assert_in_range(seconds, 2, 100);
}
