#include "unwind/x86_calls.h"

/*
 * Returns the length of an instruction with one opcode byte and a ModRM
 * operand.
 */
static unsigned modrm_length(const unsigned char code[3])
{
	unsigned mod = code[1] >> 6, rm = code[1] & 7;
	unsigned length = 2;

	if (mod == 3)
		return length;
	if (rm == 4) {
		length++;
		if (mod == 0 && (code[2] & 7) == 5)
			length += 4;
	} else if (mod == 0 && rm == 5) {
		length += 4;
	}
	return length + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

bool x86_ends_with_call(const unsigned char code[CODE_BYTES])
{
	if (code[CODE_BYTES - 5] == 0xe8) /* call rel32 */
		return true;
	for (unsigned length = 2; length <= 7; length++) {
		const unsigned char *at = code + CODE_BYTES - length;
		unsigned char operand[3] = {at[0], at[1], length > 2 ? at[2] : 0};

		/* call r/m64: ff /2 */
		if (at[0] == 0xff && (at[1] >> 3 & 7) == 2 && modrm_length(operand) == length)
			return true;
	}
	return false;
}

bool x86_call_target(const unsigned char code[CODE_BYTES], uint64_t return_address, uint64_t *ret)
{
	int32_t relative;

	memcpy(&relative, code + CODE_BYTES - sizeof(relative), sizeof(relative));
	*ret = return_address + (uint64_t)(int64_t)relative;
	return code[CODE_BYTES - 5] == 0xe8;
}

bool x86_has_register_jump(const unsigned char *code, size_t len)
{
	for (size_t i = 0; i + 1 < len; i++)
		if (code[i] == 0xff && code[i + 1] >> 3 == 0x1c) /* jmp r64: ff /4, mod 3 */
			return true;
	return false;
}
