#include "perf/stack_program.h"

#include "base/alloc.h"
#include "perf/bpf.h"

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/user.h>
#include <sys/utsname.h>

enum {
	/* What is copied at once; a page of the kernel is as large, or a multiple. */
	PIECE_BYTES = 4096,
	PIECE_SHIFT = 12,
	/* What is copied at most, 20 to 30 us, and of an unknown thread. */
	PIECES_MAX = 64,
	/* A table by thread; threads whose ids collide replace each other. */
	THREADS = 8192,
	/* Linux 5.11 and 5.15; missing in older headers. */
	CALL_CURRENT_TASK = 158,
	CALL_TASK_REGISTERS = 175,
/* The kernel's pt_regs begins as what ptrace(2) shows. */
#ifdef __x86_64__
	REGISTERS_SP = offsetof(struct user_regs_struct, rsp),
#else
	REGISTERS_SP = offsetof(struct user_regs_struct, sp),
#endif
};

_Static_assert(PIECE_BYTES == 1 << PIECE_SHIFT, "a piece is as large");

/* What the program reads of a thread. A mixture of two threads only has the wrong amount copied. */
struct thread_end {
	_Atomic uint64_t tid;
	_Atomic uint64_t end; /* of its stack; 0: nothing is to be copied */
};

/* In the first piece of a CPU's ring. Positions are in pieces and never wrap. */
struct ring_control {
	_Atomic uint64_t head; /* set by the program */
	_Atomic uint64_t tail; /* set by the reader */
	uint64_t run_ns;       /* when the program has last begun */
	uint64_t rests_until_ns;
};

/* In the first piece of a copy. Room for the sample's own copy follows, then the copied pieces. */
struct copy {
	uint64_t tid, sp;
	uint64_t start; /* address of the first piece: at or below the end of the sample's copy */
	uint64_t pieces;
	/* When the program began, and when it had begun before. The kernel takes the time of a
	 * sample in the same interrupt before that, so it lies between the two. */
	uint64_t run_ns, previous_run_ns;
};

struct stack_program {
	const unsigned *cpus;
	size_t dumped_pieces, ring_pieces;
	size_t room_pieces; /* in front of the pieces of a copy */
	size_t cpu_pieces;  /* of a CPU in the array */
	struct bpf_array threads, rings;
	struct bpf_code code;
	int fd;
	bool has_given; /* the stack of the last sample, which is given back with the next one's */
};

/* Places of the program's variables, relative to r10. */
enum {
	SP = -16,
	TID = -24,
	CPU_PIECE = -32,
	FIRST_PIECE = -40,
	HEAD = -48,
	RUN = -56,
	PREVIOUS_RUN = -64,
};

/* The sample passes. */
#define INSNS_PASS INSN_MOVE_NUMBER(BPF_REG_0, 1), INSN_EXIT
/* Passes unless the condition holds. */
#define INSNS_REQUIRE(condition, left, right) INSN_JUMP_IF(condition, left, right, 2), INSNS_PASS
#define INSNS_REQUIRE_NUMBER(condition, left, number)                                              \
	INSN_JUMP_IF_NUMBER(condition, left, number, 2), INSNS_PASS

/*
 * control = &rings[cpu * cpu_pieces]                                     r6
 * previous_run = control->run, run = control->run = now
 * thread = &threads[tid % THREADS]
 * start = (sp + dumped) & -PIECE_BYTES                                   r7
 * pieces = (end - 1 - start) / PIECE_BYTES + 1                           r8
 */
static void append_choice(struct stack_program *program)
{
	int rings = program->rings.fd, threads = program->threads.fd;
	const struct bpf_insn insns[] = {
		INSN_CALL(BPF_FUNC_get_smp_processor_id),
		INSN_CALCULATE_NUMBER(BPF_MUL, BPF_REG_0, (int32_t)program->cpu_pieces),
		INSN_STORE(BPF_DW, BPF_REG_10, CPU_PIECE, BPF_REG_0),
		INSNS_FIND(rings, BPF_REG_0),
		INSNS_REQUIRE_NUMBER(BPF_JNE, BPF_REG_0, 0),
		INSN_MOVE(BPF_REG_6, BPF_REG_0),

		INSN_CALL(BPF_FUNC_ktime_get_ns),
		INSN_STORE(BPF_DW, BPF_REG_10, RUN, BPF_REG_0),
		INSN_LOAD(BPF_DW, BPF_REG_1, BPF_REG_6, offsetof(struct ring_control, run_ns)),
		INSN_STORE(BPF_DW, BPF_REG_10, PREVIOUS_RUN, BPF_REG_1),
		INSN_STORE(BPF_DW, BPF_REG_6, offsetof(struct ring_control, run_ns), BPF_REG_0),

		INSN_CALL(CALL_CURRENT_TASK),
		INSN_MOVE(BPF_REG_1, BPF_REG_0),
		INSN_CALL(CALL_TASK_REGISTERS),
		INSN_LOAD(BPF_DW, BPF_REG_7, BPF_REG_0, REGISTERS_SP),
		INSN_STORE(BPF_DW, BPF_REG_10, SP, BPF_REG_7),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_7,
				      (int32_t)(program->dumped_pieces * PIECE_BYTES)),
		INSN_CALCULATE_NUMBER(BPF_AND, BPF_REG_7, -PIECE_BYTES),

		INSN_CALL(BPF_FUNC_get_current_pid_tgid),
		INSN_MOVE_HALF(BPF_REG_8, BPF_REG_0),
		INSN_STORE(BPF_DW, BPF_REG_10, TID, BPF_REG_8),
		INSN_CALCULATE_NUMBER(BPF_AND, BPF_REG_0, THREADS - 1),
		INSNS_FIND(threads, BPF_REG_0),
		INSNS_REQUIRE_NUMBER(BPF_JNE, BPF_REG_0, 0),
		INSN_LOAD(BPF_DW, BPF_REG_1, BPF_REG_0, offsetof(struct thread_end, tid)),
		INSN_JUMP_IF(BPF_JNE, BPF_REG_1, BPF_REG_8, 9),
		INSN_LOAD(BPF_DW, BPF_REG_8, BPF_REG_0, offsetof(struct thread_end, end)),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_8, -1),
		INSN_CALCULATE(BPF_SUB, BPF_REG_8, BPF_REG_7),
		INSN_CALCULATE_NUMBER(BPF_RSH, BPF_REG_8, PIECE_SHIFT),
		INSNS_REQUIRE_NUMBER(BPF_JLT, BPF_REG_8, PIECES_MAX),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_8, 1),
		INSN_SKIP(1),
		INSN_MOVE_NUMBER(BPF_REG_8, PIECES_MAX),
	};

	bpf_append(&program->code, insns, ARRAY_SIZE(insns));
}

/*
 * if (run < control->rests_until_ns ||
 *     control->head + room + pieces > control->tail + ring_pieces) return 1;
 * first = cpu * cpu_pieces + 1 + head % ring_pieces
 */
static void append_room(struct stack_program *program)
{
	int32_t ring_pieces = (int32_t)program->ring_pieces;
	const struct bpf_insn insns[] = {
		INSN_LOAD(BPF_DW, BPF_REG_0, BPF_REG_10, RUN),
		INSN_LOAD(BPF_DW, BPF_REG_1, BPF_REG_6,
			  offsetof(struct ring_control, rests_until_ns)),
		INSNS_REQUIRE(BPF_JGE, BPF_REG_0, BPF_REG_1),
		INSN_LOAD(BPF_DW, BPF_REG_1, BPF_REG_6, offsetof(struct ring_control, head)),
		INSN_STORE(BPF_DW, BPF_REG_10, HEAD, BPF_REG_1),
		INSN_MOVE(BPF_REG_2, BPF_REG_1),
		INSN_LOAD(BPF_DW, BPF_REG_3, BPF_REG_6, offsetof(struct ring_control, tail)),
		INSN_CALCULATE(BPF_SUB, BPF_REG_2, BPF_REG_3),
		INSN_CALCULATE(INSN_ADD, BPF_REG_2, BPF_REG_8),
		INSNS_REQUIRE_NUMBER(BPF_JLE, BPF_REG_2,
				     ring_pieces - (int32_t)program->room_pieces),
		INSN_CALCULATE_NUMBER(BPF_AND, BPF_REG_1, ring_pieces - 1),
		INSN_LOAD(BPF_DW, BPF_REG_2, BPF_REG_10, CPU_PIECE),
		INSN_CALCULATE(INSN_ADD, BPF_REG_1, BPF_REG_2),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_1, 1),
		INSN_STORE(BPF_DW, BPF_REG_10, FIRST_PIECE, BPF_REG_1),
	};

	bpf_append(&program->code, insns, ARRAY_SIZE(insns));
}

/* for (i = 0 (r9); i < pieces && copy(rings[first + room + i], start + i * PIECE_BYTES); i++); */
static void append_loop(struct stack_program *program)
{
	int rings = program->rings.fd;
	const struct bpf_insn insns[] = {
		INSN_MOVE_NUMBER(BPF_REG_9, 0),
		/* Here the loop begins. */
		INSN_JUMP_IF(BPF_JGE, BPF_REG_9, BPF_REG_8, 19),
		INSN_LOAD(BPF_DW, BPF_REG_0, BPF_REG_10, FIRST_PIECE),
		INSN_CALCULATE(INSN_ADD, BPF_REG_0, BPF_REG_9),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_0, (int32_t)program->room_pieces),
		INSNS_FIND(rings, BPF_REG_0),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_0, 0, 9),
		INSN_MOVE(BPF_REG_1, BPF_REG_0),
		INSN_MOVE_NUMBER(BPF_REG_2, PIECE_BYTES),
		INSN_MOVE(BPF_REG_3, BPF_REG_9),
		INSN_CALCULATE_NUMBER(BPF_LSH, BPF_REG_3, PIECE_SHIFT),
		INSN_CALCULATE(INSN_ADD, BPF_REG_3, BPF_REG_7),
		INSN_CALL(BPF_FUNC_probe_read_user),
		INSN_JUMP_IF_NUMBER(BPF_JNE, BPF_REG_0, 0, 2),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_9, 1),
		INSN_SKIP(-20),
	};

	bpf_append(&program->code, insns, ARRAY_SIZE(insns));
}

/*
 * if (!i) return 1;
 * rings[first] = {tid, sp, start, i, run, previous_run};
 * control->rests_until_ns = now + now - run;
 * control->head = head + room + i;
 */
static void append_end(struct stack_program *program)
{
	int rings = program->rings.fd;
	const struct bpf_insn insns[] = {
		INSN_LOAD(BPF_DW, BPF_REG_0, BPF_REG_10, FIRST_PIECE),
		INSNS_FIND(rings, BPF_REG_0),
		INSNS_REQUIRE_NUMBER(BPF_JNE, BPF_REG_0, 0),
		INSN_STORE(BPF_DW, BPF_REG_0, offsetof(struct copy, pieces), BPF_REG_9),
		/* Of a number from memory the verifier knows nothing. Else it would check what
		 * follows once for each number, which takes it a millisecond. */
		INSN_LOAD(BPF_DW, BPF_REG_9, BPF_REG_0, offsetof(struct copy, pieces)),
		INSNS_REQUIRE_NUMBER(BPF_JNE, BPF_REG_9, 0),
		INSN_STORE(BPF_DW, BPF_REG_0, offsetof(struct copy, start), BPF_REG_7),
		INSN_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, TID),
		INSN_STORE(BPF_DW, BPF_REG_0, offsetof(struct copy, tid), BPF_REG_1),
		INSN_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, SP),
		INSN_STORE(BPF_DW, BPF_REG_0, offsetof(struct copy, sp), BPF_REG_1),
		INSN_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, PREVIOUS_RUN),
		INSN_STORE(BPF_DW, BPF_REG_0, offsetof(struct copy, previous_run_ns), BPF_REG_1),
		INSN_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, RUN),
		INSN_STORE(BPF_DW, BPF_REG_0, offsetof(struct copy, run_ns), BPF_REG_1),
		INSN_CALL(BPF_FUNC_ktime_get_ns),
		INSN_CALCULATE(INSN_ADD, BPF_REG_0, BPF_REG_0),
		INSN_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, RUN),
		INSN_CALCULATE(BPF_SUB, BPF_REG_0, BPF_REG_1),
		INSN_STORE(BPF_DW, BPF_REG_6, offsetof(struct ring_control, rests_until_ns),
			   BPF_REG_0),
		INSN_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, HEAD),
		INSN_CALCULATE(INSN_ADD, BPF_REG_1, BPF_REG_9),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_1, (int32_t)program->room_pieces),
		INSN_STORE(BPF_DW, BPF_REG_6, offsetof(struct ring_control, head), BPF_REG_1),
		INSNS_PASS,
	};

	bpf_append(&program->code, insns, ARRAY_SIZE(insns));
}

static size_t array_cpus(const unsigned *cpus, size_t cpu_count)
{
	size_t count = 0;

	for (size_t i = 0; i < cpu_count; i++)
		if (cpus[i] >= count)
			count = cpus[i] + 1;
	return count;
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
	return bpf_array_open(&program->threads, sizeof(struct thread_end), THREADS) &&
	       bpf_array_open(&program->rings, PIECE_BYTES,
			      array_cpus(program->cpus, cpu_count) * program->cpu_pieces);
}

/* Since Linux 6.3 the time of a sample is taken before the program runs. */
static bool takes_time_first(void)
{
	struct utsname system;
	unsigned major = 0, minor = 0;

	return uname(&system) == 0 && sscanf(system.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 3));
}

struct stack_program *stack_program_new(const unsigned *cpus, size_t cpu_count, size_t dumped_bytes,
					size_t ring_bytes)
{
	CLEANUP(stack_program_cleanup) struct stack_program *program = NULL;

	if (!takes_time_first() || !bpf_is_in_first_pid_namespace())
		return NULL;
	program = xcalloc(1, sizeof(*program));
	program->cpus = cpus;
	program->dumped_pieces = (dumped_bytes + PIECE_BYTES - 1) / PIECE_BYTES;
	program->room_pieces = program->dumped_pieces + 1;
	program->ring_pieces = round_up_to_power_of_two(ring_bytes / PIECE_BYTES);
	/* The last copy of a ring goes beyond its end, and never wraps. */
	program->cpu_pieces = 1 + program->ring_pieces + program->room_pieces + PIECES_MAX;
	program->fd = program->threads.fd = program->rings.fd = -1;
	if (!open_arrays(program, cpu_count))
		return NULL;
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
	bpf_array_close(&program->rings);
	free(program);
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
	       copy->sp == sp && copy->start - sp <= sample->sample.dumped_bytes;
}

/* Puts the sample's copy in front of the pieces. */
static void lengthen(const struct stack_program *program, const struct copy *copy,
		     struct record_sample *sample)
{
	size_t before = copy->start - copy->sp, len = before + copy->pieces * PIECE_BYTES;
	unsigned char *at = (unsigned char *)copy + program->room_pieces * PIECE_BYTES - before;

	memcpy(at, sample->stack.at, before);
	if (len > sample->dumped_bytes)
		sample->stack = bytes_of(at, len);
}

/* Gives the copies back that are older than a sample; the first other one, or NULL. */
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
		atomic_store(&ring->tail, tail + program->room_pieces + copy->pieces);
	}
	return NULL;
}

bool stack_program_complete(struct stack_program *program, size_t cpu, uint64_t sp,
			    struct record *sample)
{
	void *at = (unsigned char *)program->rings.at +
		   program->cpus[cpu] * program->cpu_pieces * PIECE_BYTES;
	const struct copy *copy = next_copy(program, at, sample->time_ns);

	program->has_given = copy && is_of(copy, sample, sp);
	if (program->has_given)
		lengthen(program, copy, &sample->sample);
	return program->has_given;
}

void stack_program_note(struct stack_program *program, pid_t tid, struct stack_extent extent)
{
	struct thread_end *threads = program->threads.at, *thread = &threads[tid & (THREADS - 1)];
	bool is_known = atomic_load_explicit(&thread->tid, memory_order_relaxed) == (uint64_t)tid;

	if (!extent.is_whole && (is_known || (extent.is_deep && !program->has_given)))
		return;
	atomic_store_explicit(&thread->end, extent.is_whole ? extent.end : 0, memory_order_relaxed);
	atomic_store_explicit(&thread->tid, (uint64_t)tid, memory_order_relaxed);
}
