#include "symbol/plt.h"

#include "base/alloc.h"

#include <elf.h>

/*
 * A stub jumps through a slot of the global offset table, and a relocation says whose address the
 * slot holds. So the slot is read out of the code: that works for .plt, .plt.sec and .plt.got,
 * whatever the linker and the order it chose.
 */
struct slot {
	uint64_t vaddr;
	uint32_t name;
};

struct plt {
	struct slot *slots;
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
		plt->slots[plt->slot_count++] = (struct slot){relocation.r_offset, name};
	}
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

/* jump_slot(): the slot through which the code at `code` (it has `left` bytes) jumps; 0: none.
 * stub_start(): the stub may begin before that jump, but not before `begin`. */
#if defined(__x86_64__)
enum { JUMP_STEP = 1 };

/* jmp *offset(%rip) */
static uint64_t jump_slot(const unsigned char *code, size_t left, uint64_t vaddr)
{
	int32_t offset;

	if (left < 6 || code[0] != 0xff || code[1] != 0x25)
		return 0;
	memcpy(&offset, code + 2, sizeof(offset));
	return vaddr + 6 + (uint64_t)(int64_t)offset;
}

static const unsigned char *stub_start(const unsigned char *jump, const unsigned char *begin)
{
	static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

	if (jump > begin && jump[-1] == 0xf2) /* bnd */
		jump--;
	if (jump - begin >= 4 && !memcmp(jump - 4, endbr64, sizeof(endbr64)))
		jump -= 4;
	return jump;
}
#elif defined(__aarch64__)
enum { JUMP_STEP = 4 };

/* adrp x16, page; ldr x17, [x16, #offset] */
static uint64_t jump_slot(const unsigned char *code, size_t left, uint64_t vaddr)
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

static const unsigned char *stub_start(const unsigned char *jump, const unsigned char *begin)
{
	static const unsigned char bti_c[] = {0x5f, 0x24, 0x03, 0xd5};

	if (jump - begin >= 4 && !memcmp(jump - 4, bti_c, sizeof(bti_c)))
		jump -= 4;
	return jump;
}
#endif

static void find_stubs(struct plt *plt, struct image_section section)
{
	const unsigned char *begin = section.data.at, *end = section.data.end;

	for (const unsigned char *at = begin; at < end; at += JUMP_STEP) {
		struct slot wanted = {.vaddr = jump_slot(at, (size_t)(end - at),
							 section.vaddr + (uint64_t)(at - begin))};
		const struct slot *slot;

		if (!wanted.vaddr || !plt->slot_count)
			continue;
		slot = bsearch(&wanted, plt->slots, plt->slot_count, sizeof(wanted), compare_slots);
		if (!slot)
			continue;
		GROW(plt->stubs, plt->count, plt->room);
		plt->stubs[plt->count++] = (struct plt_stub){
			.vaddr = section.vaddr + (uint64_t)(stub_start(at, begin) - begin),
			.name = slot->name,
		};
	}
}

size_t plt_stubs(struct image *image, struct plt_stub **ret)
{
	struct bytes symbols = image_section(image, ".dynsym").data;
	struct plt plt = {0};

	if (image_is_32(image)) /* not the stubs that we know */
		return 0;
	load_slots(&plt, image_section(image, ".rela.plt").data, symbols);
	/* Large, and of use only here. */
	if (image_section(image, ".plt.got").present)
		load_slots(&plt, image_section(image, ".rela.dyn").data, symbols);
	if (plt.slot_count)
		qsort(plt.slots, plt.slot_count, sizeof(*plt.slots), compare_slots);
	find_stubs(&plt, image_section(image, ".plt"));
	find_stubs(&plt, image_section(image, ".plt.sec"));
	find_stubs(&plt, image_section(image, ".plt.got"));
	free(plt.slots);
	*ret = plt.stubs;
	return plt.count;
}
