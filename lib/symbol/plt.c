#include "symbol/plt.h"

#include "base/alloc.h"

#include <elf.h>

/*
 * A stub jumps through a slot of the global offset table, and a relocation
 * contains the symbol of the slot. So the slot is decoded from the stub's code.
 * This works for .plt, .plt.sec and .plt.got, independent of the linker and the
 * order of stubs.
 */
struct plt_slot {
	uint64_t vaddr;
	uint32_t name;
};

/* A million stubs. Larger sections are not searched. */
enum { SECTION_BYTES_MAX = 16 << 20 };

struct plt {
	struct plt_slot *slots;
	size_t slot_count, slot_room;
	struct plt_stub *stubs;
	size_t count, room;
};

static void load_slots(struct plt *plt, struct bytes relocations, struct bytes symbols)
{
	Elf64_Rela relocation;
	const void *at;

	while ((at = bytes_take(&relocations, sizeof(relocation)))) {
		memcpy(&relocation, at, sizeof(relocation));
		uint64_t index = ELF64_R_SYM(relocation.r_info);
		struct bytes symbol = bytes_at(symbols, index * sizeof(Elf64_Sym));
		uint32_t name = bytes_u32(&symbol); /* st_name comes first */

		if (!name)
			continue;
		GROW(plt->slots, plt->slot_count, plt->slot_room);
		plt->slots[plt->slot_count++] = (struct plt_slot){relocation.r_offset, name};
	}
}

static int compare_slots(const void *left, const void *right)
{
	const struct plt_slot *a = left, *b = right;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

/* The format of stubs on an architecture. */
struct pattern {
	uint16_t machine;
	unsigned step; /* alignment of instructions */
	/*
	 * Returns the slot through which the code (`left` bytes) jumps, or 0 if
	 * it is not such a jump.
	 */
	uint64_t (*jump_slot)(const unsigned char *code, size_t left, uint64_t vaddr);
	/*
	 * Returns the start of the stub, at or before the jump, but not before
	 * `begin`.
	 */
	const unsigned char *(*stub_start)(const unsigned char *jump, const unsigned char *begin);
};

/* jmp *offset(%rip) */
static uint64_t jump_slot_x86_64(const unsigned char *code, size_t left, uint64_t vaddr)
{
	int32_t offset;

	if (left < 6 || code[0] != 0xff || code[1] != 0x25)
		return 0;
	memcpy(&offset, code + 2, sizeof(offset));
	return vaddr + 6 + (uint64_t)(int64_t)offset;
}

static const unsigned char *stub_start_x86_64(const unsigned char *jump, const unsigned char *begin)
{
	static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

	if (jump > begin && jump[-1] == 0xf2) /* bnd */
		jump--;
	if (jump - begin >= 4 && !memcmp(jump - 4, endbr64, sizeof(endbr64)))
		jump -= 4;
	return jump;
}

/* adrp x16, page; ldr x17, [x16, #offset] */
static uint64_t jump_slot_aarch64(const unsigned char *code, size_t left, uint64_t vaddr)
{
	uint32_t adrp, ldr;
	int64_t pages;

	if (left < 8)
		return 0;
	memcpy(&adrp, code, sizeof(adrp));
	memcpy(&ldr, code + 4, sizeof(ldr));
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	pages = (int32_t)(((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 11) >> 11;
	return (vaddr & ~UINT64_C(4095)) + (uint64_t)(pages * 4096) + (ldr >> 10 & 0xfff) * 8;
}

static const unsigned char *stub_start_aarch64(const unsigned char *jump,
					       const unsigned char *begin)
{
	static const unsigned char bti_c[] = {0x5f, 0x24, 0x03, 0xd5};

	if (jump - begin >= 4 && !memcmp(jump - 4, bti_c, sizeof(bti_c)))
		jump -= 4;
	return jump;
}

static const struct pattern *plt_pattern_of(const struct elf_file *elf)
{
	static const struct pattern patterns[] = {
		{EM_X86_64, 1, jump_slot_x86_64, stub_start_x86_64},
		{EM_AARCH64, 4, jump_slot_aarch64, stub_start_aarch64},
	};

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (patterns[i].machine == elf_file_machine(elf))
			return &patterns[i];
	return NULL;
}

static void find_stubs(struct plt *plt, const struct pattern *pattern, struct elf_section section)
{
	const unsigned char *begin = section.data.at, *end = section.data.end;

	if (bytes_left(&section.data) > SECTION_BYTES_MAX)
		return;
	for (size_t at = 0; at < (size_t)(end - begin); at += pattern->step) {
		struct plt_slot wanted = {.vaddr = pattern->jump_slot(begin + at,
								      (size_t)(end - begin) - at,
								      section.vaddr + at)};
		const struct plt_slot *slot;

		if (!wanted.vaddr || !plt->slot_count)
			continue;
		slot = bsearch(&wanted, plt->slots, plt->slot_count, sizeof(wanted), compare_slots);
		if (!slot)
			continue;
		GROW(plt->stubs, plt->count, plt->room);
		plt->stubs[plt->count++] = (struct plt_stub){
			.vaddr = section.vaddr +
				 (uint64_t)(pattern->stub_start(begin + at, begin) - begin),
			.name = slot->name,
		};
	}
}

size_t plt_stubs(struct elf_file *elf, struct plt_stub **ret)
{
	struct bytes symbols = elf_file_section(elf, ".dynsym").data;
	const struct pattern *pattern = plt_pattern_of(elf);
	struct plt plt = {0};

	if (elf_file_is_32(elf) || !pattern)
		return 0;
	load_slots(&plt, elf_file_section(elf, ".rela.plt").data, symbols);
	/* .rela.dyn is large and is needed only for this section. */
	if (elf_file_section(elf, ".plt.got").present)
		load_slots(&plt, elf_file_section(elf, ".rela.dyn").data, symbols);
	if (plt.slot_count)
		qsort(plt.slots, plt.slot_count, sizeof(*plt.slots), compare_slots);
	find_stubs(&plt, pattern, elf_file_section(elf, ".plt"));
	find_stubs(&plt, pattern, elf_file_section(elf, ".plt.sec"));
	find_stubs(&plt, pattern, elf_file_section(elf, ".plt.got"));
	free(plt.slots);
	*ret = plt.stubs;
	return plt.count;
}
