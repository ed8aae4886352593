/*
 * Compares stacks of real code with glibc's backtrace() and with a shadow stack
 * of every call, and walks synthetic stacks.
 */
#include "unwind/unwind.h"

#include "base/alloc.h"
#include "built_elf.h"
#include "lacking.h"
#include "mapped_program.h"
#include "ucontext_regs.h"
#include "unit_test.h"
#include "unwind/outer_walk.h"
#include "unwind_programs.h"

#include <alloca.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

enum { STACK_BYTES = 1 << 20, MADE_STACK = 0x7fff0000 };

/* The address of a word of a synthetic stack. */
#define S(word) (MADE_STACK + 8 * (uint64_t)(word))

/* Small numbers except 0 are offsets in the code. */
static uint64_t made_word(uint64_t word, uint64_t code)
{
	return word && word < 0x1000 ? code + word : word;
}

/* A sample as perf takes it. */
struct sample {
	pid_t pid;
	struct regs regs;
	unsigned char *stack;
	size_t stack_bytes;
};

/* The result of a walk. */
struct walked {
	enum unwind_stop stop;
	unsigned count;
	struct frame frames[UNWIND_DEPTH_MAX];
};

struct fixture {
	struct address_spaces *spaces;
	struct unwinder *unwinder;
	struct sample sample;
	/* interrupted by a signal handler with a stack of its own */
	struct sample interrupted;
	struct walked walked;
	void *truth[UNWIND_DEPTH_MAX];
	int truth_count;
};

static struct fixture *fixture_new(pid_t pid)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));

	fixture->spaces = address_spaces_new("/proc");
	address_spaces_snapshot(fixture->spaces, pid, 0);
	fixture->unwinder = unwinder_new(fixture->spaces, arch_native(), false);
	fixture->sample.pid = pid;
	fixture->sample.stack = xmalloc(STACK_BYTES);
	fixture->interrupted.pid = pid;
	fixture->interrupted.stack = xmalloc(STACK_BYTES);
	return fixture;
}

static void fixture_free(struct fixture *fixture)
{
	unwinder_free(fixture->unwinder);
	address_spaces_free(fixture->spaces);
	free(fixture->sample.stack);
	free(fixture->interrupted.stack);
	free(fixture);
}

/* With a system call, which sanitizers accept. Copies less if the stack ends. */
static void copy_stack(struct sample *sample)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/mem", sample->pid);
	CLEANUP(close_fd) int memory = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t sp = sample->regs.values[arch_native()->sp];
	ssize_t got = 1;

	assert_true(memory >= 0);
	for (sample->stack_bytes = 0; sample->stack_bytes < STACK_BYTES && got > 0;
	     sample->stack_bytes += got > 0 ? (size_t)got : 0)
		got = pread(memory, sample->stack + sample->stack_bytes,
			    STACK_BYTES - sample->stack_bytes, (off_t)(sp + sample->stack_bytes));
}

static void walk_copy(struct walked *walked, struct unwinder *unwinder, pid_t pid,
		      const struct regs *regs, struct bytes copied)
{
	struct call_chain chain = {.frames = walked->frames, .room = ARRAY_SIZE(walked->frames)};

	walked->stop = unwinder_walk(unwinder, pid, 1, regs, &(struct stack_copies){.own = copied},
				     &chain);
	walked->count = chain.count;
}

static void walk(struct fixture *fixture)
{
	const struct sample *sample = &fixture->sample;
	struct walked *walked = &fixture->walked;

	walk_copy(walked, fixture->unwinder, sample->pid, &sample->regs,
		  bytes_of(sample->stack, sample->stack_bytes));
}

/* Stores the caller's registers, its stack, and its callers according to glibc.
 * Must be inlined. */
#define TAKE_SAMPLE(fixture)                                                                       \
	do {                                                                                       \
		ucontext_t context_;                                                               \
                                                                                                   \
		(fixture)->truth_count = backtrace((fixture)->truth, UNWIND_DEPTH_MAX);            \
		getcontext(&context_);                                                             \
		regs_from_ucontext(&context_, &(fixture)->sample.regs);                            \
		copy_stack(&(fixture)->sample);                                                    \
	} while (0)

/* A sanitizer's wrapper of backtrace() may precede the result of glibc. */
static void *const *truth_of(const struct fixture *fixture)
{
	unsigned wrappers = (unsigned)fixture->truth_count - fixture->walked.count;

	assert_true(wrappers <= 1);
	return fixture->truth + wrappers;
}

/* The first frame may be elsewhere in its function. All further pcs must be
 * equal. */
static void assert_is_truth(struct fixture *fixture)
{
	const struct walked *walked = &fixture->walked;
	void *const *truth = truth_of(fixture);

	assert_int_equal(walked->stop, UNWIND_ROOT);
	for (unsigned i = 1; i < walked->count; i++) {
		const struct frame *frame = &walked->frames[i];
		struct location at;

		assert_true(address_spaces_locate(fixture->spaces, fixture->sample.pid, 1,
						  (uint64_t)truth[i] - 1, &at));
		assert_int_equal(frame->module, at.module);
		assert_int_equal(frame->offset, at.offset + 1);
	}
}

/* --- In this process ------------------------------------------------------------------------- */

typedef void work(struct fixture *fixture, unsigned depth);

/* A call that the compiler cannot analyze or turn into a loop. */
#define CALL(function, fixture, depth)                                                             \
	do {                                                                                       \
		work *volatile function_ = (function);                                             \
                                                                                                   \
		function_(fixture, depth);                                                         \
	} while (0)

__attribute__((noinline)) static void take_sample(struct fixture *fixture, unsigned depth)
{
	(void)depth;
	TAKE_SAMPLE(fixture);
}

/* Work after a call, so that it is not a tail call. */
static volatile unsigned left_to_do;

__attribute__((noinline)) static void recurse(struct fixture *fixture, unsigned depth)
{
	if (depth)
		CALL(recurse, fixture, depth - 1);
	else
		CALL(take_sample, fixture, 0);
	left_to_do++;
}

/* A frame of unknown size makes the compiler use the frame pointer, also in the
 * CFI. */
__attribute__((noinline)) static void recurse_with_alloca(struct fixture *fixture, unsigned depth)
{
	volatile char *room = alloca(depth % 100 + 1);

	*room = 1;
	if (depth)
		CALL(recurse_with_alloca, fixture, depth - 1);
	else
		CALL(take_sample, fixture, 0);
	left_to_do += (unsigned)*room;
}

/* The CFI of an aligned frame uses an expression, or a register with the old
 * sp. */
__attribute__((noinline)) static void align_stack(struct fixture *fixture, unsigned depth)
{
	_Alignas(256) volatile char room[256];
	volatile char *more = alloca(depth + 1);

	room[0] = *more = 1;
	assert_int_equal((uintptr_t)room % 256, 0);
	if (depth)
		CALL(align_stack, fixture, depth - 1);
	else
		CALL(take_sample, fixture, 0);
	left_to_do += (unsigned)(room[0] + *more);
}

static void check(work *function, unsigned depth)
{
	struct fixture *fixture = fixture_new(getpid());
	const struct walked *walked = &fixture->walked;

	function(fixture, depth);
	walk(fixture);
	assert_true(walked->count > depth);
	assert_is_truth(fixture);
	walk(fixture); /* again, with the cache */
	assert_is_truth(fixture);
	fixture_free(fixture);
}

TEST(a_plain_stack_is_walked_to_its_root)
{
	check(take_sample, 0);
}

TEST(a_recursion_a_thousand_deep_is_complete)
{
	check(recurse, 1000);
	check(recurse_with_alloca, 1000);
}

TEST(a_realigned_stack_is_walked)
{
	check(align_stack, 20);
}

/* Removes what is not known of a thread that sleeps in the kernel. */
static void know_only_sp_and_pc(struct fixture *fixture)
{
	struct regs bare = {.pc = fixture->sample.regs.pc};

	regs_set(&bare, arch_native()->sp, fixture->sample.regs.values[arch_native()->sp]);
	fixture->sample.regs = bare;
}

static void assert_is_prefix_of_truth(const struct fixture *fixture, const struct walked *truth)
{
	const struct walked *walked = &fixture->walked;

	assert_in_range(walked->count, 1, truth->count);
	for (unsigned i = 0; i < walked->count; i++) {
		assert_int_equal(walked->frames[i].module, truth->frames[i].module);
		assert_int_equal(walked->frames[i].offset, truth->frames[i].offset);
	}
	assert_true(walked->stop != UNWIND_ROOT || walked->count == truth->count);
}

#ifdef __x86_64__
/* Calls its third argument. Its CFI contains the place of the saved frame
 * pointer. */
void saves_frame_pointer(struct fixture *fixture, unsigned depth, work *function);
__asm__(".pushsection .text\n"
	".globl saves_frame_pointer\n"
	".type saves_frame_pointer, @function\n"
	"saves_frame_pointer:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rbp, 0\n"
	"call *%rdx\n"
	"pop %rbp\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_restore %rbp\n"
	"ret\n"
	".cfi_endproc\n"
	".size saves_frame_pointer, . - saves_frame_pointer\n"
	".popsection\n");

/*
 * Both functions keep a frame pointer that the CFI does not mention, and call
 * their third argument. The second one calls through a stub that leaves words
 * on the stack; only the frame pointer still leads to the caller.
 */
void keeps_frame(struct fixture *fixture, unsigned depth, work *function);
void keeps_frame_and_is_left_words(struct fixture *fixture, unsigned depth, work *function);
__asm__(".pushsection .text\n"
	".type keeps_frame, @function\n"
	"keeps_frame:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"push $0x22\n"
	"sub $0x18, %rsp\n"
	"call *%rdx\n"
	"leave\n"
	"ret\n"
	".size keeps_frame, . - keeps_frame\n"
	".type leaves_words, @function\n"
	"leaves_words:\n"
	"pop %rax\n"
	"push $1\n"
	"push $2\n"
	"push %rax\n"
	"jmp *%rdx\n"
	".size leaves_words, . - leaves_words\n"
	".type keeps_frame_and_is_left_words, @function\n"
	"keeps_frame_and_is_left_words:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"push $0x22\n"
	"sub $0x18, %rsp\n"
	"call leaves_words\n"
	"leave\n"
	"ret\n"
	".size keeps_frame_and_is_left_words, . - keeps_frame_and_is_left_words\n"
	".popsection\n");

static void assert_goes_on_above(struct fixture *fixture, uintptr_t function)
{
	struct location at;

	walk(fixture);
	assert_int_equal(fixture->walked.stop, UNWIND_ROOT);
	assert_true(fixture->walked.count > 3);
	assert_true(address_spaces_locate(fixture->spaces, getpid(), 1, function, &at));
	assert_in_range(fixture->walked.frames[1].offset, at.offset, at.offset + 32);
}

TEST(code_without_cfi_is_left_by_its_frame_pointer_or_by_what_it_has_pushed)
{
	struct fixture *fixture = fixture_new(getpid());

	keeps_frame_and_is_left_words(fixture, 0, take_sample);
	assert_goes_on_above(fixture, (uintptr_t)keeps_frame_and_is_left_words);
	keeps_frame(fixture, 0, take_sample);
	assert_goes_on_above(fixture, (uintptr_t)keeps_frame);
	know_only_sp_and_pc(fixture);
	assert_goes_on_above(fixture, (uintptr_t)keeps_frame);
	fixture_free(fixture);
}

/* Code like that of a JIT compiler, such as CPython's trampolines: without a
 * file, CFI or frame pointer. */
TEST(from_sp_and_pc_alone_code_of_a_jit_compiler_is_left)
{
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x08, /* sub $8,%rsp */
		0xff, 0xd1,		/* call *%rcx */
		0x48, 0x83, 0xc4, 0x08, /* add $8,%rsp */
		0xc3,			/* ret */
	};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*calls)(struct fixture *, unsigned, work *, void *);
	void (*stub)(struct fixture *, unsigned, work *) = saves_frame_pointer;
	void *address;
	struct fixture *fixture;
	struct walked truth;

	assert_ptr_not_equal(page, MAP_FAILED);
	memcpy(page, code, sizeof(code));
	memcpy(&calls, &page, sizeof(calls));
	memcpy(&address, &stub, sizeof(address));
	fixture = fixture_new(getpid());
	calls(fixture, 0, recurse, address);
	walk(fixture);
	assert_int_equal(fixture->walked.stop, UNWIND_ROOT);
	truth = fixture->walked;
	know_only_sp_and_pc(fixture);
	walk(fixture);
	assert_is_prefix_of_truth(fixture, &truth);
	assert_int_equal(fixture->walked.stop, UNWIND_ROOT);
	fixture_free(fixture);
	munmap(page, 4096);
}
#endif

/* Recursion with frames of any size leaves more than one possibility. */
TEST(from_sp_and_pc_alone_no_stack_is_wrong)
{
	static work *const functions[] = {take_sample, recurse, recurse_with_alloca, align_stack};

	for (unsigned i = 0; i < 4 * ARRAY_SIZE(functions); i++) {
		struct fixture *fixture = fixture_new(getpid());
		struct walked truth;

		functions[i / 4](fixture, 7 * (i % 4));
		walk(fixture);
		assert_int_equal(fixture->walked.stop, UNWIND_ROOT);
		truth = fixture->walked;
		know_only_sp_and_pc(fixture);
		walk(fixture);
		assert_is_prefix_of_truth(fixture, &truth);
		fixture_free(fixture);
	}
}

static struct fixture *in_handler;

static void handle(int number)
{
	(void)number;
	TAKE_SAMPLE(in_handler);
}

static void handle_here(int number, int flags)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = flags};

	assert_int_equal(sigaction(number, &action, NULL), 0);
}

/* Returns what walks from signal handlers need and this test lacks, or NULL. */
static const char *lacking_for_handlers(void)
{
	if (HAS_THREAD_SANITIZER)
		return "the thread sanitizer calls signal handlers itself";
	/* Handlers return to the C library or to the vdso, which qemu-user 7.2
	 * lacks. */
	return arch_native()->ra_in_register && !getauxval(AT_SYSINFO_EHDR) ? "a vdso" : NULL;
}

TEST(a_signal_handler_has_the_interrupted_function_as_caller)
{
	if (lacking_for_handlers())
		RETURN_LACKING(lacking_for_handlers());
	struct fixture *fixture = in_handler = fixture_new(getpid());
	unsigned interrupted = 0;

	handle_here(SIGUSR1, 0);
	raise(SIGUSR1);
	walk(fixture);
	for (unsigned i = 1; i < fixture->walked.count; i++)
		interrupted += !fixture->walked.frames[i].is_return_address;
	/* handle, __restore_rt, raise: the last two do not follow a call. */
	assert_int_equal(interrupted, 2);
	for (unsigned i = 1; i <= 2; i++) {
		assert_false(fixture->walked.frames[i].is_return_address);
		fixture->walked.frames[i].is_return_address = true;
	}
	assert_is_truth(fixture);
	fixture_free(fixture);
}

/* Like glibc's backtrace(), which does not mark interrupted frames. */
static unsigned mark_as_called(struct walked *walked)
{
	unsigned interrupted = 0;

	for (unsigned i = 1; i < walked->count; i++) {
		interrupted += !walked->frames[i].is_return_address;
		walked->frames[i].is_return_address = true;
	}
	return interrupted;
}

/* Copies the interrupted stack, too, while the handler runs. */
static void handle_on_own_stack(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	TAKE_SAMPLE(in_handler);
	regs_from_ucontext(context, &in_handler->interrupted.regs);
	copy_stack(&in_handler->interrupted);
}

static struct fixture *sample_on_own_stack(void)
{
	struct fixture *fixture = in_handler = fixture_new(getpid());
	struct sigaction action = {.sa_sigaction = handle_on_own_stack,
				   .sa_flags = SA_ONSTACK | SA_SIGINFO};
	stack_t own = {.ss_sp = xmalloc(1 << 16), .ss_size = 1 << 16}, old;

	assert_int_equal(sigaltstack(&own, &old), 0);
	assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
	raise(SIGUSR2);
	assert_int_equal(sigaltstack(&old, NULL), 0);
	fixture->sample.stack_bytes = (uint64_t)own.ss_sp + own.ss_size -
				      fixture->sample.regs.values[arch_native()->sp];
	free(own.ss_sp);
	return fixture;
}

/* Walks with this much of the interrupted stack, as if copied from this address
 * on. */
static void walk_both(struct fixture *fixture, uint64_t start, size_t bytes,
		      struct call_chain *chain)
{
	struct walked *walked = &fixture->walked;
	const struct stack_copies stacks = {
		.own = bytes_of(fixture->sample.stack, fixture->sample.stack_bytes),
		.interrupted = bytes_of(fixture->interrupted.stack, bytes),
		.interrupted_start = start,
	};

	*chain = (struct call_chain){.frames = walked->frames, .room = ARRAY_SIZE(walked->frames)};
	walked->stop = unwinder_walk(fixture->unwinder, getpid(), 1, &fixture->sample.regs, &stacks,
				     chain);
	walked->count = chain->count;
}

TEST(a_handler_with_a_stack_of_its_own_says_where_the_interrupted_one_is)
{
	if (lacking_for_handlers())
		RETURN_LACKING(lacking_for_handlers());
	struct fixture *fixture = sample_on_own_stack();
	uint64_t start = fixture->sample.regs.values[arch_native()->sp], saved_sp;
	struct call_chain chain;

	walk_both(fixture, 0, 0, &chain);
	assert_int_equal(fixture->walked.stop, UNWIND_TRUNCATED);
	assert_int_equal(chain.count, 3); /* up to the interrupted code */
	assert_int_equal(chain.needed_bytes, 0);
	assert_in_range(chain.saved_sp_at - start, 0, fixture->sample.stack_bytes - 8);
	memcpy(&saved_sp, fixture->sample.stack + (chain.saved_sp_at - start), sizeof(saved_sp));
	assert_int_equal(saved_sp, fixture->interrupted.regs.values[arch_native()->sp]);
	fixture_free(fixture);
}

TEST(a_handler_with_a_stack_of_its_own_leads_to_the_root_of_the_interrupted_one)
{
	if (lacking_for_handlers())
		RETURN_LACKING(lacking_for_handlers());
	struct fixture *fixture = sample_on_own_stack();
	uint64_t sp = fixture->interrupted.regs.values[arch_native()->sp];
	struct call_chain chain;

	walk_both(fixture, sp, fixture->interrupted.stack_bytes, &chain);
	assert_int_equal(chain.needed_bytes, 0);
	assert_in_range(chain.interrupted_end, sp + 1, sp + fixture->interrupted.stack_bytes);
	assert_int_equal(mark_as_called(&fixture->walked), 2);
	assert_is_truth(fixture);
	/* A copy that is too short, and a copy from elsewhere. */
	walk_both(fixture, sp, 64, &chain);
	assert_int_equal(fixture->walked.stop, UNWIND_TRUNCATED);
	assert_true(chain.interrupted_end > sp + 64);
	walk_both(fixture, sp + (1 << 20), fixture->interrupted.stack_bytes, &chain);
	assert_int_equal(fixture->walked.stop, UNWIND_TRUNCATED);
	assert_int_equal(chain.count, 3);
	fixture_free(fixture);
}

TEST(a_short_copy_is_truncated)
{
	struct fixture *fixture = fixture_new(getpid());
	unsigned last = 0;

	recurse(fixture, 50);
	for (size_t bytes = 0; bytes < sizeof(ucontext_t) + 4096; bytes += 256) {
		fixture->sample.stack_bytes = bytes;
		walk(fixture);
		assert_int_equal(fixture->walked.stop, UNWIND_TRUNCATED);
		assert_true(fixture->walked.count >= last && fixture->walked.count > 0);
		last = fixture->walked.count;
	}
	assert_true(last > 5);
	fixture_free(fixture);
}

/* The process with that number has no mappings. */
TEST(a_pc_outside_all_mappings_is_told)
{
	struct fixture *fixture = fixture_new(getpid());
	struct frame frames[UNWIND_DEPTH_MAX];
	struct call_chain chain = {.frames = frames, .room = ARRAY_SIZE(frames)};
	struct stack_copies copies;

	recurse(fixture, 10);
	copies = (struct stack_copies){
		.own = bytes_of(fixture->sample.stack, fixture->sample.stack_bytes)};
	assert_int_equal(unwinder_walk(fixture->unwinder, getpid(), 1, &fixture->sample.regs,
				       &copies, &chain),
			 UNWIND_ROOT);
	assert_int_equal(chain.unmapped_pc, 0);
	unwinder_walk(fixture->unwinder, INT32_MAX, 1, &fixture->sample.regs, &copies, &chain);
	/* Its own pc, or that of a caller found by the frame pointer. */
	assert_int_not_equal(chain.unmapped_pc, 0);
	fixture_free(fixture);
}

/* The part of the stack that a walk needs, whole and truncated. */
TEST(the_missing_size_of_a_short_copy_is_reported)
{
	struct fixture *fixture = fixture_new(getpid());
	struct frame frames[UNWIND_DEPTH_MAX];
	struct call_chain chain = {.frames = frames, .room = ARRAY_SIZE(frames)};
	uint64_t whole;

	recurse_with_alloca(fixture, 100);
	assert_int_equal(
		unwinder_walk(fixture->unwinder, getpid(), 1, &fixture->sample.regs,
			      &(struct stack_copies){.own = bytes_of(fixture->sample.stack,
								     fixture->sample.stack_bytes)},
			      &chain),
		UNWIND_ROOT);
	whole = chain.needed_bytes;
	assert_in_range(whole, 1, fixture->sample.stack_bytes);
	assert_int_equal(
		unwinder_walk(fixture->unwinder, getpid(), 1, &fixture->sample.regs,
			      &(struct stack_copies){.own = bytes_of(fixture->sample.stack, whole)},
			      &chain),
		UNWIND_ROOT);
	for (size_t bytes = 0; bytes < sizeof(ucontext_t) + 4096; bytes += 256) {
		assert_int_equal(
			unwinder_walk(fixture->unwinder, getpid(), 1, &fixture->sample.regs,
				      &(struct stack_copies){
					      .own = bytes_of(fixture->sample.stack, bytes)},
				      &chain),
			UNWIND_TRUNCATED);
		assert_in_range(chain.needed_bytes, bytes + 1, whole);
	}
	fixture_free(fixture);
}

/* A walk that uses frames of earlier walks must find the same frames as one of
 * the whole stack. */
static void assert_walk_is_that_of(struct fixture *fixture, struct outer_walk *outer,
				   size_t whole_bytes)
{
	static struct frame frames[UNWIND_DEPTH_MAX];
	struct sample *sample = &fixture->sample;
	struct call_chain chain = {.frames = frames, .room = ARRAY_SIZE(frames), .outer = outer};
	enum unwind_stop stop = unwinder_walk(
		fixture->unwinder, sample->pid, 1, &sample->regs,
		&(struct stack_copies){.own = bytes_of(sample->stack, sample->stack_bytes)},
		&chain);

	struct call_chain whole = {.frames = fixture->walked.frames,
				   .room = ARRAY_SIZE(fixture->walked.frames)};

	sample->stack_bytes = whole_bytes;
	fixture->walked.stop = unwinder_walk(
		fixture->unwinder, sample->pid, 1, &sample->regs,
		&(struct stack_copies){.own = bytes_of(sample->stack, whole_bytes)}, &whole);
	fixture->walked.count = whole.count;
	assert_int_equal(chain.needed_bytes, whole.needed_bytes);
	assert_int_equal(stop, fixture->walked.stop);
	assert_int_equal(chain.count, fixture->walked.count);
	for (unsigned i = 0; i < chain.count; i++) {
		assert_int_equal(frames[i].module, fixture->walked.frames[i].module);
		assert_int_equal(frames[i].offset, fixture->walked.frames[i].offset);
		assert_int_equal(frames[i].is_return_address,
				 fixture->walked.frames[i].is_return_address);
	}
}

/* Without slots known to be unchanged. */
static void assert_whole_walks_alike(struct fixture *fixture, struct outer_walk *outer)
{
	outer_walk_expect(outer, 0, 0);
	assert_walk_is_that_of(fixture, outer, fixture->sample.stack_bytes);
}

TEST(outer_frames_are_taken_again_while_the_stack_is_the_same)
{
	struct fixture *fixture = fixture_new(getpid());
	struct sample *sample = &fixture->sample;
	uint64_t sp;
	CLEANUP(outer_walk_deinit) struct outer_walk outer = {.taken = 0};

	recurse(fixture, 100);
	sp = sample->regs.values[arch_native()->sp];
	assert_whole_walks_alike(fixture, &outer);
	assert_int_equal(outer.taken, 0);
	assert_true(outer_walk_is_outdated(&outer));
	outer_walk_keep(&outer, 1);
	assert_whole_walks_alike(fixture, &outer);
	assert_in_range(outer.taken, 100, fixture->walked.count - 1);
	for (unsigned i = 0; i < outer.kept[0].count; i++) {
		const struct outer_frame *known = &outer.kept[0].items[i];
		uint64_t at = known->ra_at - sp, word;

		if (!known->ra_at)
			continue;
		memcpy(&word, sample->stack + at, sizeof(word));
		/* Another function has called, or the same function elsewhere. */
		memcpy(sample->stack + at, &outer.kept[0].items[i / 2].ra, sizeof(word));
		assert_whole_walks_alike(fixture, &outer);
		memcpy(sample->stack + at, &word, sizeof(word));
		assert_whole_walks_alike(fixture, &outer);
		assert_in_range(outer.taken, 100, fixture->walked.count - 1);
	}
	/* The code is mapped at the same address. */
	address_spaces_snapshot(fixture->spaces, sample->pid, 1);
	assert_whole_walks_alike(fixture, &outer);
	assert_in_range(outer.taken, 100, fixture->walked.count - 1);
	fixture_free(fixture);
}

/* If this many slots are unchanged, the reported part of the stack is enough to
 * find all frames. */
static void assert_inner_walk_suffices(struct fixture *fixture, struct outer_walk *outer,
				       const struct stack_slots *slots, unsigned equal)
{
	struct sample *sample = &fixture->sample;
	size_t whole = sample->stack_bytes;
	uint64_t needed_end = slots->items[equal - 1].needed_end;

	if (!needed_end)
		return;
	outer_walk_expect(outer, slots->version, equal);
	sample->stack_bytes = needed_end - sample->regs.values[arch_native()->sp];
	assert_in_range(sample->stack_bytes, 1, whole);
	assert_walk_is_that_of(fixture, outer, whole);
	assert_true(outer->taken > 0);
}

TEST(what_slots_leave_of_a_stack_is_enough_for_its_walk)
{
	static struct stack_slots slots;
	struct fixture *fixture = fixture_new(getpid());
	CLEANUP(outer_walk_deinit) struct outer_walk outer = {.taken = 0};

	recurse(fixture, 100);
	assert_whole_walks_alike(fixture, &outer);
	outer_walk_keep(&outer, 7);
	outer_walk_slots(&outer, &slots);
	assert_int_equal(slots.version, 7);
	assert_in_range(slots.count, 100, STACK_SLOTS_MAX);
	for (unsigned i = 0; i < slots.count; i++)
		assert_memory_equal(&slots.items[i].word,
				    fixture->sample.stack +
					    (slots.items[i].at -
					     fixture->sample.regs.values[arch_native()->sp]),
				    8);
	for (unsigned equal = 1; equal <= slots.count; equal++)
		assert_inner_walk_suffices(fixture, &outer, &slots, equal);
	/* It makes no statement about frames that are not kept. */
	outer_walk_expect(&outer, 8, slots.count);
	assert_int_equal(outer.equal_slots, 0);
	fixture_free(fixture);
}

TEST(slots_of_a_window_are_aligned_to_each_other)
{
	static struct stack_slots slots;
	struct outer_frame frames[] = {
		{.ra_at = 0x7000, .ra = 1, .slots = 1},
		{.ra_at = 0x6ff0, .ra = 2, .slots = 2},
		{.ra_at = 0x6fd4, .ra = 3, .slots = 3},
		{.ra_at = 0x6fc4, .ra = 4, .slots = 4},
	};
	const struct outer_walk outer = {
		.arch = arch_native(),
		.kept = {{.version = 1, .items = frames, .count = ARRAY_SIZE(frames)}},
	};

	outer_walk_slots(&outer, &slots);
	assert_int_equal(slots.count, ARRAY_SIZE(frames));
	for (unsigned i = 0; i < slots.count; i++)
		assert_int_equal(slots.items[i].offset % 8, 0);
	assert_int_equal(slots.items[0].window_bytes, 0x7008 - 0x6ff0);
	assert_int_equal(slots.items[1].window_bytes, 0);
	assert_int_equal(slots.items[2].window_bytes, 0x6fdc - 0x6fc4);
}

TEST(a_stack_with_too_many_frames_loses_its_middle)
{
	struct fixture *fixture = fixture_new(getpid());
	struct bytes stack;
	struct frame frames[21];

	recurse(fixture, 100);
	walk(fixture);
	assert_int_equal(fixture->walked.stop, UNWIND_ROOT);
	stack = bytes_of(fixture->sample.stack, fixture->sample.stack_bytes);
	for (unsigned room = 1; room <= ARRAY_SIZE(frames); room++) {
		struct call_chain chain = {.frames = frames, .room = room};
		unsigned count = fixture->walked.count;

		assert_int_equal(unwinder_walk(fixture->unwinder, getpid(), 1,
					       &fixture->sample.regs,
					       &(struct stack_copies){.own = stack}, &chain),
				 UNWIND_ROOT);
		assert_int_equal(chain.count, room);
		assert_int_equal(chain.left_out, count - room);
		assert_int_equal(chain.gap, room / 2);
		for (unsigned i = 0; i < room; i++) {
			unsigned of = i < chain.gap ? i : i + count - room;

			assert_int_equal(frames[i].offset, fixture->walked.frames[of].offset);
		}
	}
	fixture_free(fixture);
}

TEST(random_registers_give_a_truncated_stack)
{
	struct fixture *fixture = fixture_new(getpid());

	take_sample(fixture, 0);
	/* no such place, and no plausible address on the stack */
	fixture->sample.regs.pc = 0x1234;
	fixture->sample.regs.values[arch_native()->fp] = 0x99;
	fixture->sample.regs.values[arch_native()->ra] = 0x99;
	memset(fixture->sample.stack, 0x99, 4096);
	walk(fixture);
	assert_int_equal(fixture->walked.stop, UNWIND_LOST);
	assert_int_equal(fixture->walked.count, 1);
	assert_int_equal(fixture->walked.frames[0].offset, 0x1234);
	fixture_free(fixture);
}

/* --- A child, single-stepped --- */

#if defined(__x86_64__)

/* Handwritten code without CFI. */
__asm__(".text\n"
	".type leaf_without_cfi, @function\n"
	"leaf_without_cfi:\n"
	"	mov %rdi, %rax\n"
	"	add %rsi, %rax\n"
	"	ret\n"
	".size leaf_without_cfi, . - leaf_without_cfi\n"
	".type frame_without_cfi, @function\n"
	"frame_without_cfi:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $0x40, %rsp\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	call *%rax\n"
	"	leave\n"
	"	ret\n"
	".size frame_without_cfi, . - frame_without_cfi\n"
	/* Uses the frame pointer for other purposes, as codecs do. */
	".type pushes_without_cfi, @function\n"
	"pushes_without_cfi:\n"
	"	push %rbx\n"
	"	push $0\n"
	"	push $1\n"
	"	add $16, %rsp\n"
	"	pop %rbx\n"
	"	ret\n"
	".size pushes_without_cfi, . - pushes_without_cfi\n"
	".type without_frame_pointer, @function\n"
	"without_frame_pointer:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	mov $1, %ebp\n"
	"	call pushes_without_cfi\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	.cfi_restore %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size without_frame_pointer, . - without_frame_pointer\n");

unsigned leaf_without_cfi(unsigned a, unsigned b);
void without_frame_pointer(void);
void frame_without_cfi(void (*function)(void *), void *argument);

static int compare_numbers(const void *a, const void *b)
{
	unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;

	return (left > right) - (left < right);
}

static void handle_in_child(int number)
{
	left_to_do += (unsigned)number;
}

__attribute__((noinline)) static unsigned jump_to(unsigned number)
{
	return number % 3 ? number : leaf_without_cfi(number, 1);
}

/* Ends in a jump if the compiler optimizes. */
__attribute__((noinline)) static unsigned tail_call(unsigned number)
{
	left_to_do++;
	return jump_to(number + 1);
}

static void called_from_without(void *argument)
{
	unsigned *number = argument;

	*number += tail_call(leaf_without_cfi(*number, 7));
}

__attribute__((noinline)) static unsigned fibonacci(unsigned number)
{
	return number < 2 ? number : fibonacci(number - 1) + fibonacci(number - 2);
}

/* Calls through the PLT, from libc, with signals, with expressions and without
 * CFI. */
__attribute__((noinline)) static void subject(void)
{
	unsigned numbers[] = {3, 1, 2};
	char text[32];

	qsort(numbers, ARRAY_SIZE(numbers), sizeof(numbers[0]), compare_numbers);
	snprintf(text, sizeof(text), "%u %s %d", numbers[0], "text", getppid());
	frame_without_cfi(called_from_without, &numbers[0]);
	without_frame_pointer();
	raise(SIGUSR1);
	left_to_do += fibonacci(6) + numbers[0] + (unsigned)text[0];
}

__attribute__((noreturn)) static void child(void)
{
	signal(SIGUSR1, handle_in_child);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	subject();
	_exit(0);
}

/* The callers, or interrupted functions, from the root upwards. Derived from
 * calls and returns. */
struct shadow {
	struct frame frames[UNWIND_DEPTH_MAX];
	unsigned count;
};

static struct frame frame_at(struct fixture *fixture, uint64_t pc, bool is_return_address)
{
	struct location at;

	assert_true(address_spaces_locate(fixture->spaces, fixture->sample.pid, 1,
					  pc - is_return_address, &at));
	return (struct frame){.module = at.module,
			      .offset = at.offset + is_return_address,
			      .is_return_address = is_return_address};
}

static bool frame_equal(const struct frame *a, const struct frame *b)
{
	return a->module == b->module && a->offset == b->offset &&
	       a->is_return_address == b->is_return_address;
}

static void shadow_push(struct shadow *shadow, struct frame frame)
{
	assert_true(shadow->count < UNWIND_DEPTH_MAX);
	shadow->frames[shadow->count++] = frame;
}

/* Returns the word on top of the stack. */
static uint64_t top_word(const struct sample *sample)
{
	uint64_t word;

	assert_true(sample->stack_bytes >= sizeof(word));
	memcpy(&word, sample->stack, sizeof(word));
	return word;
}

/* Updates the chain of callers for the last instruction, which was at old_pc. */
static void shadow_follow(struct fixture *fixture, struct shadow *shadow, uint64_t old_pc,
			  uint64_t old_sp)
{
	const struct regs *regs = &fixture->sample.regs;
	uint64_t sp = regs->values[arch_native()->sp], top = top_word(&fixture->sample);
	struct frame *caller = &shadow->frames[shadow->count - 1];
	struct frame here = frame_at(fixture, regs->pc, caller->is_return_address);

	if (sp == old_sp - 8 && top > old_pc && top <= old_pc + 7 && regs->pc != top)
		shadow_push(shadow, frame_at(fixture, top, true));
	else if (sp > old_sp && frame_equal(&here, caller))
		shadow->count--;
}

/* The kernel has put a signal frame on the stack. The handler returns to
 * __restore_rt, which was not called. */
static void shadow_enter_handler(struct fixture *fixture, struct shadow *shadow, uint64_t old_pc)
{
	shadow_push(shadow, frame_at(fixture, old_pc, false));
	shadow_push(shadow, frame_at(fixture, top_word(&fixture->sample), false));
}

static void assert_is_shadow(struct fixture *fixture, const struct shadow *shadow)
{
	const struct walked *walked = &fixture->walked;
	struct frame here = frame_at(fixture, fixture->sample.regs.pc, false);
	bool is_right = walked->stop == UNWIND_ROOT && walked->count == shadow->count + 1 &&
			frame_equal(&walked->frames[0], &here);

	for (unsigned i = 1; is_right && i < walked->count; i++)
		is_right = frame_equal(&walked->frames[i], &shadow->frames[shadow->count - i]);
	if (!is_right)
		fprintf(stderr, "at %s+0x%lx: stop %d, %u frames where there are %u\n",
			address_spaces_module(fixture->spaces, here.module)->path, here.offset,
			walked->stop, walked->count, shadow->count + 1);
	assert_true(is_right);
}

static void take_sample_of_child(struct fixture *fixture)
{
	struct sample *sample = &fixture->sample;
	struct user_regs_struct user;

	assert_int_equal(ptrace(PTRACE_GETREGS, sample->pid, NULL, &user), 0);
	const uint64_t by_dwarf[] = {user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi,
				     user.rbp, user.rsp, user.r8,  user.r9,  user.r10, user.r11,
				     user.r12, user.r13, user.r14, user.r15};

	sample->regs = (struct regs){.pc = user.rip};
	for (unsigned reg = 0; reg < ARRAY_SIZE(by_dwarf); reg++)
		regs_set(&sample->regs, reg, by_dwarf[reg]);
	copy_stack(sample);
	walk(fixture);
}

/* Steps by one instruction, or into a handler. Returns false if the child has
 * ended. */
static bool step_child(struct fixture *fixture, struct shadow *shadow)
{
	uint64_t pc = fixture->sample.regs.pc, sp = fixture->sample.regs.values[arch_native()->sp];
	int status, signal = 0;

	for (;;) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, fixture->sample.pid, NULL, signal), 0);
		assert_int_equal(waitpid(fixture->sample.pid, &status, 0), fixture->sample.pid);
		if (!WIFSTOPPED(status))
			return false;
		if (WSTOPSIG(status) == SIGTRAP)
			break;
		signal = WSTOPSIG(status);
		take_sample_of_child(fixture);
		shadow_follow(fixture, shadow, pc, sp);
		pc = fixture->sample.regs.pc;
	}
	take_sample_of_child(fixture);
	if (signal)
		shadow_enter_handler(fixture, shadow, pc);
	else
		shadow_follow(fixture, shadow, pc, sp);
	return true;
}

TEST(at_every_instruction_the_callers_are_those_that_called)
{
	CLEANUP(free_ptr) struct shadow *shadow = xcalloc(1, sizeof(*shadow));
	pid_t pid = fork();
	unsigned steps = 0;
	int status;

	if (pid == 0)
		child();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	struct fixture *fixture = fixture_new(pid);

	take_sample_of_child(fixture);
	assert_int_equal(fixture->walked.stop, UNWIND_ROOT);
	for (unsigned i = fixture->walked.count; i-- > 1;)
		shadow_push(shadow, fixture->walked.frames[i]);
	for (; step_child(fixture, shadow); steps++)
		assert_is_shadow(fixture, shadow);
	assert_true(steps > 1000);
	fixture_free(fixture);
}

/* Different kinds of call frame information, in functions 32 bytes apart. */
#define CFI_FUNCTION(code) ".balign 32; .cfi_startproc; " code "; .cfi_endproc\n"
__asm__(".pushsection .text; .balign 32; .globl cfi_code; cfi_code:\n"
	/* A leaf that has pushed nothing. */
	CFI_FUNCTION("nop; nop; ret")
	/* 0x20: the root. */
	CFI_FUNCTION(".cfi_undefined %rip; call cfi_code; nop")
	/* 0x40: two words are pushed; calls exit. The next function starts
	 * directly after it. */
	CFI_FUNCTION(".cfi_def_cfa_offset 24; mov $60, %eax; syscall; .cfi_endproc; "
		     ".cfi_startproc; nop; ret")
	/* 0x60: the CFA is the word on top of the stack. */
	CFI_FUNCTION(".cfi_escape 0x0f, 3, 0x77, 0, 0x06; call cfi_code; nop")
	/* 0x80: the same, with a saved register. */
	CFI_FUNCTION(
		".cfi_escape 0x0f, 3, 0x77, 0, 0x06; .cfi_offset %rbx, -16; call cfi_code; nop")
	/* 0xa0: the CFA is the word below the stack. */
	CFI_FUNCTION(".cfi_escape 0x0f, 3, 0x77, 0x78, 0x06; nop")
	/* 0xc0: the CFA is rax + 8. */
	CFI_FUNCTION(".cfi_def_cfa %rax, 8; call cfi_code; nop")
	/* 0xe0: the return address is in rbx. */
	CFI_FUNCTION(".cfi_register %rip, %rbx; nop")
	/* 0x100: the return address is at rsp + 8. */
	CFI_FUNCTION(".cfi_escape 0x10, 16, 2, 0x77, 8; nop")
	/* 0x120: reserves 24 bytes and jumps elsewhere. */
	CFI_FUNCTION("sub $24, %rsp; .cfi_def_cfa_offset 32; jmp *%rax")
	/* 0x140: reserves 8 bytes. */
	CFI_FUNCTION("sub $8, %rsp; .cfi_def_cfa_offset 16; .fill 40, 1, 0x90")
	/* 0x180: a frame pointer and 32 bytes. */
	CFI_FUNCTION("push %rbp; .cfi_def_cfa_offset 16; .cfi_offset %rbp, -16; mov %rsp, %rbp; "
		     ".cfi_def_cfa_register %rbp; sub $32, %rsp; nop")
	/* 0x1a0: the CFA is the word below where the frame pointer points. */
	CFI_FUNCTION(".cfi_escape 0x0f, 3, 0x76, 0x78, 0x06; nop")
	/* 0x1c0: a frame pointer and 16 bytes, without CFI. */
	".balign 32; push %rbp; mov %rsp, %rbp; sub $16, %rsp; call cfi_code; nop\n"
	/* 0x1e0: another root, which calls the last five; returns are 6 bytes apart. */
	CFI_FUNCTION(".cfi_undefined %rip; .irp at, 0x120, 0x140, 0x180, 0x1a0, 0x1c0; "
		     "call cfi_code + \\at; nop; .endr") ".popsection\n");
extern const char cfi_code[];

#define CODE(offset) ((uint64_t)cfi_code + (offset))
#define ELSEWHERE (S(1) + (1 << 20))

enum { ROOT = 0x25, SWITCHES = 0x65, ENTERS = 0x85, KEEPS = 0xa0, LEFT = 0xc5 };
enum { OWNER = 0x1e5, NOT_OWNER = 0x1eb, PLAIN = 0x1f1, ALIGNED = 0x1f7, SILENT = 0x1fd };
static const struct {
	unsigned pc;
	uint64_t words[6]; /* small numbers are offsets in the code, also in registers */
	enum unwind_stop stop;
	unsigned to[2];
	uint64_t rax, rbx, rcx; /* 0 if unknown */
	uint64_t by;		/* address of the stack pointer of the other stack */
	bool both;		/* there is a copy of the other stack */
	bool bare;		/* only sp and pc are known */
} cfi_stacks[] = {
	/* After a system call that does not return. */
	{0x47, {0, 0, ROOT}, UNWIND_ROOT, .to = {ROOT}, .rcx = 0x47},
	{0x47, {ROOT}, UNWIND_ROOT, .to = {ROOT}, .rcx = 0x48},
	/* To another stack, which is at least a MiB away. */
	{1, {SWITCHES, ELSEWHERE}, UNWIND_TRUNCATED, .to = {SWITCHES}, .by = S(1)},
	{1, {SWITCHES, ELSEWHERE}, UNWIND_ROOT, .to = {SWITCHES, ROOT}, .both = true, .by = S(1)},
	{1, {SWITCHES, ELSEWHERE - 8}, UNWIND_TRUNCATED, .to = {SWITCHES}, .both = true},
	{1, {SWITCHES, ELSEWHERE + 4}, UNWIND_TRUNCATED, .to = {SWITCHES}, .both = true},
	{1, {ENTERS, ELSEWHERE}, UNWIND_ROOT, .to = {ENTERS}, .by = S(1)},
	{1, {ENTERS, ELSEWHERE}, UNWIND_ROOT, .to = {ENTERS, ROOT}, .both = true, .by = S(1)},
	/* By a word of the frame instead of the word below it, or by rax of the
	 * callee. */
	{KEEPS, {S(3), S(4), 0, ROOT}, UNWIND_ROOT, .to = {ROOT}},
	{KEEPS, {S(3), S(4), 0, 1}, UNWIND_LOST, .to = {0}},
	{1, {LEFT, 0, 0, ROOT}, UNWIND_ROOT, .to = {LEFT, ROOT}, .rax = S(3)},
	{1, {LEFT, 0, 0, 1}, UNWIND_LOST, .to = {LEFT}, .rax = S(3)},
	{1, {LEFT, 0, 0, ROOT}, UNWIND_LOST, .to = {LEFT}, .rax = S(0)},
	/* By a register, and by an address. */
	{0xe0, {0}, UNWIND_ROOT, .to = {ROOT}, .rbx = ROOT},
	{0xe0, {ROOT}, UNWIND_LOST, .to = {0}},
	{0x100, {0, ROOT}, UNWIND_ROOT, .to = {ROOT}},
	/* By a function that has jumped elsewhere, and by one that cannot have. */
	{0x1c0, {0, NOT_OWNER, 0, OWNER}, UNWIND_ROOT, .to = {OWNER}},
	/* By a frame pointer that is searched. */
	{0x188, {0, 0, 0, 0, S(9), PLAIN}, UNWIND_ROOT, .to = {PLAIN}, .bare = true},
	{0x1a0, {0, S(6), 0, 0, 0, ALIGNED}, UNWIND_ROOT, .to = {ALIGNED}, .bare = true},
	{1, {0x1cd, 0, 0, S(9), SILENT}, UNWIND_ROOT, .to = {0x1cd, SILENT}, .bare = true},
	{1, {0x1cd, 0, 0, S(9), PLAIN}, UNWIND_LOST, .to = {0x1cd}, .bare = true},
};

TEST(call_frame_information_leads_from_one_stack_to_another_and_to_registers)
{
	const uint64_t other[] = {0, CODE(ROOT), 0};
	struct fixture *fixture = fixture_new(getpid());
	const struct frame *frames = fixture->walked.frames;

	for (unsigned i = 0; i < ARRAY_SIZE(cfi_stacks); i++) {
		const uint64_t values[] = {cfi_stacks[i].rax, 0, cfi_stacks[i].rcx,
					   cfi_stacks[i].rbx};
		unsigned count = 1 + (cfi_stacks[i].to[0] != 0) + (cfi_stacks[i].to[1] != 0);
		struct call_chain chain = {.frames = fixture->walked.frames, .room = 8};
		struct regs regs = {.pc = CODE(cfi_stacks[i].pc)};
		uint64_t words[ARRAY_SIZE(cfi_stacks[i].words)];
		const struct stack_copies stacks = {
			.own = bytes_of(words, sizeof(words)),
			.interrupted = bytes_of(other, cfi_stacks[i].both ? sizeof(other) : 0),
			.interrupted_start = ELSEWHERE - 16,
		};

		for (unsigned n = 0; n < ARRAY_SIZE(words); n++)
			words[n] = made_word(cfi_stacks[i].words[n], CODE(0));
		for (unsigned reg = 0; reg < ARRAY_SIZE(values); reg++)
			if (values[reg])
				regs_set(&regs, reg, made_word(values[reg], CODE(0)));
		regs_set(&regs, arch_native()->sp, S(0));
		if (!cfi_stacks[i].bare)
			regs_set(&regs, arch_native()->fp, 5);
		if (unwinder_walk(fixture->unwinder, getpid(), 1, &regs, &stacks, &chain) !=
			    cfi_stacks[i].stop ||
		    chain.count != count || chain.saved_sp_at != cfi_stacks[i].by)
			fail_msg("case %u: %u frames", i, chain.count);
		for (unsigned n = 1; n < count; n++) {
			struct frame caller = frame_at(fixture, CODE(cfi_stacks[i].to[n - 1]),
						       true);

			assert_true(frame_equal(&frames[n], &caller));
		}
	}
	fixture_free(fixture);
}

#else

/* Process emulators have no ptrace(2). tests/truth has stops from qemu's gdb
 * stub. */
TEST(at_every_instruction_the_callers_are_those_that_called)
{
	lacking("calls and returns are followed on x86-64 only");
}

#endif

/* --- Another machine -------------------------------------------------------------------------- */

static void assert_pcs(const struct walked *walked, const uint64_t *pcs, unsigned count)
{
	assert_int_equal(walked->count, count);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(walked->frames[i].offset, pcs[i] - AARCH64_VADDR);
}

/* The aarch64 program at `start`, in an address space with this many bits.
 * Higher bits are signatures. */
struct aarch64_stack {
	uint64_t start;
	unsigned bits;
};

static void walk_aarch64_stack(const struct aarch64_stack *made, bool lost_link,
			       struct walked *walked)
{
	enum { STACK = 0x7fff0000, MIDDLE = 32, OUTER = 624, VARY = 48 };
	const uint64_t signature = UINT64_C(0xaa55aa55aa55aa55) &
				   ~((UINT64_C(1) << made->bits) - 1);
	const uint64_t at = made->start - AARCH64_VADDR;
	const uint64_t fp = STACK + MIDDLE + OUTER + 16; /* of vary, above its alloca() */
	const pid_t nobody = 1 << 23;
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = address_spaces_new("/proc");
	CLEANUP(unwinder_cleanup)
	struct unwinder *unwinder = unwinder_new(spaces, &arch_aarch64, false);
	struct regs regs = {.pc = at + AARCH64_LEAF + 4};
	uint64_t stack[(MIDDLE + OUTER + VARY) / 8 + 4] = {0};

	map_program(spaces, nobody, aarch64_program, sizeof(aarch64_program), made->start);
	regs_set(&regs, arch_aarch64.sp, STACK);
	regs_set(&regs, arch_aarch64.ra, (at + AARCH64_IN_MIDDLE) ^ signature);
	stack[0] = (at + AARCH64_IN_OUTER) ^ signature; /* middle: x30 at CFA - 32 */
	stack[(MIDDLE + OUTER - 16) / 8] = fp;		/* outer: x29 at CFA - 16 */
	stack[(MIDDLE + OUTER - 8) / 8] = at + AARCH64_IN_VARY;
	stack[(fp - STACK) / 8] = 0; /* vary: x29 at fp, x30 next to it */
	stack[(fp - STACK) / 8 + 1] = (at + AARCH64_IN_START) ^ signature;
	if (lost_link) {
		regs.pc = at + AARCH64_LEAF;
		regs_set(&regs, arch_aarch64.ra, at + AARCH64_LEAF + 4);
	}
	walk_copy(walked, unwinder, nobody, &regs, bytes_of(stack, sizeof(stack)));
}

TEST(a_stack_of_aarch64_is_walked_in_address_spaces_of_any_size)
{
	static const struct aarch64_stack stacks[] = {
		{0x10000, 48},	       {0x5500000000, 39},	 {0x2aaaaaa0000, 42},
		{0x7fffaaaa0000, 47},  {0xffffaaaa0000, 48},	 {0x0000ffffaaaa0000, 52},
		{0xfffff77770000, 52}, {0x00080000aaaa0000, 52},
	};
	static const uint64_t pcs[] = {AARCH64_LEAF + 4, AARCH64_IN_MIDDLE, AARCH64_IN_OUTER,
				       AARCH64_IN_VARY, AARCH64_IN_START};
	struct walked walked;

	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++) {
		walk_aarch64_stack(&stacks[i], false, &walked);
		assert_int_equal(walked.stop, UNWIND_ROOT);
		assert_pcs(&walked, pcs, ARRAY_SIZE(pcs));
	}
}

/* A function that calls has saved its link register, which may then have
 * another value. */
TEST(a_link_register_that_was_overwritten_leads_nowhere)
{
	struct walked walked;

	walk_aarch64_stack(&(struct aarch64_stack){0x10000, 48}, true, &walked);
	assert_int_equal(walked.stop, UNWIND_LOST);
	assert_int_equal(walked.count, 2);
}

/* --- Without CFI ------------------------------------------------------------------------------ */

enum {
	GUESS_START = 0x10000,
	GUESS_OFFSET = sizeof(Elf64_Ehdr) + ELF_FILE_SEGMENTS * sizeof(Elf64_Phdr),
	GUESS_CODE = GUESS_START + GUESS_OFFSET,
	GUESS_WORDS = 40,
};

/* The last record of frame pointers: two words of 0. */
#define END S(GUESS_WORDS - 2)

struct guess {
	unsigned pc;
	uint64_t fp;
	unsigned link;
	/* small numbers are offsets in the code, also in pc and link */
	uint64_t words[GUESS_WORDS];
	enum unwind_stop stop;
	/* caller and outer are used if there are as many frames */
	unsigned count, caller, outer;
};

/* Maps the code for the process that does not exist, as a Go program. */
static void map_code(struct address_spaces *spaces, const struct arch *arch, const void *code,
		     size_t len, bool is_go)
{
	static const uint64_t go_frames[] = GO_FRAMES(GUESS_OFFSET);
	static struct built_elf file;

	built_elf_init(&file);
	file.header.e_machine = arch->ra_in_register ? EM_AARCH64 : EM_X86_64;
	built_elf_bytes(&file, code, len);
	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_LOAD,
					      .p_flags = PF_R | PF_X,
					      .p_filesz = file.len,
					      .p_memsz = file.len});
	if (is_go) {
		built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".gopclntab", "",
				  1);
		built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".debug_frame",
				  go_frames, sizeof(go_frames));
	}
	built_elf_finish(&file);
	map_program(spaces, 1 << 23, file.data, file.len, GUESS_START);
}

static void check_guesses(const struct arch *arch, const void *code, size_t len,
			  const struct guess *guesses, unsigned count)
{
	static struct walked walked;
	const pid_t nobody = 1 << 23;
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = address_spaces_new("/proc");
	CLEANUP(unwinder_cleanup) struct unwinder *unwinder = unwinder_new(spaces, arch, false);

	map_code(spaces, arch, code, len, false);
	for (const struct guess *guess = guesses; guess < guesses + count; guess++) {
		struct regs regs = {.pc = GUESS_CODE + guess->pc};
		uint64_t words[GUESS_WORDS];

		regs_set(&regs, arch->sp, MADE_STACK);
		regs_set(&regs, arch->fp, guess->fp);
		regs_set(&regs, arch->ra_in_register ? arch->ra : 2, GUESS_CODE + guess->link);
		for (unsigned i = 0; i < GUESS_WORDS; i++)
			words[i] = made_word(guess->words[i], GUESS_CODE);
		walk_copy(&walked, unwinder, nobody, &regs, bytes_of(words, sizeof(words)));
		if (walked.stop != guess->stop || walked.count != guess->count ||
		    (guess->count > 1 && walked.frames[1].offset != GUESS_OFFSET + guess->caller) ||
		    (guess->count > 2 && walked.frames[2].offset != GUESS_OFFSET + guess->outer))
			fail_msg("case %zu: stop %d, %u frames", (size_t)(guess - guesses),
				 walked.stop, walked.count);
	}
}

TEST(code_without_cfi_has_a_caller_that_can_have_called_it)
{
	static const unsigned char code[0x80] = {
		[0x00] = 0xe8,
		0x3b,
		0,
		0,
		0, /* call function */
		[0x10] = 0xe8,
		0x2b,
		0,
		0,
		0, /* call function */
		[0x1e] = 0xff,
		0xd0, /* call *%rax */
		/* call of the code after the function */
		[0x28] = 0xe8,
		0x33,
		0,
		0,
		0,
		/* call of code that starts 65,535 bytes before */
		[0x30] = 0xe8,
		0x1c,
		0,
		0xff,
		0xff,
		/* call of code that starts 65,536 bytes before */
		[0x38] = 0xe8,
		0x13,
		0,
		0xff,
		0xff,
		[0x40] = 0x55,
		0x48,
		0x89,
		0xe5, /* function: push %rbp; mov %rsp,%rbp */
		[0x58] = 0x5d,
		0xc3, /* pop %rbp; ret */
		[0x60] = 0xb8,
		0x0f,
		0,
		0,
		0,
		0x0f,
		0x05, /* sigreturn */
		[0x70] = 0xb8,
		0x38,
		0,
		0,
		0,
		0x0f,
		0x05, /* clone */
	};
	enum { ONE = 5, TWO = 0x15, ANY = 0x20, OTHER = 0x2d };
	enum { FAR = 0x35, TOO_FAR = 0x3d, NONE = 0x50 };
	static const struct guess guesses[] = {
		/* At the instructions that push and pop. */
		{0x40, END, 0, {ONE}, UNWIND_ROOT, 2, ONE, 0},
		{0x41, 5, 0, {END, ONE}, UNWIND_ROOT, 2, ONE, 0},
		{0x58, 5, 0, {S(3), ONE, 0, END, TWO}, UNWIND_ROOT, 3, ONE, TWO},
		{0x59, END, 0, {ANY}, UNWIND_ROOT, 2, ANY, 0},
		{0x59, 0, 0, {NONE}, UNWIND_LOST, 1, 0, 0},
		/* A call of this function is preferred, then the word closest
		 * to the top of the stack. */
		{0x50, S(2), 0, {TWO, 0, END, ONE}, UNWIND_ROOT, 3, TWO, ONE},
		{0x50, S(2), 0, {ANY, 0, END, ONE}, UNWIND_ROOT, 2, ONE, 0},
		{0x50, S(2), 0, {OTHER, 0, END, ONE}, UNWIND_ROOT, 2, ONE, 0},
		{0x50, S(2), 0, {FAR, 0, END, ONE}, UNWIND_ROOT, 3, FAR, ONE},
		{0x50, S(2), 0, {TOO_FAR, 0, END, ONE}, UNWIND_ROOT, 2, ONE, 0},
		{0x50, S(2), 0, {ANY, 0, S(4), OTHER, END, ONE}, UNWIND_ROOT, 4, ANY, OTHER},
		{0x50, 5, 0, {ANY}, UNWIND_LOST, 2, ANY, 0},
		{0x50, S(2), 0, {0, 0, S(4), OTHER, END, ONE}, UNWIND_ROOT, 3, OTHER, ONE},
		/* A stack of Go can start with any address; others cannot. */
		{0x50, S(2), 0, {0, 0, 0, NONE}, UNWIND_LOST, 1, 0, 0},
		{0x50, S(2), 0, {0, 0, S(4), NONE}, UNWIND_LOST, 1, 0, 0},
		{0x59, S(2), 0, {ONE, 0, 0, 0}, UNWIND_ROOT, 2, ONE, 0},
		/* Only the lowest words of the stack are searched. */
		{0x50, END, 0, {[31] = ONE}, UNWIND_ROOT, 2, ONE, 0},
		{0x50, END, 0, {[30] = ANY, ONE}, UNWIND_ROOT, 2, ONE, 0},
		{0x50, END, 0, {[31] = ANY}, UNWIND_LOST, 1, 0, 0},
		{0x50, END, 0, {[32] = ONE}, UNWIND_LOST, 1, 0, 0},
		/* Frame pointers that are invalid, or beyond the copy. */
		{0x50, S(2) + 4, 0, {[3] = NONE}, UNWIND_LOST, 1, 0, 0},
		{0x50, S(-1), 0, {NONE}, UNWIND_LOST, 1, 0, 0},
		{0x50, S(0), 0, {END, ONE}, UNWIND_ROOT, 2, ONE, 0},
		{0x50, S(GUESS_WORDS - 1), 0, {0}, UNWIND_TRUNCATED, 1, 0, 0},
		{0x50, S((8 << 17) - 1), 0, {0}, UNWIND_TRUNCATED, 1, 0, 0},
		{0x50, S(8 << 17), 0, {0}, UNWIND_LOST, 1, 0, 0},
		/* Code interrupted by a signal, before and after the system
		 * call. */
		{0x60,
		 5,
		 0,
		 {[15] = END, [20] = S(24), 0x50, [24] = ONE},
		 UNWIND_ROOT,
		 3,
		 0x50,
		 ONE},
		{0x67,
		 5,
		 0,
		 {[15] = END, [20] = S(24), 0x50, [24] = ONE},
		 UNWIND_ROOT,
		 3,
		 0x50,
		 ONE},
		/* A frame pointer of 0 is not a root. */
		{0x40, 0, 0, {ONE}, UNWIND_LOST, 2, ONE, 0},
		/* A new thread, and a thread that is at the same address later. */
		{0x77, 5, 0x77, {NONE}, UNWIND_ROOT, 1, 0, 0},
		{0x77, 5, 0x78, {NONE}, UNWIND_LOST, 1, 0, 0},
	};

	check_guesses(&arch_x86_64, code, sizeof(code), guesses, ARRAY_SIZE(guesses));
}

TEST(without_cfi_a_link_register_may_be_out_of_date)
{
	static const uint32_t code[] = {
		0x94000004, /* bl function */
		0x94000003, /* bl function */
		0xd63f0000, /* blr x0 */
		0xd503201f, /* nop */
		0xd503201f, /* function: nop */
		0x97ffffff, /* bl function */
		0xd503201f, /* nop */
		0x97fffffd, /* bl function */
	};
	enum { ONE = 4, TWO = 8, ANY = 12, NONE = 16, OWN = 24, LATER = 32 };
	static const struct guess guesses[] = {
		{24, 0, ONE, {0}, UNWIND_ROOT, 2, ONE, 0},
		{24, 0, ANY, {0}, UNWIND_ROOT, 2, ANY, 0},
		{24, 0, NONE, {0}, UNWIND_LOST, 1, 0, 0},
		{24, S(2), ANY, {0, 0, 0, ONE}, UNWIND_ROOT, 2, ONE, 0},
		{24, S(2), TWO, {0, 0, 0, ONE}, UNWIND_ROOT, 3, TWO, ONE},
		{24, S(2), OWN, {0, 0, 0, ONE}, UNWIND_ROOT, 2, ONE, 0},
		{24, S(2), LATER, {0, 0, 0, ONE}, UNWIND_ROOT, 3, LATER, ONE},
		/* The record is that of the function itself. */
		{24, S(2), ANY, {0, 0, 0, ANY}, UNWIND_ROOT, 2, ANY, 0},
		{24, S(2), ONE, {0, 0, 0, ONE}, UNWIND_ROOT, 2, ONE, 0},
	};

	check_guesses(&arch_aarch64, code, sizeof(code), guesses, ARRAY_SIZE(guesses));
}

/* As in runtime.systemstack and runtime.mcall: the CFI of `switcher` is wrong
 * once it has switched stacks. */
TEST(where_go_switches_stacks_the_frame_pointer_tells_how_it_ends)
{
	enum { FAR = 1 << 30 };
	static const struct {
		unsigned caller;
		uint64_t fp, words[8]; /* words from 4 on belong to the caller */
		enum unwind_stop stop;
		unsigned count;
	} cases[] = {
		{GO_IN_SWITCHER, S(2), {0, 0, 0, 0, 0, 0x1099}, UNWIND_ROOT, 2},
		{GO_IN_SWITCHER, S(2), {0, 0, FAR, 0, 0, 0x1099}, UNWIND_TRUNCATED, 2},
		{GO_IN_SWITCHER, S(2), {0, 0, 0x1235, 0, 0, 0x1099}, UNWIND_LOST, 2},
		{GO_IN_KEEPER, S(4), {0, 0, S(4), 0, 0, GO_AT_SWITCHER}, UNWIND_ROOT, 3},
		{GO_IN_KEEPER, S(6), {0, 0, S(6), 0, 0, 0x1099, 0, GO_AT_SWITCHER}, UNWIND_ROOT, 3},
		{GO_IN_KEEPER, 0, {0, 0, 0, 0, 0, GO_IN_SWITCHER}, UNWIND_ROOT, 2},
		{GO_IN_KEEPER, FAR, {0, 0, FAR, 0, 0, GO_IN_SWITCHER}, UNWIND_TRUNCATED, 2},
		{GO_IN_KEEPER, 0x1235, {0, 0, 0x1235, 0, 0, GO_IN_SWITCHER}, UNWIND_LOST, 2},
	};
	const pid_t nobody = 1 << 23;
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = address_spaces_new("/proc");
	CLEANUP(unwinder_cleanup)
	struct unwinder *unwinder = unwinder_new(spaces, &arch_x86_64, false);

	map_code(spaces, &arch_x86_64, go_code, sizeof(go_code), true);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct regs regs = {.pc = GUESS_CODE + GO_IN_WORKER};
		uint64_t words[ARRAY_SIZE(cases[i].words)];
		struct walked walked;

		for (unsigned n = 0; n < ARRAY_SIZE(words); n++)
			words[n] = made_word(cases[i].words[n], GUESS_CODE);
		words[3] = GUESS_CODE + cases[i].caller;
		regs_set(&regs, arch_x86_64.sp, MADE_STACK);
		regs_set(&regs, arch_x86_64.fp, cases[i].fp);
		walk_copy(&walked, unwinder, nobody, &regs, bytes_of(words, sizeof(words)));
		if (walked.stop != cases[i].stop || walked.count != cases[i].count)
			fail_msg("case %u: stop %d, %u frames", i, walked.stop, walked.count);
	}
}
