/*
 * Assembles and loads BPF programs, and opens arrays that they share with this
 * process.
 * Source: Documentation/bpf/standardization/instruction-set.rst; bpf(2).
 */
#ifndef PROF_PERF_BPF_H
#define PROF_PERF_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BPF_CODE_MAX = 320 };

struct bpf_code {
	size_t count;
	struct bpf_insn insns[BPF_CODE_MAX];
};

/* A BPF array map that is mapped into this process, but not into its children. */
struct bpf_array {
	int fd;	  /* -1 if closed */
	void *at; /* NULL if not mapped */
	size_t bytes;
};

/* item_bytes must be a multiple of 8. Returns false if the kernel does not
 * support this (Linux 5.5) or CAP_BPF is missing. */
bool bpf_array_open(struct bpf_array *array, size_t item_bytes, size_t count);
void bpf_array_close(struct bpf_array *array);

/* Opens a map from CPUs to events, into whose rings a program can write. Returns
 * -1 if that fails. */
int bpf_events_open(size_t cpu_count);
/* fd: that of the event of the CPU. Returns false if that fails. */
bool bpf_events_put(int events, unsigned cpu, int fd);

void bpf_append(struct bpf_code *code, const struct bpf_insn *insns, size_t count);
/* Returns the descriptor of the loaded program, or -1. */
int bpf_load(enum bpf_prog_type type, const struct bpf_code *code);

/* Returns whether prof's pids are the pids that BPF programs see. */
bool bpf_is_in_first_pid_namespace(void);

/* Use this instead of BPF_ADD: BPF_ADD and BPF_K are both 0, and linters report
 * an OR of the two. */
enum { INSN_ADD = 0 };
/* BPF_FETCH and BPF_JCOND, which older headers do not define. */
enum { INSN_FETCH = 1, INSN_JCOND = 0xe0 };

#define INSN_MOVE(to, from)                                                                        \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from)            \
	}
#define INSN_MOVE_NUMBER(to, number)                                                               \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (number)              \
	}
#define INSN_MOVE_HALF(to, from)                                                                   \
	{                                                                                          \
		.code = BPF_ALU | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from)              \
	}
#define INSN_MOVE_HALF_NUMBER(to, number)                                                          \
	{                                                                                          \
		.code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (number)                \
	}
#define INSN_CALCULATE(operation, to, from)                                                        \
	{                                                                                          \
		.code = BPF_ALU64 | (operation) | BPF_X, .dst_reg = (to), .src_reg = (from)        \
	}
#define INSN_CALCULATE_NUMBER(operation, to, number)                                               \
	{                                                                                          \
		.code = BPF_ALU64 | (operation) | BPF_K, .dst_reg = (to), .imm = (number)          \
	}
#define INSN_LOAD(size, to, from, offset)                                                          \
	{                                                                                          \
		.code = BPF_LDX | BPF_MEM | (size), .dst_reg = (to), .src_reg = (from),            \
		.off = (int16_t)(offset)                                                           \
	}
#define INSN_STORE(size, to, offset, from)                                                         \
	{                                                                                          \
		.code = BPF_STX | BPF_MEM | (size), .dst_reg = (to), .src_reg = (from),            \
		.off = (int16_t)(offset)                                                           \
	}
/* A 64-bit atomic operation (Linux 5.12). With INSN_FETCH it is a full barrier
 * and stores the previous value in `from`. */
#define INSN_ATOMIC(operation, to, offset, from)                                                   \
	{                                                                                          \
		.code = BPF_STX | BPF_XADD | BPF_DW, .dst_reg = (to), .src_reg = (from),           \
		.off = (int16_t)(offset), .imm = (operation)                                       \
	}
/* Skips `skipped` instructions if the condition holds. */
#define INSN_JUMP_IF(condition, left, right, skipped)                                              \
	{                                                                                          \
		.code = BPF_JMP | (condition) | BPF_X, .dst_reg = (left), .src_reg = (right),      \
		.off = (skipped)                                                                   \
	}
#define INSN_JUMP_IF_NUMBER(condition, left, number, skipped)                                      \
	{                                                                                          \
		.code = BPF_JMP | (condition) | BPF_K, .dst_reg = (left), .imm = (number),         \
		.off = (skipped)                                                                   \
	}
#define INSN_SKIP(skipped)                                                                         \
	{                                                                                          \
		.code = BPF_JMP | BPF_JA, .off = (skipped)                                         \
	}
/* Marks the start of a loop whose verifier state is the same in each iteration,
 * so that the verifier accepts it as bounded (may_goto, Linux 6.9). The jump is
 * taken only if the loop runs extremely long. */
#define INSN_MAY_END(skipped)                                                                      \
	{                                                                                          \
		.code = BPF_JMP | INSN_JCOND, .off = (skipped)                                     \
	}
#define INSN_CALL(helper)                                                                          \
	{                                                                                          \
		.code = BPF_JMP | BPF_CALL, .imm = (helper)                                        \
	}
#define INSN_EXIT                                                                                  \
	{                                                                                          \
		.code = BPF_JMP | BPF_EXIT                                                         \
	}

/* Loads the address of a map. */
#define INSNS_MAP(to, map)                                                                         \
	{.code = BPF_LD | BPF_IMM | BPF_DW,                                                        \
	 .dst_reg = (to),                                                                          \
	 .src_reg = BPF_PSEUDO_MAP_FD,                                                             \
	 .imm = (map)},                                                                            \
	{                                                                                          \
		0                                                                                  \
	} /* the second half of the address */

/* Looks up an item of an array; `index` is a register. r0 becomes a pointer to
 * the item, or 0 if the index is out of bounds. Clobbers r1 to r5 and the 32
 * bits at r10 - 4. */
#define INSNS_FIND(array, index)                                                                   \
	INSN_STORE(BPF_W, BPF_REG_10, -4, index), INSN_MOVE(BPF_REG_2, BPF_REG_10),                \
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_2, -4), INSNS_MAP(BPF_REG_1, array),       \
		INSN_CALL(BPF_FUNC_map_lookup_elem)

#endif
