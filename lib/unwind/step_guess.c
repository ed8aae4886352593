#include "unwind/owners.h"
#include "unwind/step.h"

/*
 * A frame pointer is less reliable than CFI, so it may lead less far above the
 * copied stack.
 */
enum { FRAME_POINTER_REACH_BYTES = 8 << 20 };

/*
 * Size of the largest leaf function. A pc further from the start is in another
 * kind of function.
 */
enum { LEAF_BYTES_MAX = 64 << 10 };

/* The words that hand-written functions push, plus some room for locals. */
enum { SEARCH_WORDS = 32 };

/*
 * How much of a called function's code is searched for a jump, and the size of
 * a stub, which only jumps.
 */
enum { JUMPS_WITHIN_BYTES = 512, STUB_BYTES = 8 };

/* The kind of code before an address. */
enum step_guess_call {
	CALL_NONE,   /* no call, or one of a function that does not jump here */
	CALL_UNSEEN, /* no file contains the code */
	CALL_JUMPS,  /* calls a function that may jump to this one */
	CALL_SOMEWHERE,
	/*
	 * Calls the function that contains the pc, as far as can be determined.
	 */
	CALL_HERE,
};

/* Returns true if the function at the pc can start at this address. */
static bool is_before_pc(const struct walk *walk, uint64_t address)
{
	return walk->regs.pc - address < LEAF_BYTES_MAX && address >= walk->function;
}

static bool may_jump_within(struct walk *walk, uint64_t function, size_t len)
{
	const struct arch *arch = walk->arch;
	unsigned char code[JUMPS_WITHIN_BYTES];
	struct location at;
	uint64_t target;

	if (!arch->jump_at || !walk_locate(walk, function, &at) ||
	    !walk_read_file(walk, &at, function, function, code, len))
		return true;
	for (size_t i = 0; i < len; i++) {
		enum jump jump = arch->jump_at(code + i, len - i, function + i, &target);

		if (jump == JUMP_INDIRECT || (jump == JUMP_DIRECT && is_before_pc(walk, target)))
			return true;
	}
	return false;
}

bool may_jump_here(struct walk *walk, uint64_t function)
{
	return may_jump_within(walk, function, JUMPS_WITHIN_BYTES);
}

static enum step_guess_call call_of(struct walk *walk, uint64_t function)
{
	if (may_jump_within(walk, function, STUB_BYTES))
		return CALL_SOMEWHERE;
	return may_jump_here(walk, function) ? CALL_JUMPS : CALL_NONE;
}

/* Reads the code before an address. Returns false if it is not a call. */
static bool step_guess_read_call(struct walk *walk, uint64_t address,
				 unsigned char code[CODE_BYTES])
{
	struct location at;

	return walk_locate(walk, address - 1, &at) &&
	       walk_read_file(walk, &at, address - 1, address - CODE_BYTES, code, CODE_BYTES) &&
	       walk->arch->ends_with_call(code);
}

static enum step_guess_call call_before(struct walk *walk, uint64_t address)
{
	const struct arch *arch = walk->arch;
	unsigned char code[CODE_BYTES];
	struct location at;
	uint64_t target;

	if (!walk_locate(walk, address - 1, &at))
		return CALL_NONE;
	if (!address_spaces_module(walk->spaces, at.module)->elf)
		return CALL_UNSEEN;
	if (!step_guess_read_call(walk, address, code))
		return CALL_NONE;
	if (!arch->call_target(code, address, &target))
		return CALL_SOMEWHERE;
	if (!is_before_pc(walk, target))
		return call_of(walk, target);
	/*
	 * The link register can be stale: it then contains the return address
	 * of a call that this function made.
	 */
	if (arch->ra_in_register && address >= target && address <= walk->regs.pc)
		return CALL_SOMEWHERE;
	return CALL_HERE;
}

static void know_only(struct walk *walk, uint64_t registers)
{
	walk->regs.known &= registers | reg_bit(walk->arch->sp);
}

/*
 * Steps to the caller of a leaf that has pushed this many words, if the code
 * before the return address is at least as good as `enough`.
 */
static bool step_over(struct walk *walk, unsigned pushed, enum step_guess_call enough)
{
	uint64_t slot = walk->regs.values[walk->arch->sp] + pushed * walk->arch->word_bytes, ra;
	enum step_guess_call call;

	if (!walk_read_stack(walk, slot, 0, &ra) || (call = call_before(walk, ra)) < enough ||
	    !walk_enter(walk, slot + walk->arch->word_bytes, ra, true))
		return false;
	walk->has_guessed |= call != CALL_HERE;
	know_only(walk, walk->arch->preserved);
	return true;
}

static bool step_from_link_register(struct walk *walk, enum step_guess_call enough)
{
	const struct arch *arch = walk->arch;
	const struct regs *regs = &walk->regs;
	uint64_t ra = walk_strip(walk, regs->values[arch->ra]);

	if (!regs_know(regs, arch->ra) || call_before(walk, ra) < enough ||
	    !walk_enter(walk, regs->values[arch->sp], ra, true))
		return false;
	know_only(walk, arch->preserved & ~reg_bit(arch->ra));
	return true;
}

/* Recognizes prologues and epilogues by their instructions. */
static bool step_by_instruction(struct walk *walk)
{
	unsigned char code[CODE_BYTES];
	uint64_t pc = walk->regs.pc, saved_fp;
	int pushed;

	if (!walk_read_file(walk, &walk->at, pc, pc, code, sizeof(code)))
		return false;
	pushed = walk->arch->pushed_words(code);
	if (pushed < 0 || !walk_read_stack(walk, walk->regs.values[walk->arch->sp], 0, &saved_fp) ||
	    !step_over(walk, (unsigned)pushed, CALL_JUMPS))
		return false;
	if (pushed)
		regs_set(&walk->regs, walk->arch->fp, saved_fp);
	return true;
}

/*
 * Returns true if a frame pointer of 0 marks the outermost frame. This is the
 * case in code that always keeps one (Go; AAPCS64, 6.4.6), except in a leaf,
 * where it can have any value.
 */
static bool fp_ends_stack(const struct walk *walk)
{
	return walk->is_return_address && (walk->is_go || walk->arch->ra_in_register);
}

static bool step_from_frame_pointer(struct walk *walk, enum step_guess_call enough)
{
	const struct arch *arch = walk->arch;
	uint64_t fp = walk->regs.values[arch->fp], saved_fp, ra;

	if (!regs_know(&walk->regs, arch->fp) || walk->lacks_fp)
		return walk_stop(walk, UNWIND_LOST);
	if (fp == 0)
		return walk_stop(walk, fp_ends_stack(walk) ? UNWIND_ROOT : UNWIND_LOST);
	if (fp < walk->regs.values[arch->sp] || fp % arch->word_bytes)
		return walk_stop(walk, UNWIND_LOST);
	if (!walk_read_stack(walk, fp, FRAME_POINTER_REACH_BYTES, &saved_fp) ||
	    !walk_read_stack(walk, fp + arch->word_bytes, FRAME_POINTER_REACH_BYTES, &ra))
		return false;
	ra = walk_strip(walk, ra);
	if (ra == 0 && saved_fp == 0 && walk->is_return_address)
		return walk_stop(walk, UNWIND_ROOT);
	/*
	 * Go sets up stacks without a call, so the first return address can be
	 * any address (goexit + 1).
	 */
	if (call_before(walk, ra) < (saved_fp == 0 && walk->is_go ? CALL_NONE : enough)) {
		walk_note_unmapped(walk, ra - 1);
		return walk_stop(walk, UNWIND_LOST);
	}
	if (!walk_enter(walk, fp + 2 * arch->word_bytes, ra, true))
		return false;
	walk->regs.known = arch->record_on_top ? reg_bit(arch->sp) : 0;
	regs_set(&walk->regs, arch->fp, saved_fp);
	return true;
}

/*
 * Handles a frame record with the same address as lr: it is the function's own.
 */
static bool step_from_own_record(struct walk *walk)
{
	const struct arch *arch = walk->arch;
	uint64_t ra, slot = walk->regs.values[arch->fp] + arch->word_bytes;

	return arch->ra_in_register && walk_has(walk, slot, arch->word_bytes) &&
	       walk_read_stack(walk, slot, 0, &ra) && ra == walk->regs.values[arch->ra] &&
	       step_from_frame_pointer(walk, CALL_JUMPS);
}

/* Steps as if the function had pushed nothing. */
static bool step_from_top(struct walk *walk, enum step_guess_call enough)
{
	if (walk->arch->ra_in_register)
		return step_from_link_register(walk, enough);
	return step_over(walk, 0, enough);
}

/*
 * Returns true if the word may be a return address in code that cannot be read.
 */
static bool is_unseen(struct walk *walk, unsigned pushed)
{
	uint64_t word, slot = walk->regs.values[walk->arch->sp] + pushed * walk->arch->word_bytes;

	return walk_read_stack(walk, slot, 0, &word) && call_before(walk, word) == CALL_UNSEEN;
}

static bool step_guess_has_file(const struct walk *walk)
{
	return address_spaces_module(walk->spaces, walk->at.module)->elf;
}

/* Returns true if the code can have a list of functions (functions.h). */
static bool has_functions(const struct walk *walk)
{
	return step_guess_has_file(walk) && walk->arch->word_bytes == 8;
}

/*
 * Searches the lowest words of the frame for a return address, and uses the
 * first possible one. In the code of a 64-bit file the call must be of this
 * function, because many frames contain words of earlier calls.
 */
static bool step_by_search(struct walk *walk)
{
	const enum step_guess_call enough = has_functions(walk) ? CALL_HERE : CALL_SOMEWHERE;
	enum unwind_stop stop = walk->stop;

	for (unsigned pushed = 0; pushed < SEARCH_WORDS && !walk->arch->ra_in_register; pushed++) {
		if (step_over(walk, pushed, enough))
			return true;
		if (is_unseen(walk, pushed))
			break;
	}
	return walk_stop(walk, stop);
}

/*
 * Returns true if a search from a caller may succeed. In a 64-bit file's code
 * the start of the function must be known. Most code without a file comes from
 * a JIT compiler, with frame pointers or with frames of a few words. A walk
 * that started with only sp and pc must know the frame pointer by now. If it is
 * unknown, it was not tried, although it is more likely to succeed than a
 * search.
 */
static bool may_search_from_caller(const struct walk *walk)
{
	if (walk->stop != UNWIND_LOST || !walk->may_search)
		return false;
	if (has_functions(walk) && !walk->function)
		return false;
	return !walk->is_bare ||
	       (regs_know(&walk->regs, walk->arch->fp) && !step_guess_has_file(walk));
}

/*
 * Callee-saved registers may have changed by now, unlike in a leaf's prologue.
 */
static bool step_by_search_from_caller(struct walk *walk)
{
	uint64_t known = walk->regs.known;

	if (!may_search_from_caller(walk))
		return false;
	walk->has_searched = true;
	if (!step_by_search(walk))
		return false;
	walk->regs.known &= known;
	return true;
}

bool step_by_frame_pointer(struct walk *walk)
{
	return step_from_frame_pointer(walk, CALL_UNSEEN);
}

static bool is_sigreturn_at(struct walk *walk, uint64_t address)
{
	unsigned char code[CODE_BYTES];

	return walk_read_file(walk, &walk->at, walk_pc(walk), address, code, sizeof(code)) &&
	       walk->arch->is_sigreturn(code);
}

bool is_signal_frame(struct walk *walk)
{
	uint64_t pc = walk->regs.pc;

	return is_sigreturn_at(walk, pc) ||
	       (!walk->is_return_address &&
		is_sigreturn_at(walk, pc - walk->arch->sigreturn_bytes));
}

static bool step_from_signal_frame(struct walk *walk)
{
	const struct arch *arch = walk->arch;
	const struct signal_frame *saved = arch->signal_frame;
	uint64_t sp = walk->regs.values[arch->sp], pc, value;
	struct regs caller = {0};

	walk->was_not_called = true;
	for (unsigned reg = 0; reg < arch->register_count; reg++) {
		if (!saved->regs[reg])
			continue;
		if (!walk_read_stack(walk, sp + saved->regs[reg], STACK_REACH_BYTES, &value))
			return false;
		regs_set(&caller, reg, value);
	}
	if (!walk_read_stack(walk, sp + saved->pc, STACK_REACH_BYTES, &pc) ||
	    !walk_enter(walk, caller.values[arch->sp], pc, false))
		return false;
	caller.pc = walk->regs.pc;
	walk->regs = caller;
	return true;
}

bool is_return_address(struct walk *walk, uint64_t address)
{
	return call_before(walk, address) >= CALL_JUMPS;
}

bool called_function(struct walk *walk, uint64_t return_address, uint64_t *pc)
{
	unsigned char code[CODE_BYTES];

	return step_guess_read_call(walk, return_address, code) &&
	       walk->arch->call_target(code, return_address, pc);
}

bool is_after_call(struct walk *walk)
{
	unsigned char code[CODE_BYTES];

	return step_guess_read_call(walk, walk->regs.pc, code);
}

/*
 * Returns true if the thread is at the start of its own stack. The CFI of
 * clone() in C libraries ends at its system call, which returns a second time
 * in the child, on a new stack.
 */
static bool step_guess_is_clone_child(struct walk *walk)
{
	uint64_t pc = walk->regs.pc;
	unsigned char code[CODE_BYTES];

	return !walk->is_return_address &&
	       walk_read_file(walk, &walk->at, pc, pc - sizeof(code), code, sizeof(code)) &&
	       walk->arch->is_clone_child(code, &walk->regs);
}

bool step_guess(struct walk *walk, struct owners *owners)
{
	if (step_guess_is_clone_child(walk))
		return walk_stop(walk, UNWIND_ROOT);
	if (is_signal_frame(walk))
		return step_from_signal_frame(walk);
	if (walk->is_return_address)
		return step_from_frame_pointer(walk, CALL_UNSEEN) || owners_step(owners, walk) ||
		       step_by_search_from_caller(walk);
	return step_by_instruction(walk) || step_from_own_record(walk) ||
	       step_from_top(walk, CALL_HERE) || step_from_frame_pointer(walk, CALL_HERE) ||
	       owners_step(owners, walk) || step_from_top(walk, CALL_JUMPS) ||
	       step_from_frame_pointer(walk, CALL_UNSEEN) || step_by_search(walk);
}
