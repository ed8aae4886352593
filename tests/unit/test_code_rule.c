/*
 * Rules from machine code: functions by hand, and each function of files that have call frame
 * information, which the rules must not contradict. `test_code_rule FILE…` compares those files.
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
	bool found = code_rule_find(finder, code, len, true, at, &steps, ret);

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
	ASSERT_CFA(plain, 9, RSP, 48); /* in the call, as of a return address */
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
	struct cfi_rule rule;

	assert_false(code_rule_find(finder, plain, sizeof(plain), true, 1, &steps, &rule));
	assert_int_equal(steps, 0);
	code_rule_free(finder);
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

/* CFI of an epilogue still names the places of registers that were popped. */
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
		return true; /* it cannot be told */
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
	if (!code_rule_find(with->finder, code, len, function->is_sized, at, &steps, &ours)) {
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
	unsigned char code[CODE_RULE_BYTES_MAX];
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
	with.functions = functions_new(with.elf);
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
 * The CFI that clang writes is sometimes late by an instruction: at one address of 25,000. That of
 * the address sanitizer's checks, __asan_check_load_add_1_RAX and others, leaves out a push: at one
 * of 130.
 */
TEST(rules_of_this_program_agree_with_cfi)
{
	struct comparison with;

	if (arch_native() != &arch_x86_64) /* its code has none of these rules */
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
