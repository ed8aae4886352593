#include "perf/capture.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hung_processes.h"
#include "base/sched_attributes.h"
#include "base/untrusted_read.h"
#include "perf/captured_stacks.h"
#include "perf/go_thread.h"
#include "perf/run_clock.h"
#include "perf/stack_extents.h"
#include "perf/standstill.h"
#include "runtime/script_walker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	/* A copier pauses for as long as it has worked. It does not work while
	 * it waits for a lock of the sampled process. */
	REST_SHARE = 1,
	THREAD_STACK_BYTES = 64 << 10,
	/* Number of samples over which the cost is averaged. */
	AVERAGED_SAMPLES = 16,
};

/* A read takes microseconds. A copier whose read takes longer than this is
 * abandoned: TIMEOUT_NS while sampling (unless options.read_timeout_ns is set),
 * END_TIMEOUT_NS at the end. On an overloaded machine this can truncate some
 * stacks. */
#define TIMEOUT_NS NS_PER_SECOND
#define END_TIMEOUT_NS (100 * NS_PER_MS)

/* Owned by its thread once it is abandoned. */
struct copier {
	struct capture *all; /* invalid once abandoned */
	unsigned cpu;
	struct ring ring; /* the reader's ring, with its own read position */
	int wake_fd;	  /* readable after a sample */
	pthread_t thread;
	uint64_t throttled_until_ns;
	uint64_t used_ns;	  /* its CPU time when it last went to sleep */
	_Atomic uint64_t cost_ns; /* see capture_cost_ns() */
	struct untrusted_read read;
	struct standstill standstill;
	struct script_walker *walker; /* NULL if no scripts are read */
	struct run_clock run_clock;
	struct captured_stacks stacks;
};

struct capture {
	const struct layouts *layouts;
	const struct process_tree *tree;
	const struct copier_wakes *wakes; /* may be NULL */
	memory_reader *read;
	struct scripts *scripts; /* may be NULL */
	uint64_t timeout_ns;
	unsigned sp_bit, pc_bit, g_bit;
	pid_t own_pid;
	bool idle_priority;
	int stop_fd;
	struct stack_extents extents;
	/* Passed to the caller of capture_complete(); may be NULL. */
	struct captured_stack *given;
	struct hung_processes hung;
	const struct ring *rings;
	const unsigned *cpus;
	size_t count;
	struct copier *items[]; /* one per CPU; may be NULL */
};

void capture_note_stack(struct capture *all, pid_t tid, struct stack_extent extent)
{
	stack_extents_note(&all->extents, tid, extent);
}

/* Returns false for samples without registers or a stack, which cannot be
 * completed. */
static bool capture_decode_sample(const struct layouts *layouts, struct bytes raw,
				  struct record *ret)
{
	const struct record_layout *layout = layouts_find(layouts, raw);

	return layout && record_decode(layout, raw, ret) && ret->type == RECORD_SAMPLE &&
	       bytes_left(&ret->sample.regs.values) && bytes_left(&ret->sample.stack);
}

/* Finds the newest sample. Only its thread can still be where it was
 * sampled. */
static bool newest_sample(struct copier *copier, struct sampled_thread *ret, size_t *dumped_bytes)
{
	const struct capture *all = copier->all;
	struct ring *ring = &copier->ring;
	uint64_t at = 0, read = ring_given_back(ring);
	enum ring_front front;
	struct record record;
	bool found = false;
	struct bytes raw;

	if (ring->tail < read)
		ring->tail = read;
	ring_note_head(ring);
	for (; (front = ring_front(ring, &raw)) != RING_EMPTY; ring_skip(ring)) {
		if (front != RING_RECORD || !capture_decode_sample(all->layouts, raw, &record))
			continue;
		*ret = (struct sampled_thread){
			.pid = record.pid,
			.tid = record.tid,
			.time_ns = record.time_ns,
			.sp = record_register(&record.sample.regs, all->sp_bit),
			.pc = record_register(&record.sample.regs, all->pc_bit),
			.g = record_register(&record.sample.regs, all->g_bit),
			.in_kernel = record.sample.in_kernel,
			.running_ns = record.sample.running_ns,
		};
		*dumped_bytes = record.sample.dumped_bytes;
		at = ring->tail;
		found = true;
	}
	/* Space that the reader has released may have been overwritten during
	 * decoding. */
	return found && at >= ring_given_back(ring);
}

enum copied { COPIED, NOT_COPIED, LEFT_BEHIND };

/* Copies the relevant part of the other stack, from sp on. */
static void copy_other(const struct capture *all, pid_t tid, uint64_t sp,
		       struct captured_stack *into)
{
	size_t wanted = stack_extents_interrupted(&all->extents, tid, sp);

	captured_stack_prepare_interrupted(into, wanted);
	into->interrupted_start = sp;
	into->interrupted_len = all->read(tid, sp, into->interrupted, wanted);
}

/*
 * Copies the stack that a signal handler has interrupted. Its stack pointer is
 * saved at saved_sp_at. After a stack overflow the stack pointer is in the page
 * below the stack.
 */
static void copy_interrupted(const struct capture *all, pid_t tid, uint64_t saved_sp_at,
			     struct captured_stack *into)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t sp = 0;

	if (all->read(tid, saved_sp_at, &sp, sizeof(sp)) != sizeof(sp))
		return;
	copy_other(all, tid, sp, into);
	if (!into->interrupted_len)
		copy_other(all, tid, (sp | (page - 1)) + 1, into);
}

/*
 * Copies the goroutine's stack while the thread runs on its system stack. The g
 * is in a register while the thread runs Go, and on the system stack while it
 * runs C.
 */
static void copy_goroutine(const struct capture *all, const struct sampled_thread *thread,
			   struct captured_stack *into)
{
	uint64_t g_at, g;

	if (!stack_extents_need_go(&all->extents, thread->tid, thread->sp, &g_at))
		return;
	go_thread_read(all->read, thread->tid, thread->g, thread->sp, &into->go);
	if (!into->go.sp && g_at && all->read(thread->tid, g_at, &g, sizeof(g)) == sizeof(g))
		go_thread_read(all->read, thread->tid, g, thread->sp, &into->go);
	if (into->go.sp)
		copy_other(all, thread->tid, into->go.sp, into);
}

static enum copied capture_copy_stack(struct copier *copier, const struct sampled_thread *thread,
				      size_t dumped_bytes, struct captured_stack *into)
{
	const struct capture *all = copier->all;
	size_t wanted = stack_extents_wanted(&all->extents, thread->tid, thread->sp, dumped_bytes);
	uint64_t saved_sp_at = stack_extents_saved_sp_at(&all->extents, thread->tid, thread->sp);
	uint64_t g_at;
	memory_reader *read = all->read;
	bool reads_script = copier->walker && script_walker_begin(copier->walker, all->scripts,
								  thread->pid, thread->tid);
	size_t from;

	if (!wanted && !saved_sp_at && !reads_script &&
	    !stack_extents_need_go(&all->extents, thread->tid, thread->sp, &g_at))
		return NOT_COPIED;
	if (!wanted)
		wanted = dumped_bytes;
	from = captured_stack_prepare(into, wanted, reads_script ? 0 : dumped_bytes);
	into->tid = thread->tid;
	into->time_ns = thread->time_ns;
	untrusted_read_begin(&copier->read, thread->pid);
	if (reads_script)
		script_walker_read(copier->walker, 0);
	into->len = from + read(thread->tid, thread->sp + from, into->memory + from, wanted - from);
	copy_goroutine(all, thread, into);
	if (saved_sp_at && !into->interrupted_len)
		copy_interrupted(all, thread->tid, saved_sp_at, into);
	if (!untrusted_read_end(&copier->read))
		return LEFT_BEHIND;
	if (reads_script && !script_walker_end(copier->walker, all->scripts, &copier->read,
					       &into->script, &into->has_script))
		return LEFT_BEHIND;
	return into->len > dumped_bytes || into->interrupted_len || into->has_script ? COPIED
										     : NOT_COPIED;
}

/* Returns whether stacks of the process are wanted. */
static bool concerns(const struct capture *all, pid_t pid)
{
	return pid != all->own_pid &&
	       !(all->tree && process_tree_knows_as_stranger(all->tree, pid));
}

static bool may_copy(struct copier *copier, const struct sampled_thread *thread)
{
	const struct standstill *standstill = &copier->standstill;

	return standstill->woken_ns >= copier->throttled_until_ns &&
	       (!standstill_is_late(standstill, thread) ||
		run_clock_proves(&copier->run_clock, thread)) &&
	       !hung_processes_have(&copier->all->hung, thread->pid);
}

/*
 * The frames of an interpreter need the stricter proof: that the thread has not
 * returned to user space at all. A thread that has may run another function of
 * the script on an equal stack.
 */
static bool stood_still(struct copier *copier, const struct sampled_thread *thread,
			struct captured_stack *stack)
{
	struct standstill *standstill = &copier->standstill;
	bool is_proved = stack->has_script && run_clock_proves(&copier->run_clock, thread);
	bool is_certain;

	if (is_proved && !thread->in_kernel)
		return true;
	is_certain = standstill_is_proved(standstill, thread);
	stack->has_script &= is_proved || standstill->ran_first;
	if (stack->has_script && standstill->ran_first)
		run_clock_learn(&copier->run_clock, thread);
	if (stack->has_script && standstill_only_kernel_ran(standstill, thread))
		captured_stack_skip_callees(stack, thread->sp);
	return is_certain || stack->has_script;
}

/* Returns false if the copier was abandoned. */
static bool capture_stack(struct copier *copier, const struct sampled_thread *thread,
			  size_t dumped_bytes, struct captured_stack *into)
{
	enum copied copied = capture_copy_stack(copier, thread, dumped_bytes, into);

	if (copied == LEFT_BEHIND)
		return false;
	if (copied == COPIED && stood_still(copier, thread, into))
		captured_stack_publish(into);
	return true;
}

/* Called when the copier is about to sleep after it was woken by a sample. */
static void note_cost(struct copier *copier, bool is_wanted)
{
	uint64_t used_ns = clock_thread_cpu_ns(), cost_ns = used_ns - copier->used_ns;
	uint64_t before_ns = atomic_load(&copier->cost_ns);
	uint64_t until_ns = clock_now_ns() + REST_SHARE * cost_ns;

	if (is_wanted)
		atomic_store(&copier->cost_ns,
			     before_ns - before_ns / AVERAGED_SAMPLES + cost_ns / AVERAGED_SAMPLES);
	if (until_ns > copier->throttled_until_ns)
		copier->throttled_until_ns = until_ns;
	copier->used_ns = used_ns;
}

/* Runs on the CPU of the sampled thread, which it has preempted. Returns false
 * if the copier was abandoned. */
static bool capture_newest(struct copier *copier)
{
	struct captured_stack *into = captured_stacks_next(&copier->stacks);
	struct sampled_thread thread = {0};
	size_t dumped_bytes = 0;
	bool is_wanted;

	standstill_begin(&copier->standstill);
	is_wanted = newest_sample(copier, &thread, &dumped_bytes) &&
		    concerns(copier->all, thread.pid);
	if (is_wanted && into && may_copy(copier, &thread) &&
	    !capture_stack(copier, &thread, dumped_bytes, into))
		return false;
	note_cost(copier, is_wanted);
	standstill_end(&copier->standstill);
	return true;
}

/* Returns whether the calling thread has a real-time priority now. */
static bool set_priority(bool idle_priority)
{
	struct sched_param first = {.sched_priority = 1}, none = {0};

	if (idle_priority) {
		pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
		return false;
	}
	if (!pthread_setschedparam(pthread_self(), SCHED_FIFO, &first))
		return true;
	sched_request_short_slices();
	return false;
}

static bool bind_to(unsigned cpu)
{
	size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
	CLEANUP(free_ptr) cpu_set_t *set = xcalloc(1, bytes);

	CPU_SET_S(cpu, bytes, set);
	return !pthread_setaffinity_np(pthread_self(), bytes, set);
}

static void copier_free(struct copier *copier)
{
	free(copier->ring.wrapped);
	captured_stacks_deinit(&copier->stacks);
	script_walker_free(copier->walker);
	free(copier);
}

static void *capture_run(void *arg)
{
	struct copier *copier = arg;
	struct pollfd fds[] = {
		{.fd = copier->wake_fd, .events = POLLIN},
		{.fd = copier->all->stop_fd, .events = POLLIN},
	};
	bool goes_on = bind_to(copier->cpu);

	if (!goes_on)
		return NULL;
	standstill_init(&copier->standstill, copier->cpu, set_priority(copier->all->idle_priority));
	while (goes_on && !fds[1].revents) {
		if (poll(fds, ARRAY_SIZE(fds), -1) > 0 && fds[0].revents & POLLIN)
			goes_on = capture_newest(copier);
	}
	standstill_deinit(&copier->standstill);
	run_clock_deinit(&copier->run_clock);
	if (!goes_on)
		copier_free(copier);
	return NULL;
}

/* Returns NULL if the system lacks the resources. */
static struct copier *copier_start(struct capture *all, size_t index)
{
	struct copier *copier = xcalloc(1, sizeof(*copier));
	pthread_attr_t attr;
	int number;

	copier->all = all;
	copier->cpu = all->cpus[index];
	copier->ring = all->rings[index];
	copier->ring.wrapped = NULL;
	copier->wake_fd = all->wakes ? copier_wakes_fd(all->wakes, index) : copier->ring.fd;
	if (all->scripts)
		copier->walker = script_walker_new();
	number = pthread_attr_init(&attr);
	if (!number) {
		pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
		number = pthread_create(&copier->thread, &attr, capture_run, copier);
		pthread_attr_destroy(&attr);
	}
	if (!number)
		return copier;
	copier_free(copier);
	return NULL;
}

struct capture *capture_new(const struct ring *rings, const struct copier_wakes *wakes,
			    const unsigned *cpus, size_t count, const struct layouts *layouts,
			    const struct sampler_options *options, const struct process_tree *tree,
			    bool idle_priority)
{
	struct capture *all = xcalloc(1, sizeof(*all) + count * sizeof(struct copier *));

	all->layouts = layouts;
	all->tree = tree;
	all->wakes = wakes;
	/* The program that wakes copiers copies all stacks of unknown threads. */
	all->extents.skips_unknown = wakes;
	all->read = options->read_memory;
	all->scripts = options->scripts;
	all->timeout_ns = options->read_timeout_ns ? options->read_timeout_ns : TIMEOUT_NS;
	all->sp_bit = options->sp_bit;
	all->pc_bit = options->pc_bit;
	all->g_bit = options->g_bit;
	all->own_pid = getpid();
	all->idle_priority = idle_priority;
	all->rings = rings;
	all->cpus = cpus;
	all->count = count;
	all->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (all->stop_fd < 0) {
		free(all);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		all->items[i] = copier_start(all, i);
	return all;
}

/* Sets *pid to the process whose memory the copier is reading. */
static bool capture_leave_behind(struct copier *copier, uint64_t timeout_ns, pid_t *pid)
{
	pthread_t thread = copier->thread;

	/* After this, the copier's thread may free it at any time. */
	if (!untrusted_read_abandon(&copier->read, timeout_ns, pid))
		return false;
	pthread_detach(thread);
	return true;
}

static void copier_end(struct copier *copier)
{
	pid_t pid;

	while (pthread_tryjoin_np(copier->thread, NULL) == EBUSY) {
		if (capture_leave_behind(copier, END_TIMEOUT_NS, &pid))
			return;
		usleep(500);
	}
	copier_free(copier);
}

void capture_free(struct capture *all)
{
	if (!all)
		return;
	eventfd_write(all->stop_fd, 1);
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i])
			copier_end(all->items[i]);
	close_fd(&all->stop_fd);
	free(all);
}

/* Replaces the copier if it hangs, up to a maximum number of replacements. */
static void capture_replace_if_hung(struct capture *all, size_t cpu)
{
	pid_t pid;

	if (!capture_leave_behind(all->items[cpu], all->timeout_ns, &pid))
		return;
	all->items[cpu] = NULL;
	if (hung_processes_add(&all->hung, pid))
		all->items[cpu] = copier_start(all, cpu);
}

uint64_t capture_cost_ns(const struct capture *all, size_t cpu)
{
	return all->items[cpu] ? atomic_load(&all->items[cpu]->cost_ns) : 0;
}

bool capture_is_needed(const struct capture *all, const struct record *sample)
{
	uint64_t g_at;

	return stack_extents_need_go(&all->extents, sample->tid, 0, &g_at) ||
	       (all->scripts && scripts_have_process(all->scripts, sample->pid));
}

void capture_complete(struct capture *all, size_t cpu, struct record *sample)
{
	struct captured_stack *stack = NULL;

	if (all->given)
		captured_stack_release(STEAL(all->given));
	if (all->items[cpu])
		capture_replace_if_hung(all, cpu);
	if (all->items[cpu])
		stack = captured_stacks_take(&all->items[cpu]->stacks, sample);
	if (stack) {
		if (stack->len > bytes_left(&sample->sample.stack))
			sample->sample.stack = bytes_of(stack->memory, stack->len);
		sample->sample.script = stack->has_script ? &stack->script : NULL;
		sample->sample.interrupted_stack = bytes_of(stack->interrupted,
							    stack->interrupted_len);
		sample->sample.interrupted_start = stack->interrupted_start;
		sample->sample.go = stack->go;
	}
	all->given = stack;
}
