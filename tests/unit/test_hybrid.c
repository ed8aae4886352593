/*
 * Events on machines with several kinds of CPU: a sysfs made by the test, and a
 * perf_event_open(2) that answers like such a machine. Its descriptors count
 * CPU time, so the tests need a kernel that allows sampling with cpu-clock, and
 * two CPUs.
 */
#include "perf/counter.h"
#include "perf/cpus.h"
#include "perf/default_event.h"
#include "perf/sampler.h"

#include "base/alloc.h"
#include "base/clock.h"

#include "fake_pmus.h"
#include "lacking.h"
#include "unit_test.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { HZ = 999, BIG_TYPE = 4, LITTLE_TYPE = 10, SPIN_MS = 20 };

/* The kernel of a machine whose first CPU is a big core and whose second one is
 * a little core. */
static struct machine {
	bool names_pmus;    /* accepts a PMU in the config of generic events */
	bool finds_pmus;    /* finds the PMU of a CPU by itself, like Arm's kernels */
	bool little_counts; /* little CPUs have the counter */
	bool big_counts;    /* big CPUs have the counter */
	unsigned most_precise;
	unsigned refused;
} machine;

static const struct machine intel = {
	.names_pmus = true, .little_counts = true, .big_counts = true, .most_precise = 2};
static const struct machine old_arm = {
	.finds_pmus = true, .little_counts = true, .big_counts = true};

/* The linker replaces syscall() by this (--wrap). */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

static int type_of_cpu(int cpu)
{
	return cpu == 0 ? BIG_TYPE : LITTLE_TYPE;
}

/* The errno of the machine, or 0. */
static int answer(const struct perf_event_attr *attr, int cpu)
{
	bool is_generic = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
	uint32_t type = is_generic ? (uint32_t)(attr->config >> 32) : attr->type;

	if (is_generic && type && !machine.names_pmus)
		return EINVAL;
	if (!type)
		type = machine.finds_pmus && cpu >= 0 ? (uint32_t)type_of_cpu(cpu) : BIG_TYPE;
	if (cpu >= 0 && type != (uint32_t)type_of_cpu(cpu))
		return ENOENT;
	if (!(type == BIG_TYPE ? machine.big_counts : machine.little_counts))
		return ENOENT;
	return attr->precise_ip > machine.most_precise ? EOPNOTSUPP : 0;
}

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	const struct perf_event_attr *attr = (const void *)a;
	struct perf_event_attr clock;

	if (number != SYS_perf_event_open || attr->type == PERF_TYPE_SOFTWARE)
		return __real_syscall(number, a, b, c, d, e, f);
	errno = answer(attr, (int)c);
	if (errno) {
		machine.refused++;
		return -1;
	}
	clock = *attr;
	clock.type = PERF_TYPE_SOFTWARE;
	clock.config = PERF_COUNT_SW_CPU_CLOCK;
	clock.precise_ip = 0;
	return __real_syscall(number, (long)&clock, b, c, d, e, f);
}

static bool can_sample_two_cpus(void)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .exclude_kernel = 1};
	cpu_set_t cpus;
	int fd = attr_open(&attr, 0, -1);

	close_fd(&fd);
	return fd >= 0 && sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_ISSET(0, &cpus) &&
	       CPU_ISSET(1, &cpus);
}

#define NEED_TWO_CPUS()                                                                            \
	do {                                                                                       \
		if (!can_sample_two_cpus())                                                        \
			RETURN_LACKING("CPUs 0 and 1, and sampling with cpu-clock");               \
	} while (0)

static void assert_ok(struct error *err)
{
	if (!err)
		return;
	print_error("%s\n", error_text(err));
	error_free(err);
	fail();
}

static struct event parse(const char *spec, const struct pmus *pmus)
{
	struct event event;

	assert_ok(event_parse(spec, pmus, &event));
	event.frequency_hz = HZ;
	event.exclude_kernel = true;
	return event;
}

static void spin_on(int cpu)
{
	uint64_t until_ns = clock_thread_cpu_ns() + SPIN_MS * NS_PER_MS;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	/* Spins in user space, which is sampled; the clock is read in the
	 * kernel. */
	while (clock_thread_cpu_ns() < until_ns)
		for (volatile unsigned i = 0; i < 10000; i++)
			continue;
}

static const unsigned both_cpus[] = {0, 1};

/* Samples this thread. */
static struct error *open_on_ourselves(const struct event *events, size_t count,
				       struct sampler **ret)
{
	static const struct sampler_options plain;
	pid_t tid = gettid();
	struct target target = {
		.kind = TARGET_THREADS,
		.ids = &tid,
		.id_count = 1,
		.cpus = both_cpus,
		.cpu_count = 2,
	};

	return sampler_open(events, count, &target, &plain, ret);
}

/* Counts the samples of each CPU while this thread runs on both. All belong to
 * the first event. */
static void sample_both(struct sampler *sampler, unsigned samples[2])
{
	struct record record;
	cpu_set_t before;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_ok(sampler_enable(sampler));
	spin_on(0);
	spin_on(1);
	sampler_disable(sampler);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	sampler_batch(sampler);
	while (sampler_next(sampler, &record)) {
		if (record.type != RECORD_SAMPLE)
			continue;
		assert_int_equal(record.sample.event, 0);
		samples[record.cpu]++;
	}
}

TEST_IN_FOLDER(cycles_are_sampled_on_every_kind_of_cpu_as_one_event)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(alder_lake_pmus);
	CLEANUP(event_deinit) struct event event = parse("cycles", &pmus);
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	const struct opened_event *opened;
	unsigned samples[2] = {0};
	size_t count;

	NEED_TWO_CPUS();
	machine = intel;
	assert_string_equal(event.name, "cycles");
	assert_ok(open_on_ourselves(&event, 1, &sampler));
	opened = sampler_opened(sampler, &count);
	assert_int_equal(count, 2);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(opened[i].attr.type, PERF_TYPE_HARDWARE);
		assert_int_equal(opened[i].attr.config & UINT32_MAX, PERF_COUNT_HW_CPU_CYCLES);
		assert_int_equal(opened[i].id_count, 1);
	}
	assert_int_equal(opened[0].attr.config >> 32, LITTLE_TYPE);
	assert_int_equal(opened[1].attr.config >> 32, BIG_TYPE);
	assert_int_equal(machine.refused, 0);
	assert_null(sampler_lacking_cpus(sampler, 0));
	sample_both(sampler, samples);
	assert_true(samples[0] > 0);
	assert_true(samples[1] > 0);
}

TEST_IN_FOLDER(raw_numbers_are_opened_with_the_type_of_each_pmu)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(alder_lake_pmus);
	CLEANUP(event_deinit) struct event event = parse("r1a8", &pmus);
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	const struct opened_event *opened;
	size_t count;

	NEED_TWO_CPUS();
	machine = intel;
	assert_ok(open_on_ourselves(&event, 1, &sampler));
	opened = sampler_opened(sampler, &count);
	assert_int_equal(count, 2);
	assert_int_equal(opened[0].attr.type, LITTLE_TYPE);
	assert_int_equal(opened[1].attr.type, BIG_TYPE);
	assert_int_equal(opened[0].attr.config, 0x1a8);
	assert_int_equal(opened[1].attr.config, 0x1a8);
}

TEST_IN_FOLDER(an_event_of_one_pmu_is_sampled_on_its_cpus_only)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(alder_lake_pmus);
	CLEANUP(event_deinit) struct event event = parse("cpu_core/cycles/", &pmus);
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	unsigned samples[2] = {0};

	NEED_TWO_CPUS();
	machine = intel;
	assert_ok(open_on_ourselves(&event, 1, &sampler));
	assert_int_equal(machine.refused, 0);
	assert_null(sampler_lacking_cpus(sampler, 0));
	sample_both(sampler, samples);
	assert_true(samples[0] > 0);
	assert_int_equal(samples[1], 0);
}

TEST_IN_FOLDER(an_event_of_cpus_that_are_not_sampled_is_an_error)
{
	static const char *const files[] = {"a/type=4", "a/cpus=4-7,9", "b/type=10", "b/cpus=0-3",
					    NULL};
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(files);
	CLEANUP(event_deinit) struct event event = parse("a/cycles/", &pmus);
	struct sampler *sampler = NULL;
	struct error *err;

	NEED_TWO_CPUS();
	machine = intel;
	err = open_on_ourselves(&event, 1, &sampler);
	assert_string_equal(error_text(err), "a/cycles/ is counted on CPUs 4-7,9 only");
	error_free(err);
}

TEST_IN_FOLDER(the_most_precise_level_is_found_for_each_kind_of_cpu)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(alder_lake_pmus);
	CLEANUP(event_deinit) struct event event = parse("cycles:P", &pmus);
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	const struct opened_event *opened;
	size_t count;

	NEED_TWO_CPUS();
	machine = intel;
	assert_ok(open_on_ourselves(&event, 1, &sampler));
	opened = sampler_opened(sampler, &count);
	assert_int_equal(count, 2);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(opened[i].attr.precise_ip, 2);
		assert_true(opened[i].attr.config >> 32);
	}
	assert_int_equal(machine.refused, 2);
}

TEST_IN_FOLDER(software_events_are_opened_once)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(alder_lake_pmus);
	CLEANUP(event_deinit) struct event event = parse("cpu-clock", &pmus);

	assert_int_equal(event_variant_count(&event), 1);
	assert_int_equal(event.variant_count, 0);
	assert_true(event_variant_is_of(&event, 0, 77));
}

TEST_IN_FOLDER(an_old_kernel_is_asked_without_the_pmu)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(apple_pmus);
	CLEANUP(event_deinit) struct event event = parse("cycles", &pmus);
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	unsigned samples[2] = {0};

	NEED_TWO_CPUS();
	machine = old_arm;
	assert_ok(open_on_ourselves(&event, 1, &sampler));
	assert_null(sampler_lacking_cpus(sampler, 0));
	sample_both(sampler, samples);
	assert_true(samples[0] > 0);
	assert_true(samples[1] > 0);
}

TEST_IN_FOLDER(cpus_that_lack_the_counter_are_named_and_the_others_sampled)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(alder_lake_pmus);
	CLEANUP(event_deinit) struct event event = parse("cycles", &pmus);
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	unsigned samples[2] = {0};

	NEED_TWO_CPUS();
	machine = intel;
	machine.little_counts = false;
	assert_ok(open_on_ourselves(&event, 1, &sampler));
	assert_string_equal(sampler_lacking_cpus(sampler, 0), "1");
	sample_both(sampler, samples);
	assert_true(samples[0] > 0);
	assert_int_equal(samples[1], 0);
}

/* As if sysfs were hidden: a plain event, which the little CPU refuses. */
TEST_IN_FOLDER(without_sysfs_the_big_cpus_are_sampled)
{
	static const struct pmus none;
	CLEANUP(event_deinit) struct event event = parse("cycles", &none);
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;

	NEED_TWO_CPUS();
	machine = intel;
	assert_ok(open_on_ourselves(&event, 1, &sampler));
	assert_string_equal(sampler_lacking_cpus(sampler, 0), "1");
}

TEST_IN_FOLDER(cpus_of_no_pmu_are_named)
{
	static const char *const files[] = {"a/type=4", "a/cpus=0", "b/type=10", "b/cpus=7", NULL};
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(files);
	CLEANUP(event_deinit) struct event event = parse("cycles", &pmus);
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;

	NEED_TWO_CPUS();
	machine = intel;
	assert_ok(open_on_ourselves(&event, 1, &sampler));
	assert_string_equal(sampler_lacking_cpus(sampler, 0), "1");
}

TEST_IN_FOLDER(an_event_that_no_cpu_counts_is_an_error)
{
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(alder_lake_pmus);
	CLEANUP(event_deinit) struct event event = parse("cycles", &pmus);
	struct sampler *sampler = NULL;
	struct error *err;

	NEED_TWO_CPUS();
	machine = intel;
	machine.little_counts = machine.big_counts = false;
	err = open_on_ourselves(&event, 1, &sampler);
	assert_int_equal(error_number(err), ENOENT);
	assert_non_null(strstr(error_text(err), "no counter for cycles"));
	error_free(err);
}

TEST_IN_FOLDER(the_default_is_cycles_if_one_kind_of_cpu_counts_them)
{
	static const struct {
		bool big, little;
		const char *name;
	} cases[] = {{true, true, "cycles"},
		     {true, false, "cycles"},
		     {false, true, "cycles"},
		     {false, false, "cpu-clock"}};
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(alder_lake_pmus);

	NEED_TWO_CPUS();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(event_deinit) struct event event;
		const char *reason;

		machine = intel;
		machine.big_counts = cases[i].big;
		machine.little_counts = cases[i].little;
		event_default(&pmus, &event, &reason);
		assert_string_equal(event.name, cases[i].name);
	}
}

/* Starts a child that waits for a byte in *begin before it works. */
static pid_t launch(int *begin)
{
	static const char work[] = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done";
	int ends[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	*begin = ends[1];
	if (child) {
		close(ends[0]);
		return child;
	}
	if (read(ends[0], &byte, 1) == 1)
		execl("/bin/sh", "sh", "-c", work, (char *)NULL);
	_exit(1);
}

/* Opens an event on all CPUs that counts the CPU time of a process from its
 * exec on. */
static int open_reference(pid_t pid)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .exclude_kernel = 1,
				       .disabled = 1,
				       .enable_on_exec = 1,
				       .inherit = 1};

	return (int)__real_syscall(SYS_perf_event_open, (long)&attr, pid, -1, -1,
				   PERF_FLAG_FD_CLOEXEC, 0);
}

/* If the kernel finds the PMU of a CPU by itself, an event on all CPUs belongs
 * to one PMU only. */
TEST_IN_FOLDER(the_time_of_a_command_is_counted_once)
{
	static const struct sampler_options plain;
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(alder_lake_pmus);
	CLEANUP(event_deinit) struct event event = parse("cycles", &pmus);
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	CLEANUP(close_fd) int begin = -1;
	CLEANUP(close_fd) int reference = -1;
	struct target target = {.kind = TARGET_COMMAND,
				.id_count = 1,
				.cpus = both_cpus,
				.cpu_count = 2,
				.inherit = true,
				.prefers_cpus = true};
	uint64_t counted, expected;
	pid_t child;
	int status;

	NEED_TWO_CPUS();
	machine = old_arm;
	child = launch(&begin);
	target.ids = &child;
	reference = open_reference(child);
	assert_ok(sampler_open(&event, 1, &target, &plain, &sampler));
	assert_ok(sampler_enable(sampler));
	assert_int_equal(write(begin, "", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(sampler_counted(sampler, 0, &counted));
	assert_int_equal(read(reference, &expected, sizeof(expected)), sizeof(expected));
	/* Several events start and stop one after the other. */
	assert_in_range(counted, expected - expected / 10, expected + expected / 10);
}

TEST_IN_FOLDER(a_counter_adds_up_what_all_kinds_of_cpu_count)
{
	static const struct machine *const machines[] = {&intel, &old_arm};
	CLEANUP(pmus_deinit) struct pmus pmus = read_pmus(alder_lake_pmus);
	CLEANUP(event_deinit) struct event event = parse("cycles", &pmus);
	struct perf_event_attr attr = {.size = sizeof(attr), .exclude_kernel = 1};

	NEED_TWO_CPUS();
	attr.type = event.type;
	attr.config = event.config;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		CLEANUP(counter_close) struct counter counter = {0};
		uint64_t ns;

		machine = *machines[i];
		assert_int_equal(counter_open(&counter, &event, &attr, 0), 0);
		assert_int_equal(counter.count, 2);
		spin_on(0);
		assert_true(counter_read(&counter, &ns));
		assert_true(ns > SPIN_MS / 2 * NS_PER_MS);
	}
}
