/* A busy thread on one CPU, whose samples run the program. */
#include "perf/copier_wakes.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "lacking.h"
#include "unit_test.h"

#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUSY_NS (20 * NS_PER_MS)

/* Returns an event that samples this thread on this CPU and runs the program
 * then, or -1. */
static int open_sampled(unsigned cpu, const struct copier_wakes *wakes)
{
	const struct bpf_insn end[] = {INSN_MOVE_NUMBER(BPF_REG_0, 1), INSN_EXIT};
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = NS_PER_MS,
	};
	struct bpf_code code = {.count = 0};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, (int)cpu, -1, 0), program;

	copier_wakes_append(wakes, &code);
	bpf_append(&code, end, ARRAY_SIZE(end));
	program = bpf_load(BPF_PROG_TYPE_PERF_EVENT, &code);
	if (fd < 0 || program < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) != 0)
		return -1;
	close(program);
	return fd;
}

/* Returns whether samples of a busy thread wake the copier of the CPU. */
static bool wake(const struct copier_wakes *wakes)
{
	uint64_t until_ns = clock_thread_cpu_ns() + BUSY_NS;
	struct pollfd polled = {.fd = copier_wakes_fd(wakes, 0), .events = POLLIN};

	poll(&polled, 1, 0); /* forgets earlier ones */
	while (clock_thread_cpu_ns() < until_ns)
		continue;
	return poll(&polled, 1, 0) == 1 && polled.revents & POLLIN;
}

static struct record sample_of(pid_t pid, pid_t tid)
{
	return (struct record){.type = RECORD_SAMPLE, .pid = pid, .tid = tid};
}

TEST(only_samples_of_chosen_threads_and_processes_wake_a_copier)
{
	const pid_t other = getpid() == 1 ? 2 : 1;
	struct record of_this = sample_of(getpid(), other), of_thread = sample_of(other, getpid()),
		      of_others = sample_of(other, other);
	CLEANUP(copier_wakes_cleanup) struct copier_wakes *wakes = NULL;
	unsigned cpu = (unsigned)sched_getcpu();
	cpu_set_t set;
	int fd;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
	wakes = copier_wakes_new(&cpu, 1);
	fd = wakes ? open_sampled(cpu, wakes) : -1;
	if (fd < 0)
		RETURN_LACKING("BPF programs on perf events");

	copier_wakes_put(wakes, getpid(), true);
	assert_false(wake(wakes)); /* nothing is allowed yet */
	assert_false(copier_wakes_have(wakes, &of_this));
	copier_wakes_allow(wakes, true);
	while (!wake(wakes))
		continue;
	assert_true(copier_wakes_have(wakes, &of_this));
	assert_true(copier_wakes_have(wakes, &of_thread));
	assert_false(copier_wakes_have(wakes, &of_others));

	copier_wakes_put(wakes, getpid(), false);
	copier_wakes_put(wakes, other, true);
	assert_false(wake(wakes));
	copier_wakes_put(wakes, getpid(), true);
	while (!wake(wakes))
		continue;
	copier_wakes_allow(wakes, false);
	assert_false(wake(wakes));
	close(fd);
}
