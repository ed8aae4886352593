#include "perf/standstill.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "perf/task_state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	/*
	 * Waking takes about 25 µs on a virtual machine. If the scheduler lets
	 * the sampled thread run first, it is rarely switched out again within
	 * this time.
	 */
	LATE_NS = 60000,
	/* A thread that is blocked in the kernel at the same place as in the
	 * sample has not run far in between. */
	WAITING_LATE_NS = 200000,
	/* A caller that has run first is late only if the sampled thread was in
	 * a non-preemptible part of the kernel, where its user stack does not
	 * change. */
	FIRST_LATE_NS = 10000000,
	/*
	 * A sample wakes the copier in an interrupt, before the sampled thread
	 * can return to user space. If the copier then waits for its CPU no
	 * longer than this, the thread has not returned either.
	 */
	FIRST_WAIT_NS = 3000,
	TEXT_BYTES = 512,
};

void standstill_init(struct standstill *standstill, unsigned cpu, bool is_real_time)
{
	*standstill = (struct standstill){
		.cpu = cpu,
		.is_real_time = is_real_time,
		.stat_fd = -1,
		.waits_fd = is_real_time
				    ? -1
				    : open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC),
	};
}

void standstill_deinit(struct standstill *standstill)
{
	close_fd(&standstill->stat_fd);
	close_fd(&standstill->waits_fd);
}

/* Returns how long the calling thread was ready and waited for its CPU since
 * the previous call. */
static uint64_t waited_ns(struct standstill *standstill)
{
	uint64_t before_ns = standstill->waited_ns;
	char text[TEXT_BYTES];
	ssize_t len = -1;

	if (standstill->waits_fd >= 0)
		len = pread(standstill->waits_fd, text, sizeof(text) - 1, 0);
	text[len < 0 ? 0 : len] = '\0';
	if (sscanf(text, "%*u %" SCNu64 " %*u", &standstill->waited_ns) != 1 || !before_ns)
		return UINT64_MAX;
	return standstill->waited_ns - before_ns;
}

/* Returns how often the calling thread has lost its CPU. */
static long own_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

void standstill_begin(struct standstill *standstill)
{
	standstill->is_first = standstill->is_real_time || waited_ns(standstill) <= FIRST_WAIT_NS;
	standstill->switches = own_switches();
	standstill->woken_ns = clock_now_ns();
}

void standstill_end(struct standstill *standstill)
{
	if (!standstill->is_real_time)
		waited_ns(standstill);
	standstill->ended_ns = clock_now_ns();
}

/* Returns whether the sample has woken the calling thread, which was first. */
static bool is_first(const struct standstill *standstill, const struct sampled_thread *thread)
{
	return standstill->is_first && thread->time_ns >= standstill->ended_ns;
}

static uint64_t age_max_ns(const struct standstill *standstill, const struct sampled_thread *thread,
			   uint64_t otherwise_ns)
{
	return is_first(standstill, thread) ? FIRST_LATE_NS : otherwise_ns;
}

bool standstill_is_late(const struct standstill *standstill, const struct sampled_thread *thread)
{
	uint64_t late_ns = thread->in_kernel ? WAITING_LATE_NS : LATE_NS;

	return standstill->woken_ns - thread->time_ns > age_max_ns(standstill, thread, late_ns);
}

static bool open_stat(struct standstill *standstill, const struct sampled_thread *thread)
{
	char path[64];

	if (standstill->stat_fd >= 0 && standstill->stat_tid == thread->tid)
		return true;
	close_fd(&standstill->stat_fd);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", thread->pid, thread->tid);
	standstill->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
	standstill->stat_tid = thread->tid;
	return standstill->stat_fd >= 0;
}

static bool is_on_cpu(struct standstill *standstill, const struct sampled_thread *thread)
{
	char text[TEXT_BYTES];
	ssize_t len = 0;

	if (open_stat(standstill, thread))
		len = pread(standstill->stat_fd, text, sizeof(text) - 1, 0);
	if (len <= 0) { /* the file of an exited thread with this id */
		close_fd(&standstill->stat_fd);
		return false;
	}
	text[len] = '\0';
	return task_state_is_on(text, standstill->cpu, is_first(standstill, thread));
}

static bool waits_in_kernel(const struct sampled_thread *thread)
{
	char path[64], text[TEXT_BYTES];
	ssize_t len = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", thread->pid, thread->tid);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		len = read(fd, text, sizeof(text) - 1);
	if (len <= 0)
		return false;
	text[len] = '\0';
	return task_state_waits_at(text, thread->sp, thread->pc);
}

bool standstill_is_proved(struct standstill *standstill, const struct sampled_thread *thread)
{
	uint64_t passed_ns = standstill->woken_ns - thread->time_ns;
	bool was_here = passed_ns <= age_max_ns(standstill, thread, LATE_NS) &&
			is_on_cpu(standstill, thread) && own_switches() == standstill->switches;

	standstill->ran_first = was_here && is_first(standstill, thread);
	return was_here || (thread->in_kernel && !standstill_is_late(standstill, thread) &&
			    waits_in_kernel(thread));
}

bool standstill_only_kernel_ran(const struct standstill *standstill,
				const struct sampled_thread *thread)
{
	return standstill->ran_first && thread->in_kernel;
}
