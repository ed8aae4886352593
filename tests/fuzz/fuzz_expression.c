/* Fuzzes DWARF operations, with all registers known and half of the memory
 * readable. */
#include "replay.h"
#include "unwind/expression.h"

static bool load(void *user, uint64_t address, unsigned size_bytes, uint64_t *ret)
{
	(void)user;
	*ret = address * size_bytes;
	return address % 2 == 0;
}

static void evaluate(const uint8_t *data, size_t size, const struct expression_input *input)
{
	uint64_t value = 0;

	note_number("passed", expression_evaluate(bytes_of(data, size), input, &value));
	note_number("value", value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct regs regs = {.known = 0};
	uint64_t cfa = 0x7ffe0000;

	for (unsigned reg = 0; reg < REGS_MAX; reg++)
		regs_set(&regs, reg, reg * UINT64_C(0x0101010101));
	struct expression_input input = {
		.regs = &regs, .word_bytes = 8, .load_bias = 0x5500000000, .load = load};

	evaluate(data, size, &input);
	input.cfa = &cfa;
	evaluate(data, size, &input);
	return 0;
}
