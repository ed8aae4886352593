#include "unwind/x86_insn.h"

#include "base/bytes.h"

enum { REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1 };
enum { SP = 4, FP = 5 };
enum { LENGTH_MAX = 15 };

/* The opcode maps: one byte, 0f, 0f 38, 0f 3a. */
enum { MAP_ONE, MAP_0F, MAP_38, MAP_3A };

struct decoding {
	struct bytes from;
	unsigned rex;
	bool is_narrow; /* 16-bit operands */
	bool has_narrow_address;
	bool is_vector; /* VEX or EVEX */
	unsigned map, opcode;
	unsigned mod, reg, rm; /* with REX.R and REX.B */
	bool has_modrm, has_index;
	bool is_based; /* memory at rm + displacement */
	int64_t displacement, immediate;
};

static int64_t take_signed(struct bytes *from, unsigned size)
{
	switch (size) {
	case 1:
		return (int8_t)bytes_u8(from);
	case 2:
		return (int16_t)bytes_u16(from);
	case 4:
		return (int32_t)bytes_u32(from);
	case 8:
		return (int64_t)bytes_u64(from);
	default:
		return 0;
	}
}

static void take_modrm(struct decoding *in)
{
	unsigned modrm = bytes_u8(&in->from), sib = 0, low = modrm & 7;

	in->has_modrm = true;
	in->mod = modrm >> 6;
	in->reg = (modrm >> 3 & 7) | (in->rex & REX_R ? 8 : 0);
	in->rm = low | (in->rex & REX_B ? 8 : 0);
	if (in->mod == 3)
		return;
	if (low == 4) {
		sib = bytes_u8(&in->from);
		in->has_index = sib >> 3 != SP || in->rex & REX_X;
		low = sib & 7;
		in->rm = low | (in->rex & REX_B ? 8 : 0);
	}
	in->is_based = in->mod != 0 || low != 5;
	in->displacement = take_signed(&in->from, in->mod == 1			  ? 1
						  : in->mod == 2 || !in->is_based ? 4
										  : 0);
}

/* Reads the opcode after its prefixes. */
static bool take_opcode(struct decoding *in)
{
	unsigned byte = bytes_u8(&in->from);

	for (;; byte = bytes_u8(&in->from)) {
		if (byte == 0x66)
			in->is_narrow = true;
		else if (byte == 0x67)
			in->has_narrow_address = true;
		else if (byte != 0xf0 && byte != 0xf2 && byte != 0xf3 && byte != 0x64 &&
			 byte != 0x65 && (byte & 0xe7) != 0x26)
			break;
	}
	if (byte >> 4 == 4) {
		in->rex = byte & 15;
		byte = bytes_u8(&in->from);
	}
	if (byte == 0xc5 || byte == 0xc4 || byte == 0x62) {
		unsigned second = byte == 0xc5 ? 1 : bytes_u8(&in->from);

		in->is_vector = true;
		in->map = second & (byte == 0x62 ? 7 : 31);
		bytes_skip(&in->from, byte == 0x62 ? 2 : 1);
		byte = bytes_u8(&in->from);
		in->opcode = byte;
		return in->map >= MAP_0F && in->map <= MAP_3A;
	}
	if (byte == 0x0f) {
		in->map = MAP_0F;
		byte = bytes_u8(&in->from);
		if (byte == 0x38 || byte == 0x3a) {
			in->map = byte == 0x38 ? MAP_38 : MAP_3A;
			byte = bytes_u8(&in->from);
		}
	}
	in->opcode = byte;
	return true;
}

/* Returns the size of an immediate operand of up to 32 bits. */
static unsigned wide(const struct decoding *in)
{
	return in->is_narrow && !(in->rex & REX_W) ? 2 : 4;
}

/* --- Operands ------------------------------------------------------------- */

/*
 * The operands by opcode:
 *   '.' not decoded
 *   '-' none
 *   'm' ModRM
 *   'b' ModRM and an 8-bit immediate
 *   'z' ModRM and a 16-bit or 32-bit immediate
 *   '1', '2', '4' an immediate of this many bytes
 *   'w' an immediate of 2 or 4 bytes
 *   'q' an immediate of 2, 4 or 8 bytes
 *   'o' an address
 *   'g', 'G' ModRM; the group's first two also have an immediate like 'b', 'z'
 *   'p' ModRM, only for the first of the group
 */
static const char operands_of_one[] = "mmmm1w..mmmm1w.."
				      "mmmm1w..mmmm1w.."
				      "mmmm1w..mmmm1w.."
				      "mmmm1w..mmmm1w.."
				      "................"
				      "----------------"
				      "...m....wz1b----"
				      "1111111111111111"
				      "bz.bmmmmmmmmmmmp"
				      "----------.-----"
				      "oooo----1w------"
				      "11111111qqqqqqqq"
				      "bb2-..bz.-..-1.."
				      "mmmm...-mmmmmmmm"
				      "1111111144.1----"
				      "....--gG------mm";
static const char operands_of_0f[] = "mmmm.-.....-.m.."
				     "mmmmmmmmmmmmmmmm"
				     "........mmmmmmmm"
				     ".-.............."
				     "mmmmmmmmmmmmmmmm"
				     "mmmmmmmmmmmmmmmm"
				     "mmmmmmmmmmmmmmmm"
				     "bbbbmmm-mmmmmmmm"
				     "4444444444444444"
				     "mmmmmmmmmmmmmmmm"
				     "..-mbm.....mbmmm"
				     "mmmmmmmmmmbmmmmm"
				     "mmbmbbbm--------"
				     "mmmmmmmmmmmmmmmm"
				     "mmmmmmmmmmmmmmmm"
				     "mmmmmmmmmmmmmmm.";

static bool take_with_modrm(struct decoding *in, unsigned immediate)
{
	take_modrm(in);
	in->immediate = take_signed(&in->from, immediate);
	return true;
}

static bool take_immediate(struct decoding *in, unsigned size)
{
	in->immediate = take_signed(&in->from, size);
	return true;
}

static bool take_group(struct decoding *in, unsigned immediate)
{
	take_modrm(in);
	return (in->reg & 7) > 1 || take_immediate(in, immediate);
}

static bool take_as(struct decoding *in, char how)
{
	switch (how) {
	case '-':
		return true;
	case 'm':
		return take_with_modrm(in, 0);
	case 'b':
		return take_with_modrm(in, 1);
	case 'z':
		return take_with_modrm(in, wide(in));
	case '1':
		return take_immediate(in, 1);
	case '2':
		return take_immediate(in, 2);
	case '4':
		return take_immediate(in, 4);
	case 'w':
		return take_immediate(in, wide(in));
	case 'q':
		return take_immediate(in, in->rex & REX_W ? 8 : wide(in));
	case 'o':
		return !in->has_narrow_address && take_immediate(in, 8);
	case 'g':
		return take_group(in, 1);
	case 'G':
		return take_group(in, wide(in));
	case 'p':
		return take_with_modrm(in, 0) && (in->reg & 7) == 0;
	default:
		return false;
	}
}

static bool take_operands(struct decoding *in)
{
	switch (in->map) {
	case MAP_ONE:
		return take_as(in, operands_of_one[in->opcode]);
	case MAP_0F:
		return take_as(in, operands_of_0f[in->opcode]);
	default:
		return take_with_modrm(in, in->map == MAP_3A);
	}
}

/* --- Effects -------------------------------------------------------------- */

static bool is_register(const struct decoding *in, unsigned rm)
{
	return in->mod == 3 && in->rm == rm;
}

static bool is_64_bit(const struct decoding *in)
{
	return in->rex & REX_W;
}

/*
 * Returns true if an instruction without another effect writes rsp. 8-bit
 * operands are never rsp.
 */
static bool writes_sp(const struct decoding *in)
{
	unsigned op = in->opcode, digit = in->reg & 7;

	if (op < 0x38)
		return in->has_modrm && op & 1 && (op & 2 ? in->reg == SP : is_register(in, SP));
	switch (op) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8b:
	case 0x8d:
		return in->reg == SP;
	case 0x81:
	case 0x83:
		return digit != 7 && is_register(in, SP);
	case 0x87:
		return in->reg == SP || is_register(in, SP);
	case 0x89:
	case 0x8c:
	case 0xc1:
	case 0xc7:
	case 0xd1:
	case 0xd3:
		return is_register(in, SP);
	case 0x94:
	case 0xbc:
		return !(in->rex & REX_B);
	case 0xf7:
		return (digit == 2 || digit == 3) && is_register(in, SP);
	case 0xff:
		return digit < 2 && is_register(in, SP);
	default:
		return false;
	}
}

/* Decodes a move between a register and memory. */
static void move_effect(const struct decoding *in, enum x86_effect by_sp, enum x86_effect by_fp,
			struct x86_insn *ret)
{
	if (in->mod == 3 || !in->is_based || in->has_index || !is_64_bit(in) ||
	    (in->rm != SP && in->rm != FP))
		return;
	ret->effect = in->rm == SP ? by_sp : by_fp;
	ret->reg = in->reg;
	ret->value = in->displacement;
}

/* Returns true for rbx, rbp and r12 to r15. */
static bool is_saved(unsigned reg)
{
	return 0xf028 >> reg & 1;
}

/* Decodes a 64-bit mov between registers. Returns false if it does not concern
 * the stack. */
static bool copy_effect(unsigned from, unsigned to, struct x86_insn *ret)
{
	if (to == SP && is_saved(from)) {
		ret->effect = from == FP ? X86_FROM_FP : X86_FROM_COPY;
		ret->reg = from == FP ? X86_NO_REG : from;
	} else if (from == SP && is_saved(to)) {
		ret->effect = to == FP ? X86_SET_FP : X86_COPY_SP;
		ret->reg = to == FP ? X86_NO_REG : to;
	} else {
		return false;
	}
	return true;
}

/* Decodes mov. `from` and `to` are the operands that are registers. */
static void mov_effect(const struct decoding *in, unsigned from, unsigned to, struct x86_insn *ret)
{
	if (in->mod == 3 && is_64_bit(in) && copy_effect(from, to, ret))
		return;
	if (writes_sp(in))
		ret->effect = X86_SET_SP;
	else if (in->opcode == 0x89)
		move_effect(in, X86_STORE, X86_STORE_BY_FP, ret);
	else
		move_effect(in, X86_LOAD, X86_LOAD_BY_FP, ret);
}

static void lea_effect(const struct decoding *in, struct x86_insn *ret)
{
	if (in->reg != SP)
		return;
	ret->effect = X86_SET_SP;
	if (!is_64_bit(in) || in->mod == 3 || !in->is_based || in->has_index ||
	    in->has_narrow_address || (in->rm != SP && in->rm != FP))
		return;
	ret->effect = in->rm == SP ? X86_ADD : X86_FROM_FP;
	ret->value = in->displacement;
}

static void group_5_effect(const struct decoding *in, struct x86_insn *ret)
{
	switch (in->reg & 7) {
	case 2:
		ret->effect = X86_CALL;
		break;
	case 4:
		ret->effect = X86_JUMP_INDIRECT;
		break;
	case 6:
		ret->effect = X86_PUSH;
		break;
	default:
		if (writes_sp(in))
			ret->effect = X86_SET_SP;
	}
}

static void add_effect(const struct decoding *in, struct x86_insn *ret)
{
	unsigned digit = in->reg & 7;

	if (!writes_sp(in))
		return;
	ret->effect = is_64_bit(in) && (digit == 0 || digit == 5) ? X86_ADD : X86_SET_SP;
	ret->value = digit == 5 ? -in->immediate : in->immediate;
}

static void stack_effect(const struct decoding *in, enum x86_effect effect, unsigned reg,
			 struct x86_insn *ret)
{
	ret->effect = in->is_narrow || (effect == X86_POP && reg == SP) ? X86_SET_SP : effect;
	ret->reg = reg;
}

/* Decodes push and pop. Returns false for another instruction. */
static bool push_pop_effect(const struct decoding *in, struct x86_insn *ret)
{
	unsigned op = in->opcode, low = (op & 7) | (in->rex & REX_B ? 8 : 0);

	if (op >> 3 == 0x50 >> 3)
		stack_effect(in, X86_PUSH, low, ret);
	else if (op >> 3 == 0x58 >> 3)
		stack_effect(in, X86_POP, low, ret);
	else if (op == 0x68 || op == 0x6a || op == 0x9c)
		stack_effect(in, X86_PUSH, X86_NO_REG, ret);
	else if (op == 0x8f || op == 0x9d)
		stack_effect(in, X86_POP, op == 0x8f && in->mod == 3 ? in->rm : X86_NO_REG, ret);
	else
		return false;
	return true;
}

/* Decodes jumps, calls and returns. Returns false for another instruction. */
static bool jump_effect(const struct decoding *in, struct x86_insn *ret)
{
	unsigned op = in->opcode;

	ret->value = in->immediate;
	if (op >> 4 == 7 || op >> 2 == 0xe0 >> 2) /* jcc, loop, jrcxz */
		ret->effect = X86_BRANCH;
	else if (op == 0xe9 || op == 0xeb)
		ret->effect = X86_JUMP;
	else if (op == 0xe8) /* a call of the next instruction only pushes its address */
		ret->effect = in->immediate ? X86_CALL : X86_SET_SP;
	else if (op == 0xc2 || op == 0xc3)
		ret->effect = X86_RETURN;
	else if (op == 0xcc || op == 0xf4)
		ret->effect = X86_END;
	else
		return false;
	return true;
}

static void effect_of_one(const struct decoding *in, struct x86_insn *ret)
{
	if (push_pop_effect(in, ret) || jump_effect(in, ret))
		return;
	ret->value = 0;
	switch (in->opcode) {
	case 0x81:
	case 0x83:
		add_effect(in, ret);
		break;
	case 0x89:
		mov_effect(in, in->reg, in->rm, ret);
		break;
	case 0x8b:
		mov_effect(in, in->rm, in->reg, ret);
		break;
	case 0x8d:
		lea_effect(in, ret);
		break;
	case 0xc9:
		ret->effect = X86_LEAVE;
		break;
	case 0xff:
		group_5_effect(in, ret);
		break;
	case 0x31:
	case 0x33:
		if (is_register(in, FP) && in->reg == FP) {
			ret->effect = X86_ZERO_FP;
			break;
		}
		/* fall through */
	default:
		if (writes_sp(in))
			ret->effect = X86_SET_SP;
	}
}

static void effect_of_0f(const struct decoding *in, struct x86_insn *ret)
{
	if (in->opcode == 0x0b) {
		ret->effect = X86_END;
	} else if (in->opcode >> 4 == 4 && in->reg == SP) { /* cmov */
		ret->effect = X86_SET_SP;
	} else if (in->opcode >> 4 == 8) {
		ret->effect = X86_BRANCH;
		ret->value = in->immediate;
	}
}

/* Returns true if ModRM's reg is a part of the opcode. */
static bool x86_insn_is_group(unsigned opcode)
{
	return opcode >> 2 == 0x80 >> 2 || opcode >> 2 == 0xd0 >> 2 || (opcode & 0xf6) == 0xf6 ||
	       (opcode & 0xf8) == 0xc0;
}

static bool names_saved(const struct decoding *in)
{
	if (!in->has_modrm)
		return in->map == MAP_ONE && in->opcode >> 4 == 0xb &&
		       is_saved((in->opcode & 7) | (in->rex & REX_B ? 8 : 0));
	return ((in->mod == 3 || in->is_based) && is_saved(in->rm)) ||
	       (!(in->map == MAP_ONE && x86_insn_is_group(in->opcode)) && is_saved(in->reg));
}

enum { CHANGES_REG = 1, CHANGES_RM = 2, CHANGES_ALL = 4 };

/* Returns which operands of an instruction after 0f may be general registers
 * that it changes. Most others are vectors. */
static unsigned changed_of_0f(unsigned op)
{
	switch (op >> 4) {
	case 0x0:
	case 0x9:
	case 0xa:
	case 0xb:
		return op == 0xa2 ? CHANGES_ALL : CHANGES_REG | CHANGES_RM; /* cpuid: rbx */
	case 0x4:
		return CHANGES_REG;
	case 0xc:
		return CHANGES_REG | CHANGES_RM;
	default:
		break;
	}
	if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xd7)
		return CHANGES_REG;
	return op == 0x7e ? CHANGES_RM : 0;
}

static unsigned changed_operands(const struct decoding *in)
{
	unsigned op = in->opcode;

	switch (in->map) {
	case MAP_ONE:
		return x86_insn_is_group(op) ? CHANGES_RM : CHANGES_REG | CHANGES_RM;
	case MAP_0F:
		return changed_of_0f(op);
	case MAP_38: /* crc32, movbe, and what works on bits */
		return op >= 0xf0 ? CHANGES_ALL : 0;
	default: /* pextr, rorx */
		return op >= 0xf0 || op >> 2 == 0x14 >> 2 ? CHANGES_ALL : 0;
	}
}

/* Without the effects on the stack. The high bits of a vector instruction's
 * operands were not decoded. */
static uint16_t changed_registers(const struct decoding *in)
{
	unsigned operands = changed_operands(in), rm = 1U << in->rm, reg = 1U << in->reg, both;
	unsigned op = in->opcode;

	if (operands & CHANGES_ALL)
		return UINT16_MAX;
	if (!in->has_modrm) {
		reg = 1U << ((op & 7) | (in->rex & REX_B ? 8 : 0));
		if (in->map == MAP_ONE)
			return op >> 4 == 9 || op >> 4 == 0xb || op >> 3 == 0x58 >> 3
				       ? (uint16_t)reg
				       : 0;
		return in->map == MAP_0F && op >> 3 == 0xc8 >> 3 ? (uint16_t)reg : 0;
	}
	both = (operands & CHANGES_REG ? reg : 0) |
	       (operands & CHANGES_RM && in->mod == 3 ? rm : 0);
	return (uint16_t)(in->is_vector ? both | both << 8 : both);
}

bool x86_insn_decode(const unsigned char *code, size_t len, struct x86_insn *ret)
{
	struct decoding in = {.from = bytes_of(code, len < LENGTH_MAX ? len : LENGTH_MAX)};

	if (!take_opcode(&in) || !take_operands(&in) || !bytes_ok(&in.from) ||
	    (in.is_vector && in.map == MAP_0F && in.opcode >> 4 == 8))
		return false;
	*ret = (struct x86_insn){.length = (unsigned)(in.from.at - code),
				 .reg = X86_NO_REG,
				 .names_saved = names_saved(&in),
				 .changes = changed_registers(&in)};
	if (in.is_vector)
		return true;
	if (in.map == MAP_ONE)
		effect_of_one(&in, ret);
	else if (in.map == MAP_0F)
		effect_of_0f(&in, ret);
	return true;
}
