#include "unwind/called_functions.h"

#include "base/alloc.h"
#include "unwind/x86_insn.h"

#include <stdlib.h>

/* Code is read in pieces of PIECE_BYTES, at most CODE_BYTES_MAX of it. */
enum { PIECE_BYTES = 1 << 20, INSN_BYTES_MAX = 15, CODE_BYTES_MAX = 128 << 20 };

enum { FUNCTION_ALIGNMENT = 16 };

enum { RELOCATION_BYTES_MAX = 32 << 20 };

/* A piece of the code that has been read into memory. */
struct called_functions_piece {
	struct elf_file *elf;
	uint64_t start; /* vaddr */
	size_t len;
	unsigned char bytes[PIECE_BYTES];
};

/*
 * Returns true if a function may start after these bytes, which are the end of
 * another function or padding.
 */
static bool ends_function(const unsigned char before[5])
{
	static const unsigned char ud2[] = {0x0f, 0x0b};

	return before[4] == 0xc3 || before[4] == 0xcc || before[4] == 0x90 || before[4] == 0 ||
	       before[3] == 0xeb || before[0] == 0xe9 || memcmp(before + 3, ud2, sizeof(ud2)) == 0;
}

static bool may_begin(const struct called_functions_piece *piece, uint64_t vaddr)
{
	unsigned char before[5];

	return vaddr % FUNCTION_ALIGNMENT == 0 ||
	       (elf_file_read(piece->elf, vaddr - sizeof(before), before, sizeof(before)) &&
		ends_function(before));
}

/*
 * Finds the target of a direct call, or the address of a function that is
 * passed as an argument (lea).
 */
static bool called_functions_target_of(const unsigned char *code, const struct x86_insn *insn,
				       uint64_t next, uint64_t *ret)
{
	int32_t relative;
	bool is_call = code[0] == 0xe8 && insn->length == 5;
	bool is_lea = (code[0] & 0xfb) == 0x48 && code[1] == 0x8d && (code[2] & 0xc7) == 5 &&
		      insn->length == 7;

	if (!is_call && !is_lea)
		return false;
	memcpy(&relative, code + insn->length - sizeof(relative), sizeof(relative));
	*ret = next + (uint64_t)(int64_t)relative;
	return true;
}

/*
 * Returns the offset of the first instruction that was not decoded. *more is
 * the last result of add().
 */
static size_t find_in_piece(const struct called_functions_piece *piece, const struct elf_code *code,
			    bool (*add)(void *user, uint64_t vaddr), void *user, bool *more)
{
	bool is_last = piece->start + piece->len == code->end;
	size_t end = is_last ? piece->len : piece->len - INSN_BYTES_MAX, at = 0;
	struct x86_insn insn;
	uint64_t target;

	while (*more && at < end) {
		if (!x86_insn_decode(piece->bytes + at, piece->len - at, &insn)) {
			at++;
			continue;
		}
		if (called_functions_target_of(piece->bytes + at, &insn,
					       piece->start + at + insn.length, &target) &&
		    target >= code->start && target < code->end && may_begin(piece, target))
			*more = add(user, target);
		at += insn.length;
	}
	return at;
}

static bool called_functions_find_in(struct called_functions_piece *piece,
				     const struct elf_code *code,
				     bool (*add)(void *user, uint64_t vaddr), void *user)
{
	bool more = true;

	for (uint64_t at = code->start; more && at < code->end; at = piece->start) {
		piece->start = at;
		piece->len = code->end - at < PIECE_BYTES ? code->end - at : PIECE_BYTES;
		if (!elf_file_read(piece->elf, at, piece->bytes, piece->len))
			break;
		piece->start += find_in_piece(piece, code, add, user, &more);
	}
	return more;
}

static bool goes_on(enum x86_effect effect)
{
	return effect != X86_JUMP && effect != X86_JUMP_INDIRECT && effect != X86_RETURN &&
	       effect != X86_END;
}

/* Returns true for a nop, which is also used as padding (66 90, 0f 1f …). */
static bool is_padding(const unsigned char *code, size_t len)
{
	while (len > 1 && (*code == 0x66 || *code == 0x2e)) {
		code++;
		len--;
	}
	return *code == 0x90 || (len > 1 && code[0] == 0x0f && code[1] == 0x1f);
}

size_t called_functions_last(const unsigned char *code, size_t len)
{
	struct x86_insn insn;
	size_t last = 0;
	bool has_ended = false;

	for (size_t at = 0; at < len && x86_insn_decode(code + at, len - at, &insn);
	     at += insn.length) {
		if (is_padding(code + at, len - at))
			continue;
		if (has_ended && at % FUNCTION_ALIGNMENT == 0)
			last = at;
		has_ended = !goes_on(insn.effect);
	}
	return last;
}

bool called_functions_may_jump(const unsigned char *code, size_t len, int64_t target)
{
	struct x86_insn insn;

	for (size_t at = 0; at < len; at += insn.length) {
		if (!x86_insn_decode(code + at, len - at, &insn)) {
			insn.length = 1;
			continue;
		}
		if (insn.effect == X86_JUMP_INDIRECT)
			return true;
		if ((insn.effect == X86_JUMP || insn.effect == X86_BRANCH) &&
		    (int64_t)(at + insn.length) + insn.value == target)
			return true;
	}
	return false;
}

/* Finds function pointers in data, such as virtual function tables. */
static bool find_in_relocations(const struct called_functions_piece *piece,
				const struct elf_code *code, size_t count,
				bool (*add)(void *user, uint64_t vaddr), void *user)
{
	CLEANUP(free_ptr) void *memory = NULL;
	struct elf_section section;
	Elf64_Rela entry;

	if (!elf_file_copy_section(piece->elf, ".rela.dyn", RELOCATION_BYTES_MAX, &section,
				   &memory))
		return true;
	while (bytes_left(&section.data) >= sizeof(entry)) {
		struct bytes from = bytes_sub(&section.data, sizeof(entry));

		memcpy(&entry, from.at, sizeof(entry));
		if (ELF64_R_TYPE(entry.r_info) == R_X86_64_RELATIVE &&
		    elf_code_at(code, count, (uint64_t)entry.r_addend) &&
		    may_begin(piece, (uint64_t)entry.r_addend) &&
		    !add(user, (uint64_t)entry.r_addend))
			return false;
	}
	return true;
}

void called_functions_find(struct elf_file *elf, bool (*add)(void *user, uint64_t vaddr),
			   void *user)
{
	CLEANUP(free_ptr) struct called_functions_piece *piece = xmalloc(sizeof(*piece));
	CLEANUP(free_ptr) struct elf_code *code = NULL;
	size_t count = elf_file_code(elf, &code);
	uint64_t bytes = 0;

	piece->elf = elf;
	if (!find_in_relocations(piece, code, count, add, user))
		return;
	for (size_t i = 0; i < count && bytes <= CODE_BYTES_MAX; i++) {
		bytes += code[i].end - code[i].start;
		if (bytes <= CODE_BYTES_MAX &&
		    !called_functions_find_in(piece, &code[i], add, user))
			return;
	}
}
