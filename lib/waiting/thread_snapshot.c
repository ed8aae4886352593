#include "waiting/thread_snapshot.h"

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
	LINE_BYTES = 256,	  /* for files with one line */
	KERNEL_TEXT_BYTES = 4096, /* for /proc/TID/stack */
	LINK_BYTES = 128,
	THREAD_SNAPSHOT_STAT_BYTES = 512,
};

void thread_snapshot_deinit(struct thread_snapshot *snapshot)
{
	free(snapshot->stack);
	free(snapshot->script.frames);
	*snapshot = (struct thread_snapshot){0};
}

void thread_snapshot_shrink(struct thread_snapshot *snapshot)
{
	if (snapshot->script.room > THREAD_SNAPSHOT_SCRIPT_FRAMES) {
		free(STEAL(snapshot->script.frames));
		snapshot->script.count = snapshot->script.room = 0;
	}
	if (snapshot->stack_room <= THREAD_SNAPSHOT_STACK_BYTES)
		return;
	free(STEAL(snapshot->stack));
	snapshot->stack_len = snapshot->stack_room = 0;
}

/* Resets all members except the buffers. */
static void thread_snapshot_begin(const struct thread_snapshot_request *request,
				  struct thread_snapshot *snapshot)
{
	snapshot->request = *request;
	snapshot->begin_ns = snapshot->end_ns = snapshot->run_delay_ns = 0;
	snapshot->reason[0] = snapshot->kernel_stack[0] = '\0';
	snapshot->sp = snapshot->pc = snapshot->futex = 0;
	snapshot->stack_len = 0;
	snapshot->holder.kind = LOCK_UNKNOWN;
	snapshot->tried_script = snapshot->has_script = false;
}

static enum thread_snapshot_result result_of_error(ssize_t number)
{
	return number == -ENOENT || number == -ESRCH ? THREAD_SNAPSHOT_ENDED
						     : THREAD_SNAPSHOT_REFUSED;
}

/*
 * The call numbers are those of 32-bit x86 if the thread entered the kernel by
 * "int 0x80". The vdso's sysenter and syscall also return behind an "int 0x80".
 * All addresses of such a process have 32 bits, which is rare in 64-bit
 * processes.
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

static void thread_snapshot_copy_stack(struct thread_snapshot *snapshot)
{
	size_t wanted = snapshot->request.stack_bytes ? snapshot->request.stack_bytes
						      : THREAD_SNAPSHOT_STACK_BYTES;

	if (wanted > THREAD_SNAPSHOT_STACK_BYTES_MAX)
		wanted = THREAD_SNAPSHOT_STACK_BYTES_MAX;
	if (wanted > snapshot->stack_room) {
		free(snapshot->stack);
		snapshot->stack = xmalloc(wanted);
		snapshot->stack_room = wanted;
	}
	snapshot->stack_len = memory_read(snapshot->request.tid, snapshot->sp, snapshot->stack,
					  wanted);
}

static void read_kernel_stack(struct thread_files *thread, struct thread_snapshot *snapshot)
{
	char text[KERNEL_TEXT_BYTES];

	if (thread_files_read(thread, THREAD_STACK, text, sizeof(text)) > 0)
		thread_text_kernel_stack(text, snapshot->kernel_stack,
					 sizeof(snapshot->kernel_stack));
}

static char read_state(struct thread_files *thread)
{
	char stat[THREAD_SNAPSHOT_STAT_BYTES];

	thread_files_read(thread, THREAD_STAT, stat, sizeof(stat));
	return thread_text_state(stat);
}

/*
 * If the kernel hides the function, the thread's state still shows whether it
 * is stopped.
 */
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
 * Returns the pc, or the caller of vfork(2). The child of vfork returns on the
 * parent's stack and overwrites the return address there, so C libraries keep
 * that address in an argument register: rdi in glibc, rdx in musl.
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

/* For threads with user space only. */
static void thread_snapshot_at_user_space(const struct waiting_call *call,
					  struct thread_snapshot *snapshot)
{
	snapshot->sp = call->sp;
	snapshot->pc = caller_of_vfork(snapshot->request.tid, call);
	thread_snapshot_copy_stack(snapshot);
}

static enum thread_snapshot_result thread_snapshot_at_waiting(struct thread_files *thread,
							      struct waiting_call *call,
							      struct thread_snapshot *snapshot)
{
	char wchan[THREAD_SNAPSHOT_REASON_BYTES], schedstat[LINE_BYTES], link[LINK_BYTES] = "";

	read_wchan(thread, wchan, sizeof(wchan));
	if (thread_files_read(thread, THREAD_SCHEDSTAT, schedstat, sizeof(schedstat)) > 0)
		snapshot->run_delay_ns = thread_text_run_delay_ns(schedstat);
	call->is_i386 = is_i386_call(snapshot->request.tid, call);
	if (call->pc)
		thread_snapshot_at_user_space(call, snapshot);
	if (reason_names_descriptor(call))
		read_link(thread, call, link, sizeof(link));
	if (snapshot->request.wants_kernel_stack)
		read_kernel_stack(thread, snapshot);
	reason_text(call, wchan, link, snapshot->reason, sizeof(snapshot->reason));
	return call->pc || *snapshot->reason ? THREAD_SNAPSHOT_WAITS : THREAD_SNAPSHOT_ENDED;
}

/*
 * The kernel shows the state of a thread to everyone, and often the kernel
 * function, too.
 */
static enum thread_snapshot_result thread_snapshot_at_state(struct thread_files *thread,
							    struct thread_snapshot *snapshot)
{
	char wchan[THREAD_SNAPSHOT_REASON_BYTES];

	switch (read_state(thread)) {
	case 'R':
		return THREAD_SNAPSHOT_RUNS;
	case 'X':
	case 'Z':
		return THREAD_SNAPSHOT_ENDED;
	default:
		read_wchan(thread, wchan, sizeof(wchan));
		reason_text(NULL, wchan, "", snapshot->reason, sizeof(snapshot->reason));
		return THREAD_SNAPSHOT_REFUSED;
	}
}

static enum thread_snapshot_result thread_snapshot_from(struct thread_files *thread,
							struct waiting_call *call,
							struct thread_snapshot *snapshot)
{
	char line[LINE_BYTES];
	ssize_t got = thread_files_read(thread, THREAD_SYSCALL, line, sizeof(line));

	if (got > 0)
		return waiting_call_parse(line, call)
			       ? thread_snapshot_at_waiting(thread, call, snapshot)
			       : THREAD_SNAPSHOT_RUNS;
	return result_of_error(got) == THREAD_SNAPSHOT_ENDED
		       ? THREAD_SNAPSHOT_ENDED
		       : thread_snapshot_at_state(thread, snapshot);
}

/* Finds who holds the lock for which the thread waits. */
static void thread_snapshot_find_holder(const struct waiting_call *call, struct kept_threads *kept,
					const struct runtime_holder *of_gil,
					struct thread_snapshot *snapshot)
{
	const struct thread_snapshot_request *request = &snapshot->request;

	if (of_gil) {
		snprintf(snapshot->reason, sizeof(snapshot->reason), "[GIL]");
		lock_holder_of_gil(request->pid, request->tid, of_gil, kept, &snapshot->holder);
		return;
	}
	snapshot->futex = call->args[0];
	lock_holder_find(request->pid, request->tid, call->args, kept, &snapshot->holder);
}

static void thread_snapshot_once(struct kept_threads *kept, struct script_walker *walker,
				 struct thread_snapshot *snapshot)
{
	const struct thread_snapshot_request *request = &snapshot->request;
	struct thread_files own = {0}, *thread;
	struct waiting_call call = {0};
	bool is_futex;
	int number = kept_threads_enter(kept, request->pid, request->tid, &own, &thread);

	snapshot->result = number ? result_of_error(number)
				  : thread_snapshot_from(thread, &call, snapshot);
	kept_threads_leave(&own, thread);
	if (snapshot->result != THREAD_SNAPSHOT_WAITS)
		return;
	is_futex = reason_is_futex(&call);
	snapshot->tried_script = walker;
	if (walker)
		script_walker_read(walker, is_futex ? call.args[0] : 0);
	if (is_futex)
		thread_snapshot_find_holder(&call, kept,
					    walker ? script_walker_holder(walker) : NULL, snapshot);
}

void thread_snapshot_take(const struct thread_snapshot_request *request, struct kept_threads *kept,
			  struct script_walker *walker, struct thread_snapshot *snapshot)
{
	thread_snapshot_begin(request, snapshot);
	snapshot->begin_ns = clock_now_ns();
	thread_snapshot_once(kept, walker, snapshot);
	/* The kept files may belong to an earlier thread with this tid. */
	if (snapshot->result == THREAD_SNAPSHOT_ENDED && kept_threads_forget(kept, request->tid))
		thread_snapshot_once(kept, walker, snapshot);
	snapshot->end_ns = clock_now_ns();
}

void thread_snapshot_give_up(const struct thread_snapshot_request *request,
			     struct thread_snapshot *snapshot)
{
	thread_snapshot_begin(request, snapshot);
	snapshot->result = THREAD_SNAPSHOT_HANGS;
}
