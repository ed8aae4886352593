/*
 * The leaf frames of waiting threads, derived from /proc.
 */
#include "waiting/reason.h"
#include "waiting/thread_text.h"

#include "unit_test.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

static const char *reason(struct waiting_call call, const char *wchan, const char *link)
{
	static char text[64];

	reason_text(&call, wchan, link, text, sizeof(text));
	return text;
}

/* Makes the call of a thread in user space. */
static struct waiting_call call_of(int64_t number, uint64_t argument)
{
	return (struct waiting_call){.number = number, .args = {argument}, .sp = 8, .pc = 16};
}

TEST(a_line_of_a_system_call_has_its_arguments_and_registers)
{
	struct waiting_call call;

	assert_true(
		waiting_call_parse("202 0x7f10 0x80 0x2 0x0 0x0 0x1 0x7ffc9d0 0x7f1c8e\n", &call));
	assert_int_equal(call.number, 202);
	assert_int_equal(call.args[0], 0x7f10);
	assert_int_equal(call.args[2], 2);
	assert_int_equal(call.args[5], 1);
	assert_int_equal(call.sp, 0x7ffc9d0);
	assert_int_equal(call.pc, 0x7f1c8e);
	assert_true(waiting_call_parse("-1 0x7ffd5c0 0x55d0\n", &call));
	assert_int_equal(call.number, -1);
	assert_int_equal(call.sp, 0x7ffd5c0);
	assert_int_equal(call.pc, 0x55d0);
}

TEST(a_thread_that_runs_and_a_damaged_line_are_not_a_call)
{
	static const char *const lines[] = {
		"running\n",
		"",
		"-1\n",
		"-1 0x1\n",
		"-2 0x1 0x2\n",
		"202 0x1 0x2 0x3 0x4 0x5 0x6 0x7\n",
		"202 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9\n",
		"202 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x11112222333344445\n",
		"-1 0x1 0x2x\n",
		"-1  0x1 0x2\n",
	};
	struct waiting_call call;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_false(waiting_call_parse(lines[i], &call));
}

TEST(variants_of_a_call_have_one_name)
{
	assert_string_equal(reason(call_of(SYS_futex, 0), "", ""), "[futex]");
	assert_string_equal(reason(call_of(SYS_nanosleep, 0), "", ""), "[nanosleep]");
	assert_string_equal(reason(call_of(SYS_clock_nanosleep, 0), "", ""), "[nanosleep]");
	assert_string_equal(reason(call_of(SYS_epoll_pwait, 0), "", ""), "[epoll_wait]");
	assert_string_equal(reason(call_of(SYS_ppoll, 0), "", ""), "[poll]");
	assert_string_equal(reason(call_of(SYS_pselect6, 0), "", ""), "[select]");
	assert_string_equal(reason(call_of(SYS_waitid, 0), "", ""), "[wait4]");
	assert_string_equal(reason(call_of(SYS_accept4, 3), "", ""), "[accept]");
	assert_string_equal(reason(call_of(SYS_fdatasync, 3), "", ""), "[fsync]");
	assert_string_equal(reason(call_of(SYS_fcntl, 3), "", ""), "[fcntl lock]");
	assert_string_equal(reason(call_of(SYS_clone, CLONE_VM | CLONE_VFORK), "", ""), "[vfork]");
	assert_string_equal(reason(call_of(SYS_clone, CLONE_VM), "", ""), "[clone]");
	assert_string_equal(reason(call_of(100463, 0), "", ""), "[system call 100463]");
}

TEST(a_descriptor_is_named_by_what_it_is)
{
	struct waiting_call call = call_of(SYS_read, 3);

	assert_true(reason_names_descriptor(&call));
	assert_string_equal(reason(call, "", "pipe:[81]"), "[read pipe]");
	assert_string_equal(reason(call, "", "socket:[81]"), "[read socket]");
	assert_string_equal(reason(call, "", "anon_inode:[eventfd]"), "[read eventfd]");
	assert_string_equal(reason(call, "", "anon_inode:inotify"), "[read inotify]");
	assert_string_equal(reason(call, "", "/dev/pts/3"), "[read terminal]");
	assert_string_equal(reason(call, "", "/dev/fuse"), "[read /dev/fuse]");
	assert_string_equal(reason(call, "", "/home/x/data"), "[read file]");
	assert_string_equal(reason(call, "anon_pipe_read", "/tmp/fifo"), "[read pipe]");
	assert_string_equal(reason(call, "", ""), "[read]");
	assert_string_equal(reason(call_of(SYS_preadv, 3), "", "/x"), "[read file]");
	assert_string_equal(reason(call_of(SYS_sendmsg, 3), "", "socket:[1]"), "[send socket]");
	assert_string_equal(reason(call_of(SYS_ioctl, 3), "", "/dev/dri/card0"),
			    "[ioctl /dev/dri/card0]");
	call = call_of(SYS_futex, 3);
	assert_false(reason_names_descriptor(&call));
}

TEST(the_path_of_a_device_cannot_disturb_the_stack)
{
	assert_string_equal(reason(call_of(SYS_read, 3), "", "/dev/a;b"), "[read device]");
	assert_string_equal(reason(call_of(SYS_read, 3), "", "/dev/\033[2J"), "[read device]");
	assert_string_equal(reason(call_of(SYS_read, 3), "", "anon_inode:[\n]"), "[read file]");
	assert_string_equal(reason(call_of(SYS_read, 3), "", "/dev/a (deleted)"), "[read device]");
}

TEST(a_thread_outside_of_a_system_call_waits_for_a_page)
{
	assert_string_equal(reason(call_of(-1, 0), "handle_userfault", ""), "[page fault]");
	assert_string_equal(reason(call_of(-1, 0), "", ""), "[page fault]");
}

TEST(a_thread_that_others_hold_up_does_not_wait_for_its_call)
{
	assert_string_equal(reason(call_of(SYS_futex, 0), "do_signal_stop", ""), "[stopped]");
	assert_string_equal(reason(call_of(-1, 0), "do_signal_stop", ""), "[stopped]");
	assert_string_equal(reason(call_of(SYS_futex, 0), "ptrace_stop", ""), "[traced]");
	assert_string_equal(reason(call_of(SYS_futex, 0), "do_freezer_trap", ""), "[frozen]");
}

TEST(the_function_of_the_kernel_tells_what_a_restarted_call_was)
{
	struct waiting_call call = call_of(SYS_restart_syscall, 0);

	assert_string_equal(reason(call, "hrtimer_nanosleep", ""), "[nanosleep]");
	assert_string_equal(reason(call, "futex_do_wait", ""), "[futex]");
	assert_string_equal(reason(call, "do_sys_poll", ""), "[poll]");
	assert_string_equal(reason(call, "0", ""), "[restart_syscall]");
}

TEST(the_function_of_the_kernel_is_the_reason_where_nothing_else_is_known)
{
	/* as /proc shows a thread without user space */
	struct waiting_call worker = {.number = 0};
	char text[64];

	reason_text(NULL, "do_epoll_wait", "", text, sizeof(text));
	assert_string_equal(text, "[do_epoll_wait]");
	reason_text(NULL, "0", "", text, sizeof(text));
	assert_string_equal(text, "");
	reason_text(NULL, "", "", text, sizeof(text));
	assert_string_equal(text, "");
	assert_string_equal(reason(worker, "worker_thread", ""), "[worker_thread]");
}

TEST(calls_of_32_bit_programs_have_numbers_of_their_own)
{
#ifdef __x86_64__
	struct waiting_call call = call_of(240, 0);

	call.is_i386 = true;
	assert_string_equal(reason(call, "", ""), "[futex]");
	assert_true(reason_is_futex(&call));
	call.number = 3;
	assert_string_equal(reason(call, "", "pipe:[1]"), "[read pipe]");
	call.number = 422;
	assert_string_equal(reason(call, "", ""), "[futex]");
#endif
}

TEST(the_run_queue_delay_is_the_second_number_of_schedstat)
{
	assert_int_equal(thread_text_run_delay_ns("76347 7121 2\n"), 7121);
	assert_int_equal(thread_text_run_delay_ns("76347\n"), 0);
	assert_int_equal(thread_text_run_delay_ns("76347 x"), 0);
	assert_int_equal(thread_text_run_delay_ns(""), 0);
}

TEST(the_state_follows_the_name_of_a_thread)
{
	assert_int_equal(thread_text_state("2217 (turns) S 2216 2217"), 'S');
	assert_int_equal(thread_text_state("2217 (a) R (b) Z 2216"), 'Z');
	assert_int_equal(thread_text_state("2217 (a)"), '\0');
	assert_int_equal(thread_text_state(""), '\0');
}

TEST(a_kernel_stack_is_a_line_for_each_function)
{
	char text[64];

	thread_text_kernel_stack("[<0>] futex_do_wait+0x38/0x60\n"
				 "[<0>] fuse_dev_read+0x1/0x2 [fuse]\n"
				 "garbage\n"
				 "[<0>] 0xffffffff81000000\n"
				 "[<0>] do_syscall_64+0x7e/0x280\n",
				 text, sizeof(text));
	assert_string_equal(text, "futex_do_wait\nfuse_dev_read\ndo_syscall_64\n");
	thread_text_kernel_stack("[<0>] one+0x1/0x2\n[<0>] two+0x1/0x2\n", text, 8);
	assert_string_equal(text, "one\n");
	thread_text_kernel_stack("[<0>] one+0x1/0x2\n[<0>] do_sys", text, sizeof(text));
	assert_string_equal(text, "one\n");
	thread_text_kernel_stack("", text, sizeof(text));
	assert_string_equal(text, "");
}
