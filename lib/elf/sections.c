#include "elf/sections.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "elf/classes.h"
#include "elf/packed_section.h"
#include "elf/relocatable.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { NAME_BYTES_MAX = 1 << 20 };

enum { HUGE_PAGE_BYTES = 2 << 20, LARGE_BYTES = 2 * HUGE_PAGE_BYTES };

void elf_sections_init(struct elf_sections *sections, const struct elf_bytes *bytes,
		       const Elf64_Ehdr *header, size_t count, size_t names_index)
{
	*sections = (struct elf_sections){
		.bytes = bytes,
		.header = header,
		.is_32 = elf_is_32(header),
		.count = count,
		.names_index = names_index,
	};
}

void elf_sections_deinit(struct elf_sections *sections)
{
	if (sections->unpacked_bytes)
		unpack_budget_give(sections->budget, sections->bytes->origin.is_untrusted,
				   sections->unpacked_bytes);
	for (size_t i = 0; sections->are_loaded && i < sections->count; i++)
		free((void *)(uintptr_t)sections->unpacked[i].at);
	free(sections->unpacked);
	free(sections->relocated);
	free(sections->headers);
	free(sections->names_memory);
}

struct unpack_budget *elf_sections_budget(struct elf_sections *sections)
{
	if (!sections->budget) {
		unpack_budget_init(&sections->own_budget);
		sections->budget = &sections->own_budget;
	}
	return sections->budget;
}

void elf_sections_set_budget(struct elf_sections *sections, struct unpack_budget *budget)
{
	sections->budget = budget;
}

void elf_sections_charge(struct elf_sections *sections, struct unpack_budget *budget,
			 uint64_t size_bytes)
{
	sections->budget = budget;
	sections->unpacked_bytes = size_bytes;
}

size_t elf_sections_read_headers(const struct elf_sections *sections, struct elf_copies *copies,
				 size_t max_bytes, Elf64_Shdr **ret)
{
	size_t whole = sections->count, count;
	struct bytes table = elf_copies_take_table(copies, sections->header->e_shoff, &whole,
						   elf_section_bytes(sections->is_32), max_bytes);

	*ret = calloc(whole, sizeof(**ret));
	for (count = 0; *ret && count < whole; count++)
		if (!elf_take_section(&table, sections->is_32, &(*ret)[count]))
			break;
	return count;
}

static void load_names(struct elf_sections *sections)
{
	const Elf64_Shdr *section = &sections->headers[sections->names_index];
	struct bytes names = elf_bytes_part(sections->bytes, section->sh_offset, section->sh_size);
	size_t len = bytes_left(&names);

	sections->names_memory = len && len <= NAME_BYTES_MAX ? malloc(len) : NULL;
	if (sections->names_memory &&
	    elf_bytes_copy(sections->bytes, names, sections->names_memory))
		sections->names = bytes_of(sections->names_memory, len);
}

static void elf_sections_load(struct elf_sections *sections)
{
	CLEANUP(elf_copies_deinit) struct elf_copies copies = {.from = sections->bytes};

	if (sections->are_loaded)
		return;
	sections->are_loaded = true;
	sections->count = elf_sections_read_headers(sections, &copies, SIZE_MAX,
						    &sections->headers);
	sections->unpacked = calloc(sections->count, sizeof(*sections->unpacked));
	sections->relocated = calloc(sections->count, sizeof(*sections->relocated));
	if (!sections->unpacked || !sections->relocated)
		sections->count = 0;
	if (sections->header->e_type == ET_REL)
		relocatable_lay_out(sections->headers, sections->count);
	if (sections->names_index < sections->count)
		load_names(sections);
}

static bool name_begins(const struct elf_sections *sections, size_t section, const char *prefix)
{
	struct bytes at = bytes_at(sections->names, sections->headers[section].sh_name);
	size_t len = strlen(prefix);

	return bytes_left(&at) > len && !memcmp(at.at, prefix, len);
}

/*
 * Excludes sections that only the dynamic linker writes: tables of addresses
 * (.data.rel.ro, .got).
 */
bool elf_sections_is_data(struct elf_sections *sections, size_t index)
{
	elf_sections_load(sections);
	if (index >= sections->count || !(sections->headers[index].sh_flags & SHF_WRITE))
		return false;
	return name_begins(sections, index, ".bss") ||
	       (name_begins(sections, index, ".data") &&
		!name_begins(sections, index, ".data.rel.ro"));
}

size_t elf_sections_code(struct elf_sections *sections, struct elf_code **ret)
{
	size_t count = 0;

	elf_sections_load(sections);
	*ret = calloc(sections->count, sizeof(**ret));
	for (size_t i = 0; *ret && i < sections->count; i++) {
		const Elf64_Shdr *section = &sections->headers[i];

		if (section->sh_flags & SHF_ALLOC && section->sh_flags & SHF_EXECINSTR)
			(*ret)[count++] = (struct elf_code){
				.start = section->sh_addr,
				.end = section->sh_addr + section->sh_size,
			};
	}
	return count;
}

/*
 * Returns a section after number `after` with that name, or 0 if there is none.
 */
static size_t section_named(const struct elf_sections *sections, const char *prefix,
			    const char *name, size_t after)
{
	size_t prefix_len = strlen(prefix);

	for (size_t i = after + 1; i < sections->count; i++) {
		struct bytes at = bytes_at(sections->names, sections->headers[i].sh_name);
		struct bytes found = bytes_text(&at);
		const void *start = bytes_take(&found, prefix_len);

		if (start && memcmp(start, prefix, prefix_len) == 0 && bytes_are(found, name))
			return i;
	}
	return 0;
}

/* A section to decompress. */
struct unpacking {
	const struct elf_bytes *file;
	size_t index;
	struct packed_section section;
	void *to; /* NULL if it cannot be decompressed */
};

/*
 * Uses huge pages. With small pages, page faults for large sections take as
 * long as the decompression.
 */
static void *room_for(size_t size_bytes)
{
	void *room = NULL;

	if (size_bytes < LARGE_BYTES)
		return malloc(size_bytes);
	if (posix_memalign(&room, HUGE_PAGE_BYTES, size_bytes))
		return NULL;
	madvise(room, size_bytes / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES, MADV_HUGEPAGE);
	return room;
}

/*
 * Reserves memory within the budget. Returns false if the section must not be
 * decompressed or has been already. Reads the size once, because the file can
 * change later.
 */
static bool begin_unpacking(struct elf_sections *sections, size_t index, struct bytes raw,
			    bool is_zdebug, struct unpacking *ret)
{
	const enum packed_section_form form = is_zdebug		? PACKED_SECTION_ZDEBUG
					      : sections->is_32 ? PACKED_SECTION_ELF32
								: PACKED_SECTION_ELF64;

	*ret = (struct unpacking){.file = sections->bytes, .index = index};
	if (sections->unpacked[index].at || !packed_section_read(raw, form, &ret->section) ||
	    !unpack_budget_take(elf_sections_budget(sections), sections->bytes->origin.is_untrusted,
				ret->section.size_bytes))
		return false;
	sections->unpacked_bytes += ret->section.size_bytes;
	return true;
}

/* Thread-safe. Each thread has the copy of one compressed section at a time. */
static void unpack_one(void *context, size_t i)
{
	struct unpacking *unpacking = &((struct unpacking *)context)[i];
	const struct packed_section *section = &unpacking->section;
	CLEANUP(free_ptr) void *copy = NULL;
	const unsigned char *packed = elf_bytes_steady(unpacking->file, section->packed, &copy);

	unpacking->to = packed ? room_for(section->size_bytes) : NULL;
	if (unpacking->to && !unpack(section->kind, bytes_of(packed, bytes_left(&section->packed)),
				     unpacking->to, section->size_bytes))
		free(STEAL(unpacking->to));
}

static void end_unpacking(struct elf_sections *sections, struct unpacking *unpacking)
{
	uint64_t size_bytes = unpacking->section.size_bytes;

	if (unpacking->to) {
		sections->unpacked[unpacking->index] = bytes_of(unpacking->to, size_bytes);
		return;
	}
	sections->unpacked_bytes -= size_bytes;
	unpack_budget_give(elf_sections_budget(sections), sections->bytes->origin.is_untrusted,
			   size_bytes);
}

static bool find_unpacked(struct elf_sections *sections, size_t index, struct bytes raw,
			  bool is_zdebug, struct bytes *ret)
{
	struct unpacking unpacking;

	if (begin_unpacking(sections, index, raw, is_zdebug, &unpacking)) {
		unpack_one(&unpacking, 0);
		end_unpacking(sections, &unpacking);
	}
	*ret = sections->unpacked[index];
	return ret->at;
}

/*
 * Returns the section with the relocations of another one, or 0 if there is
 * none.
 */
static size_t relocations_of(const struct elf_sections *sections, size_t index)
{
	if (sections->header->e_type != ET_REL || sections->headers[index].sh_flags & SHF_ALLOC)
		return 0;
	for (size_t i = 1; i < sections->count; i++)
		if (sections->headers[i].sh_type == SHT_RELA &&
		    sections->headers[i].sh_info == index)
			return i;
	return 0;
}

static struct bytes section_bytes(const struct elf_sections *sections, size_t index)
{
	const Elf64_Shdr *section = &sections->headers[index];

	if (section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED)
		return (struct bytes){.overrun = true};
	return elf_bytes_part(sections->bytes, section->sh_offset, section->sh_size);
}

/* Returns an allocated copy of a section, within the budget. */
static void *copy_section(struct elf_sections *sections, struct bytes raw)
{
	size_t len = bytes_left(&raw);
	void *to = NULL;

	if (!unpack_budget_take(elf_sections_budget(sections), sections->bytes->origin.is_untrusted,
				len))
		return NULL;
	to = malloc(len ? len : 1);
	if (to && elf_bytes_copy(sections->bytes, raw, to)) {
		sections->unpacked_bytes += len;
		return to;
	}
	unpack_budget_give(elf_sections_budget(sections), sections->bytes->origin.is_untrusted,
			   len);
	free(to);
	return NULL;
}

/* Relocates a section once. Returns false if that is not possible. */
static bool relocate(struct elf_sections *sections, size_t index, size_t relocations,
		     struct bytes raw, struct bytes *ret)
{
	struct bytes *relocated = &sections->unpacked[index];
	size_t symbols = sections->headers[relocations].sh_link;
	struct relocations all = {
		.sections = sections->headers,
		.section_count = sections->count,
		.machine = sections->header->e_machine,
	};
	void *data;

	*ret = *relocated;
	if (sections->relocated[index] != ELF_NOT_RELOCATED)
		return sections->relocated[index] == ELF_RELOCATED;
	sections->relocated[index] = ELF_NOT_RELOCATABLE;
	if (sections->is_32 || symbols >= sections->count)
		return false;
	all.entries = section_bytes(sections, relocations);
	all.symbols = section_bytes(sections, symbols);
	/* A decompressed section is already a copy. */
	data = relocated->at ? (void *)(uintptr_t)relocated->at : copy_section(sections, raw);
	if (!data)
		return false;
	*relocated = bytes_of(data, bytes_left(&raw));
	if (!bytes_ok(&all.entries) || !bytes_ok(&all.symbols) ||
	    !relocatable_apply(&all, data, bytes_left(&raw))) {
		free(data);
		*relocated = (struct bytes){0};
	}
	*ret = *relocated;
	if (relocated->at)
		sections->relocated[index] = ELF_RELOCATED;
	return relocated->at;
}

static size_t find_section(struct elf_sections *sections, const char *name, size_t after,
			   bool *is_zdebug)
{
	size_t index;

	elf_sections_load(sections);
	index = section_named(sections, "", name, after);
	*is_zdebug = !index && text_begins(name, ".debug_");
	return *is_zdebug ? section_named(sections, ".z", name + 1, after) : index;
}

bool elf_sections_has(struct elf_sections *sections, const char *name)
{
	bool is_zdebug;

	return find_section(sections, name, 0, &is_zdebug);
}

static bool elf_sections_is_packed(const struct elf_sections *sections, size_t index,
				   bool is_zdebug)
{
	return sections->headers[index].sh_type != SHT_NOBITS &&
	       (is_zdebug || sections->headers[index].sh_flags & SHF_COMPRESSED);
}

static struct elf_section elf_sections_section_at(struct elf_sections *sections, size_t index,
						  bool is_zdebug)
{
	const Elf64_Shdr *section = &sections->headers[index];
	struct elf_section ret = {.present = true, .vaddr = section->sh_addr};
	struct bytes raw;
	size_t relocations;

	if (section->sh_type == SHT_NOBITS)
		return ret;
	raw = elf_bytes_part(sections->bytes, section->sh_offset, section->sh_size);
	if (!bytes_ok(&raw))
		ret.unreadable = true;
	else if (elf_sections_is_packed(sections, index, is_zdebug))
		ret.unreadable = !find_unpacked(sections, index, raw, is_zdebug, &ret.data);
	else
		ret.data = raw;
	relocations = ret.unreadable ? 0 : relocations_of(sections, index);
	if (relocations && !relocate(sections, index, relocations, ret.data, &ret.data)) {
		ret.data = (struct bytes){0};
		ret.unreadable = true;
	}
	return ret;
}

void elf_sections_unpack(struct elf_sections *sections, const char *const *names, size_t count,
			 elf_run *run, void *user)
{
	CLEANUP(free_ptr) struct unpacking *all = calloc(count, sizeof(*all));
	size_t found = 0;

	for (size_t i = 0; all && i < count; i++) {
		bool is_zdebug;
		size_t index = names[i] ? find_section(sections, names[i], 0, &is_zdebug) : 0;
		struct bytes raw;

		if (!index || !elf_sections_is_packed(sections, index, is_zdebug))
			continue;
		raw = elf_bytes_part(sections->bytes, sections->headers[index].sh_offset,
				     sections->headers[index].sh_size);
		found += bytes_ok(&raw) &&
			 begin_unpacking(sections, index, raw, is_zdebug, &all[found]);
	}
	if (found)
		run(user, found, unpack_one, all);
	for (size_t i = 0; i < found; i++)
		end_unpacking(sections, &all[i]);
}

uint64_t elf_sections_symbol_vaddr(struct elf_sections *sections, const Elf64_Sym *symbol)
{
	if (sections->header->e_type != ET_REL)
		return symbol->st_value;
	elf_sections_load(sections);
	return relocatable_symbol(symbol, sections->headers, sections->count);
}

struct elf_section elf_sections_find(struct elf_sections *sections, const char *name)
{
	bool is_zdebug;
	size_t index = find_section(sections, name, 0, &is_zdebug);

	return index ? elf_sections_section_at(sections, index, is_zdebug)
		     : (struct elf_section){0};
}

bool elf_sections_find_next(struct elf_sections *sections, const char *name, size_t *index,
			    struct elf_section *ret)
{
	bool is_zdebug;

	*index = find_section(sections, name, *index, &is_zdebug);
	if (*index)
		*ret = elf_sections_section_at(sections, *index, is_zdebug);
	return *index;
}
