#include "unwind/cfi_program.h"

#include <dwarf.h>

/* Compilers nest remember_state once or twice. */
enum { REMEMBERED_MAX = 16 };

/* From AADWARF64, 4.4. The <dwarf.h> of elfutils 0.188 lacks them. */
enum { AARCH64_SET_RA_STATE = 0x2b, AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c };

struct cfi_program {
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	const struct arch *arch;
	const struct cfi_row *initial; /* row that DW_CFA_restore restores */
	struct cfi_rule *rule;	       /* its start and end shrink to the row of vaddr */
	uint64_t vaddr;
	struct bytes at;
	unsigned steps_left;
	bool done, failed;
	unsigned remembered_count;
	struct cfi_row remembered[REMEMBERED_MAX];
};

void cfi_row_default(const struct arch *arch, struct cfi_row *ret)
{
	*ret = (struct cfi_row){0};
	for (unsigned reg = 0; reg < arch->register_count; reg++)
		if (arch->preserved & reg_bit(reg))
			ret->regs[reg].how = CFI_SAME;
	ret->regs[arch->sp].how = CFI_CFA_PLUS;
	if (!arch->ra_in_register)
		ret->regs[arch->ra] = (struct cfi_value){.how = CFI_AT_CFA,
							 .offset = -(int64_t)arch->word_bytes};
}

static void row_copy(const struct arch *arch, struct cfi_row *to, const struct cfi_row *from)
{
	to->cfa = from->cfa;
	memcpy(to->regs, from->regs, arch->register_count * sizeof(*to->regs));
}

/* Vector registers have numbers, too, but are not tracked. */
static void cfi_program_set(struct cfi_program *program, uint64_t reg, struct cfi_value value)
{
	if (reg < program->arch->register_count)
		program->rule->row.regs[reg] = value;
}

static void set_offset(struct cfi_program *program, enum cfi_how how, uint64_t reg,
		       int64_t factored)
{
	uint64_t offset = (uint64_t)factored * (uint64_t)program->cie->data_align;

	cfi_program_set(program, reg,
			(struct cfi_value){.how = (uint8_t)how, .offset = (int64_t)offset});
}

static void set_register(struct cfi_program *program, uint64_t reg, uint64_t source)
{
	if (reg < program->arch->register_count && source >= program->arch->register_count)
		program->failed = true;
	cfi_program_set(program, reg,
			(struct cfi_value){.how = CFI_REGISTER, .reg = (uint8_t)source});
}

static struct cfi_value expression(struct cfi_program *program, enum cfi_how how)
{
	struct bytes block = bytes_sub(&program->at, bytes_uleb(&program->at));

	return (struct cfi_value){.how = (uint8_t)how,
				  .expression_bytes = (uint32_t)bytes_left(&block),
				  .expression = block.at};
}

static void cfi_program_restore(struct cfi_program *program, uint64_t reg)
{
	if (reg < program->arch->register_count)
		program->rule->row.regs[reg] = program->initial->regs[reg];
}

static void def_cfa(struct cfi_program *program, uint64_t reg, int64_t offset)
{
	if (reg >= program->arch->register_count)
		program->failed = true;
	program->rule->row.cfa =
		(struct cfi_value){.how = CFI_REGISTER, .reg = (uint8_t)reg, .offset = offset};
}

/* Changes only the register, so the CFA must be register + offset. */
static void def_cfa_register(struct cfi_program *program, uint64_t reg)
{
	if (program->rule->row.cfa.how != CFI_REGISTER)
		program->failed = true;
	def_cfa(program, reg, program->rule->row.cfa.offset);
}

static void def_cfa_offset(struct cfi_program *program, int64_t offset)
{
	if (program->rule->row.cfa.how != CFI_REGISTER)
		program->failed = true;
	program->rule->row.cfa.offset = offset;
}

static int64_t factored(const struct cfi_program *program, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)program->cie->data_align);
}

static void cfi_program_remember(struct cfi_program *program)
{
	if (program->remembered_count == REMEMBERED_MAX)
		program->failed = true;
	else
		row_copy(program->arch, &program->remembered[program->remembered_count++],
			 &program->rule->row);
}

static void recall(struct cfi_program *program)
{
	if (program->remembered_count == 0)
		program->failed = true;
	else
		row_copy(program->arch, &program->rule->row,
			 &program->remembered[--program->remembered_count]);
}

/*
 * Rows are in ascending order. The first row that starts after vaddr ends the
 * row that contains vaddr.
 */
static void cfi_program_go_to(struct cfi_program *program, uint64_t location)
{
	if (location < program->rule->start) {
		program->failed = true;
	} else if (location > program->vaddr) {
		if (location < program->rule->end)
			program->rule->end = location;
		program->done = true;
	} else {
		program->rule->start = location;
	}
}

static void cfi_program_advance(struct cfi_program *program, uint64_t delta)
{
	cfi_program_go_to(program, program->rule->start + delta * program->cie->code_align);
}

static bool step_location(struct cfi_program *program, uint8_t operation)
{
	struct bytes *at = &program->at;

	switch (operation) {
	case DW_CFA_set_loc:
		cfi_program_go_to(program,
				  cfi_pointer(program->section, at, program->cie->pc_encoding));
		return true;
	case DW_CFA_advance_loc1:
		cfi_program_advance(program, bytes_u8(at));
		return true;
	case DW_CFA_advance_loc2:
		cfi_program_advance(program, bytes_u16(at));
		return true;
	case DW_CFA_advance_loc4:
		cfi_program_advance(program, bytes_u32(at));
		return true;
	default:
		return false;
	}
}

static bool step_cfa(struct cfi_program *program, uint8_t operation)
{
	struct bytes *at = &program->at;
	uint64_t reg;

	switch (operation) {
	case DW_CFA_def_cfa:
		reg = bytes_uleb(at);
		def_cfa(program, reg, (int64_t)bytes_uleb(at));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = bytes_uleb(at);
		def_cfa(program, reg, factored(program, bytes_sleb(at)));
		return true;
	case DW_CFA_def_cfa_register:
		def_cfa_register(program, bytes_uleb(at));
		return true;
	case DW_CFA_def_cfa_offset:
		def_cfa_offset(program, (int64_t)bytes_uleb(at));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		def_cfa_offset(program, factored(program, bytes_sleb(at)));
		return true;
	case DW_CFA_def_cfa_expression:
		program->rule->row.cfa = expression(program, CFI_EXPRESSION);
		return true;
	default:
		return false;
	}
}

static bool step_register(struct cfi_program *program, uint8_t operation)
{
	struct bytes *at = &program->at;
	uint64_t reg = bytes_uleb(at);

	switch (operation) {
	case DW_CFA_offset_extended:
		set_offset(program, CFI_AT_CFA, reg, (int64_t)bytes_uleb(at));
		return true;
	case DW_CFA_offset_extended_sf:
		set_offset(program, CFI_AT_CFA, reg, bytes_sleb(at));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set_offset(program, CFI_AT_CFA, reg, -(int64_t)bytes_uleb(at));
		return true;
	case DW_CFA_val_offset:
		set_offset(program, CFI_CFA_PLUS, reg, (int64_t)bytes_uleb(at));
		return true;
	case DW_CFA_val_offset_sf:
		set_offset(program, CFI_CFA_PLUS, reg, bytes_sleb(at));
		return true;
	case DW_CFA_restore_extended:
		cfi_program_restore(program, reg);
		return true;
	case DW_CFA_undefined:
		cfi_program_set(program, reg, (struct cfi_value){.how = CFI_UNDEFINED});
		return true;
	case DW_CFA_same_value:
		cfi_program_set(program, reg, (struct cfi_value){.how = CFI_SAME});
		return true;
	case DW_CFA_register:
		set_register(program, reg, bytes_uleb(at));
		return true;
	case DW_CFA_expression:
		cfi_program_set(program, reg, expression(program, CFI_EXPRESSION_AT));
		return true;
	case DW_CFA_val_expression:
		cfi_program_set(program, reg, expression(program, CFI_EXPRESSION));
		return true;
	default:
		return false;
	}
}

static bool step_rest(struct cfi_program *program, uint8_t operation)
{
	switch (operation) {
	case DW_CFA_nop:
	case DW_CFA_AARCH64_negate_ra_state:
	case AARCH64_NEGATE_RA_STATE_WITH_PC:
		return true;
	case AARCH64_SET_RA_STATE:
		bytes_uleb(&program->at);
		bytes_sleb(&program->at);
		return true;
	case DW_CFA_GNU_args_size:
		bytes_uleb(&program->at);
		return true;
	case DW_CFA_remember_state:
		cfi_program_remember(program);
		return true;
	case DW_CFA_restore_state:
		recall(program);
		return true;
	default:
		return false;
	}
}

static void cfi_program_step(struct cfi_program *program)
{
	uint8_t operation = bytes_u8(&program->at);
	uint8_t operand = operation & 0x3f;

	switch (operation & 0xc0) {
	case DW_CFA_advance_loc:
		cfi_program_advance(program, operand);
		return;
	case DW_CFA_offset:
		set_offset(program, CFI_AT_CFA, operand, (int64_t)bytes_uleb(&program->at));
		return;
	case DW_CFA_restore:
		cfi_program_restore(program, operand);
		return;
	}
	if (!step_cfa(program, operation) && !step_rest(program, operation) &&
	    !step_location(program, operation) && !step_register(program, operation))
		program->failed = true;
}

static bool cfi_program_execute(struct cfi_program *program, struct bytes instructions)
{
	unsigned steps = program->steps_left;

	program->at = instructions;
	for (; steps && bytes_left(&program->at) && !program->done && !program->failed; steps--)
		cfi_program_step(program);
	program->steps_left = steps;
	return !program->failed && bytes_ok(&program->at) && steps;
}

bool cfi_program_run(const struct cfi_section *section, const struct cfi_fde *fde,
		     const struct arch *arch, const struct cfi_row *defaults, uint64_t vaddr,
		     unsigned *steps, struct cfi_rule *ret)
{
	struct cfi_program program;
	struct cfi_row initial;
	bool found = false;

	if (fde->cie.ra != arch->ra)
		return false;
	program.section = section;
	program.cie = &fde->cie;
	program.arch = arch;
	program.initial = defaults;
	program.rule = ret;
	program.vaddr = vaddr;
	program.done = program.failed = false;
	program.remembered_count = 0;
	program.steps_left = *steps;
	ret->start = fde->start;
	ret->end = fde->end;
	ret->signal_frame = fde->cie.signal_frame;
	row_copy(arch, &ret->row, defaults);
	if (cfi_program_execute(&program, fde->cie.program) && !program.done) {
		row_copy(arch, &initial, &ret->row);
		program.initial = &initial;
		found = cfi_program_execute(&program, fde->program) &&
			ret->row.cfa.how != CFI_UNDEFINED;
	}
	*steps = program.steps_left;
	return found;
}
