/*
 * Stops a thread of a running process repeatedly, unwinds it, and single-steps
 * it until functions return. The callers are correct if it returns to them.
 *
 *	return_stops TID STOPS [STEPS]
 *
 * An original return address is recognized by its slot, if the stack still
 * holds the same word there as at the stop. Prints a line for each stop whose
 * function returns elsewhere, and for each that did not reach its root. Then
 * prints the numbers of stops, of stops that reached the root, of verified
 * callers and of wrong callers. x86-64 only.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "proc/memory.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* x86-64 only. */
enum { PUSHF = 0x9c, TRAP_FLAG = 0x100 };

enum {
	STACK_BYTES = 256 << 10,
	STEPS_DEFAULT = 3000,
	GAP_US = 700,
	LOCAL_BYTES = 4096,
	CHAIN_PRINTED = 24
};

struct tracer {
	pid_t pid, tid;
	struct address_spaces *spaces;
	struct unwinder *unwinder;
	unsigned char *stack;
	uint64_t stack_start, stack_bytes;
	struct frame frames[UNWIND_DEPTH_MAX];
	struct call_chain chain;
	uint64_t now_ns; /* time of the stop */
	/* the leaf's return address is in a register, as in an interpreter that
	 * returns */
	bool is_in_register;
	unsigned long stops, roots, verified, wrong;
};

static struct regs regs_of(const struct user_regs_struct *user)
{
	const uint64_t by_dwarf[] = {user->rax, user->rdx, user->rcx, user->rbx,
				     user->rsi, user->rdi, user->rbp, user->rsp,
				     user->r8,	user->r9,  user->r10, user->r11,
				     user->r12, user->r13, user->r14, user->r15};
	struct regs regs = {.pc = user->rip};

	for (unsigned i = 0; i < ARRAY_SIZE(by_dwarf); i++)
		regs_set(&regs, i, by_dwarf[i]);
	return regs;
}

static pid_t process_of(pid_t tid)
{
	char path[64], line[256];
	int pid = tid;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Tgid:\t%d", &pid) == 1)
			break;
	if (status)
		fclose(status);
	return pid;
}

/* Waits for the next stop and passes signals on. Returns false if the thread
 * has ended. */
static bool wait_for(const struct tracer *tracer, enum __ptrace_request resume)
{
	int status, signal = 0;

	for (;;) {
		if (resume && ptrace(resume, tracer->tid, NULL, signal) < 0)
			return false;
		if (waitpid(tracer->tid, &status, __WALL) < 0 || !WIFSTOPPED(status))
			return false;
		signal = WSTOPSIG(status);
		if (signal == SIGTRAP)
			return true;
		if (!resume)
			resume = PTRACE_CONT;
	}
}

static bool interrupt_thread(const struct tracer *tracer)
{
	return ptrace(PTRACE_INTERRUPT, tracer->tid, NULL, NULL) == 0 &&
	       wait_for(tracer, (enum __ptrace_request)0);
}

/* Returns true if this is the return address of a frame. */
static bool is_in_frame(const struct tracer *tracer, uint64_t pc, const struct frame *frame)
{
	struct location at;

	return address_spaces_locate(tracer->spaces, tracer->pid, tracer->now_ns, pc - 1, &at) &&
	       at.module == frame->module && at.offset + 1 == frame->offset;
}

/* Returns true if the word at the slot is still that of the stop. */
static bool is_original(const struct tracer *tracer, uint64_t slot, uint64_t *word)
{
	uint64_t at = slot - tracer->stack_start, original;

	if (slot < tracer->stack_start || at + 8 > tracer->stack_bytes ||
	    memory_read(tracer->tid, slot, word, 8) != 8)
		return false;
	memcpy(&original, tracer->stack + at, 8);
	return original == *word;
}

/* Returns the slot of the return address if the instruction ends a frame. */
static uint64_t ended_slot(const struct user_regs_struct *regs, const unsigned char code[2])
{
	if (code[0] == 0xc3 || code[0] == 0xc2 || (code[0] == 0xf3 && code[1] == 0xc3))
		return regs->rsp;
	return code[0] == 0xc9 ? regs->rbp + 8 : 0;
}

static void print_chain(const struct tracer *tracer)
{
	for (unsigned i = 0; i < tracer->chain.count && i < CHAIN_PRINTED; i++)
		printf(" %s+%#" PRIx64,
		       address_spaces_module(tracer->spaces, tracer->frames[i].module)->path,
		       tracer->frames[i].offset);
	printf("\n");
}

static void report(struct tracer *tracer, unsigned level, uint64_t returned)
{
	tracer->wrong++;
	printf("wrong at level %u: returns to %#" PRIx64 ";", level, returned);
	print_chain(tracer);
}

/*
 * Returns the return address of a frame of the stop if the instruction ends
 * one. The address was written before the stop, because the stack pointer was
 * never above it since.
 */
static uint64_t returns_to(const struct tracer *tracer, const struct user_regs_struct *regs,
			   uint64_t *highest, bool *is_moved)
{
	unsigned char code[2];
	uint64_t slot, to;

	if (regs->rsp > *highest)
		*highest = regs->rsp;

	if (memory_read(tracer->tid, regs->rip, code, sizeof(code)) != sizeof(code))
		return 0;
	slot = ended_slot(regs, code);
	/* An interpreter's entry moves the return address. */
	*is_moved = !slot && (code[0] & 0xf8) == 0x58;
	if (*is_moved)
		slot = regs->rsp;
	if (!slot || slot < *highest || !is_original(tracer, slot, &to))
		return 0;
	if (!*is_moved)
		*highest = slot + 8;
	return to == UINT64_MAX ? 0 : to; /* pushed by HotSpot's entry barriers */
}

/* Executes an instruction. The flags that pushf pushes would cause traps when
 * they are popped. */
static bool step_once(const struct tracer *tracer, uint64_t pc)
{
	struct user_regs_struct regs;
	unsigned char code = 0;
	long flags;

	memory_read(tracer->tid, pc, &code, 1);
	if (!wait_for(tracer, PTRACE_SINGLESTEP))
		return false;
	if (code != PUSHF)
		return true;
	ptrace(PTRACE_GETREGS, tracer->tid, NULL, &regs);
	flags = ptrace(PTRACE_PEEKDATA, tracer->tid, regs.rsp, NULL);
	ptrace(PTRACE_POKEDATA, tracer->tid, regs.rsp, flags & ~TRAP_FLAG);
	return true;
}

/* Returns true if this can be a routine inside a frame, as the interpreter has. */
static bool is_local(uint64_t to, uint64_t from)
{
	return to - from + LOCAL_BYTES < 2 * LOCAL_BYTES;
}

/* Runs the thread and compares returns. Returns false if it has ended. */
static bool follow(struct tracer *tracer, unsigned long steps)
{
	uint64_t highest = 0;
	unsigned level = 1;

	for (unsigned long i = 0; i < steps && level < tracer->chain.count; i++) {
		struct user_regs_struct regs;
		bool is_moved = false;
		uint64_t to;

		ptrace(PTRACE_GETREGS, tracer->tid, NULL, &regs);
		to = returns_to(tracer, &regs, &highest, &is_moved);
		if (to && is_in_frame(tracer, to, &tracer->frames[level])) {
			tracer->verified++;
			level++;
		} else if (to && level == 1 && tracer->is_in_register && tracer->chain.count > 2 &&
			   is_in_frame(tracer, to, &tracer->frames[2])) {
			level = 3;
		} else if (to && !is_moved && !is_local(to, regs.rip)) {
			report(tracer, level, to);
			return true;
		}
		if (!step_once(tracer, regs.rip))
			return false;
	}
	return true;
}

static void unwind(struct tracer *tracer)
{
	struct user_regs_struct user;
	struct regs regs;
	enum unwind_stop stop;

	ptrace(PTRACE_GETREGS, tracer->tid, NULL, &user);
	regs = regs_of(&user);
	tracer->stack_start = user.rsp;
	tracer->stack_bytes = memory_read(tracer->tid, user.rsp, tracer->stack, STACK_BYTES);
	address_spaces_snapshot(tracer->spaces, tracer->pid, clock_now_ns());
	tracer->now_ns = clock_now_ns();
	tracer->chain = (struct call_chain){.frames = tracer->frames, .room = UNWIND_DEPTH_MAX};
	stop = unwinder_walk(
		tracer->unwinder, tracer->pid, tracer->now_ns, &regs,
		&(struct stack_copies){.own = bytes_of(tracer->stack, tracer->stack_bytes)},
		&tracer->chain);
	tracer->stops++;
	tracer->is_in_register = false;
	for (unsigned i = 0; i < 16 && tracer->chain.count > 1; i++)
		tracer->is_in_register |= is_in_frame(tracer, regs.values[i], &tracer->frames[1]);
	tracer->roots += stop == UNWIND_ROOT;
	if (stop == UNWIND_ROOT)
		return;
	printf("no root (%d):", (int)stop);
	print_chain(tracer);
}

int main(int argc, char **argv)
{
	struct tracer tracer = {.tid = argc > 2 ? (pid_t)strtol(argv[1], NULL, 10) : 0};
	unsigned long stops = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long steps = argc > 3 ? strtoul(argv[3], NULL, 10) : STEPS_DEFAULT;

	setlinebuf(stdout);
	if (!stops || ptrace(PTRACE_SEIZE, tracer.tid, NULL, NULL) < 0) {
		fprintf(stderr, "usage: return_stops TID STOPS [STEPS]\n");
		return 2;
	}
	tracer.pid = process_of(tracer.tid);
	tracer.stack = xmalloc(STACK_BYTES);
	tracer.spaces = address_spaces_new("/proc");
	tracer.unwinder = unwinder_new(tracer.spaces, arch_native(), true);
	while (tracer.stops < stops && interrupt_thread(&tracer)) {
		unwind(&tracer);
		if (!follow(&tracer, steps) || ptrace(PTRACE_CONT, tracer.tid, NULL, NULL) < 0)
			break;
		usleep(GAP_US);
	}
	printf("%lu stops, %lu to the root, %lu callers verified, %lu wrong\n", tracer.stops,
	       tracer.roots, tracer.verified, tracer.wrong);
	unwinder_free(tracer.unwinder);
	address_spaces_free(tracer.spaces);
	free(tracer.stack);
	return tracer.wrong != 0;
}
