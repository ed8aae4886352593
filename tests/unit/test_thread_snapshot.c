/*
 * Takes snapshots of waiting threads. Each thread is in a child that a test
 * starts.
 */
#include "waiting/thread_snapshot.h"

#include "base/clock.h"
#include "lacking.h"
#include "unit_test.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, MARK = 0x5a, MARKED_BYTES = 1000 };

/* Flags of thread_snapshot_of_nobody(), added to the result. */
enum { IS_STOPPED = 16, HAS_STACK = 32, IS_ROOT = 64 };

struct fixture {
	struct kept_threads kept;
	struct thread_snapshot snapshot;
	pid_t pid; /* pid of the child, or 0 */
	int pipe[2];
};

static pid_t child_of(struct fixture *fixture, void (*run)(struct fixture *fixture))
{
	assert_int_equal(pipe(fixture->pipe), 0);
	fixture->pid = fork();
	if (!fixture->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(fixture);
		_exit(0);
	}
	assert_true(fixture->pid > 0);
	return fixture->pid;
}

static void end_child(struct fixture *fixture)
{
	if (fixture->pid) {
		kill(fixture->pid, SIGKILL);
		waitpid(fixture->pid, NULL, 0);
		close(fixture->pipe[0]);
		close(fixture->pipe[1]);
	}
	fixture->pid = 0;
}

static void deinit(struct fixture *fixture)
{
	end_child(fixture);
	kept_threads_clear(&fixture->kept);
	thread_snapshot_deinit(&fixture->snapshot);
}

static enum thread_snapshot_result thread_snapshot(struct fixture *fixture)
{
	struct thread_snapshot_request request = {.pid = fixture->pid, .tid = fixture->pid};

	thread_snapshot_take(&request, &fixture->kept, NULL, &fixture->snapshot);
	return fixture->snapshot.result;
}

/* Takes snapshots until the child waits for that reason. */
static void thread_snapshot_until(struct fixture *fixture, const char *reason)
{
	uint64_t end_ns = clock_now_ns() + 20 * NS_PER_SECOND;

	do {
		if (thread_snapshot(fixture) == THREAD_SNAPSHOT_WAITS &&
		    strcmp(fixture->snapshot.reason, reason) == 0)
			return;
		usleep(1000);
	} while (clock_now_ns() < end_ns);
	assert_string_equal(fixture->snapshot.reason, reason);
}

/*
 * A process becomes a zombie before its thread has left the kernel's stack,
 * which shows the last system call until then.
 */
static void thread_snapshot_until_ended(struct fixture *fixture)
{
	uint64_t end_ns = clock_now_ns() + 20 * NS_PER_SECOND;

	while (thread_snapshot(fixture) != THREAD_SNAPSHOT_ENDED) {
		assert_true(clock_now_ns() < end_ns);
		usleep(1000);
	}
}

/* ---- What children do ---- */

static void read_pipe(struct fixture *fixture)
{
	volatile unsigned char marked[MARKED_BYTES];
	char byte;

	/* Not memset(): a compiler may omit stores that this function does not
	 * read. */
	for (size_t i = 0; i < sizeof(marked); i++)
		marked[i] = MARK;
	if (read(fixture->pipe[0], &byte, 1) > 0)
		_exit(marked[0]);
}

static void read_socket(struct fixture *fixture)
{
	int pair[2];
	char byte;

	(void)fixture;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && read(pair[0], &byte, 1) > 0)
		_exit(1);
}

static void receive(struct fixture *fixture)
{
	int pair[2];
	char byte;

	(void)fixture;
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0)
		recv(pair[0], &byte, 1, 0);
}

static void read_event(struct fixture *fixture)
{
	eventfd_t count;

	(void)fixture;
	eventfd_read(eventfd(0, 0), &count);
}

static void wait_in_epoll(struct fixture *fixture)
{
	struct epoll_event event;

	(void)fixture;
	epoll_wait(epoll_create1(0), &event, 1, -1);
}

static void wait_in_poll(struct fixture *fixture)
{
	struct pollfd fd = {.fd = fixture->pipe[0], .events = POLLIN};

	poll(&fd, 1, -1);
}

static void sleep_long(struct fixture *fixture)
{
	(void)fixture;
	for (;;)
		sleep(1000);
}

static void pause_long(struct fixture *fixture)
{
	(void)fixture;
	for (;;)
		pause();
}

static void wait_in_futex(struct fixture *fixture)
{
	uint32_t word = 0;

	(void)fixture;
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL);
}

static void wait_for_child(struct fixture *fixture)
{
	pid_t pid = fork();

	if (!pid) {
		/* Ends when the child ends. */
		close(fixture->pipe[1]);
		read_pipe(fixture);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void spin(struct fixture *fixture)
{
	(void)fixture;
	for (;;)
		__asm__ volatile("");
}

static void read_and_then_sleep(struct fixture *fixture)
{
	char byte;

	if (read(fixture->pipe[0], &byte, 1) == 1)
		sleep_long(fixture);
}

/* ---- Tests ---- */

TEST(the_reason_is_the_system_call)
{
	static const struct {
		void (*run)(struct fixture *fixture);
		const char *reason;
	} waits[] = {
		{read_pipe, "[read pipe]"},	 {read_socket, "[read socket]"},
		{receive, "[recv socket]"},	 {read_event, "[read eventfd]"},
		{wait_in_epoll, "[epoll_wait]"}, {wait_in_poll, "[poll]"},
		{sleep_long, "[nanosleep]"},	 {pause_long, "[pause]"},
		{wait_in_futex, "[futex]"},	 {wait_for_child, "[wait4]"},
	};
	struct fixture fixture = {0};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
#ifndef SYS_pause
		if (waits[i].run == pause_long)
			continue;
#endif
		child_of(&fixture, waits[i].run);
		thread_snapshot_until(&fixture, waits[i].reason);
		end_child(&fixture);
	}
	deinit(&fixture);
}

TEST(the_stack_is_copied_from_the_stack_pointer_on)
{
	struct fixture fixture = {0};
	uint64_t before_ns = clock_now_ns();
	unsigned char marked[MARKED_BYTES];
	const struct thread_snapshot *snapshot = &fixture.snapshot;

	child_of(&fixture, read_pipe);
	thread_snapshot_until(&fixture, "[read pipe]");
	memset(marked, MARK, sizeof(marked));
	assert_true(snapshot->stack_len >= sizeof(marked));
	assert_true(snapshot->stack_len <= THREAD_SNAPSHOT_STACK_BYTES);
	assert_non_null(memmem(snapshot->stack, snapshot->stack_len, marked, sizeof(marked)));
	assert_true(snapshot->sp && snapshot->pc);
	assert_true(before_ns <= snapshot->begin_ns && snapshot->begin_ns < snapshot->end_ns);
	assert_true(snapshot->end_ns <= clock_now_ns());
	deinit(&fixture);
}

TEST(as_much_is_copied_as_the_caller_asks_for)
{
	struct fixture fixture = {0};
	struct thread_snapshot_request request;

	child_of(&fixture, read_pipe);
	thread_snapshot_until(&fixture, "[read pipe]");
	request = fixture.snapshot.request;
	request.stack_bytes = 128;
	thread_snapshot_take(&request, &fixture.kept, NULL, &fixture.snapshot);
	assert_int_equal(fixture.snapshot.stack_len, 128);
	/* More than the stack has. */
	request.stack_bytes = UINT32_MAX;
	thread_snapshot_take(&request, &fixture.kept, NULL, &fixture.snapshot);
	assert_true(fixture.snapshot.stack_len > 128);
	assert_true(fixture.snapshot.stack_len < THREAD_SNAPSHOT_STACK_BYTES_MAX);
	deinit(&fixture);
}

TEST(a_thread_that_runs_is_not_looked_at)
{
	struct fixture fixture = {0};

	child_of(&fixture, spin);
	while (thread_snapshot(&fixture) != THREAD_SNAPSHOT_RUNS)
		usleep(1000);
	assert_string_equal(fixture.snapshot.reason, "");
	assert_int_equal(fixture.snapshot.stack_len, 0);
	deinit(&fixture);
}

TEST(looks_with_files_that_are_kept_open_see_what_is_new)
{
	struct fixture fixture = {0};

	child_of(&fixture, read_and_then_sleep);
	for (int i = 0; i < 3; i++)
		thread_snapshot_until(&fixture, "[read pipe]");
	assert_int_equal(write(fixture.pipe[1], "x", 1), 1);
	thread_snapshot_until(&fixture, "[nanosleep]");
	deinit(&fixture);
}

TEST(a_thread_that_has_ended_is_not_there)
{
	struct fixture fixture = {0};
	siginfo_t ended;

	child_of(&fixture, pause_long);
	for (int i = 0; i < 3; i++)
		thread_snapshot_until(&fixture, fixture.snapshot.reason);
	kill(fixture.pid, SIGKILL);
	/* A zombie, and a process that does not exist. */
	assert_int_equal(waitid(P_PID, fixture.pid, &ended, WEXITED | WNOWAIT), 0);
	thread_snapshot_until_ended(&fixture);
	assert_int_equal(waitid(P_PID, fixture.pid, &ended, WEXITED), 0);
	assert_int_equal(thread_snapshot(&fixture), THREAD_SNAPSHOT_ENDED);
	assert_string_equal(fixture.snapshot.reason, "");
	deinit(&fixture);
}

static pid_t fork_with_pid(pid_t pid)
{
	pid_t pids[] = {pid};
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)pids,
		.set_tid_size = 1,
	};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

TEST(another_thread_with_the_same_id_is_seen)
{
	struct fixture fixture = {0};
	pid_t pid = child_of(&fixture, read_pipe);

	for (int i = 0; i < 3; i++)
		thread_snapshot_until(&fixture, "[read pipe]");
	end_child(&fixture);
	fixture.pid = fork_with_pid(pid);
	if (!fixture.pid) {
		sleep_long(&fixture);
		_exit(0);
	}
	if (fixture.pid != pid) {
		fixture.pid = 0;
		deinit(&fixture);
		RETURN_LACKING("may not choose the id of a child");
	}
	assert_int_equal(pipe(fixture.pipe), 0);
	thread_snapshot_until(&fixture, "[nanosleep]");
	deinit(&fixture);
}

TEST(a_stopped_thread_is_stopped_whatever_it_waited_for)
{
	struct fixture fixture = {0};

	child_of(&fixture, read_pipe);
	thread_snapshot_until(&fixture, "[read pipe]");
	kill(fixture.pid, SIGSTOP);
	thread_snapshot_until(&fixture, "[stopped]");
	assert_true(fixture.snapshot.stack_len > 0);
	kill(fixture.pid, SIGCONT);
	thread_snapshot_until(&fixture, "[read pipe]");
	end_child(&fixture);
	child_of(&fixture, spin);
	kill(fixture.pid, SIGSTOP);
	thread_snapshot_until(&fixture, "[stopped]");
	deinit(&fixture);
}

TEST(a_thread_that_a_tracer_has_stopped_is_traced)
{
	struct fixture fixture = {0};

	child_of(&fixture, read_pipe);
	thread_snapshot_until(&fixture, "[read pipe]");
	if (ptrace(PTRACE_SEIZE, fixture.pid, NULL, NULL) ||
	    ptrace(PTRACE_INTERRUPT, fixture.pid, NULL, NULL)) {
		deinit(&fixture);
		RETURN_LACKING("may not trace a child");
	}
	thread_snapshot_until(&fixture, "[traced]");
	deinit(&fixture);
}

/* The child touches a page that is never provided. */
static void fault(struct fixture *fixture)
{
	struct uffdio_api api = {.api = UFFD_API};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);
	struct uffdio_register range = {
		.range = {.start = (uintptr_t)page, .len = bytes},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	(void)fixture;
	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &range) == 0)
		*(volatile unsigned char *)page = 1;
}

TEST(a_thread_outside_of_a_system_call_waits_for_a_page)
{
	struct fixture fixture = {0};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		RETURN_LACKING("userfaultfd(2) is not allowed");
	close(fd);
	child_of(&fixture, fault);
	thread_snapshot_until(&fixture, "[page fault]");
	assert_true(fixture.snapshot.stack_len > 0);
	deinit(&fixture);
}

/* Returns what the user nobody can see of the child: the result and flags. */
static int thread_snapshot_of_nobody(struct fixture *fixture)
{
	pid_t poller = fork();
	int status;

	if (!poller) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(IS_ROOT);
		_exit((int)thread_snapshot(fixture) |
		      (strcmp(fixture->snapshot.reason, "[stopped]") == 0 ? IS_STOPPED : 0) |
		      (fixture->snapshot.stack_len ? HAS_STACK : 0));
	}
	assert_int_equal(waitpid(poller, &status, 0), poller);
	return WEXITSTATUS(status);
}

TEST(nobody_sees_no_more_than_the_state_of_a_process_of_root)
{
	struct fixture fixture = {0};

	if (geteuid() != 0)
		RETURN_LACKING("needs root");
	child_of(&fixture, read_pipe);
	thread_snapshot_until(&fixture, "[read pipe]");
	kept_threads_clear(&fixture.kept);
	assert_int_equal(thread_snapshot_of_nobody(&fixture), THREAD_SNAPSHOT_REFUSED);
	kill(fixture.pid, SIGSTOP);
	thread_snapshot_until(&fixture, "[stopped]");
	kept_threads_clear(&fixture.kept);
	assert_int_equal(thread_snapshot_of_nobody(&fixture), THREAD_SNAPSHOT_REFUSED | IS_STOPPED);
	end_child(&fixture);
	child_of(&fixture, spin);
	while (thread_snapshot(&fixture) != THREAD_SNAPSHOT_RUNS)
		usleep(1000);
	kept_threads_clear(&fixture.kept);
	assert_int_equal(thread_snapshot_of_nobody(&fixture), THREAD_SNAPSHOT_RUNS);
	deinit(&fixture);
}

TEST(root_gets_the_stack_of_the_kernel_if_it_asks)
{
	struct fixture fixture = {0};
	struct thread_snapshot_request request;
	bool is_readable;

	child_of(&fixture, read_pipe);
	thread_snapshot_until(&fixture, "[read pipe]");
	assert_string_equal(fixture.snapshot.kernel_stack, "");
	request = fixture.snapshot.request;
	request.wants_kernel_stack = true;
	thread_snapshot_take(&request, &fixture.kept, NULL, &fixture.snapshot);
	is_readable = fixture.snapshot.kernel_stack[0];
	if (is_readable)
		assert_non_null(strstr(fixture.snapshot.kernel_stack, "pipe_read\n"));
	deinit(&fixture);
	if (!is_readable)
		RETURN_LACKING("may not read the stack of the kernel");
}

TEST(a_thread_of_the_kernel_has_a_reason_and_no_stack)
{
	struct thread_snapshot_request request = {.pid = 2, .tid = 2};
	struct fixture fixture = {0};
	char name[16] = "";
	FILE *comm = fopen("/proc/2/comm", "re");

	if (comm) {
		if (!fgets(name, sizeof(name), comm))
			name[0] = '\0';
		fclose(comm);
	}
	thread_snapshot_take(&request, &fixture.kept, NULL, &fixture.snapshot);
	if (strcmp(name, "kthreadd\n") != 0 || fixture.snapshot.result == THREAD_SNAPSHOT_REFUSED) {
		deinit(&fixture);
		RETURN_LACKING("sees no thread of the kernel");
	}
	assert_int_equal(fixture.snapshot.result, THREAD_SNAPSHOT_WAITS);
	assert_string_equal(fixture.snapshot.reason, "[kthreadd]");
	assert_int_equal(fixture.snapshot.stack_len, 0);
	deinit(&fixture);
}

TEST(thread_ids_of_another_namespace_are_not_ours)
{
	struct fixture fixture = {0};
	struct thread_files thread;
	struct clone_args args = {.exit_signal = SIGCHLD, .flags = CLONE_NEWPID};

	child_of(&fixture, pause_long);
	assert_int_equal(thread_files_open(&thread, fixture.pid, fixture.pid), 0);
	assert_true(thread_files_has_our_ids(&thread));
	thread_files_close(&thread);
	end_child(&fixture);
	fixture.pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (!fixture.pid) {
		pause_long(&fixture);
		_exit(0);
	}
	if (fixture.pid < 0) {
		fixture.pid = 0;
		RETURN_LACKING("may not make a PID namespace");
	}
	assert_int_equal(pipe(fixture.pipe), 0);
	assert_int_equal(thread_files_open(&thread, fixture.pid, fixture.pid), 0);
	assert_false(thread_files_has_our_ids(&thread));
	thread_files_close(&thread);
	deinit(&fixture);
}

int main(void)
{
	/* A thread sanitizer creates stacks and threads itself, and a thread
	 * snapshot has one thread. */
	if (HAS_THREAD_SANITIZER)
		return lacking_all("not with the thread sanitizer");
	if (!has_process_vm_readv())
		return lacking_all("process_vm_readv(2) is missing");
	return unit_tests_run();
}
