#include "unwind/expression.h"
#include "unwind/step.h"

/* Memory for expressions: the copied stack, else the constants of the module. */
static bool load(void *user, uint64_t address, unsigned size_bytes, uint64_t *ret)
{
	struct walk *walk = user;

	*ret = 0;
	if (!walk_has(walk, address, size_bytes)) {
		if (walk_read_file(walk, &walk->at, walk_pc(walk), address, ret, size_bytes))
			return true;
		walk_stop_unread(walk, address, STACK_REACH_BYTES);
		return false;
	}
	memcpy(ret, walk->stack + (address - walk->stack_start), size_bytes);
	return true;
}

static uint64_t load_bias(const struct walk *walk)
{
	const struct image *image = spaces_module(walk->spaces, walk->at.module)->image;
	uint64_t vaddr;

	return image_offset_to_vaddr(image, walk->at.offset, &vaddr) ? walk_pc(walk) - vaddr : 0;
}

static bool evaluate(struct walk *walk, const struct cfi_value *value, const uint64_t *cfa,
		     uint64_t *ret)
{
	struct regs regs = walk->regs;
	struct expression_input input = {
		.regs = &regs,
		.cfa = cfa,
		.load_bias = load_bias(walk),
		.load = load,
		.user = walk,
	};

	/* A PLT's rule asks where in the stub we are, by the number of the return address. */
	if (!walk->arch->ra_in_register)
		regs_set(&regs, walk->arch->ra, regs.pc);
	if (expression_evaluate(bytes_of(value->expression, value->expression_bytes), &input, ret))
		return true;
	/* It may have been for a register; asking again with all of them tracked will tell. */
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

static bool keep(const struct walk *walk, unsigned reg, uint64_t *ret)
{
	*ret = walk->regs.values[reg];
	return regs_know(&walk->regs, reg);
}

static bool find_value(struct walk *walk, unsigned reg, const struct cfi_value *value, uint64_t cfa,
		       uint64_t *ret)
{
	uint64_t address = cfa + (uint64_t)value->offset;

	switch ((enum cfi_how)value->how) {
	case CFI_SAME:
		return keep(walk, reg, ret);
	case CFI_AT_CFA:
		if (walk_is_popped(walk, address))
			return keep(walk, reg, ret);
		return walk_read_stack(walk, address, STACK_REACH_BYTES, ret);
	case CFI_CFA_PLUS:
		*ret = address;
		return true;
	case CFI_REGISTER:
		return register_plus(walk, value, ret);
	case CFI_EXPRESSION_AT:
		return evaluate(walk, value, &cfa, &address) && load(walk, address, 8, ret);
	case CFI_EXPRESSION:
		return evaluate(walk, value, &cfa, ret);
	case CFI_UNDEFINED:
		break;
	}
	return false;
}

bool step_full(struct walk *walk, const struct cfi_rule *rule)
{
	const struct arch *arch = walk->arch;
	const struct cfi_row *row = &rule->row;
	struct regs caller = {0};
	uint64_t cfa, value;
	bool found;

	walk->was_not_called = rule->signal_frame;
	if (row->regs[arch->ra].how == CFI_UNDEFINED)
		return walk_stop(walk, UNWIND_ROOT);
	walk->stop = UNWIND_LOST;
	found = row->cfa.how == CFI_REGISTER ? register_plus(walk, &row->cfa, &cfa)
					     : evaluate(walk, &row->cfa, NULL, &cfa);
	if (!found)
		return false;
	for (unsigned reg = 0; reg < arch->register_count; reg++)
		if (reg != arch->ra && find_value(walk, reg, &row->regs[reg], cfa, &value))
			regs_set(&caller, reg, value);
	walk->stop = UNWIND_LOST;
	if (!regs_know(&caller, arch->sp) ||
	    !find_value(walk, arch->ra, &row->regs[arch->ra], cfa, &value) ||
	    !walk_enter(walk, caller.values[arch->sp], value, !rule->signal_frame))
		return false;
	caller.pc = walk->regs.pc;
	walk->regs = caller;
	return true;
}
