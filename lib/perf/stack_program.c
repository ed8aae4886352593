#include "perf/stack_program.h"

#include "base/alloc.h"
#include "perf/bpf.h"
#include "perf/copier_wakes.h"
#include "perf/cpus.h"

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/user.h>
#include <sys/utsname.h>

enum {
	/* Size of one copy operation. A kernel page has this size or a multiple
	 * of it. */
	PIECE_BYTES = 4096,
	PIECE_SHIFT = 12,
	/* Maximum number of pieces, and the number for an unknown thread. */
	PIECES_MAX = 64,
	/* A stack pointer that is further below the end belongs to another
	 * stack. */
	REACH_BYTES = 1 << 30,
	/* Size of the table by thread. Threads whose ids collide replace each
	 * other. */
	THREADS = 8192,
	/* See is_cut(). */
	CUTS_MAX = 64,
	/* Helpers of Linux 5.11 and 5.15, which older headers lack. */
	CALL_CURRENT_TASK = 158,
	CALL_TASK_REGISTERS = 175,
/* The kernel's pt_regs starts with the registers that ptrace(2) shows. */
#ifdef __x86_64__
	REGISTERS_SP = offsetof(struct user_regs_struct, rsp),
#else
	REGISTERS_SP = offsetof(struct user_regs_struct, sp),
#endif
};

_Static_assert(PIECE_BYTES == 1 << PIECE_SHIFT, "a piece is as large");

/* The data on a thread. If the program mixes two threads, only the size of the
 * copy is wrong. */
struct thread_end {
	_Atomic uint64_t tid;
	_Atomic uint64_t end; /* end of its stack, or 0 to copy nothing */
	uint64_t cuts;	      /* see is_cut(); used only by the reader */
};

/* The slots that the program compares. */
struct slot_table {
	_Atomic uint64_t tid;
	/* Twice the version of the slots; odd during changes and without
	 * slots. */
	_Atomic uint64_t version;
	/* The last slot is followed by one that is below any stack. */
	struct stack_slot slots[STACK_SLOTS_MAX];
};

/* Stored in the first piece of a CPU's ring. Positions count pieces and never
 * wrap. */
struct ring_control {
	_Atomic uint64_t head; /* set by the program */
	_Atomic uint64_t tail; /* set by the reader */
	uint64_t run_ns;       /* time when the program last started */
	uint64_t throttled_until_ns;
	/* Numbers of compared bytes and of copied pieces. They are kept in
	 * memory, because a value that is read back is unknown to the verifier:
	 * all iterations of a loop have the same state. */
	uint64_t compared, copied;
};

/* Header in the first piece of a copy. The copied pieces follow, from the page
 * of the stack pointer on. */
struct copy {
	uint64_t tid, sp;
	uint64_t pieces; /* 0 if the sample's own copy suffices */
	/* End of the needed stack, if all words in equal_bytes of slots are
	 * equal. 0 without equal slots. */
	uint64_t needed_end;
	/* Number of equal bytes of the table, and its version. */
	uint64_t equal_bytes, version;
	/* Start times of this run and of the previous one. The kernel takes the
	 * time of a sample in the same interrupt before the program runs, so it
	 * is between the two. */
	uint64_t run_ns, previous_run_ns;
};

struct stack_program {
	const unsigned *cpus;
	size_t dumped_bytes, ring_pieces;
	size_t cpu_pieces; /* pieces per CPU in the array */
	struct copier_wakes *wakes;
	struct bpf_array threads, tables, windows, rings;
	struct bpf_code code;
	int fd;
};

/* Offsets of the program's variables from r10. */
enum {
	SP = -16,
	TID = -24,
	CPU_PIECE = -32,
	FIRST_PIECE = -40,
	HEAD = -48,
	RUN = -56,
	PREVIOUS_RUN = -64,
	NEEDED_END = -72,
	EQUAL_BYTES = -80,
	VERSION = -88,
	WINDOW = -96,
};

/* Keeps the sample and returns. */
#define INSNS_PASS INSN_MOVE_NUMBER(BPF_REG_0, 1), INSN_EXIT
/* Keeps the sample and returns unless the condition holds. */
#define INSNS_REQUIRE(condition, left, right) INSN_JUMP_IF(condition, left, right, 2), INSNS_PASS
#define INSNS_REQUIRE_NUMBER(condition, left, number)                                              \
	INSN_JUMP_IF_NUMBER(condition, left, number, 2), INSNS_PASS
/* Copies a register to or from a variable, or a member. */
#define INSN_SET(variable, from) INSN_STORE(BPF_DW, BPF_REG_10, variable, from)
#define INSN_GET(to, variable) INSN_LOAD(BPF_DW, to, BPF_REG_10, variable)
#define INSN_MEMBER(to, from, type, member)                                                        \
	INSN_LOAD(BPF_DW, to, from, offsetof(struct type, member))
#define INSN_SET_MEMBER(to, type, member, from)                                                    \
	INSN_STORE(BPF_DW, to, offsetof(struct type, member), from)

static bool is_at_least(unsigned wanted_major, unsigned wanted_minor)
{
	struct utsname system;
	unsigned major = 0, minor = 0;

	return uname(&system) == 0 && sscanf(system.release, "%u.%u", &major, &minor) == 2 &&
	       (major > wanted_major || (major == wanted_major && minor >= wanted_minor));
}

/* Returns whether the kernel takes the time of a sample before it runs the
 * program (Linux 6.3). */
static bool takes_time_first(void)
{
	return is_at_least(6, 3);
}

/* Returns whether the kernel supports INSN_MAY_END (Linux 6.9). */
static bool may_loop(void)
{
	return is_at_least(6, 9);
}

/*
 * control = &rings[cpu * cpu_pieces]                                     r6
 * previous_run = control->run, run = control->run = now
 * thread = &threads[tid % THREADS]
 * end = thread->tid == tid ? thread->end : sp + (PIECES_MAX - 1) * PIECE_BYTES   r9
 * if (end - sp <= dumped) return 1;
 * needed_end = equal_bytes = version = 0
 */
static void append_begin(struct stack_program *program)
{
	int rings = program->rings.fd, threads = program->threads.fd;
	int32_t dumped_bytes = (int32_t)program->dumped_bytes;
	const struct bpf_insn insns[] = {
		INSN_CALL(BPF_FUNC_get_smp_processor_id),
		INSN_CALCULATE_NUMBER(BPF_MUL, BPF_REG_0, (int32_t)program->cpu_pieces),
		INSN_SET(CPU_PIECE, BPF_REG_0),
		INSNS_FIND(rings, BPF_REG_0),
		INSNS_REQUIRE_NUMBER(BPF_JNE, BPF_REG_0, 0),
		INSN_MOVE(BPF_REG_6, BPF_REG_0),

		INSN_CALL(BPF_FUNC_ktime_get_ns),
		INSN_SET(RUN, BPF_REG_0),
		INSN_MEMBER(BPF_REG_1, BPF_REG_6, ring_control, run_ns),
		INSN_SET(PREVIOUS_RUN, BPF_REG_1),
		INSN_SET_MEMBER(BPF_REG_6, ring_control, run_ns, BPF_REG_0),

		INSN_CALL(CALL_CURRENT_TASK),
		INSN_MOVE(BPF_REG_1, BPF_REG_0),
		INSN_CALL(CALL_TASK_REGISTERS),
		INSN_LOAD(BPF_DW, BPF_REG_7, BPF_REG_0, REGISTERS_SP),
		INSN_SET(SP, BPF_REG_7),

		INSN_CALL(BPF_FUNC_get_current_pid_tgid),
		INSN_MOVE_HALF(BPF_REG_8, BPF_REG_0),
		INSN_SET(TID, BPF_REG_8),
		INSN_CALCULATE_NUMBER(BPF_AND, BPF_REG_0, THREADS - 1),
		INSNS_FIND(threads, BPF_REG_0),
		INSNS_REQUIRE_NUMBER(BPF_JNE, BPF_REG_0, 0),
		INSN_MOVE(BPF_REG_9, BPF_REG_7),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_9, (PIECES_MAX - 1) * PIECE_BYTES),
		INSN_MEMBER(BPF_REG_1, BPF_REG_0, thread_end, tid),
		INSN_JUMP_IF(BPF_JNE, BPF_REG_1, BPF_REG_8, 1),
		INSN_MEMBER(BPF_REG_9, BPF_REG_0, thread_end, end),
		INSN_MOVE(BPF_REG_1, BPF_REG_9),
		INSN_CALCULATE(BPF_SUB, BPF_REG_1, BPF_REG_7),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_1, -1 - dumped_bytes),
		INSNS_REQUIRE_NUMBER(BPF_JLT, BPF_REG_1, REACH_BYTES),
		INSN_MOVE_NUMBER(BPF_REG_1, 0),
		INSN_SET(NEEDED_END, BPF_REG_1),
		INSN_SET(EQUAL_BYTES, BPF_REG_1),
		INSN_SET(VERSION, BPF_REG_1),
	};

	bpf_append(&program->code, insns, ARRAY_SIZE(insns));
}

/* r1 = table->version, as a full barrier. The slots are read between the two
 * reads of the version. */
#define INSNS_READ_VERSION(table)                                                                  \
	INSN_MOVE_NUMBER(BPF_REG_1, 0),                                                            \
		INSN_ATOMIC(INSN_ADD | INSN_FETCH, table, offsetof(struct slot_table, version),    \
			    BPF_REG_1)

/*
 * table = &tables[tid % STACK_SLOT_THREADS]
 * table (r7) = table->tid == tid && !((version = table->version) & 1) ? table : NULL
 * window = &windows[cpu]
 */
static void append_table(struct stack_program *program)
{
	int tables = program->tables.fd, windows = program->windows.fd;
	const struct bpf_insn insns[] = {
		INSN_MOVE_NUMBER(BPF_REG_7, 0),
		INSN_CALCULATE_NUMBER(BPF_AND, BPF_REG_8, STACK_SLOT_THREADS - 1),
		INSNS_FIND(tables, BPF_REG_8),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_0, 0, 19),
		INSN_MEMBER(BPF_REG_1, BPF_REG_0, slot_table, tid),
		INSN_GET(BPF_REG_2, TID),
		INSN_JUMP_IF(BPF_JNE, BPF_REG_1, BPF_REG_2, 16),
		INSNS_READ_VERSION(BPF_REG_0),
		INSN_SET(VERSION, BPF_REG_1),
		INSN_CALCULATE_NUMBER(BPF_AND, BPF_REG_1, 1),
		INSN_JUMP_IF_NUMBER(BPF_JNE, BPF_REG_1, 0, 11),
		INSN_MOVE(BPF_REG_7, BPF_REG_0),
		INSN_CALL(BPF_FUNC_get_smp_processor_id),
		INSNS_FIND(windows, BPF_REG_0),
		INSN_JUMP_IF_NUMBER(BPF_JNE, BPF_REG_0, 0, 1),
		INSN_MOVE_NUMBER(BPF_REG_7, 0),
		INSN_SET(WINDOW, BPF_REG_0),
	};

	bpf_append(&program->code, insns, ARRAY_SIZE(insns));
}

/*
 * if (table) {
 *	for (i (r8) = 0; i < sizeof(table->slots); i += sizeof(slot)) {
 *		slot = (char *)table->slots + i;
 *		if (slot->window_bytes &&
 *		    read(window, slot->window_bytes, slot->at - slot->offset))
 *			break;
 *		if (slot->at < sp || window[slot->offset] != slot->word)
 *			break;
 *		needed_end = slot->needed_end;
 *	}
 *	equal_bytes = i;
 *	if (table->version != version) needed_end = 0;
 *	if (needed_end) end (r9) = needed_end;
 * }
 */
static void append_comparison(struct stack_program *program)
{
	enum {
		SLOTS = offsetof(struct slot_table, slots),
		AT = SLOTS + offsetof(struct stack_slot, at),
		WORD = SLOTS + offsetof(struct stack_slot, word),
		END = SLOTS + offsetof(struct stack_slot, needed_end),
		BYTES = SLOTS + offsetof(struct stack_slot, window_bytes),
		OFFSET = SLOTS + offsetof(struct stack_slot, offset),
	};
	const struct bpf_insn insns[] = {
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_7, 0, 47),
		INSN_MOVE_NUMBER(BPF_REG_1, 0),
		INSN_SET_MEMBER(BPF_REG_6, ring_control, compared, BPF_REG_1),
		/* Start of the loop. */
		INSN_MAY_END(33),
		INSN_MEMBER(BPF_REG_8, BPF_REG_6, ring_control, compared),
		INSN_JUMP_IF_NUMBER(BPF_JGT, BPF_REG_8,
				    (STACK_SLOTS_MAX - 1) * (int32_t)sizeof(struct stack_slot), 31),
		INSN_MOVE(BPF_REG_1, BPF_REG_7),
		INSN_CALCULATE(INSN_ADD, BPF_REG_1, BPF_REG_8),
		INSN_LOAD(BPF_W, BPF_REG_2, BPF_REG_1, BYTES),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_2, 0, 9),
		INSN_JUMP_IF_NUMBER(BPF_JGT, BPF_REG_2, STACK_WINDOW_BYTES, 26),
		INSN_LOAD(BPF_DW, BPF_REG_3, BPF_REG_1, AT),
		INSN_LOAD(BPF_W, BPF_REG_1, BPF_REG_1, OFFSET),
		INSN_CALCULATE(BPF_SUB, BPF_REG_3, BPF_REG_1),
		INSN_GET(BPF_REG_1, WINDOW),
		INSN_CALL(BPF_FUNC_probe_read_user),
		INSN_JUMP_IF_NUMBER(BPF_JNE, BPF_REG_0, 0, 20),
		INSN_MOVE(BPF_REG_1, BPF_REG_7),
		INSN_CALCULATE(INSN_ADD, BPF_REG_1, BPF_REG_8),
		/* r3: the differing bits */
		INSN_LOAD(BPF_W, BPF_REG_2, BPF_REG_1, OFFSET),
		INSN_CALCULATE_NUMBER(BPF_AND, BPF_REG_2, STACK_WINDOW_BYTES - 8),
		INSN_GET(BPF_REG_3, WINDOW),
		INSN_CALCULATE(INSN_ADD, BPF_REG_3, BPF_REG_2),
		INSN_LOAD(BPF_DW, BPF_REG_3, BPF_REG_3, 0),
		INSN_LOAD(BPF_DW, BPF_REG_2, BPF_REG_1, WORD),
		INSN_CALCULATE(BPF_XOR, BPF_REG_3, BPF_REG_2),
		INSN_LOAD(BPF_DW, BPF_REG_2, BPF_REG_1, AT),
		INSN_GET(BPF_REG_4, SP),
		INSN_CALCULATE(BPF_SUB, BPF_REG_2, BPF_REG_4),
		INSN_CALCULATE_NUMBER(BPF_ARSH, BPF_REG_2, 63),
		INSN_CALCULATE(BPF_OR, BPF_REG_3, BPF_REG_2),
		INSN_JUMP_IF_NUMBER(BPF_JNE, BPF_REG_3, 0, 5),
		INSN_LOAD(BPF_DW, BPF_REG_2, BPF_REG_1, END),
		INSN_SET(NEEDED_END, BPF_REG_2),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_8, (int32_t)sizeof(struct stack_slot)),
		INSN_SET_MEMBER(BPF_REG_6, ring_control, compared, BPF_REG_8),
		INSN_SKIP(-34),
		/* End of the loop. */
		INSN_MEMBER(BPF_REG_8, BPF_REG_6, ring_control, compared),
		INSN_SET(EQUAL_BYTES, BPF_REG_8),
		INSNS_READ_VERSION(BPF_REG_7),
		INSN_GET(BPF_REG_2, VERSION),
		INSN_JUMP_IF(BPF_JEQ, BPF_REG_1, BPF_REG_2, 2),
		INSN_MOVE_NUMBER(BPF_REG_1, 0),
		INSN_SET(NEEDED_END, BPF_REG_1),
		INSN_GET(BPF_REG_1, NEEDED_END),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_1, 0, 1),
		INSN_MOVE(BPF_REG_9, BPF_REG_1),
	};

	bpf_append(&program->code, insns, ARRAY_SIZE(insns));
}

/*
 * start = sp & -PIECE_BYTES                                              r7
 * pieces = needed_end && needed_end - sp <= dumped ? 0
 *						    : (end - 1 - start) / PIECE_BYTES + 1   r8
 */
static void append_choice(struct stack_program *program)
{
	const struct bpf_insn insns[] = {
		INSN_GET(BPF_REG_7, SP),
		INSN_CALCULATE_NUMBER(BPF_AND, BPF_REG_7, -PIECE_BYTES),
		INSN_MOVE_NUMBER(BPF_REG_8, 0),
		INSN_GET(BPF_REG_1, NEEDED_END),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_1, 0, 3),
		INSN_GET(BPF_REG_2, SP),
		INSN_CALCULATE(BPF_SUB, BPF_REG_1, BPF_REG_2),
		INSN_JUMP_IF_NUMBER(BPF_JLE, BPF_REG_1, (int32_t)program->dumped_bytes, 8),
		INSN_MOVE(BPF_REG_8, BPF_REG_9),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_8, -1),
		INSN_CALCULATE(BPF_SUB, BPF_REG_8, BPF_REG_7),
		INSN_CALCULATE_NUMBER(BPF_RSH, BPF_REG_8, PIECE_SHIFT),
		INSNS_REQUIRE_NUMBER(BPF_JLT, BPF_REG_8, PIECES_MAX),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_8, 1),
	};

	bpf_append(&program->code, insns, ARRAY_SIZE(insns));
}

/*
 * if (run < control->throttled_until_ns ||
 *     control->head + 1 + pieces > control->tail + ring_pieces) return 1;
 * first = cpu * cpu_pieces + 1 + head % ring_pieces
 */
static void append_room(struct stack_program *program)
{
	int32_t ring_pieces = (int32_t)program->ring_pieces;
	const struct bpf_insn insns[] = {
		INSN_GET(BPF_REG_0, RUN),
		INSN_MEMBER(BPF_REG_1, BPF_REG_6, ring_control, throttled_until_ns),
		INSNS_REQUIRE(BPF_JGE, BPF_REG_0, BPF_REG_1),
		INSN_MEMBER(BPF_REG_1, BPF_REG_6, ring_control, head),
		INSN_SET(HEAD, BPF_REG_1),
		INSN_MOVE(BPF_REG_2, BPF_REG_1),
		INSN_MEMBER(BPF_REG_3, BPF_REG_6, ring_control, tail),
		INSN_CALCULATE(BPF_SUB, BPF_REG_2, BPF_REG_3),
		INSN_CALCULATE(INSN_ADD, BPF_REG_2, BPF_REG_8),
		INSNS_REQUIRE_NUMBER(BPF_JLT, BPF_REG_2, ring_pieces),
		INSN_CALCULATE_NUMBER(BPF_AND, BPF_REG_1, ring_pieces - 1),
		INSN_GET(BPF_REG_2, CPU_PIECE),
		INSN_CALCULATE(INSN_ADD, BPF_REG_1, BPF_REG_2),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_1, 1),
		INSN_SET(FIRST_PIECE, BPF_REG_1),
	};

	bpf_append(&program->code, insns, ARRAY_SIZE(insns));
}

/*
 * for (i = 0 (r9); i < pieces && copy(rings[first + 1 + i], start + i * PIECE_BYTES); i++);
 *
 * Without INSN_MAY_END, the verifier needs a known i, and verifies the loop once
 * per piece.
 */
static void append_loop(struct stack_program *program)
{
	int rings = program->rings.fd;
	struct bpf_insn nothing = INSN_SKIP(0), may_end = INSN_MAY_END(22),
			read_back = INSN_MEMBER(BPF_REG_9, BPF_REG_6, ring_control, copied);
	const struct bpf_insn insns[] = {
		INSN_MOVE_NUMBER(BPF_REG_9, 0),
		INSN_SET_MEMBER(BPF_REG_6, ring_control, copied, BPF_REG_9),
		/* Start of the loop. */
		may_loop() ? may_end : nothing, may_loop() ? read_back : nothing,
		INSN_JUMP_IF(BPF_JGE, BPF_REG_9, BPF_REG_8, 20), INSN_GET(BPF_REG_0, FIRST_PIECE),
		INSN_CALCULATE(INSN_ADD, BPF_REG_0, BPF_REG_9),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_0, 1), INSNS_FIND(rings, BPF_REG_0),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_0, 0, 10), INSN_MOVE(BPF_REG_1, BPF_REG_0),
		INSN_MOVE_NUMBER(BPF_REG_2, PIECE_BYTES), INSN_MOVE(BPF_REG_3, BPF_REG_9),
		INSN_CALCULATE_NUMBER(BPF_LSH, BPF_REG_3, PIECE_SHIFT),
		INSN_CALCULATE(INSN_ADD, BPF_REG_3, BPF_REG_7), INSN_CALL(BPF_FUNC_probe_read_user),
		INSN_JUMP_IF_NUMBER(BPF_JNE, BPF_REG_0, 0, 3),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_9, 1),
		INSN_SET_MEMBER(BPF_REG_6, ring_control, copied, BPF_REG_9), INSN_SKIP(-23),
		/* End of the loop. */
	};

	bpf_append(&program->code, insns, ARRAY_SIZE(insns));
}

/* Copies a variable into the copy header at r0. */
#define INSNS_RECORD(member, variable)                                                             \
	INSN_GET(BPF_REG_1, variable), INSN_SET_MEMBER(BPF_REG_0, copy, member, BPF_REG_1)

/*
 * if (!i && pieces) return 1;
 * rings[first] = {tid, sp, i, needed_end, equal_bytes, version, run, previous_run};
 * control->throttled_until_ns = now + now - run;
 * control->head = head + 1 + i;
 */
static void append_end(struct stack_program *program)
{
	int rings = program->rings.fd;
	const struct bpf_insn insns[] = {
		INSN_GET(BPF_REG_0, FIRST_PIECE),
		INSNS_FIND(rings, BPF_REG_0),
		INSNS_REQUIRE_NUMBER(BPF_JNE, BPF_REG_0, 0),
		INSN_SET_MEMBER(BPF_REG_0, copy, pieces, BPF_REG_9),
		/* Read the number back from memory, so that the verifier does
		 * not know it. Otherwise it would verify the rest of the
		 * program once per possible number. */
		INSN_MEMBER(BPF_REG_9, BPF_REG_0, copy, pieces),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_8, 0, 3),
		INSNS_REQUIRE_NUMBER(BPF_JNE, BPF_REG_9, 0),
		INSNS_RECORD(tid, TID),
		INSNS_RECORD(sp, SP),
		INSNS_RECORD(needed_end, NEEDED_END),
		INSNS_RECORD(equal_bytes, EQUAL_BYTES),
		INSNS_RECORD(version, VERSION),
		INSNS_RECORD(previous_run_ns, PREVIOUS_RUN),
		INSNS_RECORD(run_ns, RUN),
		INSN_CALL(BPF_FUNC_ktime_get_ns),
		INSN_CALCULATE(INSN_ADD, BPF_REG_0, BPF_REG_0),
		INSN_GET(BPF_REG_1, RUN),
		INSN_CALCULATE(BPF_SUB, BPF_REG_0, BPF_REG_1),
		INSN_SET_MEMBER(BPF_REG_6, ring_control, throttled_until_ns, BPF_REG_0),
		INSN_GET(BPF_REG_1, HEAD),
		INSN_CALCULATE(INSN_ADD, BPF_REG_1, BPF_REG_9),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_1, 1),
		INSN_SET_MEMBER(BPF_REG_6, ring_control, head, BPF_REG_1),
		INSNS_PASS,
	};

	bpf_append(&program->code, insns, ARRAY_SIZE(insns));
}

static size_t round_up_to_power_of_two(size_t value)
{
	size_t power = 1;

	while (power < value)
		power *= 2;
	return power;
}

static bool open_arrays(struct stack_program *program, size_t cpu_count)
{
	size_t cpus = cpus_end(program->cpus, cpu_count);

	return bpf_array_open(&program->threads, sizeof(struct thread_end), THREADS) &&
	       bpf_array_open(&program->tables, sizeof(struct slot_table), STACK_SLOT_THREADS) &&
	       bpf_array_open(&program->windows, STACK_WINDOW_BYTES, cpus) &&
	       bpf_array_open(&program->rings, PIECE_BYTES, cpus * program->cpu_pieces);
}

struct stack_program *stack_program_new(const unsigned *cpus, size_t cpu_count, size_t dumped_bytes,
					size_t ring_bytes)
{
	CLEANUP(stack_program_cleanup) struct stack_program *program = NULL;

	if (!takes_time_first() || !bpf_is_in_first_pid_namespace())
		return NULL;
	program = xcalloc(1, sizeof(*program));
	program->cpus = cpus;
	program->dumped_bytes = dumped_bytes;
	program->ring_pieces = round_up_to_power_of_two(ring_bytes / PIECE_BYTES);
	/* The last copy of a ring extends beyond the ring's end instead of
	 * wrapping. */
	program->cpu_pieces = 1 + program->ring_pieces + 1 + PIECES_MAX;
	program->fd = program->threads.fd = program->tables.fd = program->windows.fd =
		program->rings.fd = -1;
	program->wakes = copier_wakes_new(cpus, cpu_count);
	if (!program->wakes || !open_arrays(program, cpu_count))
		return NULL;
	copier_wakes_append(program->wakes, &program->code);
	append_begin(program);
	if (may_loop()) {
		append_table(program);
		append_comparison(program);
	}
	append_choice(program);
	append_room(program);
	append_loop(program);
	append_end(program);
	return STEAL(program);
}

void stack_program_free(struct stack_program *program)
{
	if (!program)
		return;
	close_fd(&program->fd);
	bpf_array_close(&program->threads);
	bpf_array_close(&program->tables);
	bpf_array_close(&program->windows);
	bpf_array_close(&program->rings);
	copier_wakes_free(program->wakes);
	free(program);
}

struct copier_wakes *stack_program_wakes(struct stack_program *program)
{
	return program->wakes;
}

const struct bpf_code *stack_program_code(const struct stack_program *program)
{
	return &program->code;
}

bool stack_program_attach(struct stack_program *program, int fd)
{
	if (program->fd < 0)
		program->fd = bpf_load(BPF_PROG_TYPE_PERF_EVENT, &program->code);
	return program->fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_BPF, program->fd) == 0;
}

static bool is_of(const struct copy *copy, const struct record *sample, uint64_t sp)
{
	return copy->previous_run_ns < sample->time_ns && copy->tid == (uint64_t)sample->tid &&
	       copy->sp == sp;
}

static void stack_program_complete_one(const struct copy *copy, struct record_sample *sample)
{
	const unsigned char *start = (const unsigned char *)copy + PIECE_BYTES;
	size_t before = copy->sp % PIECE_BYTES, len = copy->pieces * PIECE_BYTES;

	if (len > before + bytes_left(&sample->stack))
		sample->stack = bytes_of(start + before, len - before);
	if (!copy->needed_end)
		return;
	sample->equal_slots = (unsigned)(copy->equal_bytes / sizeof(struct stack_slot));
	sample->slots_version = copy->version / 2;
}

/* Releases the copies that are older than a sample. Returns the first remaining
 * copy, or NULL. */
static const struct copy *next_copy(const struct stack_program *program, struct ring_control *ring,
				    uint64_t time_ns)
{
	const unsigned char *pieces = (const unsigned char *)ring + PIECE_BYTES;
	uint64_t head = atomic_load(&ring->head), tail;

	while ((tail = atomic_load(&ring->tail)) != head) {
		const void *at = pieces + tail % program->ring_pieces * PIECE_BYTES;
		const struct copy *copy = at;

		if (copy->run_ns >= time_ns)
			return copy;
		atomic_store(&ring->tail, tail + 1 + copy->pieces);
	}
	return NULL;
}

bool stack_program_complete(struct stack_program *program, size_t cpu, uint64_t sp,
			    struct record *sample)
{
	void *at = (unsigned char *)program->rings.at +
		   program->cpus[cpu] * program->cpu_pieces * PIECE_BYTES;
	const struct copy *copy = next_copy(program, at, sample->time_ns);

	if (!copy || !is_of(copy, sample, sp))
		return false;
	stack_program_complete_one(copy, &sample->sample);
	return true;
}

static void set_slots(struct slot_table *table, pid_t tid, const struct stack_slots *slots)
{
	atomic_store(&table->version, atomic_load(&table->version) | 1);
	atomic_store(&table->tid, (uint64_t)tid);
	if (!slots->count)
		return;
	/* No slot may be written before this point. */
	atomic_thread_fence(memory_order_release);
	memcpy(table->slots, slots->items, slots->count * sizeof(*table->slots));
	if (slots->count < STACK_SLOTS_MAX)
		table->slots[slots->count] = (struct stack_slot){.at = 0};
	atomic_store(&table->version, slots->version * 2);
}

/*
 * Returns whether the kernel's copy can have ended at a page that is not in
 * memory: in a large array that was never used. Such a copy also ends at the end
 * of the stack. As long as that is unknown, a few samples are tried.
 */
static bool is_cut(const struct stack_program *program, struct thread_end *thread, uint64_t sp,
		   const struct record *sample, const struct stack_extent *extent)
{
	size_t dumped_bytes = sample->sample.dumped_bytes;

	if (extent->is_whole || dumped_bytes >= program->dumped_bytes)
		return false;
	if (thread->end)
		return sp + dumped_bytes < thread->end;
	return ++thread->cuts < CUTS_MAX;
}

static void note_end(struct thread_end *thread, const struct record *sample,
		     const struct stack_extent *extent)
{
	uint64_t tid = (uint64_t)sample->tid;
	bool is_known = atomic_load_explicit(&thread->tid, memory_order_relaxed) == tid;

	if (!is_known)
		thread->cuts = 0;
	if (!extent->is_whole &&
	    (is_known || (extent->is_deep && !sample->sample.has_program_copied)))
		return;
	atomic_store_explicit(&thread->end, extent->is_whole ? extent->end : 0,
			      memory_order_relaxed);
	atomic_store_explicit(&thread->tid, tid, memory_order_relaxed);
}

bool stack_program_note(struct stack_program *program, uint64_t sp, const struct record *sample,
			struct stack_extent extent)
{
	pid_t tid = sample->tid;
	struct thread_end *threads = program->threads.at, *thread = &threads[tid & (THREADS - 1)];
	struct slot_table *tables = program->tables.at;

	if (extent.slots)
		set_slots(&tables[tid & (STACK_SLOT_THREADS - 1)], tid, extent.slots);
	note_end(thread, sample, &extent);
	return is_cut(program, thread, sp, sample, &extent);
}
