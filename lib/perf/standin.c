#include "perf/standin.h"

#include "base/alloc.h"
#include "perf/scheduling.h"
#include "perf/task_state.h"

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
#include <unistd.h>

enum {
	/* Of a stack, with the sample's own copy: of an unknown thread, of a thread that uses
	 * another one than it did, and of any. */
	UNKNOWN_BYTES = 1 << 20,
	OTHER_BYTES = 256 << 10,
	MOST_BYTES = 8 << 20,
	/* Of the copy that came with the sample, must still be the same: most of it need not, as
	 * the kernel and other threads write into it. */
	OVERLAP_BYTES = 1 << 10,
	/* Copies that wait for the reader. */
	CAPTURES = 64,
	/* Threads whose stacks' ends are known. */
	ENDS = 1024,
	/* Each stack that ends elsewhere than the last one brings so much; more than that of one,
	 * and the thread wanders. */
	UNREST = 16,
	UNREST_MOST = 64,
	/*
	 * After the sample, that is. It takes some 25 µs on a virtual machine. Of a hundred threads
	 * that the scheduler has let go on, one or two are switched out as soon as this.
	 */
	LATE_NS = 60000,
	/* A thread that waits in the kernel as it did then has not gone far meanwhile. */
	WAITING_LATE_NS = 200000,
	/* A real-time one is late when the sampled one is in the kernel and cannot be interrupted:
	 * there its stack stays as it is. */
	REAL_TIME_LATE_NS = 10000000,
	REST_SHARE = 1,
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
	uint64_t late_ns, waiting_late_ns; /* after the sample */
	uint64_t rests_until_ns;
	int stat_fd; /* of the thread stat_tid; -1: none */
	pid_t stat_tid;
	struct capture captures[CAPTURES];
};

struct stack_end {
	atomic_int tid;
	_Atomic uint64_t end;
	atomic_bool is_whole, is_deep;
	atomic_int unrest; /* falls with each sample whose stack ends where the last one's did */
};

struct standins {
	const struct record_layout *layout;
	memory_reader *read;
	unsigned sp_bit, pc_bit;
	bool is_patient;
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

/* A program's first samples may be of its loader, on a stack that ends elsewhere. */
static bool wanders(const struct stack_end *of)
{
	return of->unrest > UNREST;
}

static void note_end(struct stack_end *of, struct stack_extent extent)
{
	if (extent.is_whole && of->is_whole && of->end != extent.end)
		of->unrest = wanders(of) ? UNREST_MOST : of->unrest + UNREST;
	else if (of->unrest > 0)
		of->unrest--;
	of->end = extent.end;
	of->is_whole = extent.is_whole;
}

void standins_expect(struct standins *all, pid_t tid, struct stack_extent extent)
{
	struct stack_end *of = end_of(all, tid);

	if (of->tid == tid && extent.is_deep)
		of->is_deep = true;
	if (!extent.end)
		return;
	if (of->tid != tid) {
		of->unrest = 0;
		of->is_whole = false;
	}
	note_end(of, extent);
	of->is_deep = extent.is_deep;
	of->tid = tid;
}

/* What a stand-in must know of a sample, once its record may be another one. */
struct sampled {
	pid_t pid, tid;
	uint64_t time_ns;
	uint64_t sp, pc;
	size_t dumped_bytes;
	bool in_kernel;
};

static uint64_t register_of(const struct record_regs *regs, unsigned bit)
{
	uint64_t below = regs->mask & ((UINT64_C(1) << bit) - 1);
	struct bytes at = bytes_at(regs->values,
				   sizeof(uint64_t) * (unsigned)__builtin_popcountll(below));

	return bytes_u64(&at);
}

static struct sampled sampled_of(const struct standins *all, const struct record *record)
{
	const struct record_sample *sample = &record->sample;

	return (struct sampled){
		.pid = record->pid,
		.tid = record->tid,
		.time_ns = record->time_ns,
		.sp = register_of(&sample->regs, all->sp_bit),
		.pc = register_of(&sample->regs, all->pc_bit),
		.dumped_bytes = sample->dumped_bytes,
		.in_kernel = sample->in_kernel,
	};
}

/*
 * How much of a stack is worth copying; 0: nothing beyond what came with the sample. That ends
 * where a page is not in memory, too: one of a large frame, never touched.
 */
static size_t wanted_bytes(struct standins *all, const struct sampled *sample)
{
	const struct stack_end *known = end_of(all, sample->tid);
	uint64_t sp = sample->sp, end = known->end;

	if (!sp)
		return 0;
	if (known->tid != sample->tid)
		return UNKNOWN_BYTES;
	if (wanders(known))
		return known->is_deep ? OTHER_BYTES : 0;
	if (end <= sp || end - sp > MOST_BYTES)
		return OTHER_BYTES;
	return end - sp > sample->dumped_bytes ? end - sp : 0;
}

/* The threads of all samples but the newest have gone on by now. */
static bool newest_sample(struct standin *standin, struct sampled *ret)
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
		*ret = sampled_of(standin->all, &record);
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

static bool open_stat(struct standin *standin, const struct sampled *sample)
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

enum { TEXT_BYTES = 512 };

static bool is_queued(struct standin *standin, const struct sampled *sample)
{
	char text[TEXT_BYTES];
	ssize_t len = 0;

	if (open_stat(standin, sample))
		len = pread(standin->stat_fd, text, sizeof(text) - 1, 0);
	if (len <= 0) { /* it was of another thread with that number */
		close_fd(&standin->stat_fd);
		return false;
	}
	text[len] = '\0';
	return task_state_is_queued(text, standin->cpu);
}

static bool waits(const struct sampled *sample)
{
	char path[64], text[TEXT_BYTES];
	ssize_t len = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", sample->pid, sample->tid);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		len = read(fd, text, sizeof(text) - 1);
	if (len <= 0)
		return false;
	text[len] = '\0';
	return task_state_waits_at(text, sample->sp, sample->pc);
}

/* How often we have lost the CPU. */
static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* The moment at which a stand-in got its CPU. */
struct moment {
	uint64_t time_ns;
	long switches;
};

/* Did the thread stand still from the sample until now? */
static bool stood_still(struct standin *standin, const struct sampled *sample,
			const struct moment *woken)
{
	uint64_t passed_ns = woken->time_ns - sample->time_ns;

	if (passed_ns <= standin->late_ns && is_queued(standin, sample) &&
	    switches() == woken->switches)
		return true;
	return sample->in_kernel && passed_ns <= standin->waiting_late_ns && waits(sample);
}

/* The end of the sample's own copy, which is read once more. */
static size_t overlap_bytes(size_t dumped)
{
	return dumped < OVERLAP_BYTES ? dumped : OVERLAP_BYTES;
}

static bool copy_stack(struct standins *all, const struct sampled *sample, struct capture *into)
{
	size_t from = sample->dumped_bytes - overlap_bytes(sample->dumped_bytes);
	size_t wanted = wanted_bytes(all, sample);

	if (!wanted)
		return false;
	make_room(into, wanted);
	into->tid = sample->tid;
	into->time_ns = sample->time_ns;
	into->len = from +
		    all->read(sample->tid, sample->sp + from, into->memory + from, wanted - from);
	return into->len > sample->dumped_bytes;
}

static void stand_in(struct standin *standin)
{
	struct moment woken = {.switches = switches(), .time_ns = sampler_now_ns()};
	struct capture *capture = capture_to_fill(standin);
	struct sampled sample = {0};
	uint64_t done_ns;

	if (!newest_sample(standin, &sample) || !capture ||
	    woken.time_ns < standin->rests_until_ns || sample.pid == getpid() ||
	    woken.time_ns - sample.time_ns >
		    (sample.in_kernel ? standin->waiting_late_ns : standin->late_ns))
		return;
	if (copy_stack(standin->all, &sample, capture) && stood_still(standin, &sample, &woken))
		atomic_store(&capture->owner, OWNER_READER);
	done_ns = sampler_now_ns();
	standin->rests_until_ns = done_ns + REST_SHARE * (done_ns - woken.time_ns);
}

static void choose_pace(struct standin *standin)
{
	struct sched_param first = {.sched_priority = 1}, none = {0};

	standin->late_ns = LATE_NS;
	standin->waiting_late_ns = WAITING_LATE_NS;
	if (standin->all->is_patient)
		pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
	else if (!pthread_setschedparam(pthread_self(), SCHED_FIFO, &first))
		standin->late_ns = standin->waiting_late_ns = REAL_TIME_LATE_NS;
	else
		scheduling_ask_for_short_slices();
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
	choose_pace(standin);
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
			      const struct sampler_options *options, bool is_patient)
{
	struct standins *all = xcalloc(1, sizeof(*all) + count * sizeof(*all->items));

	*all = (struct standins){
		.layout = layout,
		.read = options->read_memory,
		.sp_bit = options->sp_bit,
		.pc_bit = options->pc_bit,
		.is_patient = is_patient,
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

/* Puts the sample's own copy where it belongs. False: that is of another stack. */
static bool join(struct capture *capture, const struct record *sample)
{
	const struct bytes *copy = &sample->sample.stack;
	size_t dumped = sample->sample.dumped_bytes, again = overlap_bytes(dumped);
	size_t from = dumped - again;

	if (capture->len <= dumped || memcmp(capture->memory + from, copy->at + from, again) != 0)
		return false;
	memcpy(capture->memory, copy->at, from);
	return true;
}

void standins_complete(struct standins *all, size_t cpu, struct record *sample)
{
	give_back(all);
	all->given = find(&all->items[cpu], sample);
	if (all->given && join(all->given, sample))
		sample->sample.stack = bytes_of(all->given->memory, all->given->len);
}
