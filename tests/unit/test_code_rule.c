/*
 * Tests rules from machine code with separate functions, and with all functions
 * of files that have call frame information, which the rules must not
 * contradict. `test_code_rule FILE…` compares those files.
 */
#include "unwind/code_rule.h"

#include "base/alloc.h"
#include "lacking.h"
#include "unit_test.h"
#include "unwind/cfi.h"
#include "unwind/functions.h"
#include "unwind/x86_insn.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 1 << 16, AT_MOST_IN_FUNCTION = 24, RBX = 3, RBP = 6, RSP = 7, R12 = 12 };

/* --- By hand ------------------------------------------------------------------------------------
 */

static bool find_in(const unsigned char *code, size_t len, size_t at, struct cfi_rule *ret)
{
	struct code_rule *finder = code_rule_new();
	unsigned steps = STEPS;
	bool found = code_rule_analyze(finder, code, len, true, &steps) &&
		     code_rule_find(finder, at, ret);

	code_rule_free(finder);
	return found;
}

#define FIND(code, at, ret) find_in(code, sizeof(code), at, ret)

static void assert_cfa(const unsigned char *code, size_t len, size_t at, unsigned reg,
		       int64_t offset)
{
	struct cfi_rule rule;

	assert_true(find_in(code, len, at, &rule));
	assert_int_equal(rule.row.cfa.how, CFI_REGISTER);
	assert_int_equal(rule.row.cfa.reg, reg);
	assert_int_equal(rule.row.cfa.offset, offset);
}

#define ASSERT_CFA(code, at, reg, offset) assert_cfa(code, sizeof(code), at, reg, offset)

/* push %rbx; sub $0x20,%rsp; call; add $0x20,%rsp; pop %rbx; ret */
static const unsigned char plain[] = {0x53, 0x48, 0x83, 0xec, 0x20, 0xe8, 1,	2,
				      3,    4,	  0x48, 0x83, 0xc4, 0x20, 0x5b, 0xc3};

TEST(pushes_and_reserved_bytes_are_counted)
{
	ASSERT_CFA(plain, 0, RSP, 8);
	ASSERT_CFA(plain, 1, RSP, 16);
	ASSERT_CFA(plain, 5, RSP, 48);
	/* in the call instruction, as for a return address */
	ASSERT_CFA(plain, 9, RSP, 48);
	ASSERT_CFA(plain, 14, RSP, 16);
	ASSERT_CFA(plain, 15, RSP, 8);
}

TEST(saved_registers_are_where_they_were_pushed)
{
	struct cfi_rule rule;

	assert_true(FIND(plain, 9, &rule));
	assert_int_equal(rule.row.regs[RBX].how, CFI_AT_CFA);
	assert_int_equal(rule.row.regs[RBX].offset, -16);
	assert_int_equal(rule.row.regs[R12].how, CFI_SAME);
	assert_true(FIND(plain, 15, &rule));
	assert_int_equal(rule.row.regs[RBX].how, CFI_SAME);
}

TEST(a_frame_pointer_leads_out_of_a_frame_of_varying_size)
{
	/* push %rbp; mov %rsp,%rbp; sub %rax,%rsp; call; leave; ret */
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x29, 0xc4,
					     0xe8, 1,	 2,    3,    4,	   0xc9, 0xc3};

	ASSERT_CFA(code, 4, RSP, 16);
	ASSERT_CFA(code, 11, RBP, 16);
	ASSERT_CFA(code, 13, RSP, 8);
}

TEST(a_frame_pointer_is_told_until_the_caller_s_is_there_again)
{
	/* push %rbp; mov %rsp,%rbp; push $0x22; push %rdi; call;
	 * mov 0(%rbp),%rbp; add $0x18,%rsp; ret */
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x6a, 0x22, 0x57,
					     0xe8, 1,	 2,    3,    4,	   0x48, 0x8b,
					     0x6d, 0x00, 0x48, 0x83, 0xc4, 0x18, 0xc3};
	static const struct {
		size_t at;
		bool has_frame;
	} expected[] = {{1, false}, {4, true}, {11, true}, {16, false}, {20, false}};
	struct cfi_rule rule;

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_true(FIND(code, expected[i].at, &rule));
		assert_int_equal(rule.row.cfa.reg, RSP);
		assert_int_equal(rule.has_frame, expected[i].has_frame);
	}
}

TEST(there_is_no_rule_where_paths_disagree)
{
	/* test %eax,%eax; je +1; push %rbx; nop; ret */
	static const unsigned char code[] = {0x85, 0xc0, 0x74, 0x01, 0x53, 0x90, 0xc3};
	struct cfi_rule rule;

	assert_false(FIND(code, 5, &rule));
}

TEST(there_is_no_rule_where_a_return_would_fail)
{
	static const unsigned char code[] = {0x53, 0x90, 0xc3}; /* push %rbx; nop; ret */
	struct cfi_rule rule;

	assert_false(FIND(code, 1, &rule));
}

TEST(code_after_a_call_that_does_not_return_has_the_rule_of_the_jump)
{
	/* test; je +6; push %rbx; call; ret (reached by the jump, not from the call) */
	static const unsigned char code[] = {0x85, 0xc0, 0x74, 0x06, 0x53, 0xe8, 1, 2, 3, 4, 0xc3};

	ASSERT_CFA(code, 9, RSP, 16);
	ASSERT_CFA(code, 10, RSP, 8);
}

/* sub $0x10,%rsp; mov %rbx,(%rsp); mov %rsp,%rbx; sub $0x80,%rsp; and $-64,%rsp;
 * nop of 3 bytes; mov %rbx,%rsp; mov (%rsp),%rbx; add $0x10,%rsp; ret */
static const unsigned char realigned[] = {
	0x48, 0x83, 0xec, 0x10, 0x48, 0x89, 0x1c, 0x24, 0x48, 0x89, 0xe3, 0x48, 0x81,
	0xec, 0x80, 0,	  0,	0,    0x48, 0x83, 0xe4, 0xc0, 0x0f, 0x1f, 0,	0x48,
	0x89, 0xdc, 0x48, 0x8b, 0x1c, 0x24, 0x48, 0x83, 0xc4, 0x10, 0xc3,
};
enum { REALIGNED_NOP = 22 };

TEST(a_copy_of_the_stack_pointer_leads_out_of_a_realigned_frame)
{
	struct cfi_rule rule;

	ASSERT_CFA(realigned, 18, RSP, 152);
	ASSERT_CFA(realigned, REALIGNED_NOP, RBX, 24);
	ASSERT_CFA(realigned, 28, RSP, 24);
	ASSERT_CFA(realigned, 36, RSP, 8);
	assert_true(FIND(realigned, REALIGNED_NOP, &rule));
	assert_int_equal(rule.row.regs[RBX].how, CFI_AT_CFA);
	assert_int_equal(rule.row.regs[RBX].offset, -24);
}

TEST(a_copy_of_the_stack_pointer_counts_only_while_it_is_unchanged)
{
	/* inc %rbx; mov %rax,%rbx; pop %rbx and two nops */
	static const unsigned char changes[][3] = {
		{0x48, 0xff, 0xc3}, {0x48, 0x89, 0xc3}, {0x5b, 0x90, 0x90}};
	unsigned char code[sizeof(realigned)];
	struct cfi_rule rule;

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		memcpy(code, realigned, sizeof(code));
		memcpy(code + REALIGNED_NOP, changes[i], sizeof(changes[i]));
		assert_false(FIND(code, 20, &rule));
	}
	/* Without a saved rbx. */
	memcpy(code, realigned, sizeof(code));
	memcpy(code + 4, (const unsigned char[]){0x0f, 0x1f, 0x40, 0}, 4);
	assert_false(FIND(code, REALIGNED_NOP, &rule));
}

TEST(a_longjmp_has_no_rule)
{
	/* mov 0x30(%rdi),%rsp; jmp *0x38(%rdi) */
	static const unsigned char code[] = {0x48, 0x8b, 0x67, 0x30, 0xff, 0x67, 0x38};
	struct cfi_rule rule;

	assert_false(FIND(code, 4, &rule));
}

TEST(a_thread_begins_in_musls_clone)
{
	static const unsigned char code[] = {
		0x0f, 0x05,			   /* syscall */
		0x85, 0xc0, 0x75, 0x08,		   /* test %eax,%eax; jne to the ret */
		0x31, 0xed, 0x5f,		   /* xor %ebp,%ebp; pop %rdi */
		0x41, 0xff, 0xd1, 0xf4, 0xf4, 0xc3 /* call *%r9; hlt; hlt; ret */
	};
	struct cfi_rule rule;

	ASSERT_CFA(code, 2, RSP, 8);
	assert_true(FIND(code, 11, &rule));
	assert_int_equal(rule.row.regs[arch_x86_64.ra].how, CFI_UNDEFINED);
}

TEST(code_that_may_run_in_the_frame_of_another_has_no_rule)
{
	/* Haskell: add $16,%r12; sub $8,%rsp; call; add $8,%rsp; jmp *(%rbp) */
	static const unsigned char code[] = {0x49, 0x83, 0xc4, 0x10, 0x48, 0x83, 0xec,
					     0x08, 0xe8, 1,    2,    3,	   4,	 0x48,
					     0x83, 0xc4, 0x08, 0xff, 0x65, 0x00};
	struct cfi_rule rule;

	assert_false(FIND(code, 12, &rule));
}

TEST(the_number_of_steps_is_limited)
{
	struct code_rule *finder = code_rule_new();
	unsigned steps = 2;

	assert_false(code_rule_analyze(finder, plain, sizeof(plain), true, &steps));
	assert_int_equal(steps, 0);
	code_rule_free(finder);
}

/* Register numbers in instructions. */
enum { SP = 4, FP = 5, NO = X86_NO_REG };

static const struct {
	unsigned char code[12];
	unsigned length;
	enum x86_effect effect;
	unsigned reg;
	int64_t value;
	bool names_saved;
} instructions[] = {
	{{0x41, 0x54}, 2, X86_PUSH, 12, 0, false},
	{{0x66, 0x50}, 2, X86_SET_SP, 0, 0, false},
	{{0x6a, 1}, 2, X86_PUSH, NO, 0, false},
	{{0x68, 1, 2, 3, 4}, 5, X86_PUSH, NO, 0, false},
	{{0x9c}, 1, X86_PUSH, NO, 0, false},
	{{0x9d}, 1, X86_POP, NO, 0, false},
	{{0x41, 0x5f}, 2, X86_POP, 15, 0, false},
	{{0x5c}, 1, X86_SET_SP, SP, 0, false},
	{{0x8f, 0xc1}, 2, X86_POP, 1, 0, false},
	{{0x8f, 0x00}, 2, X86_POP, NO, 0, false},
	{{0xff, 0x34, 0x24}, 3, X86_PUSH, NO, 0, false},
	{{0xff, 0x10}, 2, X86_CALL, NO, 0, false},
	{{0xff, 0xe0}, 2, X86_JUMP_INDIRECT, NO, 0, false},
	{{0x48, 0xff, 0xc4}, 3, X86_SET_SP, NO, 0, false},
	{{0x48, 0xff, 0xc0}, 3, X86_NOTHING, NO, 0, false},
	{{0x48, 0x83, 0xec, 0x80}, 4, X86_ADD, NO, 128, false},
	{{0x48, 0x81, 0xc4, 0, 1, 0, 0}, 7, X86_ADD, NO, 256, false},
	{{0x48, 0x83, 0xe4, 0xf0}, 4, X86_SET_SP, NO, -16, false},
	{{0x48, 0x83, 0xfc, 1}, 4, X86_NOTHING, NO, 0, false},
	{{0x83, 0xc4, 1}, 3, X86_SET_SP, NO, 1, false},
	{{0x66, 0x81, 0xc4, 1, 2}, 5, X86_SET_SP, NO, 0x201, false},
	{{0x48, 0x89, 0xe5}, 3, X86_SET_FP, NO, 0, true},
	{{0x48, 0x8b, 0xec}, 3, X86_SET_FP, NO, 0, true},
	{{0x48, 0x89, 0xec}, 3, X86_FROM_FP, NO, 0, true},
	{{0x48, 0x89, 0xe3}, 3, X86_COPY_SP, 3, 0, true},
	{{0x4c, 0x8b, 0xfc}, 3, X86_COPY_SP, 15, 0, true},
	{{0x48, 0x89, 0xe0}, 3, X86_NOTHING, NO, 0, false},
	{{0x4c, 0x89, 0xfc}, 3, X86_FROM_COPY, 15, 0, true},
	{{0x89, 0xe5}, 2, X86_NOTHING, NO, 0, true},
	{{0x89, 0xec}, 2, X86_SET_SP, NO, 0, true},
	{{0x48, 0x89, 0xc4}, 3, X86_SET_SP, NO, 0, false},
	{{0x48, 0x89, 0x5c, 0x24, 8}, 5, X86_STORE, 3, 8, true},
	{{0x4c, 0x89, 0x65, 0xf8}, 4, X86_STORE_BY_FP, 12, -8, true},
	{{0x48, 0x8b, 0x9c, 0x24, 0, 1, 0, 0}, 8, X86_LOAD, 3, 256, true},
	{{0x48, 0x8b, 0x45, 0xf8}, 4, X86_LOAD_BY_FP, 0, -8, true},
	{{0x48, 0x8b, 0x44, 0x0c, 8}, 5, X86_NOTHING, NO, 0, false},
	{{0x8b, 0x44, 0x24, 8}, 4, X86_NOTHING, NO, 0, false},
	{{0x48, 0x8d, 0x64, 0x24, 0xf8}, 5, X86_ADD, NO, -8, false},
	{{0x48, 0x8d, 0x65, 0xf8}, 4, X86_FROM_FP, NO, -8, true},
	{{0x48, 0x8d, 0x60, 8}, 4, X86_SET_SP, NO, 0, false},
	{{0x48, 0x8d, 0x44, 0x24, 8}, 5, X86_NOTHING, NO, 0, false},
	{{0xc9}, 1, X86_LEAVE, NO, 0, false},
	{{0x31, 0xed}, 2, X86_ZERO_FP, NO, 0, true},
	{{0x31, 0xe4}, 2, X86_SET_SP, NO, 0, false},
	{{0x48, 0x39, 0xc4}, 3, X86_NOTHING, NO, 0, false},
	{{0x48, 0x94}, 2, X86_SET_SP, NO, 0, false},
	{{0x49, 0x94}, 2, X86_NOTHING, NO, 0, false},
	{{0x48, 0x87, 0xe0}, 3, X86_SET_SP, NO, 0, false},
	{{0x48, 0x87, 0xc4}, 3, X86_SET_SP, NO, 0, false},
	{{0x48, 0xf7, 0xdc}, 3, X86_SET_SP, NO, 0, false},
	{{0x48, 0xf7, 0xc4, 1, 2, 3, 4}, 7, X86_NOTHING, NO, 0, false},
	{{0x48, 0xf7, 0xe4}, 3, X86_NOTHING, NO, 0, false},
	{{0x48, 0xc1, 0xe4, 4}, 4, X86_SET_SP, NO, 0, false},
	{{0x48, 0xc7, 0xc4, 1, 2, 3, 4}, 7, X86_SET_SP, NO, 0, false},
	{{0x48, 0x63, 0xe0}, 3, X86_SET_SP, NO, 0, false},
	{{0x48, 0x6b, 0xe0, 8}, 4, X86_SET_SP, NO, 0, false},
	{{0x48, 0xbc, 1, 2, 3, 4, 5, 6, 7, 8}, 10, X86_SET_SP, NO, 0, false},
	{{0x49, 0xbc, 1, 2, 3, 4, 5, 6, 7, 8}, 10, X86_NOTHING, NO, 0, true},
	{{0xbb, 1, 2, 3, 4}, 5, X86_NOTHING, NO, 0, true},
	{{0x48, 0x0f, 0x44, 0xe0}, 4, X86_SET_SP, NO, 0, false},
	{{0x74, 0xfe}, 2, X86_BRANCH, NO, -2, false},
	{{0xe3, 5}, 2, X86_BRANCH, NO, 5, false},
	{{0x0f, 0x84, 0xfe, 0xff, 0xff, 0xff}, 6, X86_BRANCH, NO, -2, false},
	{{0xeb, 0x10}, 2, X86_JUMP, NO, 16, false},
	{{0xe9, 0, 1, 0, 0}, 5, X86_JUMP, NO, 256, false},
	{{0xe8, 0, 1, 0, 0}, 5, X86_CALL, NO, 256, false},
	{{0xe8, 0, 0, 0, 0}, 5, X86_SET_SP, NO, 0, false},
	{{0xc3}, 1, X86_RETURN, NO, 0, false},
	{{0xc2, 8, 0}, 3, X86_RETURN, NO, 8, false},
	{{0xf4}, 1, X86_END, NO, 0, false},
	{{0xcc}, 1, X86_END, NO, 0, false},
	{{0x0f, 0x0b}, 2, X86_END, NO, 0, false},
	{{0xf3, 0x0f, 0x1e, 0xfa}, 4, X86_NOTHING, NO, 0, false},
	{{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, 10, X86_NOTHING, NO, 0, false},
	{{0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, 9, X86_NOTHING, NO, 0, false},
	{{0x48, 0x8b, 0x05, 1, 2, 3, 4}, 7, X86_NOTHING, NO, 0, false},
	{{0x0f, 0x38, 0xf0, 0x03}, 4, X86_NOTHING, NO, 0, true},
	{{0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8}, 6, X86_NOTHING, NO, 0, false},
	{{0xc5, 0xf8, 0x77}, 3, X86_NOTHING, NO, 0, false},
	{{0xc5, 0xf9, 0x6f, 0x45, 8}, 5, X86_NOTHING, NO, 0, true},
	{{0xc4, 0xe3, 0x7d, 0x39, 0xc0, 1}, 6, X86_NOTHING, NO, 0, false},
	{{0x62, 0xf1, 0x7d, 0x48, 0x6f, 0x00}, 6, X86_NOTHING, NO, 0, false},
	{{0x06}, 0, X86_NOTHING, 0, 0, false},
	{{0x0f, 0x3f}, 0, X86_NOTHING, 0, 0, false},
};

TEST(an_instruction_has_a_length_and_an_effect_on_the_stack)
{
	for (unsigned i = 0; i < ARRAY_SIZE(instructions); i++) {
		struct x86_insn insn = {0};
		bool is_known = x86_insn_decode(instructions[i].code, sizeof(instructions[i].code),
						&insn);

		if (is_known != (instructions[i].length != 0) ||
		    insn.length != instructions[i].length ||
		    insn.effect != instructions[i].effect || insn.reg != instructions[i].reg ||
		    insn.value != instructions[i].value ||
		    insn.names_saved != instructions[i].names_saved)
			fail_msg("case %u: length %u, effect %d, reg %u", i, insn.length,
				 insn.effect, insn.reg);
		assert_false(is_known &&
			     x86_insn_decode(instructions[i].code, insn.length - 1, &insn));
	}
}

static const struct {
	unsigned char code[12];
	uint16_t changes; /* of rbx and r12 */
} changing[] = {
	{{0x48, 0x01, 0xc3}, 1 << 3},			    /* add %rax,%rbx */
	{{0x49, 0x83, 0xec, 1}, 1 << 12},		    /* sub $1,%r12 */
	{{0x48, 0x83, 0xd8, 1}, 0},			    /* sbb $1,%rax: /3 */
	{{0x48, 0x83, 0x43, 8, 1}, 0},			    /* addq $1,8(%rbx) */
	{{0x48, 0x8b, 0x43, 8}, 0},			    /* mov 8(%rbx),%rax */
	{{0x48, 0x8d, 0x58, 8}, 1 << 3},		    /* lea 8(%rax),%rbx */
	{{0xbb, 1, 2, 3, 4}, 1 << 3},			    /* mov $…,%ebx */
	{{0x93}, 1 << 3},				    /* xchg %eax,%ebx */
	{{0x5b}, 1 << 3},				    /* pop %rbx */
	{{0x53}, 0},					    /* push %rbx */
	{{0x0f, 0xcb}, 1 << 3},				    /* bswap %ebx */
	{{0x0f, 0xa2}, 1 << 3 | 1 << 12},		    /* cpuid */
	{{0x48, 0x0f, 0x45, 0xd8}, 1 << 3},		    /* cmovne %rax,%rbx */
	{{0x0f, 0xb6, 0xd8}, 1 << 3},			    /* movzbl %al,%ebx */
	{{0x0f, 0x28, 0xd8}, 0},			    /* movaps %xmm0,%xmm3 */
	{{0x66, 0x0f, 0x7e, 0xc3}, 1 << 3},		    /* movd %xmm0,%ebx */
	{{0xf2, 0x48, 0x0f, 0x2c, 0xd8}, 1 << 3},	    /* cvttsd2si %xmm0,%rbx */
	{{0xc5, 0xfd, 0x28, 0xd8}, 0},			    /* vmovapd %ymm0,%ymm3 */
	{{0xc4, 0xe2, 0xfd, 0xb8, 0xd9}, 0},		    /* vfmadd231pd …,%ymm3 */
	{{0xc5, 0xf9, 0x7e, 0xc3}, 1 << 3},		    /* vmovd %xmm0,%ebx */
	{{0xc4, 0xe2, 0xf8, 0xf2, 0xd8}, 1 << 3 | 1 << 12}, /* andn */
};

TEST(an_instruction_names_the_registers_that_it_may_change)
{
	for (unsigned i = 0; i < ARRAY_SIZE(changing); i++) {
		struct x86_insn insn = {0};

		assert_true(x86_insn_decode(changing[i].code, sizeof(changing[i].code), &insn));
		if ((insn.changes & (1 << 3 | 1 << 12)) != changing[i].changes)
			fail_msg("case %u: %#x", i, insn.changes);
	}
}

/* --- Against call frame information -------------------------------------------------------------
 */

struct comparison {
	struct elf_file *elf;
	struct functions *functions;
	struct cfi *cfi;
	struct code_rule *finder;
	unsigned long rules, none, wrong;
};

/* The CFI of an epilogue still contains the places of registers that were
 * popped. */
static bool registers_agree(const struct cfi_row *ours, const struct cfi_row *theirs)
{
	for (unsigned reg = 0; reg < RSP + 9; reg++) {
		const struct cfi_value *a = &ours->regs[reg], *b = &theirs->regs[reg];

		if (!(arch_x86_64.preserved & reg_bit(reg)) || b->how != CFI_AT_CFA)
			continue;
		if (a->how == CFI_AT_CFA
			    ? a->offset != b->offset
			    : ours->cfa.reg == RSP && -b->offset <= ours->cfa.offset && reg == RBP)
			return false;
	}
	return true;
}

static bool rows_agree(const struct cfi_row *ours, const struct cfi_row *theirs)
{
	if (theirs->cfa.how != CFI_REGISTER || ours->cfa.reg != theirs->cfa.reg)
		return true; /* unknown */
	return ours->cfa.offset == theirs->cfa.offset && registers_agree(ours, theirs);
}

static void compare_at(struct comparison *with, const struct function_range *function,
		       const unsigned char *code, uint64_t at)
{
	uint64_t vaddr = function->start + at, len = function->end - function->start;
	unsigned steps = STEPS, cfi_steps = STEPS;
	struct cfi_rule ours, theirs;

	if (!cfi_find(with->cfi, vaddr, &cfi_steps, &theirs) || theirs.signal_frame)
		return;
	if (!code_rule_analyze(with->finder, code, len, function->is_sized, &steps) ||
	    !code_rule_find(with->finder, at, &ours)) {
		with->none++;
		return;
	}
	with->rules++;
	if (rows_agree(&ours.row, &theirs.row))
		return;
	if (with->wrong++ < 20)
		print_message("%s: %#lx + %#lx: CFA register %u + %ld, expected %u + %ld\n",
			      elf_file_name(with->elf), function->start, at, ours.row.cfa.reg,
			      (long)ours.row.cfa.offset, theirs.row.cfa.reg,
			      (long)theirs.row.cfa.offset);
}

static void compare_function(struct comparison *with, const struct function_range *function)
{
	uint64_t len = function->end - function->start, stride, next = 0, at = 0;
	static unsigned char code[CODE_RULE_BYTES_MAX];
	struct x86_insn insn;

	if (len > sizeof(code) || !elf_file_read(with->elf, function->start, code, len))
		return;
	stride = len / AT_MOST_IN_FUNCTION;
	for (; at < len && x86_insn_decode(code + at, len - at, &insn); at += insn.length) {
		if (at < next && insn.effect != X86_CALL)
			continue;
		compare_at(with, function, code, at);
		next = at + stride;
	}
}

static struct comparison compare_file(const char *path)
{
	struct comparison with = {0};
	struct elf_code *code;
	struct error *err = elf_file_open(open(path, O_RDONLY | O_CLOEXEC), path, &with.elf);

	assert_null(err);
	with.functions = functions_new(with.elf, NULL);
	with.cfi = cfi_new(with.elf, &arch_x86_64);
	cfi_index(with.cfi, NULL);
	with.finder = code_rule_new();
	for (size_t i = 0, count = elf_file_code(with.elf, &code); i < count; i++) {
		struct function_range function = {0};

		for (uint64_t at = code[i].start; with.functions && at < code[i].end;) {
			if (functions_find(with.functions, at, &function)) {
				compare_function(&with, &function);
				at = function.end > at ? function.end : at + 1;
			} else {
				at++;
			}
		}
	}
	print_message("%s: %lu rules, %lu without, %lu wrong\n", path, with.rules, with.none,
		      with.wrong);
	free(code);
	code_rule_free(with.finder);
	cfi_free(with.cfi);
	functions_free(with.functions);
	elf_file_free(with.elf);
	return with;
}

/*
 * The CFI of clang sometimes takes effect one instruction late (1 in 25,000
 * addresses). The CFI of address sanitizer checks such as
 * __asan_check_load_add_1_RAX lacks a push (1 in 130 addresses).
 */
TEST(rules_of_this_program_agree_with_cfi)
{
	struct comparison with;

	if (arch_native() != &arch_x86_64) /* its code does not have these rules */
		return;
	with = compare_file("/proc/self/exe");
	assert_true(with.wrong * (HAS_ADDRESS_SANITIZER ? 100 : 1000) <= with.rules);
	assert_true(with.rules > 500);
}

int main(int argc, char **argv)
{
	unsigned long wrong = 0;

	for (int i = 1; i < argc; i++)
		wrong += compare_file(argv[i]).wrong;
	return argc > 1 ? wrong != 0 : unit_tests_run();
}
