#include "unwind/step.h"

/* Nothing vouches for a frame pointer: it gets less credit beyond the copied stack than CFI. */
enum { FRAME_POINTER_REACH_BYTES = 8 << 20 };

enum { WORD_BYTES = 8 };

/* Does a call stand before pc? Where no file shows the code: `unseen`. */
static bool is_called(struct walk *walk, uint64_t pc, bool unseen)
{
	unsigned char code[CODE_BYTES];
	struct location at;

	if (!walk_locate(walk, pc - 1, &at))
		return false;
	if (!spaces_module(walk->spaces, at.module)->image)
		return unseen;
	return walk_read_file(walk, &at, pc - 1, pc - CODE_BYTES, code, sizeof(code)) &&
	       walk->arch->ends_with_call(code);
}

/* How many words stand above the return address of a leaf, as far as can be told. */
static unsigned pushed_words(const struct walk *walk)
{
	unsigned char code[CODE_BYTES];
	int words = -1;

	if (walk_read_file(walk, &walk->at, walk->regs.pc, walk->regs.pc, code, sizeof(code)))
		words = walk->arch->pushed_words(code);
	return words > 0 ? (unsigned)words : 0;
}

static void know_only(struct walk *walk, uint64_t registers)
{
	walk->regs.known &= registers | reg_bit(walk->arch->sp);
}

static bool step_from_link_register(struct walk *walk)
{
	const struct regs *regs = &walk->regs;
	uint64_t ra = regs->values[walk->arch->ra] & walk->arch->pc_mask;

	if (!regs_know(regs, walk->arch->ra) || !is_called(walk, ra, false) ||
	    !walk_enter(walk, regs->values[walk->arch->sp], ra, true))
		return false;
	know_only(walk, walk->arch->preserved & ~reg_bit(walk->arch->ra));
	return true;
}

static bool step_from_leaf(struct walk *walk)
{
	const struct arch *arch = walk->arch;
	uint64_t sp = walk->regs.values[arch->sp], ra, saved_fp;

	if (arch->ra_in_register)
		return step_from_link_register(walk);
	unsigned pushed = pushed_words(walk);
	uint64_t slot = sp + pushed * WORD_BYTES;

	if (!walk_read_stack(walk, slot, 0, &ra) || !walk_read_stack(walk, sp, 0, &saved_fp) ||
	    !is_called(walk, ra, false) || !walk_enter(walk, slot + WORD_BYTES, ra, true))
		return false;
	know_only(walk, arch->preserved);
	if (pushed)
		regs_set(&walk->regs, arch->fp, saved_fp);
	return true;
}

static bool step_from_frame_pointer(struct walk *walk)
{
	const struct arch *arch = walk->arch;
	uint64_t fp = walk->regs.values[arch->fp], saved_fp, ra;

	if (!regs_know(&walk->regs, arch->fp))
		return walk_stop(walk, UNWIND_LOST);
	if (fp == 0) /* by the psABI, the outermost frame; in a leaf it may be any number */
		return walk_stop(walk, walk->is_return_address ? UNWIND_ROOT : UNWIND_LOST);
	if (fp < walk->regs.values[arch->sp] || fp % WORD_BYTES)
		return walk_stop(walk, UNWIND_LOST);
	if (!walk_read_stack(walk, fp, FRAME_POINTER_REACH_BYTES, &saved_fp) ||
	    !walk_read_stack(walk, fp + WORD_BYTES, FRAME_POINTER_REACH_BYTES, &ra))
		return false;
	ra &= arch->pc_mask;
	if (ra == 0 && saved_fp == 0 && walk->is_return_address)
		return walk_stop(walk, UNWIND_ROOT);
	/* A stack that was made and not called may begin with any address (Go's: goexit + 1). */
	if (saved_fp != 0 && !is_called(walk, ra, true))
		return walk_stop(walk, UNWIND_LOST);
	if (!walk_enter(walk, fp + 2 * WORD_BYTES, ra, true))
		return false;
	know_only(walk, 0);
	regs_set(&walk->regs, arch->fp, saved_fp);
	return true;
}

bool step_guess(struct walk *walk)
{
	return (!walk->is_return_address && step_from_leaf(walk)) || step_from_frame_pointer(walk);
}
