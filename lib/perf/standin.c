#include "perf/standin.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	/* Of an unknown stack; and of any, with the sample's own copy. */
	FIRST_BYTES = 256 << 10,
	MOST_BYTES = 8 << 20,
	/* Copies that wait for the reader. */
	CAPTURES = 64,
	/* Threads whose stacks' ends are known. */
	ENDS = 1024,
	/*
	 * After the sample, that is. It takes some 25 µs on a virtual machine. Of a hundred threads
	 * that the scheduler has let go on, one or two are switched out as soon as this.
	 */
	LATE_NS = 60000,
	/* A real-time thread is late when the sampled one is in the kernel and cannot be
	 * interrupted: there its stack stays as it is. */
	REAL_TIME_LATE_NS = 1000000,
	REST_SHARE = 1,
	/* For schedulers that let a thread with short work go first (Linux 6.12). */
	SLICE_NS = 100000,
	/* Theirs is little work. */
	THREAD_STACK_BYTES = 64 << 10,
};

/* Who may write it. */
enum owner { OWNER_STANDIN, OWNER_READER };

/* A stack that was copied while its thread stood still. */
struct capture {
	atomic_int owner;
	pid_t tid;
	uint64_t time_ns; /* of the sample */
	size_t len, room;
	unsigned char *memory;
};

struct standin {
	struct standins *all;
	unsigned cpu;
	struct ring ring; /* our own way through it */
	pthread_t thread;
	bool is_started;
	bool is_real_time;
	uint64_t rests_until_ns;
	int stat_fd; /* of the thread stat_tid; -1: none */
	pid_t stat_tid;
	struct capture captures[CAPTURES];
};

struct stack_end {
	atomic_int tid;
	_Atomic uint64_t end;
};

struct standins {
	const struct record_layout *layout;
	memory_reader *read;
	uint32_t dump_bytes;
	unsigned sp_bit;
	int stop_fd;
	struct stack_end ends[ENDS];
	struct capture *given; /* what the reader holds; or NULL */
	size_t count;
	struct standin items[];
};

static struct stack_end *end_of(struct standins *all, pid_t tid)
{
	return &all->ends[(uint32_t)tid % ENDS];
}

void standins_expect(struct standins *all, pid_t tid, uint64_t end)
{
	struct stack_end *of = end_of(all, tid);

	if (!end || (of->tid == tid && of->end == end))
		return;
	of->end = end;
	of->tid = tid;
}

static uint64_t sp_of(const struct standins *all, const struct record_regs *regs)
{
	uint64_t below = regs->mask & ((UINT64_C(1) << all->sp_bit) - 1);
	struct bytes at = bytes_at(regs->values,
				   sizeof(uint64_t) * (unsigned)__builtin_popcountll(below));

	return bytes_u64(&at);
}

/* How much of a stack is worth copying; 0: nothing beyond what came with the sample. */
static size_t wanted_bytes(struct standins *all, const struct record *sample, uint64_t sp)
{
	const struct stack_end *known = end_of(all, sample->tid);
	uint64_t end = known->tid == sample->tid ? known->end : 0;

	if (!sp || sample->sample.dumped_bytes < all->dump_bytes)
		return 0;
	/* It may use several stacks. */
	if (end <= sp || end - sp > MOST_BYTES)
		return FIRST_BYTES;
	return end - sp > all->dump_bytes ? end - sp : 0;
}

/* The threads of all samples but the newest have gone on by now. */
static bool newest_sample(struct standin *standin, struct record *ret)
{
	struct ring *ring = &standin->ring;
	uint64_t at = 0, read = ring_given_back(ring);
	enum ring_front front;
	struct record record;
	bool found = false;
	struct bytes raw;

	if (ring->tail < read)
		ring->tail = read;
	ring_note_head(ring);
	for (; (front = ring_front(ring, &raw)) != RING_EMPTY; ring_skip(ring)) {
		if (front != RING_RECORD || !record_decode(standin->all->layout, raw, &record) ||
		    record.type != RECORD_SAMPLE)
			continue;
		*ret = record;
		at = ring->tail;
		found = true;
	}
	/* What the reader has given back may be another record by now. */
	return found && at >= ring_given_back(ring);
}

static struct capture *capture_to_fill(struct standin *standin)
{
	for (unsigned i = 0; i < CAPTURES; i++)
		if (atomic_load(&standin->captures[i].owner) == OWNER_STANDIN)
			return &standin->captures[i];
	return NULL;
}

static void make_room(struct capture *capture, size_t len)
{
	if (len <= capture->room)
		return;
	/* What it held is of no use. */
	free(capture->memory);
	capture->memory = xmalloc(len);
	capture->room = len;
}

bool standin_is_ready(const char *text, unsigned cpu)
{
	enum { STATE = 3, PROCESSOR = 39 };
	const char *at = strrchr(text, ')'); /* a name may hold any character */

	if (!at || strncmp(at, ") R ", 4) != 0)
		return false;
	for (int field = STATE - 1; at && field < PROCESSOR; field++)
		at = strchr(at + 1, ' ');
	return at && at[1] >= '0' && at[1] <= '9' && strtoul(at + 1, NULL, 10) == cpu;
}

static bool open_stat(struct standin *standin, const struct record *sample)
{
	char path[64];

	if (standin->stat_fd >= 0 && standin->stat_tid == sample->tid)
		return true;
	close_fd(&standin->stat_fd);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", sample->pid, sample->tid);
	standin->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
	standin->stat_tid = sample->tid;
	return standin->stat_fd >= 0;
}

static bool is_ready(struct standin *standin, const struct record *sample)
{
	char text[512];
	ssize_t len = 0;

	if (open_stat(standin, sample))
		len = pread(standin->stat_fd, text, sizeof(text) - 1, 0);
	if (len <= 0) { /* it was of another thread with that number */
		close_fd(&standin->stat_fd);
		return false;
	}
	text[len] = '\0';
	return standin_is_ready(text, standin->cpu);
}

/* How often we have lost the CPU. */
static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* The stack of a thread that stands still, as far as can be told: see the header. */
static bool copy_stack(struct standin *standin, const struct record *sample, struct capture *into,
		       long switches_before)
{
	struct standins *all = standin->all;
	uint64_t sp = sp_of(all, &sample->sample.regs);
	size_t wanted = wanted_bytes(all, sample, sp);

	if (!wanted)
		return false;
	make_room(into, wanted);
	into->tid = sample->tid;
	into->time_ns = sample->time_ns;
	into->len = all->read(sample->tid, sp, into->memory, wanted);
	return into->len > sample->sample.dumped_bytes && is_ready(standin, sample) &&
	       switches() == switches_before;
}

static void stand_in(struct standin *standin)
{
	long switches_before = switches();
	uint64_t woken_ns = sampler_now_ns(), done_ns;
	struct capture *capture = capture_to_fill(standin);
	struct record sample = {0};

	if (!newest_sample(standin, &sample) || !capture || woken_ns < standin->rests_until_ns ||
	    sample.pid == getpid() ||
	    woken_ns - sample.time_ns > (standin->is_real_time ? REAL_TIME_LATE_NS : LATE_NS))
		return;
	if (copy_stack(standin, &sample, capture, switches_before))
		atomic_store(&capture->owner, OWNER_READER);
	done_ns = sampler_now_ns();
	standin->rests_until_ns = done_ns + REST_SHARE * (done_ns - woken_ns);
}

/* sched_setattr(2): struct sched_attr */
struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

static void hurry(struct standin *standin)
{
	struct scheduling fair = {
		.size = sizeof(fair), .policy = SCHED_OTHER, .runtime_ns = SLICE_NS};

	standin->is_real_time = !pthread_setschedparam(pthread_self(), SCHED_FIFO,
						       &(struct sched_param){.sched_priority = 1});
	if (!standin->is_real_time)
		syscall(SYS_sched_setattr, 0, &fair, 0);
}

static bool bind(unsigned cpu)
{
	size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	bool bound;

	CPU_ZERO_S(bytes, set);
	CPU_SET_S(cpu, bytes, set);
	bound = !pthread_setaffinity_np(pthread_self(), bytes, set);
	CPU_FREE(set);
	return bound;
}

static void *run(void *arg)
{
	struct standin *standin = arg;
	struct pollfd fds[] = {
		{.fd = standin->ring.fd, .events = POLLIN},
		{.fd = standin->all->stop_fd, .events = POLLIN},
	};

	if (!bind(standin->cpu))
		return NULL;
	hurry(standin);
	while (!fds[1].revents) {
		if (poll(fds, ARRAY_SIZE(fds), -1) > 0 && fds[0].revents & POLLIN)
			stand_in(standin);
	}
	return NULL;
}

static void start(struct standins *all)
{
	pthread_attr_t attr;

	if (pthread_attr_init(&attr))
		return;
	pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	for (size_t i = 0; i < all->count; i++)
		all->items[i].is_started = !pthread_create(&all->items[i].thread, &attr, run,
							   &all->items[i]);
	pthread_attr_destroy(&attr);
}

struct standins *standins_new(const struct ring *rings, const unsigned *cpus, size_t count,
			      const struct record_layout *layout,
			      const struct sampler_options *options)
{
	struct standins *all = xcalloc(1, sizeof(*all) + count * sizeof(*all->items));

	*all = (struct standins){
		.layout = layout,
		.read = options->read_memory,
		.dump_bytes = options->stack_bytes,
		.sp_bit = options->sp_bit,
		.stop_fd = eventfd(0, EFD_CLOEXEC),
		.count = count,
	};
	if (all->stop_fd < 0) {
		free(all);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		struct standin *standin = &all->items[i];

		standin->all = all;
		standin->cpu = cpus[i];
		standin->stat_fd = -1;
		standin->ring = rings[i];
		standin->ring.wrapped = NULL;
	}
	start(all);
	return all;
}

static void standin_deinit(struct standin *standin)
{
	if (standin->is_started)
		pthread_join(standin->thread, NULL);
	close_fd(&standin->stat_fd);
	free(standin->ring.wrapped);
	for (unsigned i = 0; i < CAPTURES; i++)
		free(standin->captures[i].memory);
}

void standins_free(struct standins *all)
{
	if (!all)
		return;
	eventfd_write(all->stop_fd, 1);
	for (size_t i = 0; i < all->count; i++)
		standin_deinit(&all->items[i]);
	close_fd(&all->stop_fd);
	free(all);
}

static void give_back(struct standins *all)
{
	if (all->given)
		atomic_store(&all->given->owner, OWNER_STANDIN);
	all->given = NULL;
}

/* The one of this sample; those of earlier ones, which came too late, are dropped. */
static struct capture *find(struct standin *standin, const struct record *sample)
{
	struct capture *found = NULL;

	for (unsigned i = 0; i < CAPTURES; i++) {
		struct capture *capture = &standin->captures[i];

		if (atomic_load(&capture->owner) != OWNER_READER)
			continue;
		if (capture->tid == sample->tid && capture->time_ns == sample->time_ns)
			found = capture;
		else if (capture->time_ns < sample->time_ns)
			atomic_store(&capture->owner, OWNER_STANDIN);
	}
	return found;
}

void standins_complete(struct standins *all, size_t cpu, struct record *sample)
{
	struct bytes *stack = &sample->sample.stack;

	give_back(all);
	if (sample->sample.dumped_bytes < all->dump_bytes)
		return;
	all->given = find(&all->items[cpu], sample);
	if (all->given && !memcmp(all->given->memory, stack->at, bytes_left(stack)))
		*stack = bytes_of(all->given->memory, all->given->len);
}
