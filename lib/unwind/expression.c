#include "unwind/expression.h"

#include <dwarf.h>

struct expression_machine {
	const struct expression_input *input;
	uint64_t stack[EXPRESSION_STACK_MAX];
	unsigned depth;
	bool failed;
};

static void expression_push(struct expression_machine *machine, uint64_t value)
{
	if (machine->depth == EXPRESSION_STACK_MAX)
		machine->failed = true;
	else
		machine->stack[machine->depth++] = value;
}

static uint64_t pop(struct expression_machine *machine)
{
	if (machine->depth == 0) {
		machine->failed = true;
		return 0;
	}
	return machine->stack[--machine->depth];
}

static void pick(struct expression_machine *machine, unsigned index)
{
	if (index < machine->depth)
		expression_push(machine, machine->stack[machine->depth - 1 - index]);
	else
		machine->failed = true;
}

static void swap(struct expression_machine *machine)
{
	uint64_t top = pop(machine), next = pop(machine);

	expression_push(machine, top);
	expression_push(machine, next);
}

static void expression_rotate(struct expression_machine *machine)
{
	uint64_t top = pop(machine), second = pop(machine), third = pop(machine);

	expression_push(machine, top);
	expression_push(machine, third);
	expression_push(machine, second);
}

static void expression_load(struct expression_machine *machine, unsigned size_bytes)
{
	const struct expression_input *input = machine->input;
	uint64_t value = 0;

	if (size_bytes == 0 || size_bytes > 8 ||
	    !input->load(input->user, pop(machine), size_bytes, &value))
		machine->failed = true;
	expression_push(machine, value);
}

static void push_register(struct expression_machine *machine, uint64_t reg, int64_t offset)
{
	const struct regs *regs = machine->input->regs;

	if (reg < REGS_MAX && regs_know(regs, (unsigned)reg))
		expression_push(machine, regs->values[reg] + (uint64_t)offset);
	else
		machine->failed = true;
}

static uint64_t expression_divide(struct expression_machine *machine, uint64_t left, uint64_t right)
{
	/*
	 * Divides signed numbers. The only quotient that overflows wraps
	 * around.
	 */
	if (right == UINT64_MAX)
		return -left;
	if (right == 0) {
		machine->failed = true;
		return 0;
	}
	return (uint64_t)((int64_t)left / (int64_t)right);
}

static uint64_t modulo(struct expression_machine *machine, uint64_t left, uint64_t right)
{
	if (right == 0) {
		machine->failed = true;
		return 0;
	}
	return left % right;
}

static uint64_t shift(uint8_t operation, uint64_t value, uint64_t by)
{
	bool negative = (int64_t)value < 0;

	if (by > 63)
		return operation == DW_OP_shra && negative ? UINT64_MAX : 0;
	switch (operation) {
	case DW_OP_shl:
		return value << by;
	case DW_OP_shr:
		return value >> by;
	default:
		return (uint64_t)((int64_t)value >> by);
	}
}

static bool binary(struct expression_machine *machine, uint8_t operation)
{
	uint64_t right = pop(machine), left = pop(machine);
	int64_t a = (int64_t)left, b = (int64_t)right;

	switch (operation) {
	case DW_OP_and:
		expression_push(machine, left & right);
		return true;
	case DW_OP_div:
		expression_push(machine, expression_divide(machine, left, right));
		return true;
	case DW_OP_minus:
		expression_push(machine, left - right);
		return true;
	case DW_OP_mod:
		expression_push(machine, modulo(machine, left, right));
		return true;
	case DW_OP_mul:
		expression_push(machine, left * right);
		return true;
	case DW_OP_or:
		expression_push(machine, left | right);
		return true;
	case DW_OP_plus:
		expression_push(machine, left + right);
		return true;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		expression_push(machine, shift(operation, left, right));
		return true;
	case DW_OP_xor:
		expression_push(machine, left ^ right);
		return true;
	case DW_OP_eq:
		expression_push(machine, a == b);
		return true;
	case DW_OP_ge:
		expression_push(machine, a >= b);
		return true;
	case DW_OP_gt:
		expression_push(machine, a > b);
		return true;
	case DW_OP_le:
		expression_push(machine, a <= b);
		return true;
	case DW_OP_lt:
		expression_push(machine, a < b);
		return true;
	case DW_OP_ne:
		expression_push(machine, a != b);
		return true;
	default:
		return false;
	}
}

static bool unary(struct expression_machine *machine, uint8_t operation, struct bytes *from)
{
	uint64_t value;

	switch (operation) {
	case DW_OP_abs:
		value = pop(machine);
		expression_push(machine, (int64_t)value < 0 ? -value : value);
		return true;
	case DW_OP_neg:
		expression_push(machine, -pop(machine));
		return true;
	case DW_OP_not:
		expression_push(machine, ~pop(machine));
		return true;
	case DW_OP_plus_uconst:
		expression_push(machine, pop(machine) + bytes_uleb(from));
		return true;
	case DW_OP_deref:
		expression_load(machine, machine->input->word_bytes);
		return true;
	case DW_OP_deref_size:
		expression_load(machine, bytes_u8(from));
		return true;
	default:
		return false;
	}
}

static bool rearrange(struct expression_machine *machine, uint8_t operation, struct bytes *from)
{
	switch (operation) {
	case DW_OP_dup:
		pick(machine, 0);
		return true;
	case DW_OP_drop:
		pop(machine);
		return true;
	case DW_OP_over:
		pick(machine, 1);
		return true;
	case DW_OP_pick:
		pick(machine, bytes_u8(from));
		return true;
	case DW_OP_swap:
		swap(machine);
		return true;
	case DW_OP_rot:
		expression_rotate(machine);
		return true;
	default:
		return false;
	}
}

/* Pushes literals, constants and registers. */
static bool push_operand(struct expression_machine *machine, uint8_t operation, struct bytes *from)
{
	uint64_t reg;

	if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31) {
		expression_push(machine, operation - DW_OP_lit0);
		return true;
	}
	if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31) {
		push_register(machine, operation - DW_OP_breg0, bytes_sleb(from));
		return true;
	}
	switch (operation) {
	case DW_OP_addr:
		expression_push(machine, bytes_uint(from, machine->input->word_bytes) +
						 machine->input->load_bias);
		return true;
	case DW_OP_const1u:
		expression_push(machine, bytes_u8(from));
		return true;
	case DW_OP_const1s:
		expression_push(machine, (uint64_t)(int8_t)bytes_u8(from));
		return true;
	case DW_OP_const2u:
		expression_push(machine, bytes_u16(from));
		return true;
	case DW_OP_const2s:
		expression_push(machine, (uint64_t)(int16_t)bytes_u16(from));
		return true;
	case DW_OP_const4u:
		expression_push(machine, bytes_u32(from));
		return true;
	case DW_OP_const4s:
		expression_push(machine, (uint64_t)(int32_t)bytes_u32(from));
		return true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		expression_push(machine, bytes_u64(from));
		return true;
	case DW_OP_constu:
		expression_push(machine, bytes_uleb(from));
		return true;
	case DW_OP_consts:
		expression_push(machine, (uint64_t)bytes_sleb(from));
		return true;
	case DW_OP_bregx:
		reg = bytes_uleb(from);
		push_register(machine, reg, bytes_sleb(from));
		return true;
	default:
		return false;
	}
}

/* Moves `from` within `operations`. Branches can go backwards. */
static bool branch(struct expression_machine *machine, uint8_t operation, struct bytes operations,
		   struct bytes *from)
{
	int16_t by;

	if (operation != DW_OP_skip && operation != DW_OP_bra)
		return false;
	by = (int16_t)bytes_u16(from);
	if (operation == DW_OP_skip || pop(machine)) {
		uint64_t at = (uint64_t)(from->at - operations.at) + (uint64_t)by;

		*from = bytes_at(operations, at);
	}
	return true;
}

bool expression_evaluate(struct bytes operations, const struct expression_input *input,
			 uint64_t *ret)
{
	struct expression_machine machine = {.input = input};
	struct bytes from = operations;

	if (input->cfa)
		expression_push(&machine, *input->cfa);
	for (unsigned steps = 0; bytes_left(&from); steps++) {
		uint8_t operation = bytes_u8(&from);

		if (steps == EXPRESSION_STEPS_MAX)
			return false;
		if (operation != DW_OP_nop && !push_operand(&machine, operation, &from) &&
		    !unary(&machine, operation, &from) && !rearrange(&machine, operation, &from) &&
		    !branch(&machine, operation, operations, &from) && !binary(&machine, operation))
			return false;
		if (machine.failed || !bytes_ok(&from))
			return false;
	}
	*ret = pop(&machine);
	return !machine.failed && bytes_ok(&operations);
}
