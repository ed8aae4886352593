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
	/* A copier with a real-time priority is late only if the sampled thread
	 * is in a non-preemptible part of the kernel, where its user stack does
	 * not change. */
	REAL_TIME_LATE_NS = 10000000,
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
		.late_ns = is_real_time ? REAL_TIME_LATE_NS : LATE_NS,
		.waiting_late_ns = is_real_time ? REAL_TIME_LATE_NS : WAITING_LATE_NS,
		.stat_fd = -1,
		.waits_fd = is_real_time ? -1
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
	standstill->ran_first = standstill->is_real_time || waited_ns(standstill) <= FIRST_WAIT_NS;
	standstill->switches = own_switches();
	standstill->woken_ns = clock_now_ns();
}

bool standstill_is_late(const struct standstill *standstill, const struct sampled_thread *thread)
{
	return standstill->woken_ns - thread->time_ns >
	       (thread->in_kernel ? standstill->waiting_late_ns : standstill->late_ns);
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
	return task_state_is_on(text, standstill->cpu, standstill->ran_first);
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

	standstill->was_here = passed_ns <= standstill->late_ns && is_on_cpu(standstill, thread) &&
			       own_switches() == standstill->switches;
	if (standstill->was_here)
		return true;
	return thread->in_kernel && passed_ns <= standstill->waiting_late_ns &&
	       waits_in_kernel(thread);
}

bool standstill_only_kernel_ran(const struct standstill *standstill,
				const struct sampled_thread *thread)
{
	return standstill->ran_first && standstill->was_here && thread->in_kernel &&
	       standstill->woken_ns - thread->time_ns <= LATE_NS;
}
