/*
 * Unsampled-time accounting: compares the kernel's counts with the samples,
 * from records to [not sampled].
 */
#include "record/unsampled.h"

#include "base/clock.h"
#include "profile/unsampled.h"

#include "folder.h"
#include "unit_test.h"

#include <string.h>

enum { PERIOD = 1000 };

struct fixture {
	struct names *names;
	struct profile *profile;
	struct unsampled *unsampled;
	event_id events[2];
	bool is_exact; /* a CPU clock */
};

static void begin(struct fixture *fixture, bool has_switches, pid_t main_pid)
{
	struct strtab *strings;

	*fixture = (struct fixture){.names = names_new(NULL), .profile = profile_new()};
	strings = profile_strings(fixture->profile);
	fixture->events[0] = profile_add_event(
		fixture->profile, &(struct profile_event){.name = strtab_add(strings, "cpu-clock"),
							  .kind = VALUE_CPU_TIME});
	fixture->events[1] = profile_add_event(
		fixture->profile, &(struct profile_event){.name = strtab_add(strings, "cycles")});
	fixture->unsampled = unsampled_new(&(struct unsampled_options){
		.event_count = 2,
		.cpu_count = 2,
		.has_switches = has_switches,
		.adds_missing = true,
		.main_pid = main_pid,
	});
}

static void end(struct fixture *fixture)
{
	unsampled_free(fixture->unsampled);
	profile_free(fixture->profile);
	names_free(fixture->names);
}

static void feed(struct fixture *fixture, const struct record *record)
{
	unsampled_feed(fixture->unsampled, fixture->names, record);
	if (record->type == RECORD_FORK)
		names_fork(fixture->names, record->fork.parent_pid, record->fork.parent_tid,
			   record->tid);
	else if (record->type == RECORD_COMM)
		names_set(fixture->names, record->tid, record->comm.name);
}

static void switches(struct fixture *fixture, pid_t pid, uint32_t cpu, uint64_t time_ns, bool out)
{
	feed(fixture, &(struct record){.type = RECORD_SWITCH,
				       .pid = pid,
				       .tid = pid,
				       .cpu = cpu,
				       .time_ns = time_ns,
				       .switched.is_out = out});
}

static void forks(struct fixture *fixture, pid_t parent, pid_t child)
{
	feed(fixture, &(struct record){.type = RECORD_FORK,
				       .pid = child,
				       .tid = child,
				       .fork = {.parent_pid = parent, .parent_tid = parent}});
}

static void executes(struct fixture *fixture, pid_t pid, uint32_t cpu, uint64_t time_ns,
		     const char *name)
{
	feed(fixture, &(struct record){.type = RECORD_COMM,
				       .pid = pid,
				       .tid = pid,
				       .cpu = cpu,
				       .time_ns = time_ns,
				       .comm = {.name = name, .exec = true}});
}

static void exits(struct fixture *fixture, pid_t pid, uint32_t cpu, uint64_t time_ns)
{
	feed(fixture,
	     &(struct record){
		     .type = RECORD_EXIT, .pid = pid, .tid = pid, .cpu = cpu, .time_ns = time_ns});
}

/* Adds samples of event 0 to the profile as the session does. */
static void samples(struct fixture *fixture, pid_t pid, unsigned count)
{
	const char *name = names_get(fixture->names, pid, pid);
	label_set_id labels = profile_thread_labels(fixture->profile, pid, pid, name, name);

	for (; count; count--) {
		feed(fixture, &(struct record){.type = RECORD_SAMPLE,
					       .pid = pid,
					       .tid = pid,
					       .sample.period = PERIOD});
		profile_add(fixture->profile, labels, STACK_EMPTY, fixture->events[0], PERIOD);
	}
}

static void settle(struct fixture *fixture, uint64_t clock, uint64_t cycles)
{
	struct unsampled_count counts[] = {
		{.is_known = clock,
		 .is_clock = true,
		 .is_exact = fixture->is_exact,
		 .value = clock},
		{.is_known = cycles, .value = cycles},
	};

	unsampled_settle(fixture->unsampled, counts, true, fixture->names, fixture->profile,
			 fixture->events);
}

/* Returns the unsampled value of processes with this name, or of all processes
 * if it is NULL. */
static uint64_t not_sampled(const struct fixture *fixture, unsigned event, const char *process)
{
	const struct profile_samples samples = profile_samples(fixture->profile);
	uint64_t weight = 0;

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		const struct profile_thread *thread = profile_thread_of(fixture->profile,
									sample->labels);

		if (sample->event != fixture->events[event] || sample->samples)
			continue;
		if (!process || !strcmp(profile_string(fixture->profile, thread->process), process))
			weight += sample->weight;
	}
	return weight;
}

/* Returns the value that was added for a thread of event 0. */
static uint64_t of_thread(const struct fixture *fixture, pid_t tid)
{
	const struct profile_samples samples = profile_samples(fixture->profile);
	uint64_t weight = 0;

	for (uint64_t i = 0; i < samples.count; i++)
		if (!samples.items[i].samples &&
		    profile_thread_of(fixture->profile, samples.items[i].labels)->tid == tid)
			weight += samples.items[i].weight;
	return weight;
}

static uint64_t weight_of(const struct fixture *fixture, stack_id stack)
{
	const struct profile_samples samples = profile_samples(fixture->profile);
	uint64_t weight = 0;

	for (uint64_t i = 0; i < samples.count; i++)
		if (samples.items[i].stack == stack)
			weight += samples.items[i].weight;
	return weight;
}

/* A shell (1) runs from 0 to 10,000 and gets two samples. true (2) runs until
 * 10,400, then ls (3). */
static void run_script(struct fixture *fixture)
{
	executes(fixture, 1, 0, 0, "sh");
	samples(fixture, 1, 2);
	forks(fixture, 1, 2);
	forks(fixture, 1, 3);
	switches(fixture, 1, 0, 10000, true);
	switches(fixture, 2, 0, 10000, false);
	executes(fixture, 2, 0, 10100, "true");
	exits(fixture, 2, 0, 10400);
	switches(fixture, 3, 1, 10000, false);
	executes(fixture, 3, 1, 10200, "ls");
	samples(fixture, 3, 1);
	switches(fixture, 3, 1, 12200, true);
}

TEST(what_short_processes_used_is_theirs)
{
	struct fixture fixture;
	uint64_t counted = 0;

	begin(&fixture, true, 1);
	run_script(&fixture);
	settle(&fixture, 12600, 0);
	assert_int_equal(not_sampled(&fixture, 0, "true"), 300);
	assert_int_equal(not_sampled(&fixture, 0, "ls"), 1000);
	/* Includes the children until they executed their programs. */
	assert_int_equal(not_sampled(&fixture, 0, "sh"), 8000 + 100 + 200);
	assert_true(unsampled_counted(fixture.unsampled, 0, &counted));
	assert_int_equal(counted, 12600);
	assert_false(unsampled_counted(fixture.unsampled, 1, &counted));
	end(&fixture);
}

TEST(what_is_settled_twice_is_added_once)
{
	struct fixture fixture;

	begin(&fixture, true, 1);
	run_script(&fixture);
	settle(&fixture, 12600, 0);
	settle(&fixture, 12600, 0);
	assert_int_equal(not_sampled(&fixture, 0, NULL), 12600 - 3 * PERIOD);
	switches(&fixture, 1, 0, 13000, false);
	switches(&fixture, 1, 0, 18000, true);
	settle(&fixture, 17600, 0);
	assert_int_equal(not_sampled(&fixture, 0, NULL), 17600 - 3 * PERIOD);
	assert_int_equal(not_sampled(&fixture, 0, "sh"), 8300 + 5000);
	end(&fixture);
}

TEST(a_period_that_was_settled_early_counts_against_later_time)
{
	struct fixture fixture;

	begin(&fixture, true, 1);
	executes(&fixture, 1, 0, 0, "sh");
	switches(&fixture, 1, 0, 900, true);
	settle(&fixture, 900, 0);
	switches(&fixture, 1, 0, 1000, false);
	samples(&fixture, 1, 1);
	switches(&fixture, 1, 0, 1200, true);
	settle(&fixture, 1100, 0);
	assert_true(not_sampled(&fixture, 0, NULL) <= 900);
	switches(&fixture, 1, 0, 2000, false);
	switches(&fixture, 1, 0, 3700, true);
	settle(&fixture, 2800, 0);
	assert_in_range(not_sampled(&fixture, 0, NULL) + PERIOD, 2772, 2800);
	end(&fixture);
}

TEST(a_later_profile_has_only_what_came_later)
{
	struct fixture fixture;
	uint64_t counted = 0;

	begin(&fixture, true, 1);
	run_script(&fixture);
	settle(&fixture, 12600, 0);
	unsampled_begin_profile(fixture.unsampled);
	switches(&fixture, 1, 0, 13000, false);
	switches(&fixture, 1, 0, 18000, true);
	settle(&fixture, 17600, 0);
	assert_true(unsampled_counted(fixture.unsampled, 0, &counted));
	assert_int_equal(counted, 5000);
	end(&fixture);
}

/* Cycles are assumed to be equally frequent in all processes. */
TEST(processes_share_other_events_by_their_time)
{
	struct fixture fixture;

	begin(&fixture, true, 1);
	run_script(&fixture);
	settle(&fixture, 0, 126000);
	assert_int_equal(not_sampled(&fixture, 1, "true"), 3000);
	assert_int_equal(not_sampled(&fixture, 1, "ls"), 20000);
	assert_int_equal(not_sampled(&fixture, 0, NULL), 0);
	end(&fixture);
}

/* From the kernel's accounting of the command, which includes the end of each
 * process. */
TEST(what_no_process_is_known_to_have_used_is_shared)
{
	struct fixture fixture;

	begin(&fixture, true, 1);
	run_script(&fixture);
	settle(&fixture, 12600 + 960, 0);
	assert_int_equal(not_sampled(&fixture, 0, NULL), 12600 + 960 - 3 * PERIOD);
	assert_in_range(not_sampled(&fixture, 0, "ls"), 1099, 1101);
	end(&fixture);
}

TEST(without_switches_all_is_the_main_process_s)
{
	struct fixture fixture;

	begin(&fixture, false, 1);
	executes(&fixture, 1, 0, 0, "sh");
	samples(&fixture, 1, 2);
	forks(&fixture, 1, 2);
	exits(&fixture, 2, 0, 10400);
	exits(&fixture, 1, 0, 20000);
	settle(&fixture, 12600, 0);
	assert_int_equal(not_sampled(&fixture, 0, "sh"), 10600);
	assert_int_equal(of_thread(&fixture, -1), 10600);
	end(&fixture);
}

TEST(each_thread_has_what_it_lacks)
{
	struct fixture fixture;
	struct record record = {.type = RECORD_SWITCH, .pid = 1, .tid = 2};

	begin(&fixture, true, 1);
	executes(&fixture, 1, 0, 0, "sh");
	samples(&fixture, 1, 1);
	switches(&fixture, 1, 0, 3000, true);
	feed(&fixture, &record);
	record.time_ns = 5000;
	record.switched.is_out = true;
	feed(&fixture, &record);
	settle(&fixture, 8000, 0);
	assert_int_equal(of_thread(&fixture, 1), 2000);
	assert_int_equal(of_thread(&fixture, 2), 5000);
	end(&fixture);
}

/* The threads of process 7 are in the test's folder. */
static void begin_with_proc(struct fixture *fixture)
{
	begin(fixture, false, 7);
	unsampled_free(fixture->unsampled);
	fixture->unsampled = unsampled_new(&(struct unsampled_options){
		.event_count = 2,
		.cpu_count = 2,
		.adds_missing = true,
		.with_children = true,
		.proc = folder,
		.main_pid = 7,
	});
}

static void write_schedstat(pid_t tid, const char *text)
{
	CLEANUP(free_ptr) char *path = xasprintf("7/task/%d/schedstat", tid);

	write_file(path, text, strlen(text));
}

TEST_IN_FOLDER(without_switches_the_time_of_threads_is_read)
{
	struct fixture fixture;

	begin_with_proc(&fixture);
	write_schedstat(7, "5000 1 1\n");
	unsampled_add_thread(fixture.unsampled, 7, 7);
	feed(&fixture, &(struct record){.type = RECORD_FORK,
					.pid = 7,
					.tid = 8,
					.fork = {.parent_pid = 7, .parent_tid = 7}});
	samples(&fixture, 7, 1);
	write_schedstat(7, "9000 1 1\n");
	write_schedstat(8, "2500 1 1\n");
	unsampled_read_threads(fixture.unsampled, clock_now_ns());
	/* The time after this is not known. It is part of the rest. */
	feed(&fixture, &(struct record){.type = RECORD_EXIT, .pid = 7, .tid = 8});
	write_schedstat(7, "9100 1 1\n");
	settle(&fixture, 7000, 0);
	assert_int_equal(of_thread(&fixture, 7), 3100);
	assert_int_equal(of_thread(&fixture, 8), 2500);
	assert_int_equal(of_thread(&fixture, -1), 7000 - PERIOD - 3100 - 2500);
	end(&fixture);
}

TEST(what_is_known_to_be_of_the_kernel_is_named_so)
{
	struct unsampled_count counts[2] = {
		{.is_known = true, .is_clock = true, .value = 10000, .kernel = 6000}};
	struct fixture fixture;
	stack_id kernel;

	begin(&fixture, true, 1);
	executes(&fixture, 1, 0, 0, "sh");
	samples(&fixture, 1, 2);
	switches(&fixture, 1, 0, 10000, true);
	unsampled_settle(fixture.unsampled, counts, true, fixture.names, fixture.profile,
			 fixture.events);
	kernel = profile_push(fixture.profile, STACK_EMPTY,
			      profile_synthetic_frame(fixture.profile, UNSAMPLED_KERNEL_FRAME));
	assert_int_equal(not_sampled(&fixture, 0, NULL), 8000);
	assert_int_equal(weight_of(&fixture, kernel), 6000);
	/* The profile already contains the whole count. */
	counts[0].value = 12000;
	switches(&fixture, 1, 0, 10000, false);
	switches(&fixture, 1, 0, 12000, true);
	unsampled_settle(fixture.unsampled, counts, true, fixture.names, fixture.profile,
			 fixture.events);
	assert_int_equal(weight_of(&fixture, kernel), 6000);
	assert_int_equal(not_sampled(&fixture, 0, NULL), 10000);
	end(&fixture);
}

/* The end of a thread's last period. */
TEST(less_than_a_hundredth_is_not_added)
{
	struct fixture fixture;
	uint64_t counted = 0;

	begin(&fixture, true, 1);
	executes(&fixture, 1, 0, 0, "long");
	samples(&fixture, 1, 200);
	switches(&fixture, 1, 0, 200 * PERIOD + 900, true);
	settle(&fixture, 200 * PERIOD + 900, 0);
	assert_int_equal(not_sampled(&fixture, 0, NULL), 0);
	assert_true(unsampled_counted(fixture.unsampled, 0, &counted));
	assert_int_equal(counted, 200 * PERIOD + 900);
	end(&fixture);
}

TEST(more_than_was_counted_is_never_added)
{
	struct fixture fixture;

	begin(&fixture, true, 1);
	run_script(&fixture);
	settle(&fixture, 6000, 0);
	assert_in_range(not_sampled(&fixture, 0, NULL), 2990, 3000);
	settle(&fixture, 1000, 0);
	assert_in_range(not_sampled(&fixture, 0, NULL), 2990, 3000);
	end(&fixture);
}

static uint64_t sampled_weight(const struct fixture *fixture)
{
	const struct profile_samples samples = profile_samples(fixture->profile);
	uint64_t weight = 0;

	for (uint64_t i = 0; i < samples.count; i++)
		weight += samples.items[i].weight;
	return weight;
}

TEST(weights_of_a_clock_are_reduced_to_what_was_counted)
{
	struct fixture fixture;
	uint64_t counted;

	begin(&fixture, false, 1);
	unsampled_free(fixture.unsampled);
	fixture.unsampled = unsampled_new(
		&(struct unsampled_options){.event_count = 2, .cpu_count = 2, .main_pid = 1});
	fixture.is_exact = true;
	samples(&fixture, 1, 100);
	samples(&fixture, 2, 33);
	settle(&fixture, 100 * PERIOD, 0);
	assert_in_range(sampled_weight(&fixture), 100 * PERIOD - 2, 100 * PERIOD);
	/* The same with more samples, as after a snapshot. */
	samples(&fixture, 1, 50);
	settle(&fixture, 120 * PERIOD, 0);
	assert_in_range(sampled_weight(&fixture), 120 * PERIOD - 2, 120 * PERIOD);
	assert_true(unsampled_counted(fixture.unsampled, 0, &counted));
	assert_int_equal(counted, 120 * PERIOD);
	end(&fixture);
}

TEST(many_ended_processes_are_settled_before_the_end)
{
	struct fixture fixture;
	uint64_t now_ns = 1;
	struct unsampled_count counts[2] = {{.is_known = true, .is_clock = true}};
	unsigned ended = 0;

	begin(&fixture, true, 1);
	while (!unsampled_is_full(fixture.unsampled)) {
		pid_t pid = 2 + (pid_t)(ended++ % 30000);

		forks(&fixture, 1, pid);
		switches(&fixture, pid, 1, now_ns, false);
		exits(&fixture, pid, 1, now_ns += 10);
	}
	assert_true(ended < 100000);
	counts[0].value = 10 * ended;
	unsampled_settle(fixture.unsampled, counts, false, fixture.names, fixture.profile,
			 fixture.events);
	assert_false(unsampled_is_full(fixture.unsampled));
	assert_int_equal(not_sampled(&fixture, 0, NULL), 10 * ended);
	end(&fixture);
}

TEST(switches_that_come_too_fast_are_ended)
{
	struct fixture fixture;
	uint64_t now_ns;

	begin(&fixture, true, 1);
	now_ns = clock_now_ns() + NS_PER_SECOND;
	assert_false(unsampled_ends_switches(fixture.unsampled, now_ns));
	executes(&fixture, 1, 0, 0, "sh");
	for (unsigned i = 0; i < 40000; i++)
		switches(&fixture, 1, 0, i, i % 2 == 0);
	assert_false(unsampled_ends_switches(fixture.unsampled, now_ns));
	assert_true(unsampled_ends_switches(fixture.unsampled, now_ns + NS_PER_SECOND / 2));
	assert_false(unsampled_ends_switches(fixture.unsampled, now_ns + 2 * NS_PER_SECOND));
	settle(&fixture, 100000, 0);
	assert_in_range(not_sampled(&fixture, 0, "sh"), 99000, 100000);
	end(&fixture);
}

/* The records come from the kernel, but nothing relies on them. */
TEST(time_in_a_pause_is_nobodys)
{
	struct fixture fixture;

	begin(&fixture, true, 1);
	executes(&fixture, 1, 0, 0, "sh");
	forks(&fixture, 1, 2);
	switches(&fixture, 1, 0, 3000, true);
	executes(&fixture, 2, 0, 3000, "true");
	unsampled_pause(fixture.unsampled, 4000);
	exits(&fixture, 2, 0, 9000);
	switches(&fixture, 1, 0, 9000, false);
	unsampled_resume(fixture.unsampled, 10000);
	exits(&fixture, 1, 0, 12000);
	settle(&fixture, 6000, 0);
	assert_int_equal(not_sampled(&fixture, 0, "sh"), 5000);
	assert_int_equal(not_sampled(&fixture, 0, "true"), 1000);
	end(&fixture);
}

TEST(impossible_records_change_nothing)
{
	struct fixture fixture;

	begin(&fixture, true, 1);
	switches(&fixture, 1, UINT32_MAX, 5, false);
	switches(&fixture, 1, UINT32_MAX, 9, true);
	switches(&fixture, 1, 0, 9, false);
	switches(&fixture, 1, 0, 5, true);
	switches(&fixture, 2, 0, 20, true);
	exits(&fixture, 7, 1, 30);
	exits(&fixture, 7, 1, 30);
	settle(&fixture, 0, 0);
	assert_int_equal(not_sampled(&fixture, 0, NULL), 0);
	end(&fixture);
}
