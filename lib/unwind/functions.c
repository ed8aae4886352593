#include "unwind/functions.h"

#include "base/alloc.h"
#include "base/search.h"
#include "elf/classes.h"
#include "unwind/called_functions.h"

#include <stdlib.h>

enum { SECTION_BYTES_MAX = 32 << 20, UNWIND_FUNCTIONS_MAX = 1 << 20, NAME_BYTES_MAX = 1024 };

struct unwind_functions_entry {
	uint64_t start;
	uint32_t size; /* 0 if unknown */
	bool is_part;  /* part of a function: its start is not a function entry */
	bool is_inferred;
};

struct functions {
	struct unwind_functions_entry *entries; /* by start, without overlaps */
	size_t count, room;
	uint64_t end; /* end of the code, for a last function without a size */
};

/*
 * Returns true if a compiler uses such a name for a split-off part of a
 * function.
 */
static bool is_part_name(struct bytes strings, uint32_t offset)
{
	struct bytes from = bytes_at(strings, offset);
	size_t len = bytes_left(&from) < NAME_BYTES_MAX ? bytes_left(&from) : NAME_BYTES_MAX;
	const char *end = len ? memchr(from.at, 0, len) : NULL;

	if (!end) /* unknown */
		return true;
	len = (size_t)(end - (const char *)from.at);
	return memmem(from.at, len, ".cold", 5) || memmem(from.at, len, ".__part.", 8);
}

static bool unwind_functions_add(struct functions *functions, struct unwind_functions_entry entry)
{
	if (functions->count == functions->room) {
		size_t room = functions->room ? 2 * functions->room : 256;
		void *more = room <= UNWIND_FUNCTIONS_MAX
				     ? realloc(functions->entries,
					       room * sizeof(*functions->entries))
				     : NULL;

		if (!more)
			return false;
		functions->entries = more;
		functions->room = room;
	}
	functions->entries[functions->count++] = entry;
	return true;
}

/*
 * Sorts by start. For several names of one function, the largest comes first,
 * and a part comes before others.
 */
static int unwind_functions_compare(const void *a, const void *b)
{
	const struct unwind_functions_entry *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	if (left->is_part != right->is_part)
		return left->is_part ? -1 : 1;
	return left->size > right->size ? -1 : left->size < right->size;
}

/*
 * Removes functions inside other functions: these are alternative entry points
 * or labels.
 */
static void drop_overlaps(struct functions *functions)
{
	struct unwind_functions_entry *entries = functions->entries;
	size_t kept = 0;

	for (size_t i = 0; i < functions->count; i++) {
		const struct unwind_functions_entry *last = kept ? &entries[kept - 1] : NULL;

		if (last && (entries[i].start == last->start ||
			     entries[i].start - last->start < last->size))
			continue;
		entries[kept++] = entries[i];
	}
	functions->count = kept;
}

static bool unwind_functions_read_symbols(struct functions *functions, struct elf_file *elf,
					  struct bytes symbols, struct bytes strings)
{
	Elf64_Sym symbol;

	while (elf_take_symbol(&symbols, false, &symbol)) {
		unsigned type = ELF64_ST_TYPE(symbol.st_info);
		struct unwind_functions_entry entry = {
			.start = elf_file_symbol_vaddr(elf, &symbol)};

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF)
			continue;
		entry.size = symbol.st_size < UINT32_MAX ? (uint32_t)symbol.st_size : UINT32_MAX;
		entry.is_part = is_part_name(strings, symbol.st_name);
		if (!unwind_functions_add(functions, entry))
			return false;
	}
	return functions->count;
}

static bool read_table(struct functions *functions, struct elf_file *elf, const char *symbols_name,
		       const char *strings_name)
{
	CLEANUP(free_ptr) void *symbols_memory = NULL;
	CLEANUP(free_ptr) void *strings_memory = NULL;
	struct elf_section symbols, strings;

	return elf_file_copy_section(elf, symbols_name, SECTION_BYTES_MAX, &symbols,
				     &symbols_memory) &&
	       elf_file_copy_section(elf, strings_name, SECTION_BYTES_MAX, &strings,
				     &strings_memory) &&
	       unwind_functions_read_symbols(functions, elf, symbols.data, strings.data);
}

static void unwind_functions_sort(struct functions *functions)
{
	qsort(functions->entries, functions->count, sizeof(*functions->entries),
	      unwind_functions_compare);
	drop_overlaps(functions);
}

/* Skips duplicates, because most functions are called repeatedly. */
static bool add_called(void *user, uint64_t vaddr)
{
	struct functions *functions = user;

	if (functions->count == UNWIND_FUNCTIONS_MAX)
		unwind_functions_sort(functions);
	return unwind_functions_add(
		functions, (struct unwind_functions_entry){.start = vaddr, .is_inferred = true});
}

static uint64_t end_of_code(struct elf_file *elf)
{
	CLEANUP(free_ptr) struct elf_code *code = NULL;
	size_t count = elf_file_code(elf, &code);
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++)
		end = code[i].end > end ? code[i].end : end;
	return end;
}

static bool read_symtab(struct functions *functions, struct elf_file *elf)
{
	return read_table(functions, elf, ".symtab", ".strtab") || functions->count;
}

struct functions *functions_new(struct elf_file *elf, struct elf_file *debug)
{
	struct functions *functions;

	if (elf_file_is_32(elf))
		return NULL;
	functions = xcalloc(1, sizeof(*functions));
	if (!read_symtab(functions, elf) && !(debug && read_symtab(functions, debug))) {
		read_table(functions, elf, ".dynsym", ".dynstr");
		if (elf_file_machine(elf) == EM_X86_64)
			called_functions_find(elf, add_called, functions);
	}
	if (!functions->count) {
		functions_free(functions);
		return NULL;
	}
	unwind_functions_sort(functions);
	functions->end = end_of_code(elf);
	return functions;
}

void functions_free(struct functions *functions)
{
	if (!functions)
		return;
	free(functions->entries);
	free(functions);
}

bool functions_find(const struct functions *functions, uint64_t vaddr, struct function_range *ret)
{
	const struct unwind_functions_entry *entry;
	size_t after = SEARCH_AFTER(functions->entries, functions->count, start, vaddr);

	if (!after || functions->entries[after - 1].is_part)
		return false;
	entry = &functions->entries[after - 1];
	ret->start = entry->start;
	ret->is_sized = entry->size;
	ret->is_inferred = entry->is_inferred;
	if (entry->size)
		ret->end = entry->start + entry->size;
	else
		ret->end = after < functions->count ? functions->entries[after].start
						    : functions->end;
	return vaddr < ret->end;
}

size_t functions_memory_bytes(const struct functions *functions)
{
	return sizeof(*functions) + functions->room * sizeof(*functions->entries);
}
