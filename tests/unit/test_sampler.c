/*
 * The sampler on real processes. The tests need a kernel that allows sampling
 * with cpu-clock, and are skipped otherwise. Targets work for a number of
 * milliseconds of CPU time, never of wall-clock time.
 */
#include "perf/sampler.h"

#include "base/alloc.h"

#include "elsewhere.h"
#include "lacking.h"
#include "launched.h"
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HZ = 999 };

/* --- the targets --- */

static void spin_for(uint64_t ns)
{
	uint64_t until = clock_thread_cpu_ns() + ns;

	/* Mostly in user space, for users who cannot sample the kernel. */
	while (clock_thread_cpu_ns() < until)
		for (volatile unsigned i = 0; i < 10000; i++)
			continue;
}

static void spin(unsigned ms)
{
	spin_for(ms * NS_PER_MS);
}

/* Spins with a large stack above it, to be dumped. */
__attribute__((noinline)) static void spin_deep(unsigned ms)
{
	volatile char stack[100000];

	/* From above, as stacks grow: if a sample finds it filled, all of its
	 * pages exist. */
	for (size_t i = sizeof(stack); i-- > 0;)
		stack[i] = 1;
	/* Otherwise the compiler could remove the stack. */
	__asm__ volatile("" : : "r"(stack) : "memory");
	spin(ms);
	__asm__ volatile("" : : "r"(stack) : "memory");
}

/*
 * Runs new code again and again: a loop in a page of its own, each at a new
 * address. A sanitizer would read the function's type before it.
 */
__attribute__((no_sanitize("undefined"))) static void run_new_pages(unsigned pages)
{
#ifdef __x86_64__
	static const unsigned char loop[] = {
		0x48, 0xff, 0xcf, /* dec %rdi */
		0x75, 0xfb,	  /* jne to the dec */
		0xc3,		  /* ret */
	};

	for (unsigned i = 0; i < pages; i++) {
		void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		void (*run)(uint64_t) = NULL;

		memcpy(page, loop, sizeof(loop));
		memcpy(&run, &page, sizeof(run));
		run(1000000);
	}
#else
	spin(pages);
#endif
}

static uint64_t switches_of(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_nvcsw + usage->ru_nivcsw);
}

enum { CROWD_MAX = 200 };

/* Threads started as fast as possible. Shared between the test and its target. */
struct crowd {
	/* each thread starts the next one; otherwise the main thread starts all
	 * of them */
	bool chain;
	unsigned spin_ms; /* how long each thread then works */
	/* how often each thread left its CPU while it worked */
	atomic_uint switches[CROWD_MAX];
	atomic_uint created; /* written by one thread at a time */
	atomic_uint running;
	atomic_uint enough; /* stop creating threads */
	atomic_uint complete;
	atomic_uint go; /* futex: start to work */
	pid_t tids[CROWD_MAX];
	pthread_t threads[CROWD_MAX];
};

static struct crowd *crowd_new(bool chain, unsigned spin_ms)
{
	struct crowd *crowd = mmap(NULL, sizeof(*crowd), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	crowd->chain = chain;
	crowd->spin_ms = spin_ms;
	return crowd;
}

static void *crowd_thread(void *arg);

static bool crowd_start_one(struct crowd *crowd)
{
	unsigned self = atomic_load(&crowd->created);

	if (self == CROWD_MAX || atomic_load(&crowd->enough)) {
		atomic_store(&crowd->complete, 1);
		return false;
	}
	atomic_store(&crowd->created, self + 1);
	return pthread_create(&crowd->threads[self], NULL, crowd_thread, crowd) == 0;
}

static void *crowd_thread(void *arg)
{
	struct crowd *crowd = arg;
	unsigned self = atomic_fetch_add(&crowd->running, 1);
	struct rusage usage;

	crowd->tids[self] = (pid_t)syscall(SYS_gettid);
	if (crowd->chain)
		crowd_start_one(crowd);
	while (!atomic_load(&crowd->go))
		syscall(SYS_futex, &crowd->go, FUTEX_WAIT, 0, NULL, NULL, 0);
	spin(crowd->spin_ms);
	getrusage(RUSAGE_THREAD, &usage);
	atomic_store(&crowd->switches[self], (unsigned)switches_of(&usage));
	return NULL;
}

static void run_crowd(struct crowd *crowd)
{
	while (crowd_start_one(crowd) && !crowd->chain)
		continue;
	while (!atomic_load(&crowd->complete))
		sched_yield();
	for (unsigned i = 0; i < crowd->created; i++)
		pthread_join(crowd->threads[i], NULL);
}

static void crowd_go(struct crowd *crowd)
{
	atomic_store(&crowd->go, 1);
	syscall(SYS_futex, &crowd->go, FUTEX_WAKE, CROWD_MAX, NULL, NULL, 0);
}

/* Runs one process after the other. */
static void spin_deep_as_another_user(unsigned ms)
{
	enum { USER = 54321, PROCESSES = 3 };

	if (setuid(USER) != 0)
		_exit(1);
	for (unsigned i = 0; i < PROCESSES; i++) {
		if (fork() == 0) {
			spin_deep(ms);
			_exit(0);
		}
		wait(NULL);
	}
}

#define SHORT_NS (NS_PER_MS / 2)

/* Runs one process after the other, each shorter than a period. */
static void spin_shortly(unsigned processes)
{
	while (processes--) {
		if (fork() == 0) {
			spin_for(SHORT_NS);
			_exit(0);
		}
		wait(NULL);
	}
}

enum { NAPS = 10 };

/* Leaves its CPU also if no other thread wants it. */
static void spin_with_naps(unsigned ms)
{
	struct timespec nap = {.tv_nsec = NS_PER_MS};

	for (unsigned i = 0; i < NAPS; i++) {
		spin(ms / NAPS);
		nanosleep(&nap, NULL);
	}
}

/* Runs this program as a target: prog ROLE NUMBER. */
static int run_role(const char *role, unsigned number)
{
	if (strcmp(role, "spin") == 0)
		spin(number);
	else if (strcmp(role, "deep") == 0)
		spin_deep(number);
	else if (strcmp(role, "deep as another user") == 0)
		spin_deep_as_another_user(number);
	else if (strcmp(role, "naps") == 0)
		spin_with_naps(number);
	else if (strcmp(role, "pages") == 0)
		run_new_pages(number);
	else if (strcmp(role, "short") == 0)
		spin_shortly(number);
	else if (strcmp(role, "fork") == 0) {
		if (fork() == 0) {
			spin(number);
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}

/* --- recording --- */

static void release(const struct launched *child)
{
	close(child->hold);
}

struct mapping {
	pid_t pid;
	uint64_t start, end;
};

/* The parts of a recording that these tests check. */
struct heard {
	uint64_t samples, time_ns /* samples, and the sum of their periods */, lost, throttled;
	uint64_t out_of_order, of_unknown_code, full_stacks, before_exec;
	/* Stacks of spin_deep(): all, those that continue beyond the copy, and
	 * those that it was filling. */
	uint64_t deep, completed, falsely;
	uint64_t forks;
	uint64_t elsewhere_ns; /* elsewhere_ns() at the start */
	bool execed;
	uint64_t last_ns;
	struct mapping *maps;
	size_t map_count, map_room;
	uint64_t ns_of_tid[1 << 16]; /* by the lower bits of the tid */
};

static struct heard *heard_new(void)
{
	struct heard *heard = xcalloc(1, sizeof(*heard));

	heard->elsewhere_ns = elsewhere_ns();
	return heard;
}

static void heard_free(struct heard *heard)
{
	free(heard->maps);
	free(heard);
}

static bool is_mapped(const struct heard *heard, pid_t pid, uint64_t ip)
{
	for (size_t i = heard->map_count; i-- > 0;) {
		const struct mapping *map = &heard->maps[i];

		if (map->pid == pid && ip >= map->start && ip < map->end)
			return true;
	}
	return false;
}

/* Returns true if the stack contains the data of spin_deep(). */
static bool is_deep(struct bytes stack, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (stack.at[i] != 1)
			return false;
	return true;
}

static void hear_sample(struct heard *heard, const struct record *record)
{
	const struct record_sample *sample = &record->sample;

	heard->samples++;
	heard->time_ns += sample->period;
	heard->ns_of_tid[record->tid & 0xffff] += sample->period;
	heard->before_exec += !heard->execed;
	heard->full_stacks += bytes_left(&sample->stack) >= 32 * 1024;
	/* The kernel's own copy shows whether the stack was filled. */
	if (bytes_left(&sample->stack) >= 8100 && is_deep(sample->stack, 7200, 8100)) {
		bool is_completed = bytes_left(&sample->stack) > 100000;

		heard->deep++;
		heard->completed += is_completed;
		heard->falsely += is_completed && !is_deep(sample->stack, 40000, 60000);
	}
	if (!sample->in_kernel && !is_mapped(heard, record->pid, sample->ip))
		heard->of_unknown_code++;
}

static void add_mapping(struct heard *heard, struct mapping map)
{
	GROW(heard->maps, heard->map_count, heard->map_room);
	heard->maps[heard->map_count++] = map;
}

static void hear_mmap(struct heard *heard, const struct record *record)
{
	add_mapping(heard, (struct mapping){.pid = record->pid,
					    .start = record->mmap.start,
					    .end = record->mmap.start + record->mmap.length_bytes});
}

/* A child inherits the mappings of its parent. */
static void hear_fork(struct heard *heard, const struct record *record)
{
	size_t before = heard->map_count;

	if (record->pid == record->fork.parent_pid)
		return;
	heard->forks++;
	for (size_t i = 0; i < before; i++) {
		struct mapping map = heard->maps[i];

		if (map.pid != record->fork.parent_pid)
			continue;
		map.pid = record->pid;
		add_mapping(heard, map);
	}
}

static void hear(struct heard *heard, const struct record *record)
{
	switch (record->type) {
	case RECORD_SAMPLE:
		hear_sample(heard, record);
		break;
	case RECORD_MMAP:
		hear_mmap(heard, record);
		break;
	case RECORD_FORK:
		hear_fork(heard, record);
		break;
	case RECORD_COMM:
		heard->execed |= record->comm.exec;
		break;
	case RECORD_LOST:
		heard->lost += record->lost.count;
		break;
	case RECORD_THROTTLE:
		heard->throttled++;
		break;
	default:
		break;
	}
}

static void read_batch(struct sampler *sampler, struct heard *heard)
{
	struct record record;

	heard->last_ns = 0;
	sampler_batch(sampler);
	while (sampler_next(sampler, &record)) {
		heard->out_of_order += record.time_ns < heard->last_ns;
		heard->last_ns = record.time_ns;
		hear(heard, &record);
	}
}

/* CPU time of a process and its children, as accounted by the kernel. */
struct used {
	uint64_t ns, switches;
};

static struct used used_of(const struct rusage *usage)
{
	return (struct used){
		.ns = (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000 +
		      (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000,
		.switches = switches_of(usage),
	};
}

/* Reads until the process is gone, and reaps it. */
static struct used read_until_exit(struct sampler *sampler, pid_t pid, struct heard *heard)
{
	CLEANUP(close_fd) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd fds[] = {{.fd = sampler_fd(sampler), .events = POLLIN},
			       {.fd = pidfd, .events = POLLIN}};
	struct rusage usage;
	int status = 0;

	assert_true(pidfd >= 0);
	do {
		int timeout_ms = sampler_facts(sampler)->capture_poll_ms;

		assert_true(poll(fds, 2, sampler_captures_deep(sampler) ? timeout_ms : -1) >= 0);
		read_batch(sampler, heard);
	} while (!fds[1].revents);
	sampler_disable(sampler);
	read_batch(sampler, heard);
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_int_equal(status, 0);
	return used_of(&usage);
}

static struct event cpu_clock(void)
{
	static const struct pmus no_pmus;
	struct event event;

	assert_ok(event_parse("cpu-clock", &no_pmus, &event));
	event.frequency_hz = HZ;
	event.fields.kernel_chain = true;
	return event;
}

/* Returns an event for a sampler that outlives its caller, which borrows it.
 * Only one at a time. */
static const struct event *lasting_cpu_clock(const struct sample_fields *fields)
{
	static struct event event;

	event_deinit(&event);
	event = cpu_clock();
	event.fields = *fields;
	return &event;
}

static struct sampler *open_on(enum target_kind kind, pid_t id, const struct sample_fields *fields,
			       const struct sampler_options *opt)
{
	struct target target = {.kind = kind, .ids = &id, .id_count = 1, .inherit = true};
	struct sampler *sampler = NULL;

	assert_ok(sampler_open(lasting_cpu_clock(fields), 1, &target, opt, &sampler));
	return sampler;
}

static const struct sample_fields kernel_chain = {.kernel_chain = true};
static const struct sampler_options plain = {0};

#define PERIOD_NS (NS_PER_SECOND / HZ)

static void assert_about(uint64_t ns, uint64_t used_ns, uint64_t slack_ns)
{
	/* The accounting includes the time before the exec, and after the end
	 * of the events. */
	slack_ns += used_ns / 8;
	if (ns + slack_ns >= used_ns && ns <= used_ns + slack_ns)
		return;
	print_error("%" PRIu64 " us of %" PRIu64 " us, give or take %" PRIu64 " us\n", ns / 1000,
		    used_ns / 1000, slack_ns / 1000);
	fail();
}

/*
 * Each time a thread starts or leaves its CPU, it can lose the used part of a
 * period, or pass it on to the next thread.
 */
static void assert_sampled(const struct heard *heard, uint64_t sampled_ns, struct used used)
{
	assert_about(sampled_ns, used.ns,
		     (used.switches + heard->forks + 1) * PERIOD_NS + elsewhere_ns() -
			     heard->elsewhere_ns);
}

static void assert_counted(const struct sampler *sampler, const struct heard *heard,
			   struct used used)
{
	uint64_t counted_ns;

	assert_true(sampler_counted(sampler, 0, &counted_ns));
	assert_about(counted_ns, used.ns, elsewhere_ns() - heard->elsewhere_ns);
}

/* Returns true if copiers can preempt the sampled thread. Otherwise the
 * scheduler decides when they run. */
static bool copies_in_real_time(void)
{
	const struct sched_param real_time = {.sched_priority = 1}, usual = {0};

	return sched_setscheduler(0, SCHED_FIFO, &real_time) == 0 &&
	       sched_setscheduler(0, SCHED_OTHER, &usual) == 0;
}

/* --- tests --- */

TEST(a_command_is_sampled_from_its_exec_to_its_end)
{
	struct launched child = launch("spin", "100");
	CLEANUP(sampler_cleanup)
	struct sampler *sampler = open_on(TARGET_COMMAND, child.pid, &kernel_chain, &plain);
	struct heard *heard = heard_new();
	struct used used;

	assert_ok(sampler_enable(sampler));
	release(&child);
	used = read_until_exit(sampler, child.pid, heard);
	assert_sampled(heard, heard->time_ns, used);
	assert_true(heard->execed);
	assert_int_equal(heard->before_exec, 0);
	assert_int_equal(heard->lost, 0);
	assert_int_equal(heard->out_of_order, 0);
	heard_free(heard);
}

TEST(children_of_a_command_are_followed)
{
	struct launched child = launch("fork", "100");
	CLEANUP(sampler_cleanup)
	struct sampler *sampler = open_on(TARGET_COMMAND, child.pid, &kernel_chain, &plain);
	struct heard *heard = heard_new();
	struct used used;

	release(&child);
	used = read_until_exit(sampler, child.pid, heard);
	assert_sampled(heard, heard->time_ns, used);
	assert_int_equal(heard->of_unknown_code, 0);
	heard_free(heard);
}

TEST(without_inheritance_children_are_left_alone)
{
	struct launched child = launch("fork", "100");
	CLEANUP(event_deinit) struct event event = cpu_clock();
	struct target target = {.kind = TARGET_COMMAND, .ids = &child.pid, .id_count = 1};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	struct heard *heard = heard_new();
	struct used used;

	assert_ok(sampler_open(&event, 1, &target, &plain, &sampler));
	release(&child);
	used = read_until_exit(sampler, child.pid, heard);
	assert_true(heard->time_ns < used.ns / 2);
	heard_free(heard);
}

TEST(code_is_mapped_before_a_sample_runs_in_it)
{
	struct launched child = launch("pages", "200");
	CLEANUP(sampler_cleanup)
	struct sampler *sampler = open_on(TARGET_COMMAND, child.pid, &kernel_chain, &plain);
	struct heard *heard = heard_new();
	struct used used;

	release(&child);
	used = read_until_exit(sampler, child.pid, heard);
	assert_sampled(heard, heard->time_ns, used);
	assert_true(heard->map_count > 200);
	assert_int_equal(heard->of_unknown_code, 0);
	heard_free(heard);
}

TEST(nothing_is_lost_with_large_dumps_on_busy_cpus)
{
	CLEANUP(event_deinit) struct event event = cpu_clock();
	struct launched children[] = {launch("deep", "150"), launch("deep", "150")};
	pid_t pids[] = {children[0].pid, children[1].pid};
	struct target target = {
		.kind = TARGET_COMMAND, .ids = pids, .id_count = 2, .inherit = true};
	/* All samples fit into one ring, so that the reader may have to wait
	 * for a CPU. */
	struct sampler_options large_rings = {.ring_bytes = 64 << 20};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	struct heard *heard = heard_new();
	struct used used, other;

	event.fields = (struct sample_fields){.stack_bytes = 32 * 1024, .regs_mask = 0x1ff};
	assert_ok(sampler_open(&event, 1, &target, &large_rings, &sampler));
	release(&children[0]);
	release(&children[1]);
	used = read_until_exit(sampler, pids[0], heard);
	other = read_until_exit(sampler, pids[1], heard);
	used.ns += other.ns;
	used.switches += other.switches;
	assert_int_equal(heard->lost, 0);
	assert_true(heard->full_stacks >= heard->deep);
	assert_sampled(heard, heard->time_ns, used);
	heard_free(heard);
}

static size_t read_stack(pid_t tid, uint64_t address, void *into, size_t len)
{
	struct iovec to = {into, len};
	struct iovec from = {(void *)(uintptr_t)address, len}; /* NOLINT */
	ssize_t got = process_vm_readv(tid, &to, 1, &from, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

#ifdef __x86_64__
#define ALL_REGISTERS 0xff01ff
enum { SP_BIT = 7, PC_BIT = 8 };
#else
#define ALL_REGISTERS UINT64_C(0x1ffffffff)
enum { SP_BIT = 31, PC_BIT = 32 };
#endif

static const struct sample_fields stacks = {.regs_mask = ALL_REGISTERS, .stack_bytes = 8 * 1024};

static const struct sampler_options capturing = {
	.ring_bytes = 16 << 20,
	.captures_from_start = true,
	.read_memory = read_stack,
	.sp_bit = SP_BIT,
	.pc_bit = PC_BIT,
};

TEST(copiers_copy_what_a_sample_cannot_hold)
{
	struct launched child = launch("deep", "150");
	CLEANUP(sampler_cleanup)
	struct sampler *sampler = open_on(TARGET_COMMAND, child.pid, &stacks, &capturing);
	struct heard *heard = heard_new();
	struct used used;

	release(&child);
	used = read_until_exit(sampler, child.pid, heard);
	/* A copier is throttled for as long as it has worked. */
	assert_true(!copies_in_real_time() || heard->completed * 4 > heard->deep);
	/* While the stack is being filled. */
	assert_true(heard->falsely <= 3);
	assert_int_equal(heard->out_of_order, 0);
	assert_int_equal(heard->lost, 0);
	assert_sampled(heard, heard->time_ns, used);
	heard_free(heard);
}

/* Samples a program with deep stacks without copiers. extent: what is known
 * about its thread. */
static struct heard *hear_kernel_copies(struct stack_extent extent)
{
	struct launched child = launch("deep", "150");
	struct sampler_options options = capturing;
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	struct heard *heard = heard_new();

	options.captures_from_start = false;
	options.copies_in_kernel = true;
	sampler = open_on(TARGET_COMMAND, child.pid, &stacks, &options);
	sampler_note_stack(sampler, &(struct record){.tid = child.pid}, extent);
	release(&child);
	read_until_exit(sampler, child.pid, heard);
	assert_false(sampler_captures_deep(sampler));
	return heard;
}

TEST(the_kernel_copies_what_a_sample_cannot_hold)
{
	struct heard *heard = hear_kernel_copies((struct stack_extent){.is_deep = true});

	if (!heard->completed) {
		heard_free(heard);
		RETURN_LACKING("BPF programs on perf events, Linux 6.3");
	}
	assert_int_equal(heard->completed, heard->deep);
	/* While the stack is being filled. */
	assert_true(heard->falsely <= 3);
	heard_free(heard);
}

TEST(the_kernel_copies_no_more_than_a_stack_has)
{
	struct heard *heard = hear_kernel_copies((struct stack_extent){.end = 1, .is_whole = true});

	assert_int_equal(heard->completed, 0);
	heard_free(heard);
}

static atomic_int hanging_reads;

/* Reads as if the stack were memory whose page faults a server of the process
 * never resolves. */
static size_t read_hanging_stack(pid_t tid, uint64_t address, void *into, size_t len)
{
	(void)tid, (void)address, (void)into, (void)len;
	atomic_fetch_add(&hanging_reads, 1);
	while (pause())
		continue;
	return 0;
}

/* Samples a program with deep stacks whose memory does not respond. */
static void expect_few_hanging_reads(const char *role, const char *ms, unsigned unnoticed)
{
	struct launched child = launch(role, ms);
	struct sampler_options options = capturing;
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	struct heard *heard = heard_new();
	struct used used;

	atomic_store(&hanging_reads, 0);
	options.read_memory = read_hanging_stack;
	options.read_timeout_ns = 20 * NS_PER_MS;
	sampler = open_on(TARGET_COMMAND, child.pid, &stacks, &options);
	release(&child);
	used = read_until_exit(sampler, child.pid, heard);
	assert_in_range(atomic_load(&hanging_reads), copies_in_real_time(),
			sampler_facts(sampler)->cpus + unnoticed);
	assert_int_equal(heard->lost, 0);
	assert_sampled(heard, heard->time_ns, used);
	/* Freeing does not wait for them. */
	sampler_free(STEAL(sampler));
	heard_free(heard);
}

TEST(a_copier_that_hangs_is_left_behind)
{
	expect_few_hanging_reads("deep", "200", 0);
}

TEST(a_user_whose_memory_hangs_does_so_once)
{
	if (geteuid() != 0)
		RETURN_LACKING("root, to start a program of another user");
	/* A process that ends before it is noticed does not leave its user
	 * blocked. */
	expect_few_hanging_reads("deep as another user", "300", 1);
}

TEST(nothing_is_lost_when_capture_is_turned_on_and_off)
{
	struct launched child = launch("fork", "100");
	CLEANUP(close_fd) int pidfd = (int)syscall(SYS_pidfd_open, child.pid, 0);
	struct pollfd end = {.fd = pidfd, .events = POLLIN};
	CLEANUP(sampler_cleanup)
	struct sampler *sampler = open_on(TARGET_COMMAND, child.pid, &stacks, &capturing);
	struct heard *heard = heard_new();
	struct used used;

	assert_true(pidfd >= 0);
	release(&child);
	while (poll(&end, 1, 5) == 0) {
		sampler_capture_deep(sampler, !sampler_captures_deep(sampler), false);
		read_batch(sampler, heard);
	}
	used = read_until_exit(sampler, child.pid, heard);
	assert_int_equal(heard->lost, 0);
	assert_sampled(heard, heard->time_ns, used);
	heard_free(heard);
}

TEST(every_sample_that_does_not_fit_is_counted)
{
	struct sample_fields dumps = {.stack_bytes = 2048};
	struct sampler_options narrow = {.ring_bytes = 4096};
	struct launched child = launch("deep", "150");
	CLEANUP(sampler_cleanup)
	struct sampler *sampler = open_on(TARGET_COMMAND, child.pid, &dumps, &narrow);
	struct heard *heard = heard_new();
	struct used used;
	siginfo_t info;

	/* Nothing is read, so that almost every sample is lost, including the
	 * last ones. */
	release(&child);
	waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT);
	used = read_until_exit(sampler, child.pid, heard);
	assert_true(heard->samples > 0);
	assert_true(heard->lost > heard->samples);
	assert_sampled(heard, (heard->samples + heard->lost) * PERIOD_NS, used);
	heard_free(heard);
}

/* Attaches while the crowd is growing. */
static struct sampler *attach_to_crowd(pid_t pid, struct crowd *crowd)
{
	struct sampler *sampler = NULL;

	while (atomic_load(&crowd->running) < 10)
		sched_yield();
	sampler = open_on(TARGET_PROCESSES, pid, &kernel_chain, &plain);
	atomic_store(&crowd->enough, 1);
	while (!atomic_load(&crowd->complete) || crowd->running < crowd->created)
		sched_yield();
	assert_ok(sampler_enable(sampler));
	return sampler;
}

static void assert_crowd_is_counted_once(bool chain)
{
	enum { MS = 10 };
	struct crowd *crowd = crowd_new(chain, MS);
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	struct heard *heard = heard_new();
	struct used all = {0};
	pid_t pid = fork();

	if (pid == 0) {
		run_crowd(crowd);
		_exit(0);
	}
	sampler = attach_to_crowd(pid, crowd);
	crowd_go(crowd);
	read_until_exit(sampler, pid, heard);
	/* No thread is missing or counted twice. */
	for (unsigned i = 0; i < crowd->running; i++) {
		struct used used = {MS * NS_PER_MS, crowd->switches[i] + 1};

		assert_sampled(heard, heard->ns_of_tid[crowd->tids[i] & 0xffff], used);
		all.ns += used.ns;
		all.switches += used.switches;
	}
	assert_sampled(heard, heard->time_ns, all);
	assert_int_equal(heard->lost, 0);
	heard_free(heard);
	munmap(crowd, sizeof(*crowd));
}

TEST(threads_started_by_one_while_attaching_are_counted_once)
{
	assert_crowd_is_counted_once(false);
}

TEST(threads_started_by_each_other_while_attaching_are_counted_once)
{
	assert_crowd_is_counted_once(true);
}

TEST(the_whole_system_has_every_process)
{
	CLEANUP(sampler_cleanup)
	struct sampler *sampler = open_on(TARGET_SYSTEM, -1, &kernel_chain, &plain);
	struct heard *heard = heard_new();
	struct launched child = launch("spin", "100");
	struct used used;

	assert_ok(sampler_enable(sampler));
	release(&child);
	used = read_until_exit(sampler, child.pid, heard);
	assert_sampled(heard, heard->ns_of_tid[child.pid & 0xffff], used);
	assert_true(heard->execed);
	assert_int_equal(heard->out_of_order, 0);
	heard_free(heard);
}

TEST(the_reader_has_a_raised_priority_while_it_samples)
{
	struct record_source source;

	if (getpriority(PRIO_PROCESS, 0) || setpriority(PRIO_PROCESS, 0, -1))
		RETURN_LACKING("the usual priority, and CAP_SYS_NICE");
	setpriority(PRIO_PROCESS, 0, 0);
	source = sampler_source(open_on(TARGET_SYSTEM, -1, &kernel_chain, &plain));
	assert_ok(record_source_enable(&source));
	assert_true(getpriority(PRIO_PROCESS, 0) < 0);
	record_source_disable(&source);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), 0);
	record_source_close(&source);
}

/* Samples whole CPUs for the child. */
static struct sampler *open_on_cpus_for(const struct launched *child,
					const struct sample_fields *fields,
					const struct sampler_options *options)
{
	struct target target = {.kind = TARGET_COMMAND,
				.ids = &child->pid,
				.id_count = 1,
				.inherit = true,
				.prefers_cpus = true};
	struct sampler *sampler = NULL;

	assert_ok(sampler_open(lasting_cpu_clock(fields), 1, &target, options, &sampler));
	assert_true(sampler_facts(sampler)->is_tree);
	assert_ok(sampler_enable(sampler));
	return sampler;
}

TEST(whole_cpus_are_sampled_for_a_process_tree_without_strangers)
{
	struct launched child = launch("fork", "100"), stranger = launch("spin", "100");
	CLEANUP(sampler_cleanup)
	struct sampler *sampler = open_on_cpus_for(&child, &kernel_chain, &plain);
	struct heard *heard = heard_new();
	struct used used;

	release(&stranger);
	release(&child);
	used = read_until_exit(sampler, child.pid, heard);
	assert_sampled(heard, heard->time_ns, used);
	assert_int_equal(heard->ns_of_tid[stranger.pid & 0xffff], 0);
	assert_int_equal(heard->before_exec, 0);
	assert_int_equal(heard->out_of_order, 0);
	assert_counted(sampler, heard, used);
	waitpid(stranger.pid, NULL, 0);
	heard_free(heard);
}

/* Only one child of this process is sampled: the command, from its exec on. */
static void expect_the_later_command_alone(bool prefers_cpus)
{
	CLEANUP(event_deinit) struct event event = cpu_clock();
	pid_t own = getpid();
	struct target target = {.kind = TARGET_COMMAND,
				.ids = &own,
				.id_count = 1,
				.inherit = true,
				.prefers_cpus = prefers_cpus,
				.commands_later = true};
	struct sampler_options options = {.starts_late = true};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	struct heard *heard = heard_new();
	struct launched child, stranger;
	uint64_t counted_ns = 1;
	struct used used;

	assert_ok(sampler_open(&event, 1, &target, &options, &sampler));
	assert_int_equal(sampler_facts(sampler)->is_tree, prefers_cpus);
	assert_true(sampler_counted(sampler, 0, &counted_ns));
	assert_int_equal(counted_ns, 0);
	assert_ok(sampler_enable(sampler));
	stranger = launch("spin", "100");
	child = launch("fork", "100");
	sampler_add_command(sampler, child.pid);
	release(&stranger);
	release(&child);
	used = read_until_exit(sampler, child.pid, heard);
	assert_sampled(heard, heard->time_ns, used);
	assert_int_equal(heard->ns_of_tid[stranger.pid & 0xffff], 0);
	assert_int_equal(heard->ns_of_tid[own & 0xffff], 0);
	assert_int_equal(heard->before_exec, 0);
	assert_int_equal(heard->out_of_order, 0);
	assert_counted(sampler, heard, used);
	waitpid(stranger.pid, NULL, 0);
	heard_free(heard);
}

TEST(a_command_that_follows_later_is_sampled_without_strangers)
{
	expect_the_later_command_alone(false);
}

TEST(whole_cpus_are_sampled_for_a_command_that_follows_later)
{
	expect_the_later_command_alone(true);
}

TEST(the_time_of_copiers_is_not_that_of_whom_they_copy_from)
{
	struct launched child = launch("deep", "150");
	CLEANUP(sampler_cleanup)
	struct sampler *sampler = open_on_cpus_for(&child, &stacks, &capturing);
	struct heard *heard = heard_new();
	uint64_t whole_ns;

	release(&child);
	read_until_exit(sampler, child.pid, heard);
	whole_ns = heard->samples * PERIOD_NS;
	/* A copy takes at least a microsecond, and a copier is throttled for as
	 * long as it has worked. */
	assert_true(heard->completed || !copies_in_real_time());
	assert_in_range(heard->time_ns, whole_ns / 2, whole_ns - heard->completed * 1000);
	heard_free(heard);
}

/* One event with full samples, and one with minimal samples, a fixed period and
 * captured stacks. */
TEST(each_event_has_a_record_layout_of_its_own)
{
	struct event events[2] = {cpu_clock(), cpu_clock()};
	struct launched child = launch("deep", "150");
	struct target target = {
		.kind = TARGET_COMMAND, .ids = &child.pid, .id_count = 1, .inherit = true};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	uint64_t counts[2] = {0}, weight[2] = {0}, whole = 0;
	struct record record;
	siginfo_t info;

	events[0].fields = stacks;
	events[0].fields.kernel_chain = true;
	events[1].fields = (struct sample_fields){0};
	events[1].frequency_hz = 0;
	events[1].period = 5000000;
	assert_ok(sampler_open(events, 2, &target, &capturing, &sampler));
	release(&child);
	waitid(P_PID, (id_t)child.pid, &info, WEXITED);
	sampler_disable(sampler);
	sampler_batch(sampler);
	while (sampler_next(sampler, &record)) {
		if (record.type != RECORD_SAMPLE)
			continue;
		counts[record.sample.event]++;
		weight[record.sample.event] += record.sample.period;
		if (record.sample.event == 0)
			whole += bytes_left(&record.sample.regs.values) &&
				 bytes_left(&record.sample.stack);
		else
			assert_int_equal(bytes_left(&record.sample.stack), 0);
	}
	/* Except the first ones. */
	assert_true(whole > counts[0] / 2);
	assert_true(counts[1] > 0);
	assert_int_equal(weight[1], counts[1] * 5000000);
	event_deinit(&events[0]);
	event_deinit(&events[1]);
}

/* A dummy event next to the samples: PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY. */
TEST(context_switches_come_between_the_samples)
{
	struct event events[2] = {cpu_clock(), {.type = 1, .config = 9, .period = 1}};
	struct launched child = launch("naps", "100");
	struct target target = {
		.kind = TARGET_COMMAND, .ids = &child.pid, .id_count = 1, .inherit = true};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	uint64_t samples = 0, in = 0, out = 0, last_ns = 0;
	struct record record;
	siginfo_t info;

	events[1].switches = true;
	events[1].exclude_kernel = true;
	assert_ok(sampler_open(events, 2, &target, &plain, &sampler));
	release(&child);
	waitid(P_PID, (id_t)child.pid, &info, WEXITED);
	sampler_disable(sampler);
	sampler_batch(sampler);
	while (sampler_next(sampler, &record)) {
		assert_true(record.time_ns >= last_ns);
		last_ns = record.time_ns;
		samples += record.type == RECORD_SAMPLE;
		if (record.type != RECORD_SWITCH)
			continue;
		if (record.switched.is_out)
			out++;
		else
			in++;
	}
	assert_true(samples > 0);
	/* The last switch, at the exit, may be missing. */
	assert_true(out >= NAPS && out <= in + 1 && in <= out + 1);
	event_deinit(&events[0]);
	event_deinit(&events[1]);
}

/* Derived from switches and exits: which thread runs on a CPU, and since when. */
struct running {
	pid_t tid;
	uint64_t since_ns;
};

static uint64_t end_running(struct running *running, const struct record *record)
{
	uint64_t ns = running->tid == record->tid ? record->time_ns - running->since_ns : 0;

	running->tid = 0;
	return ns;
}

/*
 * Switches and exits stop the clock whose value they report, so both give the
 * same time, except for the time of the switches themselves.
 */
TEST(what_samples_miss_of_short_children_the_kernel_counts)
{
	enum { CHILDREN = 100 };
	struct launched child = launch("short", "100");
	CLEANUP(event_deinit) struct event event = cpu_clock();
	struct target target = {
		.kind = TARGET_COMMAND, .ids = &child.pid, .id_count = 1, .inherit = true};
	struct sampler_options options = {.switches = true};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	struct running running[256] = {{0}};
	uint64_t running_ns = 0, counted_ns = 0, before_ns = elsewhere_ns();
	struct rusage usage;
	struct record record;

	assert_ok(sampler_open(&event, 1, &target, &options, &sampler));
	assert_true(sampler_facts(sampler)->has_switches);
	release(&child);
	assert_int_equal(wait4(child.pid, NULL, 0, &usage), child.pid);
	sampler_disable(sampler);
	sampler_batch(sampler);
	while (sampler_next(sampler, &record)) {
		struct running *here = &running[record.cpu % ARRAY_SIZE(running)];

		assert_int_not_equal(record.type, RECORD_LOST);
		if ((record.type == RECORD_SWITCH && !record.switched.is_out) ||
		    (record.type == RECORD_COMM && record.comm.exec))
			*here = (struct running){record.tid, record.time_ns};
		else if (record.type == RECORD_SWITCH || record.type == RECORD_EXIT)
			running_ns += end_running(here, &record);
	}
	assert_true(sampler_counted(sampler, 0, &counted_ns));
	assert_about(running_ns, counted_ns, elsewhere_ns() - before_ns);
	/* No child had a whole period. The child's own clock starts a moment
	 * earlier, at the switch. */
	assert_true(counted_ns > CHILDREN * SHORT_NS * 9 / 10);
	assert_true(counted_ns < used_of(&usage).ns + elsewhere_since_ns(before_ns) + NS_PER_MS);
}

/* Returns the offset of a function in this program's file, or 0. */
static uint64_t file_offset_of(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t start, end, offset, found = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) ==
			    3 &&
		    address >= start && address < end)
			found = address - start + offset;
	if (maps)
		fclose(maps);
	return found;
}

/* The PMU takes the path in config1 and the offset in config2, like the numbers
 * of other events. */
TEST(a_uprobe_gives_a_sample_with_raw_data_for_each_call)
{
	FILE *type = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	struct event_variant place = {
		.place = (char[]){"/proc/self/exe"},
		.offset = file_offset_of((uintptr_t)spin_deep),
	};
	struct event event = {
		.name = (char[]){"uprobe"},
		.is_probe = true,
		.variants = &place,
		.variant_count = 1,
		.period = 1,
		.fields.raw = true,
	};
	bool is_known = type && fscanf(type, "%" SCNu32, &place.type) == 1;
	struct launched child;
	struct target target = {.kind = TARGET_COMMAND, .ids = &child.pid, .id_count = 1};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	CLEANUP(error_cleanup) struct error *err = NULL;
	unsigned samples = 0;
	struct record record;
	siginfo_t info;

	if (type)
		fclose(type);
	if (!is_known || geteuid() != 0)
		RETURN_LACKING("uprobes, which take root");
	child = launch("deep", "10");
	err = sampler_open(&event, 1, &target, &plain, &sampler);
	release(&child);
	waitid(P_PID, (id_t)child.pid, &info, WEXITED);
	if (err && (error_number(err) == EACCES || error_number(err) == EPERM))
		RETURN_LACKING("the right to open uprobes");
	assert_null(err);
	sampler_disable(sampler);
	sampler_batch(sampler);
	while (sampler_next(sampler, &record)) {
		if (record.type != RECORD_SAMPLE)
			continue;
		samples++;
		assert_int_equal(record.pid, child.pid);
		assert_true(bytes_left(&record.sample.raw_data) >= 16);
	}
	assert_int_equal(samples, 1);
}

TEST(a_process_that_is_not_there_is_named)
{
	CLEANUP(event_deinit) struct event event = cpu_clock();
	pid_t pid = fork();
	struct target target = {.kind = TARGET_PROCESSES, .ids = &pid, .id_count = 1};
	struct sampler *sampler = NULL;
	CLEANUP(error_cleanup) struct error *err = NULL;

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	err = sampler_open(&event, 1, &target, &plain, &sampler);
	assert_non_null(err);
	assert_int_equal(error_number(err), ESRCH);
	assert_non_null(strstr(error_text(err), "No such process"));
}

TEST(a_cpu_that_is_not_there_is_named)
{
	CLEANUP(event_deinit) struct event event = cpu_clock();
	unsigned cpu = 60000;
	struct target target = {.kind = TARGET_SYSTEM, .cpus = &cpu, .cpu_count = 1};
	struct sampler *sampler = NULL;
	CLEANUP(error_cleanup)
	struct error *err = sampler_open(&event, 1, &target, &plain, &sampler);

	assert_non_null(err);
	assert_string_equal(error_text(err), "CPU 60000 is not online");
}

/* Runs in an unprivileged process. Returns 0 if the sampler reports that the
 * kernel is excluded, and fails for the whole system. */
static int sample_unprivileged(void)
{
	struct event event = cpu_clock();
	pid_t self = getpid();
	struct target own = {.kind = TARGET_PROCESSES, .ids = &self, .id_count = 1};
	struct target system = {.kind = TARGET_SYSTEM};
	struct sampler *sampler = NULL;
	struct error *err = sampler_open(&event, 1, &own, &plain, &sampler);

	if (err || !sampler_facts(sampler)->kernel_excluded)
		return 1;
	err = sampler_open(&event, 1, &system, &plain, &sampler);
	if (!err || !error_hint_text(err))
		return 2;
	return strstr(error_hint_text(err), "kernel.perf_event_paranoid=0") ? 0 : 3;
}

TEST(without_privileges_ones_own_processes_are_sampled_in_user_space)
{
	int status = 0;
	pid_t pid = 0;

	if (geteuid() != 0 || paranoid_level() != 2)
		RETURN_LACKING("needs root, and a paranoid level of 2");
	pid = fork();
	if (pid == 0)
		_exit(setresuid(65534, 65534, 65534) == 0 ? sample_unprivileged() : 4);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static bool may_sample(void)
{
	struct event event = cpu_clock();
	struct target target = {.kind = TARGET_SYSTEM};
	struct sampler *sampler = NULL;
	struct error *err = sampler_open(&event, 1, &target, &plain, &sampler);

	event_deinit(&event);
	sampler_free(sampler);
	if (err)
		print_message("1..0 # SKIP %s\n", error_text(err));
	error_free(err);
	return !err;
}

int main(int argc, char **argv)
{
	/* The leak sanitizer would start a process at the end. */
	if (argc == 3)
		_exit(run_role(argv[1], (unsigned)atoi(argv[2])));
	if (!may_sample())
		return 0;
	return unit_tests_run();
}
