#include "perf/process_tree.h"

#include "unit_test.h"

#include <stdlib.h>

enum { PROF = 100, COMMAND = 200, CHILD = 201, GRANDCHILD = 202, STRANGER = 300 };

static bool fork_takes(struct process_tree *tree, pid_t parent, pid_t pid)
{
	return process_tree_takes(
		tree, &(struct record){.type = RECORD_FORK,
				       .pid = pid,
				       .tid = pid,
				       .fork = {.parent_pid = parent, .parent_tid = parent}});
}

static bool takes(struct process_tree *tree, enum record_type type, pid_t pid)
{
	return process_tree_takes(tree, &(struct record){.type = type, .pid = pid, .tid = pid});
}

static bool exec_takes(struct process_tree *tree, pid_t pid)
{
	return process_tree_takes(tree, &(struct record){.type = RECORD_COMM,
							 .pid = pid,
							 .tid = pid,
							 .comm = {.name = "x", .exec = true}});
}

static struct process_tree *executed(void)
{
	struct process_tree *tree = process_tree_new();

	process_tree_add_command(tree, COMMAND, 0);
	assert_true(exec_takes(tree, COMMAND));
	return tree;
}

TEST(the_tree_begins_when_the_command_executes_its_program)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = process_tree_new();

	process_tree_add_command(tree, COMMAND, 0);
	assert_false(fork_takes(tree, PROF, COMMAND));
	assert_false(takes(tree, RECORD_SAMPLE, COMMAND));
	assert_false(takes(tree, RECORD_COMM, COMMAND)); /* renamed */
	assert_false(exec_takes(tree, STRANGER));
	assert_true(exec_takes(tree, COMMAND));
	assert_true(takes(tree, RECORD_SAMPLE, COMMAND));
	assert_true(takes(tree, RECORD_MMAP, COMMAND));
}

static bool comm_takes(struct process_tree *tree, pid_t pid, uint64_t time_ns, bool exec)
{
	return process_tree_takes(tree, &(struct record){.type = RECORD_COMM,
							 .pid = pid,
							 .tid = pid,
							 .time_ns = time_ns,
							 .comm = {.name = "x", .exec = exec}});
}

/* A wrapper executes the program of the command. */
TEST(what_a_command_executed_before_it_was_added_is_a_strangers)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = process_tree_new();

	fork_takes(tree, PROF, STRANGER);
	takes(tree, RECORD_SAMPLE, STRANGER);
	process_tree_add_command(tree, STRANGER, 1000);
	assert_false(process_tree_knows_as_stranger(tree, STRANGER));
	/* Records that were written before are read later. */
	assert_false(fork_takes(tree, PROF, STRANGER));
	assert_false(comm_takes(tree, STRANGER, 900, true));
	assert_false(takes(tree, RECORD_SAMPLE, STRANGER));
	assert_false(process_tree_knows_as_stranger(tree, STRANGER));
	assert_true(comm_takes(tree, STRANGER, 1100, true));
	assert_true(takes(tree, RECORD_SAMPLE, STRANGER));
}

TEST(several_commands_have_trees_of_their_own)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = executed();

	process_tree_add_command(tree, STRANGER, 0);
	assert_true(exec_takes(tree, STRANGER));
	assert_true(fork_takes(tree, STRANGER, GRANDCHILD));
	assert_true(fork_takes(tree, COMMAND, CHILD));
	assert_false(fork_takes(tree, PROF, 999));
}

TEST(a_command_that_ends_without_a_program_leaves_its_number)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = process_tree_new();
	struct record fork = {.type = RECORD_FORK, .pid = COMMAND, .tid = COMMAND, .time_ns = 1100};

	fork.fork.parent_pid = fork.fork.parent_tid = PROF;
	process_tree_add_command(tree, COMMAND, 1000);
	assert_false(takes(tree, RECORD_EXIT, COMMAND));
	assert_false(process_tree_takes(tree, &fork));
	assert_false(comm_takes(tree, COMMAND, 1200, true));
}

/* Threads end if one of them executes a program. */
TEST(threads_of_a_command_may_end_before_its_program)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = process_tree_new();
	struct record exit = {.type = RECORD_EXIT, .pid = COMMAND, .tid = COMMAND + 1};

	process_tree_add_command(tree, COMMAND, 0);
	process_tree_takes(tree, &exit);
	takes(tree, RECORD_EXIT, COMMAND);
	assert_true(exec_takes(tree, COMMAND));
}

TEST(descendants_belong_to_it_and_strangers_do_not)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = executed();

	assert_true(fork_takes(tree, COMMAND, CHILD));
	assert_true(fork_takes(tree, CHILD, GRANDCHILD));
	assert_false(fork_takes(tree, PROF, STRANGER));
	assert_true(takes(tree, RECORD_SAMPLE, GRANDCHILD));
	assert_true(exec_takes(tree, GRANDCHILD));
	assert_false(takes(tree, RECORD_SAMPLE, STRANGER));
	assert_false(exec_takes(tree, STRANGER));
	assert_false(takes(tree, RECORD_SAMPLE, PROF));
}

TEST(a_daemon_stays_when_its_ancestors_have_ended)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = executed();

	fork_takes(tree, COMMAND, CHILD);
	fork_takes(tree, CHILD, GRANDCHILD);
	assert_true(takes(tree, RECORD_EXIT, CHILD));
	assert_true(takes(tree, RECORD_EXIT, COMMAND));
	assert_true(takes(tree, RECORD_SAMPLE, GRANDCHILD));
	assert_true(fork_takes(tree, GRANDCHILD, CHILD + 1000));
}

TEST(an_ended_process_stays_until_another_gets_its_number)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = executed();

	fork_takes(tree, COMMAND, CHILD);
	takes(tree, RECORD_EXIT, CHILD);
	assert_true(takes(tree, RECORD_SAMPLE, CHILD)); /* it is torn down */
	assert_false(fork_takes(tree, STRANGER, CHILD));
	assert_false(takes(tree, RECORD_SAMPLE, CHILD));
}

TEST(sampled_strangers_are_known_until_their_number_is_given_to_a_member)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = executed();

	assert_false(process_tree_knows_as_stranger(tree, STRANGER));
	takes(tree, RECORD_SAMPLE, STRANGER);
	takes(tree, RECORD_SAMPLE, COMMAND);
	assert_true(process_tree_knows_as_stranger(tree, STRANGER));
	assert_false(process_tree_knows_as_stranger(tree, COMMAND));
	assert_false(process_tree_knows_as_stranger(tree, -1));
	fork_takes(tree, COMMAND, STRANGER);
	assert_false(process_tree_knows_as_stranger(tree, STRANGER));
}

TEST(a_new_thread_changes_nothing)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = executed();
	struct record thread = {.type = RECORD_FORK, .pid = COMMAND, .tid = COMMAND + 7};

	thread.fork.parent_pid = thread.fork.parent_tid = COMMAND;
	assert_true(process_tree_takes(tree, &thread));
	assert_false(takes(tree, RECORD_SAMPLE, COMMAND + 7));
	thread.pid = thread.fork.parent_pid = STRANGER;
	assert_false(process_tree_takes(tree, &thread));
}

/* The kernel writes these for idle tasks, ended tasks and other pid namespaces. */
TEST(numbers_that_are_no_pid_belong_to_nobody)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = executed();
	static const pid_t numbers[] = {0, -1, 4 << 20, INT32_MAX, INT32_MIN};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		fork_takes(tree, COMMAND, numbers[i]);
		assert_false(takes(tree, RECORD_SAMPLE, numbers[i]));
		assert_false(fork_takes(tree, numbers[i], STRANGER));
	}
	fork_takes(tree, COMMAND, (4 << 20) - 1);
	assert_true(takes(tree, RECORD_SAMPLE, (4 << 20) - 1));
}

TEST(losses_concern_everybody)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = executed();

	assert_true(takes(tree, RECORD_LOST, 0));
	assert_true(takes(tree, RECORD_THROTTLE, STRANGER));
}

static bool renames(struct process_tree *tree, pid_t pid, pid_t tid, const char *name, bool exec)
{
	return process_tree_takes(tree, &(struct record){.type = RECORD_COMM,
							 .pid = pid,
							 .tid = tid,
							 .comm = {.name = name, .exec = exec}});
}

TEST(processes_become_members_by_their_name)
{
	CLEANUP(process_tree_cleanup) struct process_tree *tree = process_tree_new();
	char pattern[] = "post*", *globs[] = {pattern};

	process_tree_admit_names(tree, globs, 1);
	process_tree_add_process(tree, COMMAND);
	assert_true(takes(tree, RECORD_SAMPLE, COMMAND));
	assert_false(renames(tree, STRANGER, STRANGER, "bash", true));
	assert_false(takes(tree, RECORD_SAMPLE, STRANGER));
	assert_false(renames(tree, STRANGER, STRANGER + 1, "postmaster", false)); /* a thread */
	assert_true(renames(tree, STRANGER, STRANGER, "postgres", true));
	assert_false(process_tree_knows_as_stranger(tree, STRANGER));
	assert_true(fork_takes(tree, STRANGER, CHILD));
	assert_true(renames(tree, CHILD, CHILD, "sh", true));
	assert_true(takes(tree, RECORD_SAMPLE, CHILD));
}
