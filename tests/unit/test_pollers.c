/*
 * Takes snapshots of waiting threads on a thread that can be abandoned.
 */
#include "waiting/pollers.h"

#include "base/clock.h"
#include "lacking.h"
#include "runtime/scripts.h"
#include "unit_test.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static pid_t child_of(void (*run)(void))
{
	pid_t pid = fork();

	if (!pid) {
		run();
		_exit(0);
	}
	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void sleep_long(void)
{
	for (;;)
		sleep(1000);
}

/* Returns the next thread snapshot, or NULL if it does not arrive. */
static const struct thread_snapshot *take(struct pollers *pollers)
{
	uint64_t end_ns = clock_now_ns() + 20 * NS_PER_SECOND;
	const struct thread_snapshot *snapshot;

	while (!(snapshot = pollers_take(pollers)) && clock_now_ns() < end_ns)
		sched_yield();
	return snapshot;
}

static void wait_until_it_waits(struct pollers *pollers,
				const struct thread_snapshot_request *request)
{
	const struct thread_snapshot *snapshot;

	do {
		assert_true(pollers_ask(pollers, request));
		snapshot = take(pollers);
		assert_non_null(snapshot);
	} while (snapshot->result == THREAD_SNAPSHOT_RUNS);
	assert_int_equal(snapshot->result, THREAD_SNAPSHOT_WAITS);
}

TEST(looks_come_back_in_the_order_in_which_they_were_asked_for)
{
	CLEANUP(pollers_cleanup) struct pollers *pollers = pollers_new(NULL);
	pid_t pid = child_of(sleep_long);
	struct thread_snapshot_request request = {.pid = pid, .tid = pid};

	wait_until_it_waits(pollers, &request);
	for (int round = 0; round < 5; round++) {
		for (uint64_t i = 0; i < POLLERS_ROOM; i++) {
			request.since_ns = i;
			assert_true(pollers_ask(pollers, &request));
		}
		for (uint64_t i = 0; i < POLLERS_ROOM; i++) {
			const struct thread_snapshot *snapshot = take(pollers);

			assert_non_null(snapshot);
			assert_int_equal(snapshot->request.since_ns, i);
			assert_string_equal(snapshot->reason, "[nanosleep]");
			assert_true(snapshot->stack_len > 0);
		}
		assert_null(pollers_take(pollers));
	}
	end(pid);
}

TEST(there_is_room_for_so_many_beside_the_one_that_was_taken)
{
	CLEANUP(pollers_cleanup) struct pollers *pollers = pollers_new(NULL);
	struct thread_snapshot_request request = {.pid = 1, .tid = 1};
	const struct thread_snapshot *snapshot;

	for (int i = 0; i < POLLERS_ROOM; i++)
		assert_true(pollers_ask(pollers, &request));
	assert_false(pollers_ask(pollers, &request));
	snapshot = take(pollers);
	assert_non_null(snapshot);
	assert_true(pollers_ask(pollers, &request));
	assert_false(pollers_ask(pollers, &request));
	assert_int_equal(snapshot->request.pid, 1);
}

TEST(copies_of_large_stacks_are_freed)
{
	CLEANUP(pollers_cleanup) struct pollers *pollers = pollers_new(NULL);
	pid_t pid = child_of(sleep_long);
	struct thread_snapshot_request request = {.pid = pid, .tid = pid};

	wait_until_it_waits(pollers, &request);
	for (int i = 0; i < 2 * POLLERS_ROOM; i++) {
		const struct thread_snapshot *snapshot;

		request.stack_bytes = i < POLLERS_ROOM ? 4 * THREAD_SNAPSHOT_STACK_BYTES : 0;
		assert_true(pollers_ask(pollers, &request));
		snapshot = take(pollers);
		assert_non_null(snapshot);
		assert_int_equal(snapshot->stack_room, i < POLLERS_ROOM
							       ? 4 * THREAD_SNAPSHOT_STACK_BYTES
							       : THREAD_SNAPSHOT_STACK_BYTES);
	}
	end(pid);
}

TEST(pollers_end_with_looks_that_nobody_has_taken)
{
	struct thread_snapshot_request request = {.pid = 1, .tid = 1};

	for (int round = 0; round < 20; round++) {
		CLEANUP(pollers_cleanup) struct pollers *pollers = pollers_new(NULL);

		for (int i = 0; i < round * 10; i++)
			assert_true(pollers_ask(pollers, &request));
	}
	pollers_free(NULL);
}

/* ---- A process whose stack cannot be read to its end ---- */

enum { STACK_PAGES = 8 };

static void wait_on_its_stack(void)
{
	for (;;)
		pause();
}

/* Pauses on a stack whose outer half is a page fault that is never resolved. */
static void hang_readers(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *stack = mmap(NULL, 2 * STACK_PAGES * page, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {
		.range = {.start = (uintptr_t)stack + STACK_PAGES * page,
			  .len = STACK_PAGES * page},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	ucontext_t context;

	memset(stack, 0, STACK_PAGES * page);
	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		_exit(1);
	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = STACK_PAGES * page;
	context.uc_link = NULL;
	makecontext(&context, wait_on_its_stack, 0);
	setcontext(&context);
}

static bool may_fault_for_the_kernel(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static enum thread_snapshot_result result_of(struct pollers *pollers, pid_t pid)
{
	struct thread_snapshot_request request = {.pid = pid, .tid = pid};
	const struct thread_snapshot *snapshot;

	assert_true(pollers_ask(pollers, &request));
	snapshot = take(pollers);
	assert_non_null(snapshot);
	assert_int_equal(snapshot->request.pid, pid);
	return snapshot->result;
}

static void hang(struct pollers *pollers, pid_t pid)
{
	while (result_of(pollers, pid) != THREAD_SNAPSHOT_HANGS)
		usleep(1000);
}

TEST(a_thread_snapshot_that_hangs_is_given_up_and_others_go_on)
{
	pid_t hanging, sleeping;
	struct pollers *pollers;
	uint64_t start_ns;

	if (!may_fault_for_the_kernel())
		RETURN_LACKING("userfaultfd(2) is not allowed");
	pollers = pollers_new(NULL);
	hanging = child_of(hang_readers);
	sleeping = child_of(sleep_long);
	hang(pollers, hanging);
	wait_until_it_waits(pollers,
			    &(struct thread_snapshot_request){.pid = sleeping, .tid = sleeping});
	/* It is not read again, which would take a tenth of a second. */
	start_ns = clock_now_ns();
	for (int i = 0; i < 200; i++)
		assert_int_equal(result_of(pollers, hanging), THREAD_SNAPSHOT_HANGS);
	assert_true(clock_now_ns() - start_ns < 20 * NS_PER_SECOND);
	pollers_free(pollers);
	end(hanging);
	end(sleeping);
}

TEST(pollers_end_while_one_hangs)
{
	struct pollers *pollers;
	struct thread_snapshot_request request;
	pid_t pid;

	if (!may_fault_for_the_kernel())
		RETURN_LACKING("userfaultfd(2) is not allowed");
	pollers = pollers_new(NULL);
	pid = child_of(hang_readers);
	request = (struct thread_snapshot_request){.pid = pid, .tid = pid};
	for (int i = 0; i < POLLERS_ROOM; i++)
		assert_true(pollers_ask(pollers, &request));
	usleep(20000);
	pollers_free(pollers);
	end(pid);
}

static int unanswered[2]; /* pipe */

static size_t read_unanswered(pid_t tid, uint64_t address, void *into, size_t len)
{
	ssize_t got = read(unanswered[0], into, len);

	(void)tid;
	(void)address;
	return got < 0 ? 0 : (size_t)got;
}

TEST(an_interpreter_whose_memory_hangs_is_given_up_and_others_go_on)
{
	static const struct script_memory memory = {.read = read_unanswered};
	const struct runtime_process process = {.image.runtime = &cpython_runtime};
	struct scripts *scripts = scripts_new(&memory);
	struct pollers *pollers = pollers_new(scripts);
	pid_t hanging = child_of(sleep_long), sleeping = child_of(sleep_long);

	assert_int_equal(pipe(unanswered), 0);
	scripts_add_process(scripts, hanging, &process);
	hang(pollers, hanging);
	wait_until_it_waits(pollers,
			    &(struct thread_snapshot_request){.pid = sleeping, .tid = sleeping});
	pollers_free(pollers);
	scripts_free(scripts);
	close(unanswered[1]);
	end(hanging);
	end(sleeping);
}

TEST(too_many_hanging_processes_leave_no_poller)
{
	enum { HANGING = 17 };
	pid_t hanging[HANGING], sleeping;
	struct pollers *pollers;

	if (!may_fault_for_the_kernel())
		RETURN_LACKING("userfaultfd(2) is not allowed");
	pollers = pollers_new(NULL);
	sleeping = child_of(sleep_long);
	for (int i = 0; i < HANGING; i++)
		hanging[i] = child_of(hang_readers);
	for (int i = 0; i < HANGING; i++)
		hang(pollers, hanging[i]);
	assert_int_equal(result_of(pollers, sleeping), THREAD_SNAPSHOT_HANGS);
	for (int i = 0; i < HANGING; i++)
		end(hanging[i]);
	pollers_free(pollers);
	end(sleeping);
}

int main(void)
{
	if (!has_process_vm_readv())
		return lacking_all("process_vm_readv(2) is missing");
	return unit_tests_run();
}
