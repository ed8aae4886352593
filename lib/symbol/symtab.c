#include "symbol/symtab.h"

#include "symbol/plt.h"

#include "base/alloc.h"
#include "elf/classes.h"

#include <string.h>

/* Where an entry's name is. */
enum table {
	TABLE_IMAGE,   /* .strtab */
	TABLE_DEBUG,   /* .strtab of the debug file */
	TABLE_DYNAMIC, /* .dynstr */
	TABLE_PLT,     /* .dynstr: the stub of that function */
	TABLES,
};

#define NONE UINT32_MAX

/* They are searched linearly; programs have about five. */
enum { CODE_SECTIONS_MAX = 256 };

/* Of a vaddr, in sorting. */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* 24 bytes: large programs have a million symbols. */
struct entry {
	uint64_t vaddr;
	uint32_t size_bytes;
	uint32_t name;	    /* offset in its table's strings */
	uint32_t enclosing; /* the nearest earlier entry that reaches beyond our start, or NONE */
	uint8_t table;
	uint8_t rank; /* at one address the lowest is the best */
};

enum rank {
	RANK_WEAK = 1,
	RANK_LOCAL = 2,
	RANK_UNTYPED = 4,
	RANK_UNSIZED = 8, /* above all others: a size says that it is a function */
};

struct symtab {
	struct entry *entries; /* by vaddr; of one vaddr the best last */
	size_t count, room;
	struct bytes strings[TABLES];
	struct image_code *code;
	size_t code_count;
	bool complete;
};

/* The end of the executable section around vaddr; 0: there is none. */
static uint64_t code_end(const struct symtab *symtab, uint64_t vaddr)
{
	for (size_t i = 0; i < symtab->code_count; i++)
		if (vaddr >= symtab->code[i].start && vaddr < symtab->code[i].end)
			return symtab->code[i].end;
	return 0;
}

static const char *entry_name(const struct symtab *symtab, const struct entry *entry)
{
	struct bytes strings = bytes_at(symtab->strings[entry->table], entry->name);
	const char *name = bytes_cstr(&strings);

	return name ? name : "";
}

/* Labels inside functions, and aarch64's marks of code and data ("$x", "$d.12"). */
static bool is_label(const char *name)
{
	return name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

static unsigned rank_of(const Elf64_Sym *symbol)
{
	unsigned rank = 0;

	if (ELF64_ST_BIND(symbol->st_info) == STB_WEAK)
		rank |= RANK_WEAK;
	if (ELF64_ST_BIND(symbol->st_info) == STB_LOCAL)
		rank |= RANK_LOCAL;
	if (ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE)
		rank |= RANK_UNTYPED;
	if (!symbol->st_size)
		rank |= RANK_UNSIZED;
	return rank;
}

static bool is_code(const struct symtab *symtab, const Elf64_Sym *symbol, const struct entry *entry)
{
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || !symbol->st_name)
		return false;
	switch (ELF64_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return symbol->st_size || code_end(symtab, symbol->st_value);
	case STT_NOTYPE:
		return code_end(symtab, symbol->st_value) && !is_label(entry_name(symtab, entry));
	default:
		return false;
	}
}

static void add_entry(struct symtab *symtab, struct entry entry)
{
	/* `enclosing` counts them in 32 bits. */
	if (symtab->count == NONE)
		return;
	GROW(symtab->entries, symtab->count, symtab->room);
	symtab->entries[symtab->count++] = entry;
}

/* Room that is not needed is never touched. */
static void reserve(struct symtab *symtab, size_t more)
{
	symtab->room = symtab->count + more;
	symtab->entries = xreallocarray(symtab->entries, symtab->room, sizeof(*symtab->entries));
}

/* True when the table is there. */
static bool load_table(struct symtab *symtab, struct image *image, enum table table,
		       const char *symbols_name, const char *strings_name)
{
	struct bytes symbols = image_section(image, symbols_name).data;
	Elf64_Sym symbol;

	symtab->strings[table] = image_section(image, strings_name).data;
	if (!bytes_left(&symbols))
		return false;
	reserve(symtab, bytes_left(&symbols) / sizeof(Elf32_Sym));
	while (elf_take_symbol(&symbols, image_is_32(image), &symbol)) {
		uint64_t size = symbol.st_size;
		struct entry entry = {
			.vaddr = symbol.st_value,
			.size_bytes = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
			.name = symbol.st_name,
			.table = (uint8_t)table,
			.rank = (uint8_t)rank_of(&symbol),
		};

		if (is_code(symtab, &symbol, &entry))
			add_entry(symtab, entry);
	}
	return true;
}

static void load_plt(struct symtab *symtab, struct image *image)
{
	CLEANUP(free_ptr) struct plt_stub *stubs = NULL;
	size_t count = plt_stubs(image, &stubs);

	symtab->strings[TABLE_PLT] = image_section(image, ".dynstr").data;
	for (size_t i = 0; i < count; i++)
		add_entry(symtab, (struct entry){
					  .vaddr = stubs[i].vaddr,
					  .name = stubs[i].name,
					  .table = TABLE_PLT,
					  .rank = RANK_LOCAL | RANK_UNSIZED,
				  });
}

/* The better name is the greater one, because the best of an address comes last. */
static int compare_names(const char *a, const char *b)
{
	size_t underscores_a = strspn(a, "_"), underscores_b = strspn(b, "_");

	if (underscores_a != underscores_b)
		return underscores_a < underscores_b ? 1 : -1;
	return strcmp(b, a);
}

/* Of one vaddr. */
static int compare_entries(const void *left, const void *right, void *context)
{
	const struct entry *a = left, *b = right;
	const struct symtab *symtab = context;
	int by_name;

	if (a->rank != b->rank)
		return a->rank < b->rank ? 1 : -1;
	by_name = compare_names(entry_name(symtab, a), entry_name(symtab, b));
	if (by_name)
		return by_name;
	return (a->size_bytes > b->size_bytes) - (a->size_bytes < b->size_bytes);
}

/* Keeps the order of those whose digits are equal. */
static void sort_by_digit(const struct entry *from, struct entry *to, size_t count, unsigned shift)
{
	size_t places[DIGITS] = {0}, place = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i].vaddr >> shift & (DIGITS - 1)]++;
	for (unsigned digit = 0; digit < DIGITS; digit++) {
		size_t here = places[digit];

		places[digit] = place;
		place += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i].vaddr >> shift & (DIGITS - 1)]++] = from[i];
}

/* Digit by digit: comparing a million symbols takes a fourth of a second. */
static void sort_by_vaddr(struct symtab *symtab)
{
	size_t count = symtab->count;
	struct entry *sorted = xmalloc(count * sizeof(*sorted));
	uint64_t bits = 0;

	for (size_t i = 0; i < count; i++)
		bits |= symtab->entries[i].vaddr ^ symtab->entries[0].vaddr;
	for (unsigned shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
		struct entry *unsorted = symtab->entries;

		sort_by_digit(unsorted, sorted, count, shift);
		symtab->entries = sorted;
		sorted = unsorted;
	}
	symtab->room = count;
	free(sorted);
}

static void sort(struct symtab *symtab)
{
	size_t end;

	if (!symtab->count)
		return;
	sort_by_vaddr(symtab);
	for (size_t i = 0; i < symtab->count; i = end) {
		struct entry *first = &symtab->entries[i];

		end = i + 1;
		while (end < symtab->count && symtab->entries[end].vaddr == first->vaddr)
			end++;
		if (end - i > 1)
			qsort_r(first, end - i, sizeof(*first), compare_entries, symtab);
	}
}

static uint64_t entry_end(const struct entry *entry)
{
	return entry->vaddr + entry->size_bytes;
}

/* The nearest entry, from `index` outwards, that reaches beyond vaddr. */
static uint32_t reaching(const struct symtab *symtab, uint32_t index, uint64_t vaddr)
{
	while (index != NONE && entry_end(&symtab->entries[index]) <= vaddr)
		index = symtab->entries[index].enclosing;
	return index;
}

/* An unsized entry is given the room up to the next one; 0: it stands for nothing. */
static uint32_t unsized_bytes(const struct symtab *symtab, const struct entry *entry,
			      uint64_t next_vaddr)
{
	uint64_t end = code_end(symtab, entry->vaddr);

	if (next_vaddr < end)
		end = next_vaddr;
	return end - entry->vaddr < UINT32_MAX ? (uint32_t)(end - entry->vaddr) : UINT32_MAX;
}

/* Drops what can never be the answer and links each entry to the one around it. */
static void settle(struct symtab *symtab)
{
	struct entry *entries = symtab->entries;
	uint32_t kept = 0;

	for (size_t i = 0; i < symtab->count; i++) {
		struct entry entry = entries[i];
		const struct entry *next = i + 1 < symtab->count ? &entries[i + 1] : NULL;
		uint32_t last = kept ? kept - 1 : NONE;

		if (next && next->vaddr == entry.vaddr &&
		    (!entry.size_bytes || entry.size_bytes <= next->size_bytes))
			continue;
		entry.enclosing = reaching(symtab, last, entry.vaddr);
		if (!entry.size_bytes && entry.enclosing != NONE)
			continue;
		if (!entry.size_bytes)
			entry.size_bytes = unsized_bytes(symtab, &entry,
							 next ? next->vaddr : UINT64_MAX);
		entries[kept++] = entry;
	}
	symtab->count = symtab->room = kept;
	if (kept)
		symtab->entries = xreallocarray(entries, kept, sizeof(*entries));
}

struct symtab *symtab_new(struct image *image, struct image *debug)
{
	struct symtab *symtab = xcalloc(1, sizeof(*symtab));

	symtab->code_count = image_code(image, &symtab->code);
	if (symtab->code_count > CODE_SECTIONS_MAX)
		symtab->code_count = CODE_SECTIONS_MAX;
	symtab->complete = load_table(symtab, image, TABLE_IMAGE, ".symtab", ".strtab");
	/* All its symbols are in .symtab too, but in that of another file they may be left out. */
	if (!symtab->complete)
		load_table(symtab, image, TABLE_DYNAMIC, ".dynsym", ".dynstr");
	if (debug && load_table(symtab, debug, TABLE_DEBUG, ".symtab", ".strtab"))
		symtab->complete = true;
	load_plt(symtab, image);
	sort(symtab);
	settle(symtab);
	return symtab;
}

void symtab_free(struct symtab *symtab)
{
	if (!symtab)
		return;
	free(symtab->entries);
	free(symtab->code);
	free(symtab);
}

bool symtab_is_complete(const struct symtab *symtab)
{
	return symtab->complete;
}

bool symtab_is_empty(const struct symtab *symtab)
{
	return !symtab->count;
}

/* The last entry that begins at or before vaddr. */
static uint32_t last_before(const struct symtab *symtab, uint64_t vaddr)
{
	size_t low = 0, high = symtab->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symtab->entries[middle].vaddr <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (uint32_t)(low - 1) : NONE;
}

static const char *final_name(const struct symtab *symtab, const struct entry *entry,
			      struct arena *arena)
{
	const char *name = entry_name(symtab, entry);
	const char *version = strchr(name, '@');

	if (entry->table == TABLE_PLT) {
		size_t len = strlen(name);
		char *stub = arena_alloc(arena, len + sizeof("@plt"));

		memcpy(stub, name, len);
		memcpy(stub + len, "@plt", sizeof("@plt"));
		return stub;
	}
	return version ? arena_strndup(arena, name, (size_t)(version - name)) : name;
}

bool symtab_find(const struct symtab *symtab, uint64_t vaddr, struct arena *arena,
		 struct symbol *ret)
{
	uint32_t index = reaching(symtab, last_before(symtab, vaddr), vaddr);
	const struct entry *entry;

	if (index == NONE)
		return false;
	entry = &symtab->entries[index];
	*ret = (struct symbol){
		.vaddr = entry->vaddr,
		.size_bytes = entry->size_bytes,
		.name = final_name(symtab, entry, arena),
	};
	return ret->name[0];
}
