#include "perf/pid_filter.h"

#include "base/clock.h"
#include "lacking.h"
#include "unit_test.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGES = 16 };

#define BUSY_NS (20 * NS_PER_MS)

/* An event that samples this thread, and its ring. */
struct sampled {
	int fd;
	const struct perf_event_mmap_page *ring;
};

static struct sampled open_sampled(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = NS_PER_MS,
		.sample_type = PERF_SAMPLE_TID,
		.exclude_kernel = 1,
	};
	struct sampled sampled = {.fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0)};
	size_t bytes = (PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);

	if (sampled.fd >= 0) {
		void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, sampled.fd, 0);

		assert_true(at != MAP_FAILED);
		sampled.ring = at;
	}
	return sampled;
}

/* Returns the number of bytes that samples of a busy thread add to the ring. */
static uint64_t written(const struct sampled *sampled)
{
	uint64_t before = sampled->ring->data_head, until_ns = clock_thread_cpu_ns() + BUSY_NS;

	/* The clock is read in the kernel, which is not sampled. */
	while (clock_thread_cpu_ns() < until_ns)
		for (volatile unsigned i = 0; i < 10000; i++)
			continue;
	return sampled->ring->data_head - before;
}

static void await_samples(const struct sampled *sampled)
{
	while (!written(sampled))
		continue;
}

TEST(samples_of_pids_in_the_set_are_not_written)
{
	CLEANUP(pid_filter_cleanup) struct pid_filter *filter = pid_filter_new(NULL);
	struct sampled sampled = open_sampled();
	_Atomic uint64_t *word;
	uint64_t mine;

	if (!filter || !pid_filter_attach(filter, sampled.fd, false))
		RETURN_LACKING("BPF programs on perf events");
	word = &pid_filter_dropped(filter)->words[getpid() / PIDS_PER_WORD];
	mine = UINT64_C(1) << getpid() % PIDS_PER_WORD;
	await_samples(&sampled);
	*word = ~mine;
	await_samples(&sampled);
	*word = mine;
	assert_int_equal(written(&sampled), 0);
	*word = 0;
	await_samples(&sampled);
	close(sampled.fd);
}
