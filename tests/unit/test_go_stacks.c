/*
 * Synthetic stacks of Go programs with C: walks from one stack of a thread to
 * the other and back, the memory of a thread that a copier reads for that, and
 * C code without symbols.
 */
#include "unwind/unwind.h"

#include "base/alloc.h"
#include "built_elf.h"
#include "mapped_program.h"
#include "perf/go_thread.h"
#include "unit_test.h"
#include "unwind/called_functions.h"
#include "unwind/functions.h"

#include <stdlib.h>

/* The process does not exist. Its program is mapped here, and its code is
 * there. */
enum {
	NOBODY = 1 << 23,
	START = 0x10000,
	CODE_OFFSET = sizeof(Elf64_Ehdr) + ELF_FILE_SEGMENTS * sizeof(Elf64_Phdr),
	CODE = START + CODE_OFFSET,
	JIT_CODE = 0x50000000, /* without a file */
	OWN_STACK = 0x60000000,
	OTHER_STACK = 0x7fff0000,
	OWN_WORDS = 26,
	OTHER_WORDS = 26,
	FRAMES = 12,
};

/* Addresses of words of the stack that the walk starts on, and of the thread's
 * other stack. */
#define S(word) (OWN_STACK + 8 * (uint64_t)(word))
#define O(word) (OTHER_STACK + 8 * (uint64_t)(word))

struct stack_case {
	unsigned pc; /* offset in the code, like all small numbers except 0 */
	uint64_t fp, own[OWN_WORDS], other[OTHER_WORDS];
	struct go_sched sched;
	bool lacks_other; /* the other stack was not copied */
	enum unwind_stop stop;
	unsigned callers[FRAMES]; /* terminated by 0 */
	bool needs_go;
	uint64_t g_at, saved_sp_at;
	uint64_t needed_bytes, other_end; /* 0 if not checked */
};

struct program {
	struct address_spaces *spaces;
	struct unwinder *unwinder;
};

static void add_code(struct built_elf *file, const void *code, size_t len)
{
	built_elf_init(file);
	built_elf_bytes(file, code, len);
	built_elf_segment(file, (Elf64_Phdr){.p_type = PT_LOAD,
					     .p_flags = PF_R | PF_X,
					     .p_filesz = file->len,
					     .p_memsz = file->len});
}

static void add_section(struct built_elf *file, const char *name, uint64_t vaddr, uint64_t flags,
			const void *data, size_t len)
{
	built_elf_section(
		file, (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addr = vaddr, .sh_flags = flags},
		name, data, len);
}

static void program_init(struct program *program, struct built_elf *file)
{
	const struct mapping jit = {.start = JIT_CODE, .end = JIT_CODE + 0x1000, .path = ""};

	built_elf_finish(file);
	program->spaces = address_spaces_new("/proc");
	map_program(program->spaces, NOBODY, file->data, file->len, START);
	address_spaces_map(program->spaces, NOBODY, 0, &jit);
	program->unwinder = unwinder_new(program->spaces, &arch_x86_64, false);
}

static void program_deinit(struct program *program)
{
	unwinder_free(program->unwinder);
	address_spaces_free(program->spaces);
}

/* Small numbers except 0 are offsets in the code. `far` is the distance of the
 * other stack from where O() puts it. */
static uint64_t made_word(uint64_t word, uint64_t far)
{
	if (word - OTHER_STACK + 0x1000 < 0x2000)
		return word + far;
	return word && word < 0x1000 ? CODE + word : word;
}

static enum unwind_stop walk(struct program *program, const struct stack_case *made, uint64_t far,
			     struct call_chain *chain)
{
	const struct go_sched *sched = &made->sched;
	uint64_t own[OWN_WORDS], other[OTHER_WORDS];
	const struct stack_copies copies = {
		.own = bytes_of(own, sizeof(own)),
		.interrupted = bytes_of(other, made->lacks_other ? 0 : sizeof(other)),
		.interrupted_start = made->lacks_other ? 0 : OTHER_STACK + far,
		.go = {made_word(sched->sp, far), made_word(sched->pc, far),
		       made_word(sched->fp, far)},
	};
	struct regs regs = {.pc = CODE + made->pc};

	for (unsigned i = 0; i < OWN_WORDS; i++)
		own[i] = made_word(made->own[i], far);
	for (unsigned i = 0; i < OTHER_WORDS; i++)
		other[i] = made_word(made->other[i], far);
	regs_set(&regs, arch_x86_64.sp, OWN_STACK);
	regs_set(&regs, arch_x86_64.fp, made->fp);
	return unwinder_walk(program->unwinder, NOBODY, 1, &regs, &copies, chain);
}

/* Go allocates all stacks, C only one. They can be adjacent, in any order. */
static const int64_t distances[] = {0, INT64_C(1) << 40, -0x30000000};

static void check(struct program *program, unsigned number, const struct stack_case *made)
{
	for (unsigned i = 0; i < ARRAY_SIZE(distances); i++) {
		struct frame frames[UNWIND_DEPTH_MAX];
		struct call_chain chain = {.frames = frames, .room = ARRAY_SIZE(frames)};
		uint64_t far = distances[i], other_end = made->other_end + far;
		enum unwind_stop stop = walk(program, made, far, &chain);
		unsigned right = 1;

		while (right < chain.count && made->callers[right - 1] &&
		       frames[right].offset == CODE_OFFSET + made->callers[right - 1])
			right++;
		if (stop != made->stop || chain.count != right || made->callers[right - 1] ||
		    chain.needs_go != made->needs_go || chain.g_at != made->g_at ||
		    chain.saved_sp_at != made->saved_sp_at ||
		    (made->needed_bytes && chain.needed_bytes != made->needed_bytes) ||
		    (made->other_end && chain.interrupted_end != other_end))
			fail_msg("case %u, %u: stop %d, %u of %u frames, go %d %lx, at %lx, %lx",
				 number, i, stop, right, chain.count, chain.needs_go, chain.g_at,
				 chain.saved_sp_at, chain.interrupted_end);
	}
}

static void check_all(void (*init)(struct program *program), const struct stack_case *cases,
		      unsigned count)
{
	CLEANUP(program_deinit) struct program program;

	init(&program);
	for (unsigned i = 0; i < count; i++)
		check(&program, i, &cases[i]);
}

/* --- Go and C -------------------------------------------------------------------------------- */

/* The functions of the program. Each has a call in its middle. */
enum function {
	GOEXIT,
	MAIN,	  /* pushes the frame pointer */
	CALLER,	  /* and another word; calls asmcgocall */
	NO_FRAME, /* calls MAIN */
	UNKNOWN,  /* has no frame size */
	ASMCGOCALL,
	SYSTEMSTACK,
	MORESTACK,
	CGOCALLBACK,
	CROSSCALL2,
	GO_FUNCTIONS,
	C_FRAME = GO_FUNCTIONS, /* has pushed two words */
	C_PLAIN,		/* has pushed nothing */
	C_ROOT,
	/* five functions: the return address is the word that rbx, r12, …
	 * points to */
	C_BY_REGISTER,
	C_SILENT = C_BY_REGISTER + 5, /* has no CFI */
	FUNCTIONS,
};

enum { FUNCTION_BYTES = 32, CALL_END = 16, TABLE_VADDR = 0x500000 };
#define IN(function) ((function)*FUNCTION_BYTES + CALL_END)
enum { ROOT = GOEXIT * FUNCTION_BYTES + 1 };

/* Frame sizes (pcsp): the difference, doubled, and the number of bytes with
 * this size. */
static const unsigned char sizes[] = {0, 2, 32, 0, 18, 32, 0, 34, 32, 0, 66, 32, 0};
enum { SIZE_0 = 1, SIZE_8 = 4, SIZE_16 = 7, SIZE_32 = 10 };

static const struct {
	const char *name;
	uint32_t size;
} go_functions[] = {
	[GOEXIT] = {"runtime.goexit", SIZE_0},
	[MAIN] = {"main.main", SIZE_8},
	[CALLER] = {"runtime.cgocall", SIZE_16},
	[NO_FRAME] = {"main.noFrame", SIZE_0},
	[UNKNOWN] = {"main.unknown", 0},
	[ASMCGOCALL] = {"runtime.asmcgocall.abi0", 0},
	[SYSTEMSTACK] = {"runtime.systemstack", SIZE_8},
	[MORESTACK] = {"runtime.morestack", 0},
	[CGOCALLBACK] = {"runtime.cgocallback", SIZE_32},
	[CROSSCALL2] = {"crosscall2", 0},
};

static void put_call(unsigned char *code, unsigned at, unsigned target)
{
	int32_t relative = (int32_t)target - (int32_t)at - 5;

	code[at] = 0xe8;
	memcpy(code + at + 1, &relative, sizeof(relative));
}

static void add_functions(struct built_elf *file)
{
	unsigned char code[FUNCTIONS * FUNCTION_BYTES];

	memset(code, 0x90, sizeof(code));
	for (unsigned i = 0; i < FUNCTIONS; i++)
		memcpy(code + IN(i) - 2, "\xff\xd0", 2); /* call *%rax */
	put_call(code, IN(CALLER) - 5, ASMCGOCALL * FUNCTION_BYTES);
	put_call(code, IN(NO_FRAME) - 5, MAIN * FUNCTION_BYTES);
	add_code(file, code, sizeof(code));
}

/* The function table, in the format of Go 1.20 and later (go_table.h). */
static void add_go_table(struct built_elf *file)
{
	enum { NAMES_AT = 80, NAME_BYTES = 32, DESCRIPTION_WORDS = 11 };
	struct table {
		uint64_t header[NAMES_AT / 8];
		char names[GO_FUNCTIONS][NAME_BYTES];
		unsigned char sizes[16];
		uint32_t starts[GO_FUNCTIONS + 1][2];
		uint32_t descriptions[GO_FUNCTIONS][DESCRIPTION_WORDS];
	} table = {.header = {UINT64_C(0x08010000fffffff1), GO_FUNCTIONS}};
	const size_t names_at = offsetof(struct table, names);
	uint64_t module[64] = {TABLE_VADDR, TABLE_VADDR + names_at, [22] = CODE_OFFSET};

	table.header[4] = names_at;
	table.header[7] = offsetof(struct table, sizes);
	table.header[8] = offsetof(struct table, starts);
	memcpy(table.sizes, sizes, sizeof(sizes));
	for (uint32_t i = 0; i < GO_FUNCTIONS; i++) {
		strcpy(table.names[i], go_functions[i].name);
		table.starts[i][0] = i * FUNCTION_BYTES;
		table.starts[i][1] = (uint32_t)(offsetof(struct table, descriptions[i]) -
						offsetof(struct table, starts));
		table.descriptions[i][1] = i * NAME_BYTES;
		table.descriptions[i][4] = go_functions[i].size;
	}
	table.starts[GO_FUNCTIONS][0] = GO_FUNCTIONS * FUNCTION_BYTES;
	add_section(file, ".gopclntab", TABLE_VADDR, 0, &table, sizeof(table));
	add_section(file, ".go.module", 0, 0, module, sizeof(module));
}

/* The CFI of the C functions: a CIE, and the instructions of each. */
static void add_frames(struct built_elf *file)
{
	static const uint8_t registers[] = {3, 12, 13, 14, 15};
	uint64_t frames[3 + 4 * (C_SILENT - C_FRAME)] = {0xffffffff00000014, 0x08070c1078010001,
							 0x190};

	for (unsigned i = C_FRAME; i < C_SILENT; i++) {
		uint64_t *frame = &frames[3 + 4 * (i - C_FRAME)];

		frame[0] = 0x1c;
		frame[1] = CODE_OFFSET + i * FUNCTION_BYTES;
		frame[2] = FUNCTION_BYTES;
		if (i == C_FRAME)
			frame[3] = 0x180e; /* the CFA is rsp + 24 */
		else if (i == C_ROOT)
			frame[3] = 0x1007;   /* the return address is undefined */
		else if (i >= C_BY_REGISTER) /* the CFA is the register + 8 */
			frame[3] = 0x08000c | (uint64_t)registers[i - C_BY_REGISTER] << 8;
	}
	add_section(file, ".debug_frame", 0, 0, frames, sizeof(frames));
}

static void go_program_init(struct program *program)
{
	static struct built_elf file;

	add_functions(&file);
	add_go_table(&file);
	add_frames(&file);
	program_init(program, &file);
}

enum { DEPTH = 0x8888, G = 0x9998, ANYTHING = 0x77778 };

/* Ends of stacks: CALLER, MAIN and the root, starting at word n. */
#define CALLER_AT(stack, n) [n] = IN(CALLER), [(n) + 2] = stack((n) + 4), IN(MAIN), 0, ROOT
#define CALLER_AFTER_FP_AT(stack, n)                                                               \
	[n] = stack((n) + 3), IN(CALLER), ANYTHING, stack((n) + 5), IN(MAIN), 0, ROOT
#define FROM_ASMCGOCALL IN(ASMCGOCALL), IN(CALLER), IN(MAIN), ROOT

/* On the system stack: C functions, and asmcgocall with its two words. */
#define IN_C .pc = IN(C_FRAME), .fp = ANYTHING
#define ASMCGOCALL_AT(n) [n] = IN(ASMCGOCALL), DEPTH, G
#define UNDER_ASMCGOCALL IN_C, .own = {ASMCGOCALL_AT(2)}, .needs_go = true, .g_at = S(4)

TEST(c_under_asmcgocall_goes_on_where_the_goroutine_was_left)
{
	static const struct stack_case cases[] = {
		/* Before Go 1.21, in which asmcgocall pushes the frame pointer
		 * first. */
		{UNDER_ASMCGOCALL, .sched = {.sp = O(0), .fp = O(2)}, .other = {CALLER_AT(O, 0)},
		 .callers = {FROM_ASMCGOCALL}, .other_end = O(6)},
		{UNDER_ASMCGOCALL, .sched = {.sp = O(0), .fp = ANYTHING},
		 .other = {CALLER_AFTER_FP_AT(O, 0)}, .callers = {FROM_ASMCGOCALL},
		 .other_end = O(7)},
		/* The frame pointer does not point to a return address. */
		{UNDER_ASMCGOCALL, .sched = {.sp = O(0), .fp = O(0)},
		 .other = {IN(MAIN), IN(CALLER)}, .stop = UNWIND_TRUNCATED,
		 .callers = {IN(ASMCGOCALL), IN(CALLER)}},
		/* An invalid return address, and the end of a stack. */
		{UNDER_ASMCGOCALL, .sched = {.sp = O(0), .fp = ANYTHING}, .other = {O(3), ANYTHING},
		 .stop = UNWIND_TRUNCATED, .callers = {IN(ASMCGOCALL)}},
		{UNDER_ASMCGOCALL, .sched = {.sp = O(0), .fp = ANYTHING}, .other = {O(3), 0},
		 .callers = {IN(ASMCGOCALL)}},
		/* The other stack is not known, or was not copied. */
		{UNDER_ASMCGOCALL, .lacks_other = true, .stop = UNWIND_TRUNCATED,
		 .callers = {IN(ASMCGOCALL)}},
		{UNDER_ASMCGOCALL, .sched = {.sp = O(0), .fp = O(2)}, .lacks_other = true,
		 .stop = UNWIND_TRUNCATED, .callers = {IN(ASMCGOCALL)}},
		{UNDER_ASMCGOCALL, .sched = {.sp = O(OTHER_WORDS), .fp = O(2)},
		 .stop = UNWIND_TRUNCATED, .callers = {IN(ASMCGOCALL)}},
		/* Without a g, asmcgocall was called on this stack. */
		{IN(C_FRAME), .fp = S(8), .lacks_other = true, .callers = {FROM_ASMCGOCALL},
		 .own = {[2] = IN(ASMCGOCALL), S(6), 0, CALLER_AT(S, 6)}},
		{IN(C_FRAME), .fp = S(8), .lacks_other = true, .callers = {IN(ASMCGOCALL)},
		 .own = {[2] = IN(ASMCGOCALL), S(3), 0, CALLER_AT(S, 6)}, .stop = UNWIND_TRUNCATED},
		{IN(C_FRAME), .lacks_other = true, .callers = {IN(ASMCGOCALL)},
		 .own = {[2] = IN(ASMCGOCALL), S(OWN_WORDS + 9)}, .stop = UNWIND_TRUNCATED,
		 .needed_bytes = 8 * (OWN_WORDS + 10)},
	};

	check_all(go_program_init, cases, ARRAY_SIZE(cases));
}

/* On the goroutine's stack: Go code called by cgocallback, whose frame pointer
 * is on the other stack. */
#define IN_GO .pc = IN(MAIN), .fp = S(0)
#define CALLBACK_AT(n, fp) [n] = (fp), IN(CGOCALLBACK)

static const struct stack_case callback = {
	IN_GO,
	.own = {CALLBACK_AT(0, O(0)), CALLER_AT(S, 7)},
	/* Three arguments, the registers that C preserves, and the caller's
	 * frame. */
	.other = {ANYTHING, IN(CROSSCALL2), [5] = O(13), ANYTHING, ANYTHING, ANYTHING, ANYTHING,
		  S(9), IN(C_BY_REGISTER), [13] = IN(ASMCGOCALL), DEPTH, G},
	.callers = {IN(CGOCALLBACK), IN(CROSSCALL2), IN(C_BY_REGISTER), FROM_ASMCGOCALL},
	.saved_sp_at = S(0),
	.other_end = O(16),
};

TEST(crosscall2_leads_to_c_with_the_registers_that_it_preserved)
{
	CLEANUP(program_deinit) struct program program;

	go_program_init(&program);
	for (unsigned i = 0; i < 5; i++) {
		struct stack_case made = callback;

		made.other[5] = ANYTHING;
		made.other[5 + i] = O(13);
		made.other[11] = made.callers[2] = IN(C_BY_REGISTER + i);
		check(&program, i, &made);
		/* Since Go 1.21, the frame pointer is pushed first. */
		made.other[10] = O(11);
		made.other[11] = S(9);
		made.other[12] = made.callers[2];
		check(&program, i, &made);
	}
}

TEST(calls_from_go_to_c_and_back_lead_through_both_stacks)
{
	static const struct stack_case cases[] = {
		/* Two callbacks. The inner one determines how much of the other
		 * stack is copied. */
		{IN_GO,
		 .own = {CALLBACK_AT(0, O(0)), [7] = IN(CALLER), [9] = S(11), IN(MAIN),
			 CALLBACK_AT(11, O(5)), CALLER_AFTER_FP_AT(S, 18)},
		 .other = {S(9), IN(C_PLAIN), ASMCGOCALL_AT(2), [5] = ANYTHING, IN(C_FRAME),
			   ASMCGOCALL_AT(9)},
		 .callers = {IN(CGOCALLBACK), IN(C_PLAIN), IN(ASMCGOCALL), IN(CALLER), IN(MAIN),
			     IN(CGOCALLBACK), IN(C_FRAME), FROM_ASMCGOCALL},
		 .saved_sp_at = S(0), .other_end = O(12)},
		/* The same stack, started in C: nothing needs to be searched in
		 * the copy. */
		{IN_C, .own = {ASMCGOCALL_AT(2), [6] = ANYTHING, IN(C_FRAME), ASMCGOCALL_AT(10)},
		 .sched = {.sp = O(0), .fp = O(2)},
		 .other = {IN(CALLER), [2] = O(4), IN(MAIN), CALLBACK_AT(4, S(6)),
			   CALLER_AFTER_FP_AT(O, 11)},
		 .callers = {IN(ASMCGOCALL), IN(CALLER), IN(MAIN), IN(CGOCALLBACK), IN(C_FRAME),
			     FROM_ASMCGOCALL},
		 .needs_go = true, .g_at = S(4), .other_end = O(18)},
		/* C's stack was not copied, or the copy starts above the frame. */
		{IN_GO, .own = {CALLBACK_AT(0, O(0))}, .lacks_other = true,
		 .stop = UNWIND_TRUNCATED, .callers = {IN(CGOCALLBACK)}, .saved_sp_at = S(0)},
		{IN_GO, .own = {CALLBACK_AT(0, O(-1))}, .stop = UNWIND_TRUNCATED,
		 .callers = {IN(CGOCALLBACK)}, .saved_sp_at = S(0)},
		/* A leaf has not switched. */
		{.pc = IN(CGOCALLBACK),
		 .fp = O(0),
		 .own = {[3] = S(5), IN(MAIN), 0, ROOT},
		 .callers = {IN(MAIN), ROOT}},
		/* The frame of the C function is found by the stack pointer. */
		{IN_GO, .own = {CALLBACK_AT(0, O(0)), CALLER_AT(S, 7)},
		 .other = {0, IN(CROSSCALL2), [10] = S(9), IN(C_FRAME), [14] = IN(ASMCGOCALL),
			   DEPTH, G},
		 .callers = {IN(CGOCALLBACK), IN(CROSSCALL2), IN(C_FRAME), FROM_ASMCGOCALL},
		 .saved_sp_at = S(0)},
		/* The copy of C's stack ends before the registers. */
		{IN_GO, .own = {CALLBACK_AT(0, O(20))}, .other = {[21] = IN(CROSSCALL2)},
		 .stop = UNWIND_TRUNCATED, .callers = {IN(CGOCALLBACK), IN(CROSSCALL2)},
		 .saved_sp_at = S(0)},
		/* A stack that starts here, and an invalid frame pointer. */
		{IN_GO, .own = {CALLBACK_AT(0, 0)}, .callers = {IN(CGOCALLBACK)}},
		{IN_GO, .own = {CALLBACK_AT(0, O(0) + 4)}, .stop = UNWIND_TRUNCATED,
		 .callers = {IN(CGOCALLBACK)}},
		/* Before cgocallback switches stacks, it is like any other
		 * function. */
		{IN_GO, .own = {CALLBACK_AT(0, S(5)), [5] = S(7), IN(MAIN), 0, ROOT},
		 .callers = {IN(CGOCALLBACK), IN(MAIN), ROOT}},
		/* The position in the goroutine's stack is on its own stack,
		 * not on the other one. */
		{IN_GO, .own = {CALLBACK_AT(0, O(0)), [7] = IN(SYSTEMSTACK)},
		 .other = {O(5), IN(ASMCGOCALL), DEPTH, G, [5] = ANYTHING, IN(ASMCGOCALL), DEPTH,
			   G},
		 .stop = UNWIND_TRUNCATED,
		 .callers = {IN(CGOCALLBACK), IN(ASMCGOCALL), IN(SYSTEMSTACK), IN(ASMCGOCALL)},
		 .needs_go = true, .saved_sp_at = S(0)},
	};

	check_all(go_program_init, cases, ARRAY_SIZE(cases));
}

/* Called by functions that run on the system stack. */
#define UNDER(function, saved_fp) IN_GO, .own = {(saved_fp), IN(function)}, .needs_go = true

TEST(morestack_goes_on_at_the_function_whose_frame_did_not_fit)
{
	static const struct stack_case cases[] = {
		{UNDER(MORESTACK, ANYTHING), .sched = {.sp = O(0), .pc = IN(NO_FRAME), .fp = O(1)},
		 .other = {IN(MAIN), 0, ROOT},
		 .callers = {IN(MORESTACK), IN(NO_FRAME), IN(MAIN), ROOT}, .other_end = O(3)},
		{UNDER(MORESTACK, ANYTHING), .sched = {.sp = O(0), .pc = IN(NO_FRAME), .fp = O(1)},
		 .lacks_other = true, .stop = UNWIND_TRUNCATED, .callers = {IN(MORESTACK)}},
		{UNDER(MORESTACK, ANYTHING), .stop = UNWIND_TRUNCATED, .callers = {IN(MORESTACK)}},
	};

	check_all(go_program_init, cases, ARRAY_SIZE(cases));
}

TEST(systemstack_goes_on_where_the_goroutine_was_left_or_by_the_frame_pointer)
{
	static const struct stack_case cases[] = {
		{UNDER(SYSTEMSTACK, O(8)), .sched = {.sp = O(0), .fp = O(2)},
		 .other = {CALLER_AT(O, 0)},
		 .callers = {IN(SYSTEMSTACK), IN(CALLER), IN(MAIN), ROOT}},
		{UNDER(SYSTEMSTACK, O(0)), .other = {O(2), IN(MAIN), 0, ROOT},
		 .callers = {IN(SYSTEMSTACK), IN(MAIN), ROOT}, .saved_sp_at = S(0)},
		{UNDER(SYSTEMSTACK, O(0)), .lacks_other = true, .stop = UNWIND_TRUNCATED,
		 .callers = {IN(SYSTEMSTACK)}, .saved_sp_at = S(0)},
		{UNDER(SYSTEMSTACK, 0), .callers = {IN(SYSTEMSTACK)}},
		/* Before it switches. */
		{IN_GO, .own = {S(2), IN(SYSTEMSTACK), S(4), IN(MAIN), 0, ROOT},
		 .callers = {IN(SYSTEMSTACK), IN(MAIN), ROOT}},
	};

	check_all(go_program_init, cases, ARRAY_SIZE(cases));
}

TEST(two_stacks_that_lead_to_each_other_end)
{
	static const struct stack_case made = {
		IN_GO,
		.own = {ANYTHING, IN(SYSTEMSTACK), ANYTHING, IN(SYSTEMSTACK)},
		.sched = {.sp = O(0), .fp = S(2)},
		.other = {IN(MAIN)},
	};
	struct frame frames[UNWIND_DEPTH_MAX];
	struct call_chain chain = {.frames = frames, .room = ARRAY_SIZE(frames)};
	CLEANUP(program_deinit) struct program program;

	go_program_init(&program);
	assert_int_equal(walk(&program, &made, 0, &chain), UNWIND_TRUNCATED);
	assert_int_equal(chain.count, 2 + 256);
}

TEST(a_frame_pointer_of_0_ends_stacks_of_go_and_not_of_c)
{
	static const struct stack_case cases[] = {
		{IN(C_FRAME), .own = {[2] = IN(C_SILENT)}, .stop = UNWIND_LOST,
		 .callers = {IN(C_SILENT)}},
		{IN(C_FRAME), .own = {[2] = IN(UNKNOWN)}, .callers = {IN(UNKNOWN)}},
		{IN(C_FRAME), .own = {[2] = IN(C_PLAIN), IN(C_ROOT)},
		 .callers = {IN(C_PLAIN), IN(C_ROOT)}},
		{IN(C_FRAME), .own = {[2] = IN(NO_FRAME), IN(C_ROOT)}, .callers = {IN(NO_FRAME)}},
		/* A leaf function of Go called by C. */
		{IN(NO_FRAME), .own = {IN(C_PLAIN), IN(C_ROOT)},
		 .callers = {IN(C_PLAIN), IN(C_ROOT)}},
		{IN(MAIN), .fp = S(0), .own = {0, IN(C_PLAIN), IN(C_ROOT)},
		 .callers = {IN(C_PLAIN), IN(C_ROOT)}},
	};

	check_all(go_program_init, cases, ARRAY_SIZE(cases));
}

/* The runtime stops a goroutine here (asyncPreempt), so the address does not
 * follow a call. */
TEST(a_goroutine_begins_with_goexit_and_not_with_a_leaf_that_was_stopped)
{
	enum { IN_LEAF = NO_FRAME * FUNCTION_BYTES + 3 };
	static const struct stack_case cases[] = {
		{IN(MAIN), .fp = S(0), .own = {S(3), IN_LEAF, IN(MAIN), 0, ROOT},
		 .callers = {IN_LEAF, IN(MAIN), ROOT}},
		{IN(MAIN), .fp = S(0), .own = {S(3), ROOT, IN(MAIN), 0, ROOT}, .callers = {ROOT}},
		{IN(GOEXIT), .fp = S(1), .own = {IN(MAIN), 0, ROOT}},
	};

	check_all(go_program_init, cases, ARRAY_SIZE(cases));
}

/* The addresses that the kernel finds by frame pointers in the other stack. */
TEST(a_stack_that_was_left_is_joined_if_that_leads_to_a_root)
{
	static const struct {
		unsigned last; /* last function of the walk */
		unsigned addresses[5];
		unsigned count; /* number of frames; 2 if not joined */
	} cases[] = {
		{ASMCGOCALL, {IN(C_PLAIN), IN(CALLER), IN(MAIN), ROOT}, 5},
		/* Without the root, the chain is not joined. */
		{ASMCGOCALL, {IN(C_PLAIN), IN(CALLER), IN(MAIN)}, 2},
		/* After a call of another function, or an indirect call. */
		{ASMCGOCALL, {IN(C_PLAIN), IN(NO_FRAME), IN(MAIN), ROOT}, 2},
		{ASMCGOCALL, {IN(C_PLAIN), IN(MAIN), IN(MAIN), ROOT}, 2},
		{ASMCGOCALL, {IN(C_PLAIN)}, 2},
		{SYSTEMSTACK, {IN(C_PLAIN), IN(CALLER), IN(MAIN), ROOT}, 2},
		/* The walk's own frames are included. */
		{SYSTEMSTACK, {IN(C_FRAME), IN(SYSTEMSTACK), IN(CALLER), ROOT, 0x99}, 4},
		{SYSTEMSTACK, {IN(C_FRAME), IN(SYSTEMSTACK), ROOT, IN(CALLER)}, 3},
		{SYSTEMSTACK, {IN(C_FRAME), IN(SYSTEMSTACK), IN(CALLER), IN(CALLER)}, 2},
		{SYSTEMSTACK, {IN(C_FRAME), IN(SYSTEMSTACK), IN(C_PLAIN), ROOT}, 2},
		{SYSTEMSTACK, {IN(C_FRAME), IN(SYSTEMSTACK), IN(NO_FRAME), ROOT}, 2},
		{SYSTEMSTACK, {IN(C_FRAME), IN(C_FRAME), ROOT}, 2},
		{SYSTEMSTACK, {0}, 2},
	};
	CLEANUP(program_deinit) struct program program;

	go_program_init(&program);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct stack_case made = {IN_C, .own = {[2] = IN(cases[i].last), DEPTH, G},
						.lacks_other = true};
		struct frame frames[8];
		struct call_chain chain = {.frames = frames, .room = ARRAY_SIZE(frames)};
		uint64_t addresses[ARRAY_SIZE(cases[i].addresses)];

		for (unsigned n = 0; n < ARRAY_SIZE(addresses); n++)
			addresses[n] = made_word(cases[i].addresses[n], 0);
		assert_int_equal(walk(&program, &made, 0, &chain), UNWIND_TRUNCATED);
		assert_int_equal(chain.count, 2);
		if (unwinder_splice(program.unwinder, NOBODY, 1,
				    bytes_of(addresses, sizeof(addresses)),
				    &chain) != (cases[i].count > 2) ||
		    chain.count != cases[i].count)
			fail_msg("case %u: %u frames", i, chain.count);
		for (unsigned n = 2; n < chain.count; n++) {
			unsigned at = cases[i].last == ASMCGOCALL ? n - 1 : n;

			assert_int_equal(frames[n].offset, CODE_OFFSET + cases[i].addresses[at]);
			assert_true(frames[n].is_return_address);
		}
	}
}

/* --- C without symbols ----------------------------------------------------------------------- */

/* A program with functions that consist only of code. The last one calls the
 * others. */
enum {
	UNCALLED = 0,
	STUB = 0x40,	 /* jumps to UNCALLED immediately */
	JUMPS = 0x60,	 /* jumps to UNCALLED later */
	VIA = 0x80,	 /* jumps to RESERVES */
	BEFORE = 0x90,	 /* returns */
	RESERVES = 0xa0, /* reserves three words */
	AFTER = 0xc0,	 /* returns */
	CALLS = 0x100,
	SHORT = 0x170,	   /* ends where the next function starts */
	ENDS_LATE = 0x180, /* jumps to RESERVES after more than 512 bytes */
	LATE = ENDS_LATE + 0x210,
	SILENT_BYTES = 0x400,
};

/* Return addresses. ANY follows an indirect call. */
enum { FROM_RESERVES = CALLS + 5, AGAIN = CALLS + 10, FROM_AFTER = CALLS + 15 };
enum { FROM_VIA = CALLS + 20, FROM_BEFORE = CALLS + 25, FROM_JUMPS = CALLS + 30 };
enum { FROM_STUB = CALLS + 35, FROM_SHORT = CALLS + 40, FROM_ENDS_LATE = CALLS + 45 };
enum { ANY = FROM_ENDS_LATE + 2, NO_CALL = ANY + 20 };

static void silent_program_init(struct program *program)
{
	static const unsigned char reserves[] = {0x48, 0x83, 0xec, 0x18, 0x90, 0x90, 0x90,
						 0x90, 0x90, 0x48, 0x83, 0xc4, 0x18, 0xc3};
	static const unsigned calls[] = {RESERVES, RESERVES, AFTER, VIA,      BEFORE,
					 JUMPS,	   STUB,     SHORT, ENDS_LATE};
	static struct built_elf file;
	unsigned char code[SILENT_BYTES];

	memset(code, 0x90, sizeof(code));
	memcpy(code + STUB, "\xeb\xbe", 2); /* jmp */
	memcpy(code + JUMPS + 16, "\xeb\x8e", 2);
	memcpy(code + VIA, "\xeb\x1e", 2);
	memcpy(code + LATE, "\xe9\x0b\xfd\xff\xff", 5);
	code[BEFORE] = code[AFTER] = 0xc3; /* ret */
	memcpy(code + RESERVES, reserves, sizeof(reserves));
	memcpy(code + CALLS - 16, "\x55\x48\x89\xe5", 4); /* push %rbp; mov %rsp,%rbp */
	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++)
		put_call(code, CALLS + 5 * i, calls[i]);
	memcpy(code + ANY - 2, "\xff\xd0", 2); /* call *%rax */
	add_code(&file, code, sizeof(code));
	add_section(&file, ".text", CODE_OFFSET, SHF_ALLOC | SHF_EXECINSTR, code, sizeof(code));
	program_init(program, &file);
}

/* The frame at S(20) leads to the root. */
#define PUSHED .pc = RESERVES + 8, .fp = S(20), .own
#define UNPUSHED .pc = UNCALLED + 16, .own

TEST(code_without_symbols_has_the_caller_that_its_instructions_lead_to)
{
	static const struct stack_case cases[] = {
		/* The frame has three words. Lower words remain from other
		 * calls. */
		{PUSHED = {AGAIN, AGAIN, 0, FROM_RESERVES}, .callers = {FROM_RESERVES}},
		{PUSHED = {AGAIN, AGAIN, 0, ANY}, .callers = {ANY}},
		{PUSHED = {AGAIN, 0, 0, FROM_VIA}, .callers = {FROM_VIA}},
		{PUSHED = {AGAIN, 0, 0, FROM_ENDS_LATE}, .callers = {FROM_ENDS_LATE}},
		/* The function must start elsewhere, because another function
		 * or none was called. */
		{PUSHED = {AGAIN, 0, 0, FROM_SHORT}, .callers = {AGAIN}},
		{PUSHED = {AGAIN, 0, 0, FROM_AFTER}, .callers = {AGAIN}},
		{PUSHED = {AGAIN, 0, 0, FROM_BEFORE}, .callers = {AGAIN}},
		{PUSHED = {AGAIN, 0, 0, NO_CALL}, .callers = {AGAIN}},
	};

	check_all(silent_program_init, cases, ARRAY_SIZE(cases));
}

TEST(a_caller_is_guessed_unless_it_has_called_a_function_that_does_not_lead_here)
{
	static const struct stack_case cases[] = {
		/* The word on top may remain from a call of another function. */
		{UNPUSHED = {FROM_AFTER, [4] = S(20), ANY}, .fp = S(4), .callers = {ANY}},
		{UNPUSHED = {FROM_JUMPS, [4] = S(20), ANY}, .fp = S(4),
		 .callers = {FROM_JUMPS, ANY}},
		{UNPUSHED = {FROM_STUB, [4] = S(20), ANY}, .fp = S(4), .callers = {FROM_STUB, ANY}},
		/* A search accepts only calls of this function. */
		{UNPUSHED = {0, FROM_STUB}, .stop = UNWIND_LOST},
		{UNPUSHED = {0, FROM_JUMPS}, .stop = UNWIND_LOST},
		{UNPUSHED = {0, ANY}, .stop = UNWIND_LOST},
		{PUSHED = {0, ANY, 0, NO_CALL, AGAIN}, .callers = {AGAIN}},
		/* The search ends where the code before the address cannot be
		 * read. */
		{PUSHED = {0, JIT_CODE + 16, 0, NO_CALL, AGAIN}, .stop = UNWIND_LOST},
		{PUSHED = {0, JIT_CODE + 0x1001, 0, NO_CALL, AGAIN}, .callers = {AGAIN}},
	};

	check_all(silent_program_init, cases, ARRAY_SIZE(cases));
}

/* Number of calls of add_function(), and the last vaddr. */
static unsigned added, enough;
static uint64_t last_vaddr;

static bool add_function(void *user, uint64_t vaddr)
{
	(void)user;
	last_vaddr = vaddr;
	return ++added < enough;
}

TEST(calls_lead_to_functions_that_begin_where_one_may_begin)
{
	enum { BYTES = 0x80, CALL = 0xe8 };
	static const struct {
		unsigned char insn[4]; /* a displacement of four bytes follows */
		unsigned insn_len, target;
		unsigned char before[5]; /* the target */
		bool is_function;
	} cases[] = {
		{{CALL}, 1, 0x40, {1, 1, 1, 1, 1}, true},
		{{CALL}, 1, 0x48, {1, 1, 1, 1, 1}, false},
		{{CALL}, 1, 0x48, {1, 1, 1, 1, 0xc3}, true},	/* ret */
		{{CALL}, 1, 0x48, {1, 1, 1, 1, 0xcc}, true},	/* int3 */
		{{CALL}, 1, 0x48, {1, 1, 1, 1, 0x90}, true},	/* nop */
		{{CALL}, 1, 0x48, {1, 1, 1, 1, 0}, true},	/* of a long nop */
		{{CALL}, 1, 0x48, {1, 1, 1, 0xeb, 1}, true},	/* jmp rel8 */
		{{CALL}, 1, 0x48, {0xe9, 1, 1, 1, 1}, true},	/* jmp rel32 */
		{{CALL}, 1, 0x48, {1, 1, 1, 0x0f, 0x0b}, true}, /* ud2 */
		{{CALL}, 1, 0x48, {1, 1, 0x0f, 0x0b, 1}, false},
		{{CALL}, 1, 0x48, {1, 0xe9, 0xeb, 1, 1}, false},
		/* The last instruction that can be the start of a function, and
		 * targets outside of the code. */
		{{CALL}, 1, 0x70, {1, 1, 1, 1, 1}, true},
		{{CALL}, 1, 0, {1, 1, 1, 1, 1}, true},
		{{CALL}, 1, BYTES, {1, 1, 1, 1, 1}, false},
		{{CALL}, 1, -16u, {1, 1, 1, 1, 1}, false},
		/* Addresses that are arguments. */
		{{0x48, 0x8d, 0x3d}, 3, 0x40, {1, 1, 1, 1, 1}, true},  /* lea …(%rip), %rdi */
		{{0x4c, 0x8d, 0x05}, 3, 0x40, {1, 1, 1, 1, 1}, true},  /* lea …(%rip), %r8 */
		{{0x8d, 0x3d}, 2, 0x40, {1, 1, 1, 1, 1}, false},       /* lea …(%rip), %edi */
		{{0x48, 0x8b, 0x3d}, 3, 0x40, {1, 1, 1, 1, 1}, false}, /* mov …(%rip), %rdi */
		{{0x48, 0x8d, 0xb8}, 3, 0x40, {1, 1, 1, 1, 1}, false}, /* lea …(%rax), %rdi */
		/* The code after a jump is not a return address, and a call
		 * inside an instruction is not a call. */
		{{0xe9}, 1, 0x40, {1, 1, 1, 1, 1}, false},
		{{0x48, 0xb8, CALL}, 3, 0x40, {1, 1, 1, 1, 1}, false}, /* mov $…, %rax */
		/* Data are skipped byte by byte. */
		{{0x06, 0x06, CALL}, 3, 0x40, {1, 1, 1, 1, 1}, true},
	};

	for (unsigned i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		unsigned len = cases[i / 2].insn_len, target = cases[i / 2].target;
		unsigned next = 16 + len + 4;
		int32_t relative = (int32_t)(target - next);
		unsigned char code[BYTES];
		static struct built_elf file;
		CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;

		memset(code, 0x90, sizeof(code));
		memcpy(code + 16, cases[i / 2].insn, len);
		memcpy(code + 16 + len, &relative, sizeof(relative));
		if (target > next && target < BYTES)
			memcpy(code + target - 5, cases[i / 2].before, 5);
		add_code(&file, code, BYTES);
		add_section(&file, ".text", CODE_OFFSET, SHF_ALLOC | SHF_EXECINSTR, code, BYTES);
		add_section(&file, ".text2", CODE_OFFSET, SHF_ALLOC | SHF_EXECINSTR, code, BYTES);
		built_elf_finish(&file);
		assert_null(elf_file_from_memory(file.data, file.len, "test", &elf));
		/* In both sections, or until enough functions are found. */
		added = 0;
		enough = 2 - i % 2;
		called_functions_find(elf, add_function, NULL);
		if (added != (cases[i / 2].is_function ? enough : 0) ||
		    (added && last_vaddr != CODE_OFFSET + target))
			fail_msg("case %u: %u times, at %lx", i / 2, added, last_vaddr);
	}
}

/* A call at the end of a function becomes a jump. */
TEST(functions_that_may_end_with_a_jump_to_another_are_known)
{
	static const struct {
		unsigned char code[12];
		int64_t target;
		bool may_jump;
	} cases[] = {
		{{0xe9, 0x0b, 0, 0, 0}, 16, true}, /* jmp 16 */
		{{0xe9, 0x0b, 0, 0, 0}, 15, false},
		{{0xe9, 0xeb, 0xff, 0xff, 0xff}, -16, true},
		{{0xeb, 0x0e}, 16, true},
		{{0x74, 0x0e}, 16, true}, /* je */
		{{0x0f, 0x84, 0x0a, 0, 0, 0}, 16, true},
		{{0xe8, 0x0b, 0, 0, 0}, 16, false},    /* call 16 */
		{{0xc3, 0x90, 0xeb, 0x0c}, 16, true},  /* after a return */
		{{0x06, 0xeb, 0x0d}, 16, true},	       /* after data */
		{{0xb8, 0xeb, 0x0d, 0, 0}, 16, false}, /* mov $…, %eax */
		{{0xff, 0xe0}, 16, true},	       /* jmp *%rax */
		{{0x90, 0xff, 0x60, 0x18}, 16, true},  /* jmp *24(%rax) */
		{{0xff, 0xd0}, 16, false},	       /* call *%rax */
		{{[10] = 0xff, 0xe0}, 16, true},
		{{[11] = 0xff}, 16, false},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		if (called_functions_may_jump(cases[i].code, sizeof(cases[i].code),
					      cases[i].target) != cases[i].may_jump)
			fail_msg("case %u", i);
}

/* Large code is read in pieces of a mebibyte. */
TEST(calls_at_the_borders_of_pieces_of_code_are_found)
{
	enum { START_AT = 64 << 10, PIECE = 1 << 20, BYTES = PIECE + 4096, CALL_BYTES = 5 };
	CLEANUP(free_ptr) unsigned char *data = xmalloc(START_AT + BYTES);
	static struct built_elf file;
	Elf64_Shdr *text;

	built_elf_init(&file);
	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_LOAD,
					      .p_flags = PF_R | PF_X,
					      .p_offset = START_AT,
					      .p_vaddr = START_AT,
					      .p_filesz = BYTES,
					      .p_memsz = BYTES});
	text = built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".text", NULL, 0);
	text->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	text->sh_addr = text->sh_offset = START_AT;
	text->sh_size = BYTES;
	built_elf_finish(&file);
	memcpy(data, file.data, START_AT);
	for (unsigned i = 0; i < 18; i++) {
		unsigned at = i < 17 ? PIECE - i : BYTES - CALL_BYTES;
		CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;

		memset(data + START_AT, 0x90, BYTES);
		put_call(data + START_AT, at, 0x40);
		assert_null(elf_file_from_memory(data, START_AT + BYTES, "test", &elf));
		added = 0;
		enough = UINT32_MAX;
		called_functions_find(elf, add_function, NULL);
		if (added != 1)
			fail_msg("call at %x: %u times", at, added);
		assert_int_equal(last_vaddr, START_AT + 0x40);
	}
}

TEST(functions_without_symbols_are_called_or_pointed_to)
{
	enum { BYTES = 0x100, FIRST = 0x40, SECOND = 0x80, THIRD = 0xc0, DATA = 0xe0 };
	static const Elf64_Rela pointers[] = {
		{.r_info = R_X86_64_RELATIVE, .r_addend = CODE_OFFSET + THIRD},
		{.r_info = R_X86_64_RELATIVE, .r_addend = CODE_OFFSET + BYTES},
		{.r_info = R_X86_64_64, .r_addend = CODE_OFFSET + DATA},
	};
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	struct functions *functions;
	struct function_range range;
	static struct built_elf file;
	unsigned char code[BYTES];

	memset(code, 0x90, sizeof(code));
	put_call(code, 0x10, FIRST);
	put_call(code, 0x20, SECOND);
	add_code(&file, code, BYTES);
	add_section(&file, ".text", CODE_OFFSET, SHF_ALLOC | SHF_EXECINSTR, code, BYTES);
	add_section(&file, ".rela.dyn", 0, 0, pointers, sizeof(pointers));
	built_elf_finish(&file);
	assert_null(elf_file_from_memory(file.data, file.len, "test", &elf));
	functions = functions_new(elf, NULL);
	assert_true(functions_find(functions, CODE_OFFSET + FIRST, &range));
	assert_int_equal(range.start, CODE_OFFSET + FIRST);
	assert_int_equal(range.end, CODE_OFFSET + SECOND);
	assert_true(functions_find(functions, CODE_OFFSET + BYTES - 1, &range));
	assert_int_equal(range.start, CODE_OFFSET + THIRD);
	assert_int_equal(range.end, CODE_OFFSET + BYTES);
	functions_free(functions);
}

TEST(functions_of_a_stripped_file_are_those_of_its_debug_file)
{
	enum { BYTES = 0x100, FUNCTION = 0x40, SIZE = 0x30, CALLED = 0x60 };
	static const Elf64_Sym symbols[] = {{0},
					    {.st_name = 1,
					     .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
					     .st_shndx = 1,
					     .st_value = CODE_OFFSET + FUNCTION,
					     .st_size = SIZE}};
	static const char strings[] = "\0f";
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL, *debug = NULL;
	static struct built_elf stripped, separate;
	struct functions *functions;
	struct function_range range;
	unsigned char code[BYTES];

	memset(code, 0x90, sizeof(code));
	put_call(code, 0x10, CALLED);
	add_code(&stripped, code, BYTES);
	add_section(&stripped, ".text", CODE_OFFSET, SHF_ALLOC | SHF_EXECINSTR, code, BYTES);
	built_elf_finish(&stripped);
	built_elf_init(&separate);
	add_section(&separate, ".symtab", 0, 0, symbols, sizeof(symbols));
	add_section(&separate, ".strtab", 0, 0, strings, sizeof(strings));
	built_elf_finish(&separate);
	assert_null(elf_file_from_memory(stripped.data, stripped.len, "test", &elf));
	assert_null(elf_file_from_memory(separate.data, separate.len, "test.debug", &debug));
	functions = functions_new(elf, debug);
	assert_true(functions_find(functions, CODE_OFFSET + CALLED, &range));
	assert_int_equal(range.start, CODE_OFFSET + FUNCTION);
	assert_int_equal(range.end, CODE_OFFSET + FUNCTION + SIZE);
	assert_false(range.is_inferred);
	functions_free(functions);
}

/* --- A thread of Go -------------------------------------------------------------------------- */

/* Each has a page of its own. */
enum { TID = 77, M = 0x1000, G0 = 0x2000, CURRENT_G = 0x3000, NOTHING = 0x4000 };
enum { LOW = 0x400000, HIGH = 0x500000, SP = 0x480000, G_PC = 0x1234, G_FP = 0x480010 };

static uint64_t words[4][32];
static size_t readable[4]; /* number of words */

static size_t read_memory(pid_t tid, uint64_t address, void *into, size_t len)
{
	size_t at = address % 0x1000 / 8, part = address / 0x1000;

	assert_int_equal(tid, TID);
	assert_int_equal(address % 8, 0);
	assert_in_range(part, 1, 4);
	if (part == 4 || readable[part] <= at)
		return 0;
	if (len > 8 * (readable[part] - at))
		len = 8 * (readable[part] - at);
	memcpy(into, &words[part][at], len);
	return len;
}

/* Makes a thread that runs on its system stack. */
static void make_thread(bool is_new)
{
	const uint64_t made[4][32] = {
		[M >> 12] = {G0, [23] = is_new ? CURRENT_G : 0, is_new ? 0 : CURRENT_G},
		[G0 >> 12] = {[6] = M, 1, 2, [12] = 3, 4},
		[CURRENT_G >> 12] = {LOW, HIGH, [6] = M, SP, G_PC, [12] = is_new ? G_FP : 5,
				     is_new ? 6 : G_FP},
	};

	memcpy(words, made, sizeof(words));
	readable[M >> 12] = 25;
	readable[G0 >> 12] = readable[CURRENT_G >> 12] = 14;
}

static void assert_read(unsigned i, uint64_t g, uint64_t sp, bool is_known)
{
	struct go_sched sched = {1, 1, 1}, wanted = {0};

	if (is_known)
		wanted = (struct go_sched){SP, G_PC, G_FP};
	go_thread_read(read_memory, TID, g, sp, &sched);
	if (memcmp(&sched, &wanted, sizeof(sched)) != 0)
		fail_msg("case %u: sp %lx, pc %lx, fp %lx", i, sched.sp, sched.pc, sched.fp);
}

TEST(where_a_thread_left_its_goroutine_is_read_if_all_leads_back)
{
	static const struct {
		uint64_t g, sp;
		bool is_known;
		/* the word to change; part is 0 if nothing changes */
		uint64_t part, word, value;
	} cases[] = {
		{CURRENT_G, HIGH, true, 0, 0, 0},
		{G0, LOW - 1, true, 0, 0, 0},
		/* On the goroutine's stack. */
		{CURRENT_G, LOW, false, 0, 0, 0},
		{CURRENT_G, HIGH - 1, false, 0, 0, 0},
		/* A g with an invalid address. */
		{0, HIGH, false, 0, 0, 0},
		{CURRENT_G + 4, HIGH, false, 0, 0, 0},
		{CURRENT_G + 8, HIGH, false, 0, 0, 0},
		{NOTHING, HIGH, false, 0, 0, 0},
		{M, HIGH, false, 0, 0, 0},
		/* An m that is invalid, or does not point back. */
		{CURRENT_G, HIGH, false, CURRENT_G, 6, 0},
		{CURRENT_G, HIGH, false, CURRENT_G, 6, M + 4},
		{CURRENT_G, HIGH, false, CURRENT_G, 6, NOTHING},
		{G0, HIGH, false, CURRENT_G, 6, M + 8},
		{CURRENT_G, HIGH, false, G0, 6, M + 8},
		{CURRENT_G, HIGH, false, M, 0, 0},
		{CURRENT_G, HIGH, false, M, 0, NOTHING},
	};

	for (unsigned i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		make_thread(i % 2);
		if (cases[i / 2].part)
			words[cases[i / 2].part >> 12][cases[i / 2].word] = cases[i / 2].value;
		assert_read(i / 2, cases[i / 2].g, cases[i / 2].sp, cases[i / 2].is_known);
	}
	for (unsigned part = 1; part < 4; part++) {
		make_thread(false);
		readable[part]--;
		assert_read(part, G0, HIGH, false);
	}
}

TEST(a_thread_without_a_goroutine_has_left_none)
{
	make_thread(true);
	/* the place in older versions, which must not be used */
	words[M >> 12][24] = G0;
	assert_read(0, G0, HIGH, true);
	words[M >> 12][23] = G0;
	assert_read(1, G0, HIGH, false);
}
