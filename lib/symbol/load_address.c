#include "symbol/load_address.h"

#include "base/alloc.h"
#include "elf/classes.h"

/* Returns false if there is no such symbol. */
static bool find_symbol(struct elf_file *elf, const char *name, uint64_t *ret)
{
	struct bytes symbols = elf_file_section(elf, ".symtab").data;
	const struct bytes names = elf_file_section(elf, ".strtab").data;
	Elf64_Sym symbol;

	while (elf_take_symbol(&symbols, elf_file_is_32(elf), &symbol)) {
		struct bytes at = bytes_at(names, symbol.st_name);

		if (symbol.st_shndx == SHN_UNDEF || !bytes_are(bytes_text(&at), name))
			continue;
		*ret = symbol.st_value;
		return true;
	}
	return false;
}

static void load_address_add(struct load_address *load, const struct elf_code *code, uint64_t pc)
{
	uint64_t len = code->end - code->start;

	if (code->start < code->end && pc <= UINT64_MAX - len)
		load->ranges[load->count++] =
			(struct load_range){.start = pc, .end = pc + len, .vaddr = code->start};
}

static void move_whole(struct load_address *load, struct elf_file *elf,
		       const struct kernel_anchor *anchor, const struct elf_code *code,
		       size_t count)
{
	uint64_t vaddr;

	if (load->count || !find_symbol(elf, anchor->name, &vaddr))
		return;
	for (size_t i = 0; i < count; i++)
		load_address_add(load, &code[i], code[i].start + (anchor->pc - vaddr));
}

static void move_section(struct load_address *load, struct elf_file *elf,
			 const struct kernel_anchor *anchor, const struct elf_code *code,
			 size_t count)
{
	struct elf_section section = elf_file_section(elf, anchor->name);

	for (size_t i = 0; section.present && i < count; i++)
		if (code[i].start == section.vaddr && code[i].start < code[i].end) {
			load_address_add(load, &code[i], anchor->pc);
			return;
		}
}

void load_address_find(struct load_address *load, struct elf_file *elf,
		       const struct kernel_image *image)
{
	CLEANUP(free_ptr) struct elf_code *code = NULL;
	size_t count = elf_file_code(elf, &code);

	/*
	 * A kernel has one anchor, which determines the distance of all
	 * sections. A module has an anchor for each section.
	 */
	load->ranges = xcalloc(count + image->anchor_count, sizeof(*load->ranges));
	for (size_t i = 0; i < image->anchor_count; i++)
		if (image->is_module)
			move_section(load, elf, &image->anchors[i], code, count);
		else
			move_whole(load, elf, &image->anchors[i], code, count);
}

void load_address_deinit(struct load_address *load)
{
	free(load->ranges);
	*load = (struct load_address){0};
}

bool load_address_vaddr(const struct load_address *load, uint64_t pc, uint64_t *ret)
{
	for (size_t i = 0; i < load->count; i++) {
		const struct load_range *range = &load->ranges[i];

		if (pc < range->start || pc >= range->end)
			continue;
		*ret = range->vaddr + (pc - range->start);
		return true;
	}
	return false;
}
