/*
 * Looks at waiting threads on a thread that can be left behind.
 */
#include "waiting/lookers.h"

#include "base/clock.h"
#include "lacking.h"
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

/* Takes the next look; NULL: it did not come. */
static const struct look *take(struct lookers *lookers)
{
	uint64_t end_ns = clock_now_ns() + 20 * NS_PER_SECOND;
	const struct look *look;

	while (!(look = lookers_take(lookers)) && clock_now_ns() < end_ns)
		sched_yield();
	return look;
}

static void wait_until_it_waits(struct lookers *lookers, const struct look_request *request)
{
	const struct look *look;

	do {
		assert_true(lookers_ask(lookers, request));
		look = take(lookers);
		assert_non_null(look);
	} while (look->result == LOOK_RUNS);
	assert_int_equal(look->result, LOOK_WAITS);
}

TEST(looks_come_back_in_the_order_in_which_they_were_asked_for)
{
	CLEANUP(lookers_cleanup) struct lookers *lookers = lookers_new();
	pid_t pid = child_of(sleep_long);
	struct look_request request = {.pid = pid, .tid = pid};

	wait_until_it_waits(lookers, &request);
	for (int round = 0; round < 5; round++) {
		for (uint64_t i = 0; i < LOOKERS_ROOM; i++) {
			request.since_ns = i;
			assert_true(lookers_ask(lookers, &request));
		}
		for (uint64_t i = 0; i < LOOKERS_ROOM; i++) {
			const struct look *look = take(lookers);

			assert_non_null(look);
			assert_int_equal(look->request.since_ns, i);
			assert_string_equal(look->reason, "[nanosleep]");
			assert_true(look->stack_len > 0);
		}
		assert_null(lookers_take(lookers));
	}
	end(pid);
}

TEST(there_is_room_for_so_many_beside_the_one_that_was_taken)
{
	CLEANUP(lookers_cleanup) struct lookers *lookers = lookers_new();
	struct look_request request = {.pid = 1, .tid = 1};
	const struct look *look;

	for (int i = 0; i < LOOKERS_ROOM; i++)
		assert_true(lookers_ask(lookers, &request));
	assert_false(lookers_ask(lookers, &request));
	look = take(lookers);
	assert_non_null(look);
	assert_true(lookers_ask(lookers, &request));
	assert_false(lookers_ask(lookers, &request));
	assert_int_equal(look->request.pid, 1);
}

TEST(copies_of_large_stacks_are_freed)
{
	CLEANUP(lookers_cleanup) struct lookers *lookers = lookers_new();
	pid_t pid = child_of(sleep_long);
	struct look_request request = {.pid = pid, .tid = pid};

	wait_until_it_waits(lookers, &request);
	for (int i = 0; i < 2 * LOOKERS_ROOM; i++) {
		const struct look *look;

		request.stack_bytes = i < LOOKERS_ROOM ? 4 * LOOK_STACK_BYTES : 0;
		assert_true(lookers_ask(lookers, &request));
		look = take(lookers);
		assert_non_null(look);
		assert_int_equal(look->stack_room,
				 i < LOOKERS_ROOM ? 4 * LOOK_STACK_BYTES : LOOK_STACK_BYTES);
	}
	end(pid);
}

TEST(lookers_end_with_looks_that_nobody_has_taken)
{
	struct look_request request = {.pid = 1, .tid = 1};

	for (int round = 0; round < 20; round++) {
		CLEANUP(lookers_cleanup) struct lookers *lookers = lookers_new();

		for (int i = 0; i < round * 10; i++)
			assert_true(lookers_ask(lookers, &request));
	}
	lookers_free(NULL);
}

/* ---- A process whose stack cannot be read to its end ---- */

enum { STACK_PAGES = 8 };

static void wait_on_its_stack(void)
{
	for (;;)
		pause();
}

/* It pauses on a stack whose outer half nobody provides. */
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

static enum look_result result_of(struct lookers *lookers, pid_t pid)
{
	struct look_request request = {.pid = pid, .tid = pid};
	const struct look *look;

	assert_true(lookers_ask(lookers, &request));
	look = take(lookers);
	assert_non_null(look);
	assert_int_equal(look->request.pid, pid);
	return look->result;
}

static void hang(struct lookers *lookers, pid_t pid)
{
	while (result_of(lookers, pid) != LOOK_HANGS)
		usleep(1000);
}

TEST(a_look_that_hangs_is_given_up_and_others_go_on)
{
	pid_t hanging, sleeping;
	struct lookers *lookers;
	uint64_t start_ns;

	if (!may_fault_for_the_kernel())
		RETURN_LACKING("userfaultfd(2) is not allowed");
	lookers = lookers_new();
	hanging = child_of(hang_readers);
	sleeping = child_of(sleep_long);
	hang(lookers, hanging);
	wait_until_it_waits(lookers, &(struct look_request){.pid = sleeping, .tid = sleeping});
	/* It is not read again, which would take a tenth of a second. */
	start_ns = clock_now_ns();
	for (int i = 0; i < 200; i++)
		assert_int_equal(result_of(lookers, hanging), LOOK_HANGS);
	assert_true(clock_now_ns() - start_ns < 20 * NS_PER_SECOND);
	lookers_free(lookers);
	end(hanging);
	end(sleeping);
}

TEST(lookers_end_while_one_hangs)
{
	struct lookers *lookers;
	struct look_request request;
	pid_t pid;

	if (!may_fault_for_the_kernel())
		RETURN_LACKING("userfaultfd(2) is not allowed");
	lookers = lookers_new();
	pid = child_of(hang_readers);
	request = (struct look_request){.pid = pid, .tid = pid};
	for (int i = 0; i < LOOKERS_ROOM; i++)
		assert_true(lookers_ask(lookers, &request));
	usleep(20000);
	lookers_free(lookers);
	end(pid);
}

TEST(too_many_hanging_processes_leave_no_looker)
{
	enum { HANGING = 17 };
	pid_t hanging[HANGING], sleeping;
	struct lookers *lookers;

	if (!may_fault_for_the_kernel())
		RETURN_LACKING("userfaultfd(2) is not allowed");
	lookers = lookers_new();
	sleeping = child_of(sleep_long);
	for (int i = 0; i < HANGING; i++)
		hanging[i] = child_of(hang_readers);
	for (int i = 0; i < HANGING; i++)
		hang(lookers, hanging[i]);
	assert_int_equal(result_of(lookers, sleeping), LOOK_HANGS);
	for (int i = 0; i < HANGING; i++)
		end(hanging[i]);
	lookers_free(lookers);
	end(sleeping);
}

int main(void)
{
	if (!has_process_vm_readv())
		return lacking_all("process_vm_readv(2) is missing");
	return unit_tests_run();
}
