/*
 * Records of context switches of real threads (sampler_options.waits). The
 * targets pass a byte back and forth, sleep, or spin on one CPU.
 */
#include "perf/sampler.h"

#include "base/alloc.h"
#include "base/clock.h"

#include "lacking.h"
#include "launched.h"
#include "unit_test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534 };

/* --- the targets --- */

static void nap(void)
{
	struct timespec time = {.tv_nsec = NS_PER_MS};

	nanosleep(&time, NULL);
}

static void spin(unsigned ms)
{
	uint64_t until_ns = clock_thread_cpu_ns() + ms * NS_PER_MS;

	while (clock_thread_cpu_ns() < until_ns)
		continue;
}

/* Restricts the whole process to one CPU. */
static void share_one_cpu(void)
{
	cpu_set_t allowed, one;
	int cpu = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

struct pipes {
	int there[2], back[2];
};

static void *return_bytes(void *arg)
{
	struct pipes *pipes = arg;
	char byte;

	while (read(pipes->there[0], &byte, 1) == 1)
		if (write(pipes->back[1], &byte, 1) != 1)
			break;
	return NULL;
}

/* Two threads, each of which waits for the other. */
static void hand_to_and_fro(unsigned rounds)
{
	struct pipes pipes;
	pthread_t other;
	char byte = 0;

	share_one_cpu();
	if (pipe(pipes.there) != 0 || pipe(pipes.back) != 0 ||
	    pthread_create(&other, NULL, return_bytes, &pipes) != 0)
		_exit(1);
	while (rounds--)
		if (write(pipes.there[1], &byte, 1) != 1 || read(pipes.back[0], &byte, 1) != 1)
			_exit(1);
	close(pipes.there[1]);
	pthread_join(other, NULL);
}

static void *spin_thread(void *arg)
{
	spin(*(unsigned *)arg);
	return NULL;
}

/* Two threads that compete for one CPU. */
static void compete(unsigned ms)
{
	pthread_t other;

	share_one_cpu();
	if (pthread_create(&other, NULL, spin_thread, &ms) != 0)
		_exit(1);
	spin(ms);
	pthread_join(other, NULL);
}

static int run_role(const char *role, unsigned number)
{
	if (strcmp(role, "to and fro") == 0)
		hand_to_and_fro(number);
	else if (strcmp(role, "compete") == 0)
		compete(number);
	return 0;
}

enum { THREADS_MAX = 100, NAPS = 10 };

/* A process whose threads sleep repeatedly. Shared with the test, which may
 * attach while they do. */
struct sleepers {
	unsigned count;
	atomic_uint begun, started; /* started: its tid is known */
	atomic_int tids[THREADS_MAX];
	atomic_bool begin; /* the threads are started when this is set */
	atomic_bool sleep; /* they sleep this number of times when this is set */
	atomic_bool end;   /* otherwise they sleep until this is set */
	bool on_and_on;
	pid_t pid;
};

static void *sleeper_thread(void *arg)
{
	struct sleepers *sleepers = arg;
	unsigned self = atomic_fetch_add(&sleepers->begun, 1);

	sleepers->tids[self] = (pid_t)syscall(SYS_gettid);
	atomic_fetch_add(&sleepers->started, 1);
	while (!sleepers->sleep)
		nap();
	for (unsigned i = 0; sleepers->on_and_on ? !sleepers->end : i < NAPS; i++)
		nap();
	return NULL;
}

static void run_sleepers(struct sleepers *sleepers)
{
	pthread_t threads[THREADS_MAX];

	while (!sleepers->begin)
		nap();
	for (unsigned i = 0; i < sleepers->count; i++)
		if (pthread_create(&threads[i], NULL, sleeper_thread, sleepers) != 0)
			_exit(1);
	for (unsigned i = 0; i < sleepers->count; i++)
		pthread_join(threads[i], NULL);
}

static struct sleepers *sleepers_new(unsigned count, bool on_and_on)
{
	struct sleepers *sleepers = mmap(NULL, sizeof(*sleepers), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	sleepers->count = count;
	sleepers->on_and_on = on_and_on;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_sleepers(sleepers);
		_exit(0);
	}
	sleepers->pid = pid;
	return sleepers;
}

static void sleepers_await(const struct sleepers *sleepers)
{
	while (sleepers->started < sleepers->count)
		nap();
}

/* --- recording --- */

/* The records of one thread. */
struct life {
	pid_t tid;
	uint64_t outs, ins, preempted;
	uint64_t twice; /* out while it is out, or in while it is in */
	bool is_out, is_in;
};

/* More threads than run on a machine while it is recorded. */
enum { LIVES_MAX = 4096 };

struct heard {
	struct life lives[LIVES_MAX];
	size_t life_count;
	uint64_t switches, of_idle, samples, lost, lost_switches, out_of_order, incomplete, execs;
	uint64_t batches;
	uint64_t complete_ns, last_ns;
};

static struct life *life_of(struct heard *heard, pid_t tid)
{
	for (size_t i = 0; i < heard->life_count; i++)
		if (heard->lives[i].tid == tid)
			return &heard->lives[i];
	assert_true(heard->life_count < LIVES_MAX);
	heard->lives[heard->life_count].tid = tid;
	return &heard->lives[heard->life_count++];
}

static void hear_switch(struct heard *heard, const struct record *record)
{
	struct life *life = life_of(heard, record->tid);
	bool is_out = record->switched.is_out;

	heard->switches++;
	heard->of_idle += record->tid == 0;
	life->outs += is_out;
	life->ins += !is_out;
	life->preempted += record->switched.is_preempted;
	life->twice += is_out ? life->is_out : life->is_in;
	life->is_out = is_out;
	life->is_in = !is_out;
}

static void read_batch(struct sampler *sampler, struct heard *heard)
{
	struct record record;

	heard->batches++;
	heard->last_ns = 0;
	sampler_batch(sampler);
	while (sampler_next(sampler, &record)) {
		heard->out_of_order += record.time_ns < heard->last_ns;
		heard->incomplete += record.time_ns < heard->complete_ns;
		heard->last_ns = record.time_ns;
		heard->samples += record.type == RECORD_SAMPLE;
		heard->execs += record.type == RECORD_COMM && record.comm.exec;
		if (record.type == RECORD_SWITCH)
			hear_switch(heard, &record);
		else if (record.type == RECORD_LOST && record.lost.what == LOST_SWITCHES)
			heard->lost_switches += record.lost.count;
		else if (record.type == RECORD_LOST)
			heard->lost += record.lost.count;
	}
	heard->complete_ns = sampler_complete_ns(sampler);
}

/* How often the threads of a process left a CPU, as counted by the kernel. */
struct switches {
	uint64_t all, preempted;
};

static struct switches switches_of(const struct rusage *usage)
{
	return (struct switches){
		.all = (uint64_t)(usage->ru_nvcsw + usage->ru_nivcsw),
		.preempted = (uint64_t)usage->ru_nivcsw,
	};
}

/* Reads every few milliseconds until the process has ended, and reaps it. */
static struct switches read_while_it_lives(struct sampler *sampler, pid_t pid, struct heard *heard)
{
	CLEANUP(close_fd) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	struct rusage usage;
	int status = 0;

	do {
		poll(&ended, 1, 4);
		read_batch(sampler, heard);
	} while (!ended.revents);
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_int_equal(status, 0);
	return switches_of(&usage);
}

static void read_the_rest(struct sampler *sampler, struct heard *heard)
{
	sampler_disable(sampler);
	read_batch(sampler, heard);
}

static struct switches read_until_exit(struct sampler *sampler, pid_t pid, struct heard *heard)
{
	struct switches counted = read_while_it_lives(sampler, pid, heard);

	read_the_rest(sampler, heard);
	return counted;
}

static const struct sampler_options waits = {.waits = true};

static struct sampler *open_on(enum target_kind kind, pid_t id)
{
	struct target target = {
		.kind = kind, .ids = &id, .id_count = 1, .inherit = kind != TARGET_THREADS};
	struct sampler *sampler = NULL;

	assert_ok(sampler_open(NULL, 0, &target, &waits, &sampler));
	assert_true(sampler_facts(sampler)->switch_ring_bytes > 0);
	return sampler;
}

static struct event cpu_clock(void)
{
	static const struct pmus no_pmus;
	struct event event;

	assert_ok(event_parse("cpu-clock", &no_pmus, &event));
	event.frequency_hz = 999;
	return event;
}

static void assert_alternates(const struct life *life, uint64_t least)
{
	if (life->twice == 0 && life->outs >= least && life->outs <= life->ins + 1 &&
	    life->ins <= life->outs + 1)
		return;
	print_error("thread %d: out %lu times, in %lu times, %lu of them twice\n", life->tid,
		    (unsigned long)life->outs, (unsigned long)life->ins,
		    (unsigned long)life->twice);
	fail();
}

/* A hypervisor may stop a CPU while it writes a record: one record, at the
 * start of a batch. */
static void assert_orderly(const struct heard *heard)
{
	assert_int_equal(heard->out_of_order, 0);
	assert_in_range(heard->incomplete, 0,
			heard->batches * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static void assert_whole(const struct heard *heard)
{
	assert_int_equal(heard->lost, 0);
	assert_int_equal(heard->lost_switches, 0);
	assert_orderly(heard);
}

/* Two threads, and threads of a sanitizer. */
static void assert_two_alternate(const struct heard *heard, uint64_t least)
{
	unsigned busy = 0;

	for (size_t i = 0; i < heard->life_count; i++) {
		assert_alternates(&heard->lives[i], 0);
		busy += heard->lives[i].outs >= least;
	}
	assert_true(busy >= 2);
}

/* The number is that of the kernel, except for the time before the exec. */
static void assert_preempted(const struct heard *heard, uint64_t counted)
{
	uint64_t preempted = 0;

	for (size_t i = 0; i < heard->life_count; i++)
		preempted += heard->lives[i].preempted;
	assert_in_range(counted, preempted, 2 * preempted + 10);
}

/* --- tests --- */

TEST(threads_that_wait_for_each_other_go_out_and_in_by_turns)
{
	enum { ROUNDS = 2000 };
	struct launched child = launch("to and fro", "2000");
	CLEANUP(sampler_cleanup) struct sampler *sampler = open_on(TARGET_COMMAND, child.pid);
	CLEANUP(free_ptr) struct heard *heard = xcalloc(1, sizeof(*heard));
	struct switches counted;

	assert_ok(sampler_enable(sampler));
	close(child.hold);
	counted = read_until_exit(sampler, child.pid, heard);
	assert_int_equal(heard->execs, 1);
	assert_int_equal(heard->samples, 0);
	assert_whole(heard);
	assert_two_alternate(heard, ROUNDS);
	assert_preempted(heard, counted.preempted);
}

TEST(threads_that_want_the_same_cpu_are_preempted)
{
	struct launched child = launch("compete", "100");
	CLEANUP(sampler_cleanup) struct sampler *sampler = open_on(TARGET_COMMAND, child.pid);
	CLEANUP(free_ptr) struct heard *heard = xcalloc(1, sizeof(*heard));
	struct switches counted;

	assert_ok(sampler_enable(sampler));
	close(child.hold);
	counted = read_until_exit(sampler, child.pid, heard);
	assert_whole(heard);
	assert_two_alternate(heard, 3);
	assert_true(counted.preempted >= 3);
	assert_preempted(heard, counted.preempted);
}

static void read_for(struct sampler *sampler, unsigned ms, struct heard *heard)
{
	for (uint64_t end_ns = clock_now_ns() + ms * NS_PER_MS; clock_now_ns() < end_ns;) {
		nap();
		read_batch(sampler, heard);
	}
}

static void assert_all_alternate(struct heard *heard, const struct sleepers *sleepers)
{
	assert_whole(heard);
	for (unsigned i = 0; i < sleepers->count; i++)
		assert_alternates(life_of(heard, sleepers->tids[i]), NAPS);
}

TEST(threads_that_start_later_are_recorded)
{
	struct sleepers *sleepers = sleepers_new(20, false);
	CLEANUP(sampler_cleanup)
	struct sampler *sampler = open_on(TARGET_PROCESSES, sleepers->pid);
	CLEANUP(free_ptr) struct heard *heard = xcalloc(1, sizeof(*heard));

	assert_ok(sampler_enable(sampler));
	sleepers->begin = sleepers->sleep = true;
	read_until_exit(sampler, sleepers->pid, heard);
	assert_all_alternate(heard, sleepers);
}

TEST(threads_that_start_while_attaching_are_recorded_once)
{
	struct sleepers *sleepers = sleepers_new(THREADS_MAX, false);
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	CLEANUP(free_ptr) struct heard *heard = xcalloc(1, sizeof(*heard));

	sleepers->begin = true;
	while (sleepers->started < 2)
		continue;
	sampler = open_on(TARGET_PROCESSES, sleepers->pid);
	sleepers_await(sleepers);
	assert_ok(sampler_enable(sampler));
	sleepers->sleep = true;
	read_until_exit(sampler, sleepers->pid, heard);
	assert_all_alternate(heard, sleepers);
}

TEST(one_thread_is_recorded_without_the_others)
{
	struct sleepers *sleepers = sleepers_new(3, true);
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	CLEANUP(free_ptr) struct heard *heard = xcalloc(1, sizeof(*heard));

	sleepers->begin = true;
	sleepers_await(sleepers);
	sampler = open_on(TARGET_THREADS, sleepers->tids[1]);
	assert_ok(sampler_enable(sampler));
	sleepers->sleep = true;
	while (life_of(heard, sleepers->tids[1])->outs < NAPS) {
		nap();
		read_batch(sampler, heard);
	}
	sleepers->end = true;
	read_until_exit(sampler, sleepers->pid, heard);
	assert_whole(heard);
	assert_int_equal(heard->life_count, 1);
	assert_alternates(life_of(heard, sleepers->tids[1]), NAPS);
}

TEST(samples_and_switches_are_recorded_together)
{
	struct launched child = launch("compete", "100");
	CLEANUP(event_deinit) struct event event = cpu_clock();
	struct target target = {
		.kind = TARGET_COMMAND, .ids = &child.pid, .id_count = 1, .inherit = true};
	struct sampler_options options = {.waits = true, .switches = true};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	CLEANUP(free_ptr) struct heard *heard = xcalloc(1, sizeof(*heard));

	assert_ok(sampler_open(&event, 1, &target, &options, &sampler));
	/* It has no effect. */
	sampler_end_switches(sampler);
	assert_ok(sampler_enable(sampler));
	close(child.hold);
	read_until_exit(sampler, child.pid, heard);
	assert_whole(heard);
	assert_true(heard->samples > 0);
	assert_two_alternate(heard, 3);
}

static bool may_record_cpus(void)
{
	struct target target = {.kind = TARGET_SYSTEM};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	CLEANUP(error_cleanup)
	struct error *err = sampler_open(NULL, 0, &target, &waits, &sampler);

	return !err;
}

/* Other processes may fill the rings of whole CPUs. */
static bool has_losses(const struct heard *heard)
{
	return heard->lost || heard->lost_switches;
}

TEST(whole_cpus_that_are_sampled_for_a_command_give_its_switches_alone)
{
	struct launched child = {0};
	CLEANUP(event_deinit) struct event event = cpu_clock();
	struct target target = {.kind = TARGET_COMMAND,
				.ids = &child.pid,
				.id_count = 1,
				.inherit = true,
				.prefers_cpus = true};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	CLEANUP(free_ptr) struct heard *heard = xcalloc(1, sizeof(*heard));

	if (!may_record_cpus())
		RETURN_LACKING("whole CPUs may not be sampled");
	child = launch("compete", "100");
	assert_ok(sampler_open(&event, 1, &target, &waits, &sampler));
	assert_true(sampler_facts(sampler)->is_tree);
	assert_ok(sampler_enable(sampler));
	/* There are no records before the exec. */
	read_for(sampler, 20, heard);
	assert_int_equal(heard->switches, 0);
	close(child.hold);
	read_until_exit(sampler, child.pid, heard);
	assert_true(heard->samples > 0);
	if (!has_losses(heard)) {
		assert_whole(heard);
		assert_two_alternate(heard, 3);
	}
}

TEST(the_whole_system_has_the_switches_of_every_thread)
{
	struct sleepers *sleepers = NULL;
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	CLEANUP(free_ptr) struct heard *heard = xcalloc(1, sizeof(*heard));

	if (!may_record_cpus())
		RETURN_LACKING("whole CPUs may not be recorded");
	sleepers = sleepers_new(5, false);
	sampler = open_on(TARGET_SYSTEM, 0);
	assert_ok(sampler_enable(sampler));
	sleepers->begin = sleepers->sleep = true;
	read_until_exit(sampler, sleepers->pid, heard);
	assert_int_equal(heard->of_idle, 0);
	if (!has_losses(heard))
		assert_all_alternate(heard, sleepers);
}

/* The first and the last record of a thread may be missing. */
static void assert_all_are_counted(const struct heard *heard, uint64_t switches)
{
	uint64_t counted = heard->switches + heard->lost_switches;

	if (counted + 20 + switches / 100 >= switches * 2 &&
	    counted <= switches * 2 + 20 + switches / 100)
		return;
	print_error("%lu records, %lu lost, of %lu switches\n", (unsigned long)heard->switches,
		    (unsigned long)heard->lost_switches, (unsigned long)switches);
	fail();
}

TEST(a_storm_of_switches_is_read_or_counted)
{
	struct launched children[2] = {launch("to and fro", "50000"),
				       launch("to and fro", "50000")};
	pid_t pids[] = {children[0].pid, children[1].pid};
	struct target target = {
		.kind = TARGET_PROCESSES, .ids = pids, .id_count = 2, .inherit = true};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	CLEANUP(free_ptr) struct heard *heard = xcalloc(1, sizeof(*heard));
	uint64_t switches = 0;

	assert_ok(sampler_open(NULL, 0, &target, &waits, &sampler));
	assert_ok(sampler_enable(sampler));
	close(children[0].hold);
	close(children[1].hold);
	switches = read_while_it_lives(sampler, pids[0], heard).all;
	switches += read_while_it_lives(sampler, pids[1], heard).all;
	read_the_rest(sampler, heard);
	assert_true(switches > 150000);
	assert_int_equal(heard->lost, 0);
	assert_orderly(heard);
	assert_all_are_counted(heard, switches);
}

TEST(switches_that_nobody_reads_are_counted_as_lost_switches)
{
	struct launched child = launch("to and fro", "50000");
	struct target target = {
		.kind = TARGET_COMMAND, .ids = &child.pid, .id_count = 1, .inherit = true};
	struct sampler_options options = {.waits = true, .ring_bytes = 65536};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	CLEANUP(free_ptr) struct heard *heard = xcalloc(1, sizeof(*heard));
	struct rusage usage;

	assert_ok(sampler_open(NULL, 0, &target, &options, &sampler));
	assert_ok(sampler_enable(sampler));
	close(child.hold);
	assert_int_equal(wait4(child.pid, NULL, 0, &usage), child.pid);
	read_the_rest(sampler, heard);
	assert_int_equal(heard->lost, 0);
	assert_true(heard->lost_switches > 100000);
	assert_all_are_counted(heard, switches_of(&usage).all);
}

/* Limits the number of additional descriptors. Root could raise the limit. */
static void limit_descriptors(rlim_t more)
{
	struct rlimit limit;
	int next = dup(0);

	close(next);
	limit.rlim_cur = limit.rlim_max = (rlim_t)next + more;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Returns 0 or the error. Runs in a process of its own. */
static int record_with_few_descriptors(void)
{
	enum { COUNT = 60 };
	struct sleepers *sleepers = sleepers_new(COUNT, false);
	unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	struct target target = {
		.kind = TARGET_PROCESSES, .ids = &sleepers->pid, .id_count = 1, .inherit = true};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	CLEANUP(free_ptr) struct heard *heard = xcalloc(1, sizeof(*heard));
	struct error *err;

	sleepers->begin = true;
	sleepers_await(sleepers);
	/* Enough for one descriptor per thread and CPU and for the rings, but
	 * not for two. */
	limit_descriptors(cpus * (COUNT + COUNT / 2));
	err = sampler_open(NULL, 0, &target, &waits, &sampler);
	if (err || !sampler_facts(sampler)->is_joint)
		return err ? 1 : 2;
	assert_ok(sampler_enable(sampler));
	sleepers->sleep = true;
	/* A pidfd needs another descriptor. */
	while (waitpid(sleepers->pid, NULL, WNOHANG) == 0) {
		nap();
		read_batch(sampler, heard);
	}
	read_the_rest(sampler, heard);
	for (unsigned i = 0; i < COUNT; i++) {
		struct life *life = life_of(heard, sleepers->tids[i]);

		if (life->outs < NAPS || life->twice)
			return 3;
	}
	return 0;
}

static int record_as_an_ordinary_user(void)
{
	struct launched child = launch("to and fro", "2000");
	CLEANUP(sampler_cleanup) struct sampler *sampler = open_on(TARGET_COMMAND, child.pid);
	CLEANUP(free_ptr) struct heard *heard = xcalloc(1, sizeof(*heard));
	unsigned busy = 0;

	close(child.hold);
	read_until_exit(sampler, child.pid, heard);
	for (size_t i = 0; i < heard->life_count; i++) {
		busy += heard->lives[i].outs >= 2000;
		if (heard->lives[i].twice)
			return 1;
	}
	return busy >= 2 && !heard->lost_switches ? 0 : 2;
}

static void assert_works_for_nobody(int (*record)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) != 0)
			_exit(9);
		prctl(PR_SET_DUMPABLE, 1);
		_exit(record());
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

TEST(an_ordinary_user_may_record_switches)
{
	if (paranoid_level() > 2)
		RETURN_LACKING("needs a paranoid level of 2");
	assert_works_for_nobody(record_as_an_ordinary_user);
}

TEST(few_descriptors_suffice_for_many_threads)
{
	if (paranoid_level() > 2)
		RETURN_LACKING("needs a paranoid level of 2");
	assert_works_for_nobody(record_with_few_descriptors);
}

static bool may_record(void)
{
	pid_t self = getpid();
	struct target target = {.kind = TARGET_PROCESSES, .ids = &self, .id_count = 1};
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	CLEANUP(error_cleanup)
	struct error *err = sampler_open(NULL, 0, &target, &waits, &sampler);

	if (err)
		print_message("1..0 # SKIP %s\n", error_text(err));
	return !err;
}

int main(int argc, char **argv)
{
	/* The leak sanitizer would start a process at the end. */
	if (argc == 3)
		_exit(run_role(argv[1], (unsigned)atoi(argv[2])));
	if (!may_record())
		return 0;
	return unit_tests_run();
}
