#include "record/sample_filter.h"

#include "unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORKER = 900001, COMMAND = 900002, STRANGER = 900003 };

static bool takes(struct sample_filter *filter, struct names *names, pid_t pid, pid_t tid)
{
	return sample_filter_takes(filter, names,
				   &(struct record){.type = RECORD_SAMPLE, .pid = pid, .tid = tid});
}

static void forks(struct sample_filter *filter, pid_t parent, pid_t pid)
{
	assert_true(sample_filter_takes(
		filter, NULL,
		&(struct record){
			.type = RECORD_FORK, .pid = pid, .tid = pid, .fork.parent_pid = parent}));
}

static void executes(struct sample_filter *filter, pid_t pid)
{
	assert_true(sample_filter_takes(filter, NULL,
					&(struct record){.type = RECORD_COMM,
							 .pid = pid,
							 .tid = pid,
							 .comm = {.name = "x", .exec = true}}));
}

TEST(samples_of_prof_are_left_out_and_counted)
{
	struct sample_filter filter;

	sample_filter_init(&filter, NULL, 0, false);
	assert_false(takes(&filter, NULL, getpid(), getpid()));
	assert_false(takes(&filter, NULL, getpid(), getpid() + 1));
	assert_true(takes(&filter, NULL, STRANGER, STRANGER));
	assert_int_equal(filter.counts.own, 2);
	sample_filter_deinit(&filter);
}

TEST(so_are_those_of_processes_that_it_forks_but_not_of_its_command)
{
	struct sample_filter filter;

	sample_filter_init(&filter, NULL, 0, false);
	forks(&filter, getpid(), WORKER);
	forks(&filter, getpid(), COMMAND);
	executes(&filter, COMMAND);
	assert_false(takes(&filter, NULL, WORKER, WORKER));
	assert_true(takes(&filter, NULL, COMMAND, COMMAND));
	/* The worker's pid is reused by another process. */
	forks(&filter, STRANGER, WORKER);
	assert_true(takes(&filter, NULL, WORKER, WORKER));
	assert_false(takes(&filter, NULL, getpid(), getpid()));
	sample_filter_deinit(&filter);
}

TEST(they_can_be_kept)
{
	struct sample_filter filter;

	sample_filter_init(&filter, NULL, 0, true);
	forks(&filter, getpid(), WORKER);
	assert_true(takes(&filter, NULL, getpid(), getpid()));
	assert_true(takes(&filter, NULL, WORKER, WORKER));
	assert_int_equal(filter.counts.own, 0);
	sample_filter_deinit(&filter);
}

TEST(threads_are_kept_by_the_names_that_they_have)
{
	CLEANUP(names_cleanup) struct names *names = names_new("/nowhere");
	char tokio[] = "tokio*", main_name[] = "main", *wanted[] = {tokio, main_name};
	struct sample_filter filter;

	sample_filter_init(&filter, wanted, 2, false);
	names_set(names, STRANGER, "main");
	names_set(names, STRANGER + 1, "tokio-worker");
	names_set(names, STRANGER + 2, "idle");
	assert_true(takes(&filter, names, STRANGER, STRANGER));
	assert_true(takes(&filter, names, STRANGER, STRANGER + 1));
	assert_false(takes(&filter, names, STRANGER, STRANGER + 2));
	assert_int_equal(filter.counts.threads, 1);
	names_set(names, STRANGER + 2, "tokio-blocking");
	assert_true(takes(&filter, names, STRANGER, STRANGER + 2));
	sample_filter_deinit(&filter);
}
