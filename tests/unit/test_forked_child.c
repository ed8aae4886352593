#include "base/forked_child.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start(enum forked_child_life life, int (*main)(void *user), void *user)
{
	pid_t pid;

	assert_null(forked_child_start(life, main, user, &pid));
	return pid;
}

static int wait_for_kill(void *user)
{
	(void)user;
	while (pause() < 0)
		continue;
	return 0;
}

static int change(void *user)
{
	int *value = user, before = *value;

	*value = 1;
	return before;
}

TEST(a_child_ends_with_what_its_function_returns_and_changes_a_copy)
{
	int value = 42;
	pid_t child = start(FORKED_CHILD_LIVES_ON, change, &value);
	struct forked_child_end end = forked_child_wait(child);

	assert_true(WIFEXITED(end.status));
	assert_int_equal(WEXITSTATUS(end.status), 42);
	assert_int_equal(value, 42);
	assert_int_equal(waitpid(child, NULL, WNOHANG), -1);
}

static int return_0(void *user)
{
	(void)user;
	return 0;
}

/* An exit handler would write the stream twice. */
TEST(a_child_leaves_the_buffers_of_streams_alone)
{
	CLEANUP(close_fd) int fd = memfd_create("stream", MFD_CLOEXEC);
	CLEANUP(close_file) FILE *stream = fdopen(fcntl(fd, F_DUPFD_CLOEXEC, 3), "w");

	fputs("once", stream);
	forked_child_wait(start(FORKED_CHILD_LIVES_ON, return_0, NULL));
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	fflush(stream);
	assert_int_equal(lseek(fd, 0, SEEK_END), 4);
}

TEST(a_child_that_runs_is_killed_and_waited_for)
{
	pid_t child = start(FORKED_CHILD_LIVES_ON, wait_for_kill, NULL);
	struct forked_child_end end;

	assert_false(forked_child_wait_until(child, 0, &end));
	assert_false(forked_child_wait_until(child, clock_now_ns() + NS_PER_MS, &end));
	end = forked_child_kill(child);
	assert_true(WIFSIGNALED(end.status));
	assert_int_equal(WTERMSIG(end.status), SIGKILL);
	assert_int_equal(kill(child, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static int return_7(void *user)
{
	(void)user;
	return 7;
}

TEST(an_end_is_awaited_no_longer_than_it_takes)
{
	struct forked_child_end end;

	assert_true(forked_child_wait_until(start(FORKED_CHILD_LIVES_ON, return_7, NULL),
					    clock_now_ns() + 3600 * NS_PER_SECOND, &end));
	assert_int_equal(WEXITSTATUS(end.status), 7);
}

static void do_nothing(int number)
{
	(void)number;
}

static int signal_parent(void *user)
{
	/* Many signals arrive while the parent waits or before it does. */
	for (unsigned i = 0; i < 1000; i++) {
		kill(*(const pid_t *)user, SIGUSR1);
		sched_yield();
	}
	return 3;
}

TEST(a_signal_does_not_end_a_wait)
{
	const struct sigaction action = {.sa_handler = do_nothing};
	struct sigaction before;
	pid_t own = getpid();
	struct forked_child_end end;

	sigaction(SIGUSR1, &action, &before);
	end = forked_child_wait(start(FORKED_CHILD_LIVES_ON, signal_parent, &own));
	sigaction(SIGUSR1, &before, NULL);
	assert_true(WIFEXITED(end.status));
	assert_int_equal(WEXITSTATUS(end.status), 3);
}

struct starter {
	enum forked_child_life life;
	pid_t child;
	int ready[2];
};

static int be_ready(void *user)
{
	const struct starter *starter = user;

	return write(starter->ready[1], "", 1) == 1 ? wait_for_kill(NULL) : 1;
}

static void *start_and_end(void *user)
{
	struct starter *starter = user;
	char byte;

	starter->child = start(starter->life, be_ready, starter);
	assert_int_equal(read(starter->ready[0], &byte, 1), 1);
	return NULL;
}

static pid_t child_of_ended_thread(enum forked_child_life life)
{
	struct starter starter = {.life = life};
	pthread_t thread;

	assert_int_equal(pipe2(starter.ready, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&thread, NULL, start_and_end, &starter), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(starter.ready[0]);
	close(starter.ready[1]);
	return starter.child;
}

TEST(a_child_ends_with_the_thread_that_has_started_it_if_it_is_to)
{
	pid_t child = child_of_ended_thread(FORKED_CHILD_ENDS_WITH_THREAD);
	struct forked_child_end end = forked_child_wait(child);

	assert_true(WIFSIGNALED(end.status));
	assert_int_equal(WTERMSIG(end.status), SIGKILL);
	child = child_of_ended_thread(FORKED_CHILD_LIVES_ON);
	assert_false(forked_child_wait_until(child, 0, &end));
	forked_child_kill(child);
}

static int ask_to_end_with_init(void *user)
{
	(void)user;
	return forked_child_end_with(getpid());
}

TEST(a_child_finds_that_its_parent_has_ended)
{
	struct forked_child_end end =
		forked_child_wait(start(FORKED_CHILD_LIVES_ON, ask_to_end_with_init, NULL));

	assert_true(WIFEXITED(end.status));
	assert_int_equal(WEXITSTATUS(end.status), false);
}

/* As the header states, the child's copy holds the lock, too. */
TEST(a_lock_is_held_until_the_child_has_ended)
{
	CLEANUP(close_fd) int probe = memfd_create("lock", MFD_CLOEXEC);
	char path[32];
	int lock;
	pid_t child;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", probe);
	lock = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	child = start(FORKED_CHILD_LIVES_ON, wait_for_kill, NULL);
	close(lock);
	assert_int_equal(flock(probe, LOCK_EX | LOCK_NB), -1);
	forked_child_kill(child);
	assert_int_equal(flock(probe, LOCK_EX | LOCK_NB), 0);
}
