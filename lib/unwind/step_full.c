#include "unwind/expression.h"
#include "unwind/step.h"

/* The red zone below sp (psABI x86-64, 3.2.2). */
enum { RED_ZONE_BYTES = 128 };

/* Largest frame of a hand-written function that stores its CFA. */
enum { KEEPER_BYTES = 4 << 10 };

/*
 * Larger than any frame: a CFA this far above sp, or below it, is on another
 * stack.
 */
enum { OTHER_STACK_BYTES = 1 << 20 };

/*
 * Reads memory for expressions: the copied stack, or constants of the module.
 */
static bool step_full_load(void *user, uint64_t address, unsigned size_bytes, uint64_t *ret)
{
	struct walk *walk = user;

	*ret = 0;
	if (walk->regs.values[walk->arch->sp] - address - 1 < RED_ZONE_BYTES) {
		walk->asked_below = true;
		*ret = walk->below;
		return walk->below;
	}
	if (!walk_has(walk, address, size_bytes)) {
		if (walk_read_file(walk, &walk->at, walk_pc(walk), address, ret, size_bytes))
			return true;
		walk_stop_unread(walk, address, STACK_REACH_BYTES);
		return false;
	}
	memcpy(ret, walk->stack + (address - walk->stack_start), size_bytes);
	walk->loaded_from = address;
	return true;
}

static uint64_t load_bias(const struct walk *walk)
{
	const struct elf_file *elf = address_spaces_module(walk->spaces, walk->at.module)->elf;
	uint64_t vaddr;

	return elf_file_offset_to_vaddr(elf, walk->at.offset, &vaddr) ? walk_pc(walk) - vaddr : 0;
}

static bool step_full_evaluate(struct walk *walk, const struct cfi_value *value,
			       const uint64_t *cfa, uint64_t *ret)
{
	struct regs regs = walk->regs;
	struct expression_input input = {
		.regs = &regs,
		.cfa = cfa,
		.load_bias = load_bias(walk),
		.word_bytes = walk->arch->word_bytes,
		.load = step_full_load,
		.user = walk,
	};

	/*
	 * The CFI of a PLT refers to the return address column for the pc in
	 * the stub.
	 */
	if (!walk->arch->ra_in_register)
		regs_set(&regs, walk->arch->ra, regs.pc);
	if (expression_evaluate(bytes_of(value->expression, value->expression_bytes), &input, ret))
		return true;
	/*
	 * An untracked register may be the reason. The walk is then repeated
	 * with all registers.
	 */
	walk->lacks_register = true;
	return false;
}

static bool register_plus(struct walk *walk, const struct cfi_value *value, uint64_t *ret)
{
	*ret = walk->regs.values[value->reg] + (uint64_t)value->offset;
	if (regs_know(&walk->regs, value->reg))
		return true;
	walk->lacks_register = true;
	return walk_stop(walk, UNWIND_LOST);
}

static bool step_full_keep(const struct walk *walk, unsigned reg, uint64_t *ret)
{
	*ret = walk->regs.values[reg];
	return regs_know(&walk->regs, reg);
}

static bool step_full_find_value(struct walk *walk, unsigned reg, const struct cfi_value *value,
				 uint64_t cfa, uint64_t *ret)
{
	uint64_t address = cfa + (uint64_t)value->offset;

	switch ((enum cfi_how)value->how) {
	case CFI_SAME:
		return step_full_keep(walk, reg, ret);
	case CFI_AT_CFA:
		if (walk_is_popped(walk, address))
			return step_full_keep(walk, reg, ret);
		return walk_read_stack(walk, address, STACK_REACH_BYTES, ret);
	case CFI_CFA_PLUS:
		*ret = address;
		return true;
	case CFI_REGISTER:
		return register_plus(walk, value, ret);
	case CFI_EXPRESSION_AT:
		return step_full_evaluate(walk, value, &cfa, &address) &&
		       step_full_load(walk, address, walk->arch->word_bytes, ret);
	case CFI_EXPRESSION:
		return step_full_evaluate(walk, value, &cfa, ret);
	case CFI_UNDEFINED:
		break;
	}
	return false;
}

/*
 * Finds a CFA that the function has stored in its frame. OpenSSL's assembly
 * stores the CFA just below sp, which no sample contains, and moves sp within
 * its frame. The CFA was stored further up in the frame before. So each word of
 * the frame that points up the stack is a candidate. The right one leads to a
 * return address. The result is used only if the walk then reaches the root.
 */
static bool find_kept_cfa(struct walk *walk, const struct cfi_row *row, uint64_t *cfa)
{
	const struct cfi_value *ra = &row->regs[walk->arch->ra];
	uint64_t sp = walk->regs.values[walk->arch->sp], pc;
	unsigned word_bytes = walk->arch->word_bytes;
	bool found = false;

	if (!walk->asked_below || !walk->may_search || ra->how != CFI_AT_CFA)
		return false;
	walk->has_searched = true;
	for (uint64_t at = sp; !found && at < sp + KEEPER_BYTES && walk_has(walk, at, word_bytes);
	     at += word_bytes) {
		walk->below = walk_word(walk, at);
		found = walk->below > at && walk_has(walk, walk->below, word_bytes) &&
			step_full_evaluate(walk, &row->cfa, NULL, cfa) && walk_has(walk, *cfa, 0) &&
			walk_read_stack(walk, *cfa + (uint64_t)ra->offset, 0, &pc) &&
			is_return_address(walk, pc);
	}
	walk->below = 0;
	return found;
}

/*
 * Finds a CFA that is in a register. OpenSSL's assembly keeps its CFA in rax
 * while it calls its own functions, which do not use rax. Their CFI does not
 * describe this, so the register is assumed to be unchanged in the callee. The
 * result must lead to a return address, and is used only if the walk then
 * reaches the root.
 */
static bool find_left_cfa(struct walk *walk, const struct cfi_row *row, uint64_t *cfa)
{
	const struct cfi_value *ra = &row->regs[walk->arch->ra];
	uint64_t pc;

	if (row->cfa.how != CFI_REGISTER || !walk->tracks_all || !walk->may_search ||
	    ra->how != CFI_AT_CFA)
		return false;
	walk->has_searched = true;
	*cfa = walk->regs.values[row->cfa.reg] + (uint64_t)row->cfa.offset;
	return *cfa > walk->regs.values[walk->arch->sp] && walk_has(walk, *cfa, 0) &&
	       walk_read_stack(walk, *cfa + (uint64_t)ra->offset, 0, &pc) &&
	       is_return_address(walk, pc);
}

/*
 * Returns true if a CFA that was read from this stack is on another stack. The
 * walk then continues on the copy of that stack. If there is no copy, sets
 * *is_root to whether the function entered this stack, which it did if it saved
 * its caller's registers on the other one.
 */
static bool leaves_stack(struct walk *walk, const struct cfi_row *row, uint64_t cfa, bool *is_root)
{
	const struct arch *arch = walk->arch;
	uint64_t *sp = &walk->regs.values[arch->sp];

	*is_root = false;
	if (row->cfa.how != CFI_EXPRESSION || !walk->is_return_address || walk->has_searched ||
	    !walk->loaded_from || cfa % arch->word_bytes || walk_has(walk, cfa, 0) ||
	    cfa - *sp < OTHER_STACK_BYTES)
		return false;
	if (!walk_change_stack(walk, walk->loaded_from, cfa))
		for (unsigned reg = 0; reg < arch->register_count; reg++)
			*is_root |= arch->preserved & reg_bit(reg) &&
				    row->regs[reg].how == CFI_AT_CFA;
	*sp = 0; /* drops the bound of this stack, which may be above the other */
	return true;
}

bool step_full(struct walk *walk, const struct cfi_rule *rule)
{
	const struct arch *arch = walk->arch;
	const struct cfi_row *row = &rule->row;
	/* Unknown registers keep their values, which serve as guesses. */
	struct regs caller = walk->regs;
	uint64_t cfa, value;
	bool found, is_root;

	caller.known = 0;
	walk->was_not_called = rule->signal_frame;
	if (row->regs[arch->ra].how == CFI_UNDEFINED)
		return walk_stop(walk, UNWIND_ROOT);
	walk->stop = UNWIND_LOST;
	walk->asked_below = false;
	walk->loaded_from = 0;
	found = row->cfa.how == CFI_REGISTER ? register_plus(walk, &row->cfa, &cfa)
					     : step_full_evaluate(walk, &row->cfa, NULL, &cfa);
	if (found && !rule->signal_frame && leaves_stack(walk, row, cfa, &is_root) && is_root)
		return walk_stop(walk, UNWIND_ROOT);
	if (!found && !find_kept_cfa(walk, row, &cfa) && !find_left_cfa(walk, row, &cfa))
		return false;
	walk->stop = UNWIND_LOST;
	for (unsigned reg = 0; reg < arch->register_count; reg++)
		if (reg != arch->ra &&
		    step_full_find_value(walk, reg, &row->regs[reg], cfa, &value))
			regs_set(&caller, reg, value);
	walk->stop = UNWIND_LOST;
	if (!regs_know(&caller, arch->sp) ||
	    !step_full_find_value(walk, arch->ra, &row->regs[arch->ra], cfa, &value) ||
	    !walk_enter(walk, caller.values[arch->sp], value, !rule->signal_frame))
		return false;
	caller.pc = walk->regs.pc;
	walk->regs = caller;
	return true;
}
