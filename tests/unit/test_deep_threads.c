#include "record/deep_threads.h"

#include "base/alloc.h"
#include "base/clock.h"

#include "unit_test.h"

#include <stdlib.h>

enum { TID = 42, OTHER = TID + STACK_SLOT_THREADS };

static const uint64_t first_ns = 100 * NS_PER_SECOND;

static struct deep_thread *find(struct deep_threads *threads, pid_t tid, uint64_t time_ns,
				size_t dumped_bytes)
{
	static const unsigned char stack[16];
	const struct record record = {
		.type = RECORD_SAMPLE,
		.tid = tid,
		.time_ns = time_ns,
		.sample = {.stack = bytes_of(stack, sizeof(stack)), .dumped_bytes = dumped_bytes},
	};

	return deep_threads_find(threads, &record);
}

static struct deep_thread *find_deep(struct deep_threads *threads, pid_t tid, uint64_t time_ns)
{
	return find(threads, tid, time_ns, 8);
}

TEST(a_stack_within_the_kernels_copy_is_not_deep)
{
	struct deep_threads *threads = xcalloc(1, sizeof(*threads));

	assert_null(find(threads, TID, first_ns, 16));
	assert_non_null(find_deep(threads, TID, first_ns));
	deep_threads_deinit(threads);
	free(threads);
}

TEST(a_thread_keeps_its_place_until_it_has_no_samples_for_a_second)
{
	struct deep_threads *threads = xcalloc(1, sizeof(*threads));

	assert_non_null(find_deep(threads, TID, first_ns));
	assert_null(find_deep(threads, OTHER, first_ns + 1));
	/* Samples of several CPUs may come late. */
	assert_null(find_deep(threads, OTHER, first_ns - 1));
	assert_non_null(find_deep(threads, TID, first_ns + NS_PER_SECOND));
	assert_null(find_deep(threads, OTHER, first_ns + 2 * NS_PER_SECOND - 1));
	assert_non_null(find_deep(threads, OTHER, first_ns + 2 * NS_PER_SECOND));
	assert_null(find_deep(threads, TID, first_ns + 2 * NS_PER_SECOND + 1));
	deep_threads_deinit(threads);
	free(threads);
}
