#include "unwind/expression.h"

#include "unit_test.h"

#include <dwarf.h>

/* Memory in which each byte is the low byte of its address. */
static bool load(void *user, uint64_t address, unsigned size_bytes, uint64_t *ret)
{
	const uint64_t *forbidden = user;

	if (address == *forbidden)
		return false;
	*ret = 0;
	for (unsigned i = 0; i < size_bytes; i++)
		*ret |= (uint64_t)(uint8_t)(address + i) << 8 * i;
	return true;
}

static bool evaluate(const void *operations, size_t len, const uint64_t *cfa, uint64_t *ret)
{
	static uint64_t forbidden = 0xbad;
	struct regs regs = {.known = 0};
	struct expression_input input = {.regs = &regs,
					 .word_bytes = 8,
					 .cfa = cfa,
					 .load_bias = 0x10000,
					 .load = load,
					 .user = &forbidden};

	regs_set(&regs, 6, 0x600);
	regs_set(&regs, 7, 0x700);
	return expression_evaluate(bytes_of(operations, len), &input, ret);
}

#define ASSERT_VALUE(expected, ...)                                                                \
	do {                                                                                       \
		static const unsigned char ops_[] = {__VA_ARGS__};                                 \
		uint64_t value_ = 0;                                                               \
                                                                                                   \
		assert_true(evaluate(ops_, sizeof(ops_), NULL, &value_));                          \
		assert_int_equal(value_, (uint64_t)(expected));                                    \
	} while (0)

#define ASSERT_FAILS(...)                                                                          \
	do {                                                                                       \
		static const unsigned char ops_[] = {__VA_ARGS__};                                 \
		uint64_t value_;                                                                   \
                                                                                                   \
		assert_false(evaluate(ops_, sizeof(ops_), NULL, &value_));                         \
	} while (0)

TEST(constants_are_pushed_with_their_sign)
{
	ASSERT_VALUE(0, DW_OP_lit0);
	ASSERT_VALUE(31, DW_OP_lit31);
	ASSERT_VALUE(255, DW_OP_const1u, 0xff);
	ASSERT_VALUE(-1, DW_OP_const1s, 0xff);
	ASSERT_VALUE(0x8001, DW_OP_const2u, 0x01, 0x80);
	ASSERT_VALUE(-0x7fff, DW_OP_const2s, 0x01, 0x80);
	ASSERT_VALUE(0x80000001, DW_OP_const4u, 1, 0, 0, 0x80);
	ASSERT_VALUE(-0x7fffffff, DW_OP_const4s, 1, 0, 0, 0x80);
	ASSERT_VALUE(0x0807060504030201, DW_OP_const8u, 1, 2, 3, 4, 5, 6, 7, 8);
	ASSERT_VALUE(0x0807060504030201, DW_OP_const8s, 1, 2, 3, 4, 5, 6, 7, 8);
	ASSERT_VALUE(12857, DW_OP_constu, 0xb9, 0x64);
	ASSERT_VALUE(-128, DW_OP_consts, 0x80, 0x7f);
	ASSERT_VALUE(0x10001, DW_OP_addr, 1, 0, 0, 0, 0, 0, 0, 0);
}

TEST(registers_and_memory_are_read)
{
	ASSERT_VALUE(0x708, DW_OP_breg7, 8);
	ASSERT_VALUE(0x5f8, DW_OP_breg6, 0x78);
	ASSERT_VALUE(0x701, DW_OP_bregx, 7, 1);
	ASSERT_VALUE(0x0706050403020100, DW_OP_breg7, 0, DW_OP_deref);
	ASSERT_VALUE(0x0100, DW_OP_breg7, 0, DW_OP_deref_size, 2);
	ASSERT_FAILS(DW_OP_breg5, 0);	    /* unknown register */
	ASSERT_FAILS(DW_OP_bregx, 0x7f, 0); /* no such register */
	ASSERT_FAILS(DW_OP_const2u, 0xad, 0x0b, DW_OP_deref);
	ASSERT_FAILS(DW_OP_breg7, 0, DW_OP_deref_size, 9);
	ASSERT_FAILS(DW_OP_breg7, 0, DW_OP_deref_size, 0);
}

TEST(arithmetic_is_that_of_dwarf)
{
	ASSERT_VALUE(5, DW_OP_lit3, DW_OP_lit2, DW_OP_plus);
	ASSERT_VALUE(-1, DW_OP_lit2, DW_OP_lit3, DW_OP_minus);
	ASSERT_VALUE(-2, DW_OP_const1s, 0xf9, DW_OP_lit3, DW_OP_div);
	ASSERT_VALUE(1, DW_OP_lit7, DW_OP_lit3, DW_OP_mod);
	ASSERT_VALUE(21, DW_OP_lit7, DW_OP_lit3, DW_OP_mul);
	ASSERT_VALUE(INT64_MIN, DW_OP_lit1, DW_OP_const1u, 63, DW_OP_shl, DW_OP_const1s, 0xff,
		     DW_OP_div);
	ASSERT_VALUE(7, DW_OP_const1s, 0xf9, DW_OP_abs);
	ASSERT_VALUE(-7, DW_OP_lit7, DW_OP_neg);
	ASSERT_VALUE(-8, DW_OP_lit7, DW_OP_not);
	ASSERT_VALUE(0x87, DW_OP_lit7, DW_OP_plus_uconst, 0x80, 0x01);
	ASSERT_VALUE(1, DW_OP_lit3, DW_OP_lit5, DW_OP_and);
	ASSERT_VALUE(7, DW_OP_lit3, DW_OP_lit5, DW_OP_or);
	ASSERT_VALUE(6, DW_OP_lit3, DW_OP_lit5, DW_OP_xor);
	ASSERT_VALUE(12, DW_OP_lit3, DW_OP_lit2, DW_OP_shl);
	ASSERT_VALUE(0, DW_OP_lit3, DW_OP_const1u, 64, DW_OP_shl);
	ASSERT_VALUE(-1, DW_OP_const1s, 0xfe, DW_OP_lit1, DW_OP_shra);
	ASSERT_VALUE(-1, DW_OP_const1s, 0xfe, DW_OP_const1u, 200, DW_OP_shra);
	ASSERT_VALUE(INT64_MAX, DW_OP_const1s, 0xff, DW_OP_lit1, DW_OP_shr);
	ASSERT_VALUE(1, DW_OP_const1s, 0xff, DW_OP_lit1, DW_OP_lt); /* signed */
	ASSERT_VALUE(0, DW_OP_const1s, 0xff, DW_OP_lit1, DW_OP_ge);
	ASSERT_FAILS(DW_OP_lit1, DW_OP_lit0, DW_OP_div);
	ASSERT_FAILS(DW_OP_lit1, DW_OP_lit0, DW_OP_mod);
}

TEST(comparisons_are_signed)
{
	static const struct {
		unsigned char operation;
		bool less, equal, greater;
	} cases[] = {{DW_OP_eq, 0, 1, 0}, {DW_OP_ne, 1, 0, 1}, {DW_OP_lt, 1, 0, 0},
		     {DW_OP_le, 1, 1, 0}, {DW_OP_gt, 0, 0, 1}, {DW_OP_ge, 0, 1, 1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int left = -1; left <= 1; left++) {
			unsigned char ops[] = {DW_OP_const1s, (unsigned char)left, DW_OP_lit0,
					       cases[i].operation};
			uint64_t value;

			assert_true(evaluate(ops, sizeof(ops), NULL, &value));
			assert_int_equal(value, left < 0   ? cases[i].less
						: left > 0 ? cases[i].greater
							   : cases[i].equal);
		}
}

TEST(the_stack_is_rearranged)
{
	ASSERT_VALUE(2, DW_OP_lit1, DW_OP_dup, DW_OP_plus);
	ASSERT_VALUE(1, DW_OP_lit1, DW_OP_lit2, DW_OP_drop);
	ASSERT_VALUE(1, DW_OP_lit1, DW_OP_lit2, DW_OP_over);
	ASSERT_VALUE(1, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_pick, 2);
	ASSERT_VALUE(1, DW_OP_lit1, DW_OP_lit2, DW_OP_swap);
	/* 1 2 3 becomes 3 1 2 */
	ASSERT_VALUE(2, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot);
	ASSERT_VALUE(1, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_drop);
	ASSERT_VALUE(3, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_drop, DW_OP_drop);
	ASSERT_FAILS(DW_OP_drop);
	ASSERT_FAILS(DW_OP_lit1, DW_OP_over);
	ASSERT_FAILS(DW_OP_lit1, DW_OP_lit2, DW_OP_rot);
	ASSERT_FAILS(DW_OP_lit1, DW_OP_drop); /* nothing left for a result */
}

TEST(branches_go_both_ways)
{
	ASSERT_VALUE(1, DW_OP_lit1, DW_OP_skip, 1, 0, DW_OP_lit2);
	ASSERT_VALUE(2, DW_OP_lit1, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit2);
	/* 5: while (top) top--; counts down to 0 */
	ASSERT_VALUE(0, DW_OP_lit5, DW_OP_lit1, DW_OP_minus, DW_OP_dup, DW_OP_bra, 0xfa, 0xff);
	ASSERT_FAILS(DW_OP_lit1, DW_OP_skip, 2, 0, DW_OP_lit2);	     /* past the end */
	ASSERT_FAILS(DW_OP_lit1, DW_OP_skip, 0xfb, 0xff, DW_OP_nop); /* before the start */
}

TEST(hostile_operations_end)
{
	unsigned char pushes[EXPRESSION_STACK_MAX + 1];
	uint64_t value;

	ASSERT_FAILS(DW_OP_lit1, DW_OP_skip, 0xfd, 0xff); /* endless loop */
	memset(pushes, DW_OP_lit1, sizeof(pushes));
	assert_true(evaluate(pushes, EXPRESSION_STACK_MAX, NULL, &value));
	assert_false(evaluate(pushes, EXPRESSION_STACK_MAX + 1, NULL, &value));
	ASSERT_FAILS(DW_OP_const4u, 1, 2); /* truncated */
	ASSERT_FAILS(DW_OP_call_frame_cfa);
	ASSERT_FAILS(DW_OP_reg7);
	assert_false(evaluate(NULL, 0, NULL, &value));
}

TEST(the_cfa_is_there_from_the_start_when_given)
{
	static const unsigned char plt[] = {/* binutils' rule for a PLT: CFA = rsp + 8 + ((rip & 15)
					       >= 11) * 8, here with rbp */
					    DW_OP_breg7, 8,	    DW_OP_breg6, 0x0c,
					    DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
					    DW_OP_lit3,	 DW_OP_shl, DW_OP_plus};
	static const unsigned char add[] = {DW_OP_plus_uconst, 8};
	uint64_t cfa = 0x1000, value;

	assert_true(evaluate(plt, sizeof(plt), NULL, &value));
	assert_int_equal(value, 0x710);
	assert_true(evaluate(add, sizeof(add), &cfa, &value));
	assert_int_equal(value, 0x1008);
	assert_true(evaluate(NULL, 0, &cfa, &value));
	assert_int_equal(value, 0x1000);
}
