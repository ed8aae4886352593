#include "unwind/x86_frames.h"

enum { REX_WIDE = 0x48, REX_MASK = 0xf8, REX_BASE = 1, REX_REG = 4 };

/* Maximum number of consecutive reservations that are considered. */
enum { RESERVED_MAX = 6 };

/* Length of the longest instruction that is searched. */
enum { INSTRUCTION_BYTES = 8 };

static int64_t signed_32(const unsigned char *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Recognizes sub $imm, %rsp and add $-imm, %rsp. */
static int64_t reserved_bytes(const unsigned char *at)
{
	int64_t value;

	if (at[0] != REX_WIDE || (at[1] != 0x83 && at[1] != 0x81))
		return 0;
	value = at[1] == 0x83 ? (int8_t)at[3] : signed_32(at + 3);
	if (at[2] == 0xec)
		return value;
	return at[2] == 0xc4 && value < 0 ? -value : 0;
}

/* Recognizes and $-imm, %rsp. */
static int64_t alignment_at(const unsigned char *at)
{
	if (at[0] != REX_WIDE || (at[1] != 0x83 && at[1] != 0x81) || at[2] != 0xe4)
		return 0;
	return -(at[1] == 0x83 ? (int8_t)at[3] : signed_32(at + 3));
}

/*
 * Recognizes lea -imm(%rsp), %r11: the end of a loop that touches each page of
 * a large frame.
 */
static int64_t probed_bytes(const unsigned char *at)
{
	static const unsigned char lea[] = {0x4c, 0x8d, 0x9c, 0x24};

	return memcmp(at, lea, sizeof(lea)) == 0 ? -signed_32(at + sizeof(lea)) : 0;
}

/* Returns true if this sets rsp to a value known only at run time: alloca. */
static bool varies(const unsigned char *at)
{
	unsigned rex = at[0], modrm = at[2];
	bool is_from_rbp = (modrm & 7) == 5 && modrm >> 6 != 3 && modrm >> 6 != 0;

	if ((rex & REX_MASK) != REX_WIDE)
		return false;
	switch (at[1]) {
	case 0x29: /* sub %r64, %rsp; mov %r64, %rsp */
	case 0x89:
		return (modrm & 0xc7) == 0xc4 && !(rex & REX_BASE);
	case 0x2b: /* sub r/m64, %rsp; mov r/m64, %rsp */
	case 0x8b:
		return (modrm & 0x38) == 0x20 && !(rex & REX_REG);
	case 0x8d: /* lea …, %rsp; based on rbp in epilogues */
		return (modrm & 0x38) == 0x20 && !(rex & REX_REG) && !is_from_rbp;
	default:
		return false;
	}
}

static void add_size(uint64_t size, uint64_t *sizes, unsigned *count, unsigned room)
{
	for (unsigned i = 0; i < *count; i++)
		if (sizes[i] == size)
			return;
	if (*count < room)
		sizes[(*count)++] = size;
}

unsigned x86_frame_sizes(const unsigned char *code, size_t len, uint64_t *sizes, unsigned room,
			 unsigned *alignment)
{
	int64_t probed = 0, reserved[RESERVED_MAX], sum = 0;
	unsigned reserved_count = 0, count = 0;

	*alignment = 1;
	for (size_t i = 0; i + INSTRUCTION_BYTES <= len; i++) {
		int64_t bytes = reserved_bytes(code + i), aligned = alignment_at(code + i);

		if (varies(code + i))
			return 0;
		if (aligned > *alignment)
			*alignment = (unsigned)aligned;
		if (!probed)
			probed = probed_bytes(code + i);
		if (bytes <= 0)
			continue;
		if (reserved_count == RESERVED_MAX)
			return 0;
		reserved[reserved_count++] = bytes;
		sum += bytes;
	}
	if (!reserved_count)
		reserved[reserved_count++] = 0;
	for (unsigned i = 0; i < reserved_count; i++) {
		add_size((uint64_t)reserved[i], sizes, &count, room);
		if (probed > 0)
			add_size((uint64_t)(probed + reserved[i]), sizes, &count, room);
	}
	add_size((uint64_t)sum, sizes, &count, room);
	return count;
}

bool x86_sets_up_fp(const unsigned char *code, size_t len, size_t *at)
{
	static const unsigned char push_mov[] = {0x55, 0x48, 0x89, 0xe5};
	const unsigned char *found = len ? memmem(code, len, push_mov, sizeof(push_mov)) : NULL;

	if (found)
		*at = (size_t)(found - code);
	return found;
}

bool x86_may_set_fp(const unsigned char *code, size_t len)
{
	for (size_t i = 0; i + 3 <= len; i++) {
		const unsigned char *at = code + i;

		/* mov %rsp,%rbp in both forms; lea n(%rsp),%rbp */
		if (at[0] == REX_WIDE &&
		    ((at[1] == 0x89 && at[2] == 0xe5) || (at[1] == 0x8b && at[2] == 0xec) ||
		     (at[1] == 0x8d && (at[2] & 0x3f) == 0x2c)))
			return true;
	}
	return false;
}

unsigned x86_popped_bytes(const unsigned char after_call[CODE_BYTES])
{
	int64_t value;

	if (after_call[0] != REX_WIDE || after_call[2] != 0xc4 ||
	    (after_call[1] != 0x83 && after_call[1] != 0x81))
		return 0;
	value = after_call[1] == 0x83 ? (int8_t)after_call[3] : signed_32(after_call + 3);
	return value > 0 ? (unsigned)value : 0;
}

enum jump x86_jump_at(const unsigned char *code, size_t len, uint64_t address, uint64_t *target)
{
	unsigned first = code[0];

	if (len >= 2 && (first == 0xeb || first >> 4 == 7)) { /* jmp, jcc rel8 */
		*target = address + 2 + (uint64_t)(int64_t)(int8_t)code[1];
		return JUMP_DIRECT;
	}
	if (len >= 5 && first == 0xe9) { /* jmp rel32 */
		*target = address + 5 + (uint64_t)signed_32(code + 1);
		return JUMP_DIRECT;
	}
	if (len >= 6 && first == 0x0f && code[1] >> 4 == 8) { /* jcc rel32 */
		*target = address + 6 + (uint64_t)signed_32(code + 2);
		return JUMP_DIRECT;
	}
	if (len >= 2 && first == 0xff && (code[1] >> 3 & 7) == 4) /* jmp r/m64: ff /4 */
		return JUMP_INDIRECT;
	return JUMP_NONE;
}
