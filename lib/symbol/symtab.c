#include "symbol/symtab.h"

#include "base/text.h"
#include "symbol/plt.h"

#include "base/alloc.h"
#include "base/search.h"
#include "elf/classes.h"
#include "elf/dynamic_symbols.h"

#include <pthread.h>
#include <string.h>

/* The string table that contains an entry's name. */
enum symtab_table {
	TABLE_IMAGE,   /* .strtab */
	TABLE_DEBUG,   /* .strtab of the debug file */
	TABLE_DYNAMIC, /* .dynstr */
	TABLE_PLT,     /* .dynstr, for the PLT stub of that function */
	TABLES,
};

#define NONE UINT32_MAX

/* Executable sections are searched linearly. Programs have about five. */
enum { CODE_SECTIONS_MAX = 256 };

/* Digits of a vaddr, for radix sort. */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Maximum size of a name that is compared and kept. Real names are shorter. */
enum { KEY_BYTES = 1024, SYMTAB_NAME_BYTES_MAX = 1 << 16, NAMES_AT_ONCE = 1024 };

/* Small, because large programs have a million symbols. */
struct symtab_entry {
	uint64_t vaddr;
	uint32_t size_bytes;
	uint32_t name; /* offset in its table's strings */
	/*
	 * The nearest earlier entry that extends beyond this one's start, or
	 * NONE.
	 */
	uint32_t enclosing;
	uint8_t table;
	uint8_t rank; /* lowest is best among entries at one address */
};

enum symtab_rank {
	RANK_WEAK = 1,
	RANK_LOCAL = 2,
	RANK_UNTYPED = 4,
	RANK_UNSIZED = 8, /* above all others: only functions have sizes */
};

struct symtab {
	struct elf_file *files[TABLES]; /* NULL if these files do not have the table */
	struct bytes symbols[TABLES];	/* contents of the symbol table */
	struct bytes strings[TABLES];	/* contents of the string table */
	struct plt_stub *stubs;
	size_t stub_count;
	struct elf_code *code;
	size_t code_count;

	pthread_mutex_t reading;
	bool is_read;		      /* the following members are complete */
	struct symtab_entry *entries; /* by vaddr; the best entry at a vaddr is the last */
	size_t count, room;
	bool complete;

	bool is_searched_for_ada; /* the following member is valid */
	bool is_of_ada;
};

/*
 * Returns the end of the executable section that contains vaddr, or 0 if there
 * is none.
 */
static uint64_t code_end(const struct symtab *symtab, uint64_t vaddr)
{
	const struct elf_code *code = elf_code_at(symtab->code, symtab->code_count, vaddr);

	return code ? code->end : 0;
}

/* Returns the name, truncated to a maximum length (see bytes_text()). */
static struct bytes entry_name(const struct symtab *symtab, const struct symtab_entry *entry,
			       size_t most)
{
	struct bytes strings = bytes_at(symtab->strings[entry->table], entry->name);
	size_t left = bytes_left(&strings);
	const unsigned char *nul = left ? memchr(strings.at, 0, left < most ? left : most) : NULL;

	if (!nul && left <= most)
		return (struct bytes){0};
	strings.end = nul ? nul : strings.at + most;
	return strings;
}

/*
 * Returns true for labels inside functions and for aarch64's mapping symbols
 * ("$x", "$d.12").
 */
static bool is_label(struct bytes name)
{
	uint8_t first = bytes_u8(&name);

	return first == '$' || (first == '.' && bytes_u8(&name) == 'L');
}

static unsigned symtab_rank_of(const Elf64_Sym *symbol)
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

static bool symtab_is_wanted(const struct symtab *symtab, struct elf_file *elf,
			     const Elf64_Sym *symbol, const struct symtab_entry *entry)
{
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || !symbol->st_name)
		return false;
	switch (ELF64_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return symbol->st_size || code_end(symtab, symbol->st_value);
	case STT_NOTYPE:
		return code_end(symtab, symbol->st_value) &&
		       !is_label(entry_name(symtab, entry, 2));
	case STT_OBJECT:
		return symbol->st_size && elf_file_section_is_data(elf, symbol->st_shndx);
	default:
		return false;
	}
}

static void symtab_add_entry(struct symtab *symtab, struct symtab_entry entry)
{
	/* The limit of `enclosing`, which has 32 bits. */
	if (symtab->count == NONE)
		return;
	GROW(symtab->entries, symtab->count, symtab->room);
	symtab->entries[symtab->count++] = entry;
}

/*
 * Reserves memory; unused pages are never touched. Returns false if the file
 * claims more symbols than there is memory.
 */
static bool symtab_reserve(struct symtab *symtab, size_t more)
{
	size_t room = symtab->count + more;
	struct symtab_entry *entries = reallocarray(symtab->entries, room, sizeof(*entries));

	if (!entries)
		return false;
	symtab->entries = entries;
	symtab->room = room;
	return true;
}

static void find_table(struct symtab *symtab, struct elf_file *elf, enum symtab_table table,
		       const char *symbols_name, const char *strings_name)
{
	symtab->files[table] = elf;
	symtab->symbols[table] = elf_file_section(elf, symbols_name).data;
	symtab->strings[table] = elf_file_section(elf, strings_name).data;
}

static void find_dynamic_table(struct symtab *symtab, struct elf_file *elf)
{
	const struct elf_dynamic_symbols found = elf_dynamic_symbols(elf);

	symtab->files[TABLE_DYNAMIC] = elf;
	symtab->symbols[TABLE_DYNAMIC] = found.symbols;
	symtab->strings[TABLE_DYNAMIC] = found.strings;
}

/* Returns true if the table exists. */
static bool load_table(struct symtab *symtab, enum symtab_table table)
{
	struct elf_file *elf = symtab->files[table];
	struct bytes symbols = symtab->symbols[table];
	Elf64_Sym symbol;

	if (!bytes_left(&symbols) ||
	    !symtab_reserve(symtab,
			    bytes_left(&symbols) / elf_symbol_bytes(elf_file_is_32(elf)) + 1))
		return false;
	while (elf_take_symbol(&symbols, elf_file_is_32(elf), &symbol)) {
		uint64_t size = symbol.st_size;
		struct symtab_entry entry;

		symbol.st_value = elf_file_symbol_vaddr(elf, &symbol);
		entry = (struct symtab_entry){
			.vaddr = symbol.st_value,
			.size_bytes = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
			.name = symbol.st_name,
			.table = (uint8_t)table,
			.rank = (uint8_t)symtab_rank_of(&symbol),
		};

		if (symtab_is_wanted(symtab, elf, &symbol, &entry))
			symtab_add_entry(symtab, entry);
	}
	return true;
}

static void load_plt(struct symtab *symtab)
{
	for (size_t i = 0; i < symtab->stub_count; i++)
		symtab_add_entry(symtab, (struct symtab_entry){
						 .vaddr = symtab->stubs[i].vaddr,
						 .name = symtab->stubs[i].name,
						 .table = TABLE_PLT,
						 .rank = RANK_LOCAL | RANK_UNSIZED,
					 });
}

/*
 * An entry with a copy of its name, because the file can change during the
 * sort.
 */
struct named_entry {
	struct symtab_entry entry;
	const char *name;
};

/*
 * Returns the rank without the difference between weak and global symbols,
 * which are equally public.
 */
static unsigned rank_before_names(const struct symtab_entry *entry)
{
	return entry->rank & ~(unsigned)RANK_WEAK;
}

static int compare_ranks(const void *left, const void *right)
{
	unsigned a = rank_before_names(left), b = rank_before_names(right);

	return (a < b) - (a > b);
}

/*
 * Returns the number of leading underscores. The prefix of vdso functions does
 * not count.
 */
static size_t underscores(const char *name)
{
	return text_begins(name, "__vdso_") ? 0 : strspn(name, "_");
}

/*
 * Compares names. The better entry compares greater, because the best entry of
 * an address is the last.
 */
static int symtab_compare_names(const struct named_entry *a, const struct named_entry *b)
{
	size_t underscores_a = underscores(a->name), underscores_b = underscores(b->name);
	size_t len_a = strcspn(a->name, "@"), len_b = strcspn(b->name, "@");
	bool is_local = a->entry.rank & RANK_LOCAL;

	if (underscores_a != underscores_b)
		return underscores_a < underscores_b ? 1 : -1;
	if (a->entry.rank != b->entry.rank)
		return a->entry.rank < b->entry.rank ? 1 : -1;
	if (len_a != len_b)
		return (len_a < len_b) != is_local ? 1 : -1;
	return strcmp(b->name, a->name);
}

/* Compares entries of one vaddr and rank_before_names(). */
static int compare_aliases(const void *left, const void *right)
{
	const struct named_entry *a = left, *b = right;
	int by_name = symtab_compare_names(a, b);

	if (by_name)
		return by_name;
	return (a->entry.size_bytes > b->entry.size_bytes) -
	       (a->entry.size_bytes < b->entry.size_bytes);
}

/* Entries of one vaddr and rank. There are usually at most two. */
struct aliases {
	struct named_entry *items;
	size_t count, room;
	struct arena names;
	size_t name_count; /* number of bytes used in `names` */
};

static void add_alias(struct aliases *aliases, const struct symtab *symtab,
		      const struct symtab_entry *entry)
{
	const char *name = arena_text(&aliases->names, entry_name(symtab, entry, KEY_BYTES));

	GROW(aliases->items, aliases->count, aliases->room);
	aliases->items[aliases->count++] = (struct named_entry){*entry, name ? name : ""};
	aliases->name_count++;
}

static void sort_aliases(struct aliases *aliases, const struct symtab *symtab,
			 struct symtab_entry *first, size_t count)
{
	aliases->count = 0;
	for (size_t i = 0; i < count; i++)
		add_alias(aliases, symtab, &first[i]);
	qsort(aliases->items, count, sizeof(*aliases->items), compare_aliases);
	for (size_t i = 0; i < count; i++)
		first[i] = aliases->items[i].entry;
	if (aliases->name_count >= NAMES_AT_ONCE) {
		arena_deinit(&aliases->names);
		aliases->name_count = 0;
	}
}

/*
 * Sorts the entries of one vaddr. Most differ in rank, so their names are not
 * read.
 */
static void sort_one_vaddr(struct aliases *aliases, const struct symtab *symtab,
			   struct symtab_entry *first, size_t count)
{
	qsort(first, count, sizeof(*first), compare_ranks);
	for (size_t end, i = 0; i < count; i = end) {
		for (end = i + 1;
		     end < count && rank_before_names(&first[end]) == rank_before_names(&first[i]);)
			end++;
		if (end - i > 1)
			sort_aliases(aliases, symtab, &first[i], end - i);
	}
}

static void aliases_deinit(struct aliases *aliases)
{
	arena_deinit(&aliases->names);
	free(aliases->items);
}

/* A stable counting sort by one digit. */
static void sort_by_digit(const struct symtab_entry *from, struct symtab_entry *to, size_t count,
			  unsigned shift)
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

/*
 * Sorts with radix sort, because comparing a million symbols is slow. Returns
 * false if there is not enough memory.
 */
static bool sort_by_vaddr(struct symtab *symtab)
{
	size_t count = symtab->count;
	struct symtab_entry *sorted = reallocarray(NULL, count, sizeof(*sorted));
	uint64_t bits = 0;

	if (!sorted)
		return false;
	for (size_t i = 0; i < count; i++)
		bits |= symtab->entries[i].vaddr ^ symtab->entries[0].vaddr;
	for (unsigned shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
		struct symtab_entry *unsorted = symtab->entries;

		sort_by_digit(unsorted, sorted, count, shift);
		symtab->entries = sorted;
		sorted = unsorted;
	}
	symtab->room = count;
	free(sorted);
	return true;
}

static void symtab_sort(struct symtab *symtab)
{
	CLEANUP(aliases_deinit) struct aliases aliases = {0};
	size_t end;

	if (symtab->count && !sort_by_vaddr(symtab))
		symtab->count = 0;
	for (size_t i = 0; i < symtab->count; i = end) {
		struct symtab_entry *first = &symtab->entries[i];

		end = i + 1;
		while (end < symtab->count && symtab->entries[end].vaddr == first->vaddr)
			end++;
		if (end - i > 1)
			sort_one_vaddr(&aliases, symtab, first, end - i);
	}
}

static uint64_t entry_end(const struct symtab_entry *entry)
{
	return entry->vaddr + entry->size_bytes;
}

/*
 * Returns the nearest entry, from `index` outwards, that extends beyond vaddr.
 */
static uint32_t reaching(const struct symtab *symtab, uint32_t index, uint64_t vaddr)
{
	while (index != NONE && entry_end(&symtab->entries[index]) <= vaddr)
		index = symtab->entries[index].enclosing;
	return index;
}

/*
 * Returns the size of an entry without a size, which extends to the next one,
 * or 0 if there is no room.
 */
static uint32_t unsized_bytes(const struct symtab *symtab, const struct symtab_entry *entry,
			      uint64_t next_vaddr)
{
	uint64_t end = code_end(symtab, entry->vaddr);

	if (next_vaddr < end)
		end = next_vaddr;
	return end - entry->vaddr < UINT32_MAX ? (uint32_t)(end - entry->vaddr) : UINT32_MAX;
}

/*
 * Drops entries that can never be found, and links each entry to its enclosing
 * one.
 */
static void symtab_settle(struct symtab *symtab)
{
	struct symtab_entry *entries = symtab->entries;
	uint32_t kept = 0;

	for (size_t i = 0; i < symtab->count; i++) {
		struct symtab_entry entry = entries[i];
		const struct symtab_entry *next = i + 1 < symtab->count ? &entries[i + 1] : NULL;
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

struct symtab *symtab_open(struct elf_file *elf, struct elf_file *debug)
{
	struct symtab *symtab = xcalloc(1, sizeof(*symtab));

	pthread_mutex_init(&symtab->reading, NULL);
	symtab->code_count = elf_file_code(elf, &symtab->code);
	if (symtab->code_count > CODE_SECTIONS_MAX)
		symtab->code_count = CODE_SECTIONS_MAX;
	find_table(symtab, elf, TABLE_IMAGE, ".symtab", ".strtab");
	find_dynamic_table(symtab, elf);
	if (debug)
		find_table(symtab, debug, TABLE_DEBUG, ".symtab", ".strtab");
	symtab->stub_count = plt_stubs(elf, &symtab->stubs);
	symtab->strings[TABLE_PLT] = symtab->strings[TABLE_DYNAMIC];
	return symtab;
}

static void symtab_read_tables(struct symtab *symtab)
{
	symtab->complete = load_table(symtab, TABLE_IMAGE);
	/*
	 * .symtab contains the dynamic symbols, too, but that of a debug file
	 * may lack them.
	 */
	if (!symtab->complete)
		load_table(symtab, TABLE_DYNAMIC);
	if (symtab->files[TABLE_DEBUG] && load_table(symtab, TABLE_DEBUG))
		symtab->complete = true;
	load_plt(symtab);
	symtab_sort(symtab);
	symtab_settle(symtab);
}

void symtab_read(struct symtab *symtab)
{
	pthread_mutex_lock(&symtab->reading);
	if (!symtab->is_read)
		symtab_read_tables(symtab);
	symtab->is_read = true;
	pthread_mutex_unlock(&symtab->reading);
}

struct symtab *symtab_new(struct elf_file *elf, struct elf_file *debug)
{
	struct symtab *symtab = symtab_open(elf, debug);

	symtab_read(symtab);
	return symtab;
}

void symtab_free(struct symtab *symtab)
{
	if (!symtab)
		return;
	pthread_mutex_destroy(&symtab->reading);
	free(symtab->entries);
	free(symtab->stubs);
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

/* Searches the names of all symbols, including undefined ones. */
static bool mentions(const struct symtab *symtab, const char *name)
{
	for (size_t i = 0; i < TABLE_PLT; i++) {
		size_t len = bytes_left(&symtab->strings[i]);

		if (len && memmem(symtab->strings[i].at, len, name, strlen(name)))
			return true;
	}
	return false;
}

bool symtab_is_of_ada(struct symtab *symtab)
{
	bool is_of_ada;

	pthread_mutex_lock(&symtab->reading);
	if (!symtab->is_searched_for_ada)
		symtab->is_of_ada = mentions(symtab, "__gnat_");
	symtab->is_searched_for_ada = true;
	is_of_ada = symtab->is_of_ada;
	pthread_mutex_unlock(&symtab->reading);
	return is_of_ada;
}

/* Returns the last entry that starts at or before vaddr. */
static uint32_t last_before(const struct symtab *symtab, uint64_t vaddr)
{
	size_t after = SEARCH_AFTER(symtab->entries, symtab->count, vaddr, vaddr);

	return after ? (uint32_t)(after - 1) : NONE;
}

static const char *final_name(const struct symtab *symtab, const struct symtab_entry *entry,
			      struct arena *arena)
{
	struct bytes name = entry_name(symtab, entry, SYMTAB_NAME_BYTES_MAX);
	const unsigned char *version;
	size_t len = bytes_left(&name);
	char *stub;

	if (!len)
		return "";
	if (entry->table == TABLE_PLT) {
		stub = arena_alloc(arena, len + sizeof("@plt"));
		memcpy(bytes_append(stub, name), "@plt", sizeof("@plt"));
		return stub;
	}
	version = memchr(name.at, '@', len);
	if (version)
		name.end = version;
	return arena_text(arena, name);
}

bool symtab_find(const struct symtab *symtab, uint64_t vaddr, struct arena *arena,
		 struct symbol *ret)
{
	uint32_t index = reaching(symtab, last_before(symtab, vaddr), vaddr);
	const struct symtab_entry *entry;

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
