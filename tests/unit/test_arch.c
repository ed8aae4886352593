#include "unwind/arch.h"

#include "unit_test.h"

#include <signal.h>
#include <ucontext.h>

TEST(registers_of_a_dump_get_their_dwarf_numbers)
{
	static const struct {
		unsigned perf, dwarf;
	} pairs[] = {{0, 0}, {1, 3}, {2, 2}, {3, 1},  {4, 4},
		     {5, 5}, {6, 6}, {7, 7}, {16, 8}, {23, 15}};
	uint64_t values[24];
	unsigned count = 0;
	struct regs regs;

	for (unsigned perf = 0; perf < 24; perf++)
		if (arch_x86_64.perf_mask >> perf & 1)
			values[count++] = 100 + perf;
	assert_int_equal(count, 17);
	assert_true(regs_from_perf(&arch_x86_64, arch_x86_64.perf_mask,
				   bytes_of(values, count * sizeof(*values)), &regs));
	assert_int_equal(regs.pc, 108);
	assert_int_equal(regs.known, 0xffff);
	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_int_equal(regs.values[pairs[i].dwarf], 100 + pairs[i].perf);
}

TEST(a_dump_of_another_architecture_is_read)
{
	uint64_t values[33];
	struct regs regs;

	for (unsigned i = 0; i < 33; i++)
		values[i] = 1000 + i;
	assert_true(regs_from_perf(&arch_aarch64, arch_aarch64.perf_mask,
				   bytes_of(values, sizeof(values)), &regs));
	assert_int_equal(regs.pc, 1032);
	assert_int_equal(regs.values[arch_aarch64.fp], 1029);
	assert_int_equal(regs.values[arch_aarch64.ra], 1030);
	assert_int_equal(regs.values[arch_aarch64.sp], 1031);
}

TEST(a_dump_without_pc_or_sp_or_cut_short_is_refused)
{
	static const uint64_t values[17];
	struct regs regs;

	assert_true(regs_from_perf(&arch_x86_64, 1 << 7 | 1 << 8, bytes_of(values, 16), &regs));
	assert_int_equal(regs.known, 1 << 7);
	assert_false(regs_from_perf(&arch_x86_64, 1 << 7, bytes_of(values, 8), &regs));
	assert_false(regs_from_perf(&arch_x86_64, 1 << 8, bytes_of(values, 8), &regs));
	assert_false(regs_from_perf(&arch_x86_64, arch_x86_64.perf_mask, bytes_of(values, 16 * 8),
				    &regs));
	assert_false(regs_from_perf(&arch_x86_64, 0, bytes_of(NULL, 0), &regs));
}

TEST(a_dump_of_sp_and_pc_alone_knows_no_other_register)
{
	static const struct arch *const all[] = {&arch_x86_64, &arch_i386, &arch_aarch64};
	const uint64_t values[] = {0x7000, 0x1000}; /* perf's number of sp is the lower one */
	struct regs regs;

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct arch *arch = all[i];

		assert_true(regs_from_perf(
			arch, UINT64_C(1) << arch->perf_sp | UINT64_C(1) << arch->perf_pc,
			bytes_of(values, sizeof(values)), &regs));
		assert_int_equal(regs.known, reg_bit(arch->sp));
		assert_int_equal(regs.values[arch->sp], 0x7000);
		assert_int_equal(regs.pc, 0x1000);
	}
}

TEST(call_instructions_of_x86_64_are_recognized)
{
	static const unsigned char calls[][CODE_BYTES] = {
		{0, 0, 0, 0xe8, 1, 2, 3, 4},	      /* call rel32 */
		{0, 0, 0, 0, 0, 0, 0xff, 0xd0},	      /* call *%rax */
		{0, 0, 0, 0, 0, 0x41, 0xff, 0xd4},    /* call *%r12 */
		{0, 0, 0, 0, 0, 0, 0xff, 0x13},	      /* call *(%rbx) */
		{0, 0, 0, 0, 0, 0xff, 0x14, 0xc8},    /* call *(%rax,%rcx,8) */
		{0, 0, 0, 0, 0, 0xff, 0x50, 0x18},    /* call *0x18(%rax) */
		{0, 0, 0, 0, 0xff, 0x54, 0x24, 0x08}, /* call *8(%rsp) */
		{0, 0, 0xff, 0x15, 1, 2, 3, 4},	      /* call *x(%rip) */
		{0, 0, 0xff, 0x90, 0, 1, 0, 0},	      /* call *0x100(%rax) */
		{0, 0xff, 0x14, 0xc5, 1, 2, 3, 4},    /* call *x(,%rax,8) */
		{0, 0xff, 0x94, 0xc8, 0, 1, 0, 0},    /* call *0x100(%rax,%rcx,8) */
	};
	static const unsigned char others[][CODE_BYTES] = {
		{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90},
		{0, 0, 0, 0xe9, 1, 2, 3, 4},	/* jmp */
		{0, 0, 0, 0, 0, 0, 0xff, 0xe0}, /* jmp *%rax */
		{0, 0, 0, 0, 0, 0, 0xff, 0x50}, /* a call that lacks its last byte */
	};

	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		assert_true(arch_x86_64.ends_with_call(calls[i]));
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(arch_x86_64.ends_with_call(others[i]));
}

TEST(call_instructions_of_aarch64_are_recognized)
{
	static const uint32_t calls[] = {0x94000010, 0x97fffff0, 0xd63f0120, 0xd73f0ac0};
	static const uint32_t others[] = {0x14000010, 0xd61f0120, 0xd65f03c0, 0xd503201f};
	unsigned char code[CODE_BYTES] = {0};

	for (unsigned i = 0; i < 4; i++) {
		memcpy(code + 4, &calls[i], 4);
		assert_true(arch_aarch64.ends_with_call(code));
		memcpy(code + 4, &others[i], 4);
		assert_false(arch_aarch64.ends_with_call(code));
	}
}

TEST(direct_calls_give_their_target)
{
	static const unsigned char forward[CODE_BYTES] = {0, 0, 0, 0xe8, 0x10, 0, 0, 0};
	static const unsigned char backward[CODE_BYTES] = {0, 0, 0, 0xe8, 0xf0, 0xff, 0xff, 0xff};
	static const unsigned char indirect[CODE_BYTES] = {0, 0, 0, 0, 0, 0, 0xff, 0xd0};
	static const unsigned char bl[CODE_BYTES] = {0, 0, 0, 0, 0x04, 0, 0, 0x94};
	static const unsigned char bl_back[CODE_BYTES] = {0, 0, 0, 0, 0xfc, 0xff, 0xff, 0x97};
	static const unsigned char blr[CODE_BYTES] = {0, 0, 0, 0, 0x20, 0x01, 0x3f, 0xd6};
	uint64_t target;

	assert_true(arch_x86_64.call_target(forward, 0x1000, &target));
	assert_int_equal(target, 0x1010);
	assert_true(arch_x86_64.call_target(backward, 0x1000, &target));
	assert_int_equal(target, 0xff0);
	assert_false(arch_x86_64.call_target(indirect, 0x1000, &target));
	assert_true(arch_aarch64.call_target(bl, 0x1004, &target));
	assert_int_equal(target, 0x1010);
	assert_true(arch_aarch64.call_target(bl_back, 0x1004, &target));
	assert_int_equal(target, 0xff0);
	assert_false(arch_aarch64.call_target(blr, 0x1004, &target));
}

TEST(jumps_through_a_register_are_recognized)
{
	static const unsigned char jmp_rax[] = {0x48, 0x89, 0xf8, 0xff, 0xe0};
	static const unsigned char call_rax[] = {0x48, 0x89, 0xf8, 0xff, 0xd0};
	static const unsigned char cut[] = {0x48, 0x89, 0xf8, 0xff};
	static const unsigned char br[] = {0, 0, 0, 0, 0x20, 0x02, 0x1f, 0xd6};
	static const unsigned char blr[] = {0, 0, 0, 0, 0x20, 0x02, 0x3f, 0xd6};

	assert_true(arch_x86_64.has_register_jump(jmp_rax, sizeof(jmp_rax)));
	assert_false(arch_x86_64.has_register_jump(call_rax, sizeof(call_rax)));
	assert_false(arch_x86_64.has_register_jump(cut, sizeof(cut)));
	assert_true(arch_aarch64.has_register_jump(br, sizeof(br)));
	assert_false(arch_aarch64.has_register_jump(blr, sizeof(blr)));
	assert_false(arch_aarch64.has_register_jump(br, sizeof(br) - 1));
}

TEST(the_instruction_gives_the_number_of_pushed_words)
{
	static const struct {
		unsigned char code[CODE_BYTES];
		int words;
		bool is_i386;
	} cases[] = {
		{{0x55, 0x48, 0x89, 0xe5}, 0, false},	    /* push %rbp */
		{{0xf3, 0x0f, 0x1e, 0xfa, 0x55}, 0, false}, /* endbr64 */
		{{0x48, 0x89, 0xe5, 0x48}, 1, false},	    /* mov %rsp,%rbp */
		{{0x48, 0x8b, 0xec}, 1, false},		    /* the same with the other encoding */
		{{0x5d, 0xc3}, 1, false},		    /* pop %rbp; ret */
		{{0xc3}, 0, false},			    /* ret */
		{{0xc2, 8}, 0, false},
		{{0x55, 0x89, 0xe5}, 0, true},
		{{0xf3, 0x0f, 0x1e, 0xfb}, 0, true},
		{{0x89, 0xe5}, 1, true},
		{{0x8b, 0xec}, 1, true},
		{{0x5d, 0xc3}, 1, true},
		{{0xc3}, 0, true},
		{{0xc2, 8}, 0, true},
		{{0x5d, 0x90}, -1, true},
		{{0x48, 0x83, 0xec, 0x10}, -1, false}, /* sub $16,%rsp */
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			(cases[i].is_i386 ? arch_i386 : arch_x86_64).pushed_words(cases[i].code),
			cases[i].words);
}

TEST(a_signal_handler_returns_to_a_system_call)
{
	static const unsigned char musl[CODE_BYTES] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f};
	static const unsigned char go[CODE_BYTES] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05, 0xcc};
	static const unsigned char exit[CODE_BYTES] = {0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05, 0xcc};
	static const unsigned char arm[CODE_BYTES] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};

	assert_true(arch_x86_64.is_sigreturn(musl));
	assert_true(arch_x86_64.is_sigreturn(go));
	assert_false(arch_x86_64.is_sigreturn(exit));
	assert_false(arch_i386.is_sigreturn(exit));
	assert_true(arch_aarch64.is_sigreturn(arm));
	assert_false(arch_aarch64.is_sigreturn(exit));
}

/* The layout of the kernel's signal frame is this machine's ucontext_t. */
TEST(a_signal_frame_is_laid_out_as_the_kernel_does)
{
	const struct signal_frame *frame = arch_native()->signal_frame;

#if defined(__x86_64__)
	const size_t registers = offsetof(ucontext_t, uc_mcontext.gregs);

	assert_int_equal(frame->regs[0], registers + REG_RAX * sizeof(greg_t));
	assert_int_equal(frame->regs[arch_native()->fp], registers + REG_RBP * sizeof(greg_t));
	assert_int_equal(frame->regs[arch_native()->sp], registers + REG_RSP * sizeof(greg_t));
	assert_int_equal(frame->regs[15], registers + REG_R15 * sizeof(greg_t));
	assert_int_equal(frame->pc, registers + REG_RIP * sizeof(greg_t));
#elif defined(__aarch64__)
	const size_t context = sizeof(siginfo_t);

	assert_int_equal(frame->regs[0], context + offsetof(ucontext_t, uc_mcontext.regs));
	assert_int_equal(frame->regs[arch_native()->sp],
			 context + offsetof(ucontext_t, uc_mcontext.sp));
	assert_int_equal(frame->pc, context + offsetof(ucontext_t, uc_mcontext.pc));
#endif
}

TEST(a_new_thread_is_recognized_by_its_clone_system_call)
{
	static const unsigned char clone[CODE_BYTES] = {0, 0xb8, 0x38, 0, 0, 0, 0x0f, 0x05};
	static const unsigned char clone3[CODE_BYTES] = {0, 0xb8, 0xb3, 1, 0, 0, 0x0f, 0x05};
	static const unsigned char exit[CODE_BYTES] = {0, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05};
	static const unsigned char arm[CODE_BYTES] = {0x88, 0x1b, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
	const unsigned rax = 0, rcx = 2;
	struct regs regs = {.pc = 0x1000};

	regs_set(&regs, rcx, 0x1000); /* as after the instruction syscall */
	assert_true(arch_x86_64.is_clone_child(clone, &regs));
	assert_true(arch_x86_64.is_clone_child(clone3, &regs));
	assert_false(arch_x86_64.is_clone_child(exit, &regs));
	assert_true(arch_x86_64.is_after_syscall(exit, &regs));
	assert_true(arch_aarch64.is_clone_child(arm, &regs));
	regs_set(&regs, rax, 1234); /* the return value in the process that made the call */
	assert_false(arch_x86_64.is_clone_child(clone, &regs));
	assert_false(arch_aarch64.is_clone_child(arm, &regs));
	regs_set(&regs, rcx, 0x2000); /* a jump led here */
	assert_false(arch_x86_64.is_after_syscall(exit, &regs));
}

/* push %rbp; mov %rsp, %rbp; … */
#define FRAME(...)                                                                                 \
	{                                                                                          \
		0x55, 0x48, 0x89, 0xe5, __VA_ARGS__                                                \
	}

TEST(the_code_of_a_function_gives_the_size_of_its_frame)
{
	static const struct {
		unsigned char code[24]; /* the last bytes are padding */
		unsigned count;
		uint64_t sizes[5];
		unsigned alignment;
	} cases[] = {
		{FRAME(0x53), 1, {0}, 1},			      /* push %rbx alone */
		{FRAME(0x48, 0x83, 0xec, 0x28), 1, {0x28}, 1},	      /* sub $0x28, %rsp */
		{FRAME(0x48, 0x81, 0xec, 0, 2, 0, 0), 1, {0x200}, 1}, /* sub $0x200, %rsp */
		{FRAME(0x49, 0x83, 0xec, 0x28), 1, {0}, 1},	      /* sub $0x28, %r12 */
		{FRAME(0x48, 0x85, 0xec, 0x28), 1, {0}, 1},	      /* test %rbp, %rsp; … */
		{FRAME(0x48, 0x83, 0xc4, 0x80), 1, {0x80}, 1},	      /* add $-0x80, %rsp */
		{FRAME(0x48, 0x83, 0xe4, 0xc0, 0x48, 0x83, 0xec, 0x40), 1, {0x40}, 64},
		/* Two pages that are touched one after another, and the rest. */
		{FRAME(0x48, 0x81, 0xec, 0, 0x10, 0, 0, 0x48, 0x83, 0xec, 0x20),
		 3,
		 {0x1000, 0x20, 0x1020},
		 1},
		/* lea -0x2000(%rsp), %r11; a loop; the rest. */
		{FRAME(0x4c, 0x8d, 0x9c, 0x24, 0, 0xe0, 0xff, 0xff, 0x48, 0x83, 0xec, 0x20),
		 2,
		 {0x20, 0x2020},
		 1},
		{FRAME(0x48, 0x29, 0xc4), 0, {0}, 1},		  /* sub %rax, %rsp */
		{FRAME(0x4c, 0x29, 0xc4), 0, {0}, 1},		  /* sub %r8, %rsp */
		{FRAME(0x48, 0x89, 0xdc), 0, {0}, 1},		  /* mov %rbx, %rsp */
		{FRAME(0x48, 0x8d, 0x65, 0xf8), 1, {0}, 1},	  /* lea -8(%rbp), %rsp */
		{FRAME(0x48, 0x8d, 0x64, 0x24, 0xf8), 0, {0}, 1}, /* lea -8(%rsp), %rsp */
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t sizes[8];
		unsigned alignment,
			count = arch_x86_64.frame_sizes(cases[i].code, 24, sizes, 8, &alignment);

		assert_int_equal(count, cases[i].count);
		assert_memory_equal(sizes, cases[i].sizes, count * sizeof(*sizes));
		assert_true(!count || alignment == cases[i].alignment);
	}
}

TEST(where_code_sets_up_a_frame_pointer_is_found)
{
	static const unsigned char code[] = {0x76, 0x10, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x90};
	size_t at;

	assert_true(arch_x86_64.sets_up_fp(code, sizeof(code), &at));
	assert_int_equal(at, 2);
	assert_false(arch_x86_64.sets_up_fp(code, 5, &at));
	assert_false(arch_x86_64.sets_up_fp(code, 0, &at));
}

TEST(what_is_popped_after_a_call_is_told_by_the_code)
{
	static const unsigned char small[CODE_BYTES] = {0x48, 0x83, 0xc4, 0x20};
	static const unsigned char large[CODE_BYTES] = {0x48, 0x81, 0xc4, 0, 1, 0, 0};
	static const unsigned char least[CODE_BYTES] = {0x48, 0x83, 0xc4, 1};
	static const unsigned char other[CODE_BYTES] = {0x48, 0x83, 0xec, 0x20};

	assert_int_equal(arch_x86_64.popped_bytes(small), 0x20);
	assert_int_equal(arch_x86_64.popped_bytes(large), 0x100);
	assert_int_equal(arch_x86_64.popped_bytes(least), 1);
	assert_int_equal(arch_x86_64.popped_bytes(other), 0);
}

TEST(jumps_of_x86_64_give_their_target)
{
	static const struct {
		unsigned char code[6];
		enum jump jump;
		uint64_t target;
	} cases[] = {
		{{0xeb, 0x10}, JUMP_DIRECT, 0x1012},
		{{0x74, 0xfe}, JUMP_DIRECT, 0x1000},
		{{0xe9, 0, 1, 0, 0}, JUMP_DIRECT, 0x1105},
		{{0x0f, 0x84, 0xfa, 0xff, 0xff, 0xff}, JUMP_DIRECT, 0x1000},
		{{0xff, 0xe0}, JUMP_INDIRECT, 0},
		{{0xff, 0x25}, JUMP_INDIRECT, 0},
		{{0xe8, 0, 1, 0, 0}, JUMP_NONE, 0},
		{{0xff, 0xd0}, JUMP_NONE, 0},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t target = 0;

		assert_int_equal(arch_x86_64.jump_at(cases[i].code, 6, 0x1000, &target),
				 cases[i].jump);
		assert_int_equal(target, cases[i].target);
		assert_int_equal(arch_x86_64.jump_at(cases[i].code, 1, 0x1000, &target), JUMP_NONE);
	}
}
