#include "waiting/look.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "proc/memory.h"
#include "waiting/reason.h"
#include "waiting/thread_files.h"
#include "waiting/thread_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	LINE_BYTES = 256,	  /* of the files with one line */
	KERNEL_TEXT_BYTES = 4096, /* of /proc/TID/stack */
	LINK_BYTES = 128,
	STAT_BYTES = 512,
};

void look_deinit(struct look *look)
{
	free(look->stack);
	*look = (struct look){0};
}

void look_shrink(struct look *look)
{
	if (look->stack_room <= LOOK_STACK_BYTES)
		return;
	free(STEAL(look->stack));
	look->stack_len = look->stack_room = 0;
}

/* All but the buffers. */
static void begin(const struct look_request *request, struct look *look)
{
	look->request = *request;
	look->begin_ns = look->end_ns = look->run_delay_ns = 0;
	look->reason[0] = look->kernel_stack[0] = '\0';
	look->sp = look->pc = look->futex = 0;
	look->stack_len = 0;
	look->holder.kind = LOCK_UNKNOWN;
}

static enum look_result result_of_error(ssize_t number)
{
	return number == -ENOENT || number == -ESRCH ? LOOK_ENDED : LOOK_REFUSED;
}

/*
 * The numbers of 32-bit x86 hold if the thread entered the kernel by "int 0x80", which the vdso's
 * sysenter and syscall return behind, too. All addresses of such a process have 32 bits, and hardly
 * ever those of another.
 */
static bool is_i386_call(pid_t tid, const struct waiting_call *call)
{
#ifdef __x86_64__
	static const unsigned char int_0x80[] = {0xcd, 0x80};
	unsigned char before[sizeof(int_0x80)];

	return call->number >= 0 && call->pc && call->sp <= UINT32_MAX && call->pc <= UINT32_MAX &&
	       memory_read(tid, call->pc - sizeof(before), before, sizeof(before)) ==
		       sizeof(before) &&
	       memcmp(before, int_0x80, sizeof(before)) == 0;
#else
	(void)tid;
	(void)call;
	return false;
#endif
}

static void copy_stack(struct look *look)
{
	size_t wanted = look->request.stack_bytes ? look->request.stack_bytes : LOOK_STACK_BYTES;

	if (wanted > LOOK_STACK_BYTES_MAX)
		wanted = LOOK_STACK_BYTES_MAX;
	if (wanted > look->stack_room) {
		free(look->stack);
		look->stack = xmalloc(wanted);
		look->stack_room = wanted;
	}
	look->stack_len = memory_read(look->request.tid, look->sp, look->stack, wanted);
}

static void read_kernel_stack(struct thread_files *thread, struct look *look)
{
	char text[KERNEL_TEXT_BYTES];

	if (thread_files_read(thread, THREAD_STACK, text, sizeof(text)) > 0)
		thread_text_kernel_stack(text, look->kernel_stack, sizeof(look->kernel_stack));
}

static char read_state(struct thread_files *thread)
{
	char stat[STAT_BYTES];

	thread_files_read(thread, THREAD_STAT, stat, sizeof(stat));
	return thread_text_state(stat);
}

/* A kernel that does not say it, or not to prof, says at least whether the thread was stopped. */
static void read_wchan(struct thread_files *thread, char *into, size_t len)
{
	thread_files_read(thread, THREAD_WCHAN, into, len);
	if (thread_text_symbol_len(into))
		return;
	switch (read_state(thread)) {
	case 'T':
		snprintf(into, len, "do_signal_stop");
		break;
	case 't':
		snprintf(into, len, "ptrace_stop");
		break;
	default:
		break;
	}
}

static void read_link(const struct thread_files *thread, const struct waiting_call *call,
		      char *link, size_t len)
{
	char path[32];
	ssize_t got;

	snprintf(path, sizeof(path), "fd/%u", (unsigned)call->args[0]);
	got = readlinkat(thread->dir, path, link, len - 1);
	link[got < 0 ? 0 : got] = '\0';
}

/*
 * The pc, or where vfork(2) was called. The child of vfork returns on the parent's stack and
 * overwrites the return address there, so C libraries keep that in a register, an argument: glibc
 * in rdi, musl in rdx.
 */
static uint64_t caller_of_vfork(pid_t tid, const struct waiting_call *call)
{
#if defined(__x86_64__) && defined(SYS_vfork)
	enum { POP_RDI = 0x5f, POP_RDX = 0x5a };
	/* mov $SYS_vfork, %eax; syscall */
	static const unsigned char calls[] = {0xb8, SYS_vfork, 0, 0, 0, 0x0f, 0x05};
	unsigned char before[1 + sizeof(calls)];

	if (call->number != SYS_vfork || call->is_i386 ||
	    memory_read(tid, call->pc - sizeof(before), before, sizeof(before)) != sizeof(before) ||
	    memcmp(before + 1, calls, sizeof(calls)) != 0)
		return call->pc;
	if (before[0] == POP_RDI)
		return call->args[0];
	return before[0] == POP_RDX ? call->args[2] : call->pc;
#else
	(void)tid;
	return call->pc;
#endif
}

/* Of a thread that has user space. */
static void look_at_user_space(const struct waiting_call *call, struct look *look)
{
	look->sp = call->sp;
	look->pc = caller_of_vfork(look->request.tid, call);
	copy_stack(look);
}

static enum look_result look_at_waiting(struct thread_files *thread, struct waiting_call *call,
					struct look *look)
{
	char wchan[LOOK_REASON_BYTES], schedstat[LINE_BYTES], link[LINK_BYTES] = "";

	read_wchan(thread, wchan, sizeof(wchan));
	if (thread_files_read(thread, THREAD_SCHEDSTAT, schedstat, sizeof(schedstat)) > 0)
		look->run_delay_ns = thread_text_run_delay_ns(schedstat);
	call->is_i386 = is_i386_call(look->request.tid, call);
	if (call->pc)
		look_at_user_space(call, look);
	if (reason_names_descriptor(call))
		read_link(thread, call, link, sizeof(link));
	if (look->request.wants_kernel_stack)
		read_kernel_stack(thread, look);
	reason_text(call, wchan, link, look->reason, sizeof(look->reason));
	return call->pc || *look->reason ? LOOK_WAITS : LOOK_ENDED;
}

/* The kernel lets everybody read the state, and the function in which a thread waits some. */
static enum look_result look_at_state(struct thread_files *thread, struct look *look)
{
	char wchan[LOOK_REASON_BYTES];

	switch (read_state(thread)) {
	case 'R':
		return LOOK_RUNS;
	case 'X':
	case 'Z':
		return LOOK_ENDED;
	default:
		read_wchan(thread, wchan, sizeof(wchan));
		reason_text(NULL, wchan, "", look->reason, sizeof(look->reason));
		return LOOK_REFUSED;
	}
}

static enum look_result look_from(struct thread_files *thread, struct waiting_call *call,
				  struct look *look)
{
	char line[LINE_BYTES];
	ssize_t got = thread_files_read(thread, THREAD_SYSCALL, line, sizeof(line));

	if (got > 0)
		return waiting_call_parse(line, call) ? look_at_waiting(thread, call, look)
						      : LOOK_RUNS;
	return result_of_error(got) == LOOK_ENDED ? LOOK_ENDED : look_at_state(thread, look);
}

static void look_once(struct kept_threads *kept, struct look *look)
{
	const struct look_request *request = &look->request;
	struct thread_files own = {0}, *thread;
	struct waiting_call call = {0};
	int number = kept_threads_enter(kept, request->pid, request->tid, &own, &thread);

	look->result = number ? result_of_error(number) : look_from(thread, &call, look);
	kept_threads_leave(&own, thread);
	if (look->result != LOOK_WAITS || !reason_is_futex(&call))
		return;
	look->futex = call.args[0];
	lock_holder_find(request->pid, request->tid, call.args, kept, &look->holder);
}

void look_at(const struct look_request *request, struct kept_threads *kept, struct look *look)
{
	begin(request, look);
	look->begin_ns = clock_now_ns();
	look_once(kept, look);
	/* The files that are kept may be those of another thread that had this id. */
	if (look->result == LOOK_ENDED && kept_threads_forget(kept, request->tid))
		look_once(kept, look);
	look->end_ns = clock_now_ns();
}

void look_give_up(const struct look_request *request, struct look *look)
{
	begin(request, look);
	look->result = LOOK_HANGS;
}
