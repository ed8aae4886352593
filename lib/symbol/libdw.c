#include "symbol/libdw.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "base/search.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <endian.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The sections that libdw needs to find functions, names and lines. */
static const char *const section_names[] = {
	".debug_info", ".debug_types",	     ".debug_abbrev", ".debug_str",    ".debug_line_str",
	".debug_line", ".debug_str_offsets", ".debug_addr",   ".debug_ranges", ".debug_rnglists",
};

/* Section 0, the section names, then those above. */
enum { NAMES_INDEX = 1, FIRST_INDEX = 2, SECTIONS = FIRST_INDEX + ARRAY_SIZE(section_names) };
enum { NAME_BYTES_MAX = 24 };

/* The sections of one file; empty ones are absent. */
struct contents {
	struct bytes of[ARRAY_SIZE(section_names)];
};

/* What libelf is told that the file is. */
struct image {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS];
	char names[(1 + ARRAY_SIZE(section_names)) * NAME_BYTES_MAX];
	Elf *elf;
};

/* Of one thread at a time. */
struct reader {
	struct image debug_image, alt_image;
	Dwarf *debug, *alt;   /* NULL: no DWARF, or no supplementary file */
	struct reader *other; /* another idle one */
};

struct unit {
	Dwarf_Off root; /* offset of its first entry */
	uint64_t bytes;
};

struct range {
	uint64_t low, high;
	uint64_t reach; /* the highest end up to here */
	uint32_t unit;
};

struct libdw {
	struct contents debug, alt;
	bool has_alt;

	pthread_mutex_t lock; /* of all below */
	struct reader *idle;
	bool has_index;
	struct unit *units;
	uint32_t unit_count, unit_room;
	struct range *ranges; /* by start; where several cover an address, the last has it */
	size_t range_count, range_room;
};

/*
 * Limits for malformed files, those of dwarf/chain.c and dwarf/name.c. An entry takes a byte at
 * least, and no two of a unit are at the same place, whatever DW_AT_sibling says.
 */
enum { MAX_LEVEL = 500, MAX_CLAIMS = 5000, MAX_DEPTH = 2000, MAX_HOPS = 8, MAX_SCOPES = 64 };
enum { MAX_NAME_BYTES = 1 << 16, MAX_PATH_BYTES = 1 << 15 };

/* --- The ELF file that libdw sees ------------------------------------------------------------ */

static struct contents contents_of(struct elf_file *elf)
{
	struct contents contents = {0};

	for (size_t i = 0; i < ARRAY_SIZE(section_names); i++)
		contents.of[i] = elf_file_section(elf, section_names[i]).data;
	return contents;
}

static void write_headers(struct image *image)
{
	const unsigned char order = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;

	*image = (struct image){
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, order,
				       EV_CURRENT},
			   .e_type = ET_EXEC,
			   .e_version = EV_CURRENT,
			   .e_shoff = offsetof(struct image, sections),
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = SECTIONS,
			   .e_shstrndx = NAMES_INDEX},
	};
	image->sections[NAMES_INDEX] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
						    .sh_offset = offsetof(struct image, names),
						    .sh_size = sizeof(image->names)};
	for (uint32_t i = 0; i < ARRAY_SIZE(section_names); i++) {
		uint32_t name = (1 + i) * NAME_BYTES_MAX;

		image->sections[FIRST_INDEX + i] =
			(Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_name = name, .sh_addralign = 1};
		strncpy(&image->names[name], section_names[i], NAME_BYTES_MAX - 1);
	}
}

/* Sections are empty until here: their data is elsewhere, where it stays. */
static bool set_contents(Elf *elf, const struct contents *contents)
{
	for (size_t i = 0; i < ARRAY_SIZE(section_names); i++) {
		struct bytes section = contents->of[i];
		Elf_Scn *scn = elf_getscn(elf, FIRST_INDEX + i);
		Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

		if (!data)
			return false;
		data->d_buf = (void *)(uintptr_t)section.at;
		data->d_size = bytes_left(&section);
	}
	return true;
}

/* NULL if there is no DWARF. */
static Dwarf *open_image(struct image *image, const struct contents *contents)
{
	write_headers(image);
	image->elf = elf_memory((char *)image, offsetof(struct image, elf));
	if (!image->elf || !set_contents(image->elf, contents))
		return NULL;
	return dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
}

static struct reader *reader_new(const struct libdw *libdw)
{
	struct reader *reader = xcalloc(1, sizeof(*reader));

	elf_version(EV_CURRENT);
	reader->debug = open_image(&reader->debug_image, &libdw->debug);
	if (libdw->has_alt)
		reader->alt = open_image(&reader->alt_image, &libdw->alt);
	if (reader->debug && reader->alt)
		dwarf_setalt(reader->debug, reader->alt);
	return reader;
}

static void reader_free(struct reader *reader)
{
	dwarf_end(reader->debug);
	dwarf_end(reader->alt);
	elf_end(reader->debug_image.elf);
	elf_end(reader->alt_image.elf);
	free(reader);
}

static struct reader *take_reader(struct libdw *libdw)
{
	struct reader *reader;

	pthread_mutex_lock(&libdw->lock);
	reader = libdw->idle;
	if (reader)
		libdw->idle = reader->other;
	else /* under the lock: the first call of libelf sets a variable */
		reader = reader_new(libdw);
	pthread_mutex_unlock(&libdw->lock);
	return reader;
}

static void give_reader(struct libdw *libdw, struct reader *reader)
{
	pthread_mutex_lock(&libdw->lock);
	reader->other = libdw->idle;
	libdw->idle = reader;
	pthread_mutex_unlock(&libdw->lock);
}

struct libdw *libdw_new(struct elf_file *debug, struct elf_file *alt)
{
	struct libdw *libdw = xcalloc(1, sizeof(*libdw));

	libdw->debug = contents_of(debug);
	libdw->has_alt = alt;
	if (alt)
		libdw->alt = contents_of(alt);
	pthread_mutex_init(&libdw->lock, NULL);
	return libdw;
}

void libdw_free(struct libdw *libdw)
{
	if (!libdw)
		return;
	for (struct reader *reader = libdw->idle, *next; reader; reader = next) {
		next = reader->other;
		reader_free(reader);
	}
	pthread_mutex_destroy(&libdw->lock);
	free(libdw->units);
	free(libdw->ranges);
	free(libdw);
}

/* --- Entries --------------------------------------------------------------------------------- */

/* A walk over entries, which ends whatever they say. */
struct budget {
	uint64_t entries, ranges;
};

static struct budget budget_of(const struct libdw *libdw, uint64_t bytes)
{
	const struct bytes *of = libdw->debug.of;
	uint64_t ranges = bytes;

	for (size_t i = 0; i < ARRAY_SIZE(section_names); i++)
		if (!strcmp(section_names[i], ".debug_ranges") ||
		    !strcmp(section_names[i], ".debug_rnglists"))
			ranges += bytes_left(&of[i]);
	return (struct budget){.entries = bytes, .ranges = ranges};
}

static bool next_sibling(Dwarf_Die *die, struct budget *budget)
{
	Dwarf_Off before = dwarf_dieoffset(die);

	if (!budget->entries)
		return false;
	budget->entries--;
	return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > before;
}

/* The next range with code; *at is 0 at first. */
static bool next_range(Dwarf_Die *die, struct budget *budget, ptrdiff_t *at, Dwarf_Addr *base,
		       uint64_t *low, uint64_t *high)
{
	while (budget->ranges && (*at = dwarf_ranges(die, *at, base, low, high)) > 0) {
		budget->ranges--;
		/* Discarded by the linker. */
		if (*low < *high && *low != 0 && *low < (uint64_t)-2)
			return true;
	}
	return false;
}

static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

/* Entries without functions in them, however deep. */
static bool is_leaf(int tag)
{
	switch (tag) {
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_formal_parameter:
	case DW_TAG_variable:
	case DW_TAG_member:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
	case DW_TAG_imported_unit:
		return true;
	default:
		return false;
	}
}

/* --- Which unit covers an address ------------------------------------------------------------ */

static bool add_ranges(struct libdw *libdw, Dwarf_Die *die, struct budget *budget, uint32_t unit)
{
	Dwarf_Addr base;
	ptrdiff_t at = 0;
	uint64_t low, high;
	bool any = false;

	while (next_range(die, budget, &at, &base, &low, &high)) {
		GROW(libdw->ranges, libdw->range_count, libdw->range_room);
		libdw->ranges[libdw->range_count++] =
			(struct range){.low = low, .high = high, .unit = unit};
		any = true;
	}
	return any;
}

/* Of a unit without ranges. */
static void add_functions(struct libdw *libdw, Dwarf_Die *die, struct budget *budget, uint32_t unit,
			  unsigned depth)
{
	Dwarf_Die child;

	if (depth == MAX_DEPTH || dwarf_child(die, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_subprogram)
			add_ranges(libdw, &child, budget, unit);
		if (!is_leaf(tag))
			add_functions(libdw, &child, budget, unit, depth + 1);
	} while (next_sibling(&child, budget));
}

/* DWARF 2 has one range per unit, and compilers give it that of .text. */
static void add_unit(struct libdw *libdw, Dwarf_Die *root, Dwarf_Off end, Dwarf_Half version)
{
	uint32_t unit = libdw->unit_count;
	uint64_t bytes = end - dwarf_dieoffset(root);
	struct budget budget = budget_of(libdw, bytes);

	if (dwarf_tag(root) != DW_TAG_compile_unit)
		return;
	GROW(libdw->units, libdw->unit_count, libdw->unit_room);
	libdw->units[libdw->unit_count++] = (struct unit){.root = dwarf_dieoffset(root),
							  .bytes = bytes};
	if (!add_ranges(libdw, root, &budget, unit) || version == 2)
		add_functions(libdw, root, &budget, unit, 0);
}

static void add_units(struct libdw *libdw, Dwarf *dwarf)
{
	Dwarf_Off at = 0, next;
	size_t header_bytes;
	Dwarf_Half version;

	while (dwarf_next_unit(dwarf, at, &next, &header_bytes, &version, NULL, NULL, NULL, NULL,
			       NULL) == 0 &&
	       next > at) {
		Dwarf_Die root;

		if (dwarf_offdie(dwarf, at + header_bytes, &root))
			add_unit(libdw, &root, next, version);
		at = next;
	}
}

/* As dwarf/index.c: the range that begins last wins; of equal ones the shorter, the first unit. */
static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high > b->high ? -1 : 1;
	return (a->unit < b->unit) - (a->unit > b->unit);
}

static void make_index(struct libdw *libdw, struct reader *reader)
{
	uint64_t reach = 0;

	if (reader->debug)
		add_units(libdw, reader->debug);
	if (libdw->range_count)
		qsort(libdw->ranges, libdw->range_count, sizeof(*libdw->ranges), compare_ranges);
	for (size_t i = 0; i < libdw->range_count; i++) {
		if (libdw->ranges[i].high > reach)
			reach = libdw->ranges[i].high;
		libdw->ranges[i].reach = reach;
	}
}

static void need_index(struct libdw *libdw)
{
	pthread_mutex_lock(&libdw->lock);
	if (!libdw->has_index) {
		struct reader *reader = reader_new(libdw);

		make_index(libdw, reader);
		reader->other = libdw->idle;
		libdw->idle = reader;
		libdw->has_index = true;
	}
	pthread_mutex_unlock(&libdw->lock);
}

uint32_t libdw_unit_of(struct libdw *libdw, uint64_t vaddr)
{
	size_t low = 0, high;

	need_index(libdw);
	high = libdw->range_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (libdw->ranges[middle].low <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low && libdw->ranges[low - 1].reach > vaddr; low--)
		if (libdw->ranges[low - 1].high > vaddr)
			return libdw->ranges[low - 1].unit;
	return LIBDW_NO_UNIT;
}

uint64_t libdw_unit_bytes(const struct libdw *libdw, uint32_t unit)
{
	return libdw->units[unit].bytes;
}

/* --- Names ----------------------------------------------------------------------------------- */

struct function {
	const char *name; /* NULL: none */
	bool is_linkage_name;
	const char *plain_name;
	const char *decl_file;
	uint32_t decl_line;
};

/* A function with code, or an inlined one; as in dwarf/chain.h. */
struct scope {
	Dwarf_Die die;
	uint32_t parent;   /* the enclosing scope */
	uint32_t physical; /* the function it is, or is inlined into at any level */
	uint32_t level;	   /* of inlining */
	bool is_used;
};

#define NO_SCOPE UINT32_MAX

/* The state of one libdw_resolve(). */
struct resolving {
	struct libdw *libdw;
	Dwarf_Die root;
	struct budget budget;
	const uint64_t *vaddrs;
	size_t count;
	uint64_t claims_left; /* for all addresses together */
	struct scope *scopes;
	size_t scope_count, scope_room;
	uint32_t *innermost; /* by address */
	struct arena *arena;
	struct idmap function_ids; /* by the entry's address */
	struct function *functions;
	size_t function_count, function_room;
	struct idmap string_ids; /* by the address of libdw's string */
	const char **strings;
	size_t string_count, string_room;
};

/* Where the arena's copy of one of libdw's strings is, or is to be put. */
static const char **copy_of(struct resolving *resolving, const char *string)
{
	uint32_t *id = idmap_put(&resolving->string_ids, (uint64_t)(uintptr_t)string, 0);

	if (*id == IDMAP_NONE) {
		*id = (uint32_t)resolving->string_count;
		GROW(resolving->strings, resolving->string_count, resolving->string_room);
		resolving->strings[resolving->string_count++] = NULL;
	}
	return &resolving->strings[*id];
}

/* Each once: libdw's strings live as long as its Dwarf, and as long as the file is unchanged. */
static const char *copy(struct resolving *resolving, const char *string)
{
	const char **ret;

	if (!string)
		return NULL;
	ret = copy_of(resolving, string);
	if (!*ret)
		*ret = arena_strndup(resolving->arena, string, strnlen(string, MAX_NAME_BYTES));
	return *ret;
}

/* A unit's own directory can be relative, too: glibc's are. */
static bool is_in(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	return *directory != '/' && !strncmp(path, directory, len) && path[len] == '/';
}

/* libdw leaves relative the files of relative directories. */
static const char *copy_path(struct resolving *resolving, Dwarf_Die *unit, const char *path)
{
	const char **ret = copy_of(resolving, path);
	const char *directory;
	Dwarf_Attribute attribute;
	char joined[MAX_PATH_BYTES];
	int len;

	if (*ret)
		return *ret;
	directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	if (*path == '/' || !directory || !*directory || is_in(path, directory))
		return copy(resolving, path);
	len = snprintf(joined, sizeof(joined), "%s%s%s", directory,
		       directory[strlen(directory) - 1] == '/' ? "" : "/", path);
	if (len < 0 || len >= (int)sizeof(joined))
		return NULL;
	return *ret = arena_strndup(resolving->arena, joined, (size_t)len);
}

static const char *string_of(struct resolving *resolving, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return copy(resolving, dwarf_formstring(dwarf_attr(die, name, &attribute)));
}

static bool number_of(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), ret) == 0;
}

/* A file by its number in the line table of the entry's unit. */
static const char *path_of(struct resolving *resolving, Dwarf_Die *die, uint64_t file)
{
	Dwarf_Files *files;
	Dwarf_Die unit;
	const char *path;
	size_t count;

	if (!dwarf_diecu(die, &unit, NULL, NULL) || dwarf_getsrcfiles(&unit, &files, &count) < 0 ||
	    file >= count)
		return NULL;
	path = dwarf_filesrc(files, file, NULL, NULL);
	/* Before DWARF 5 there is no file 0. */
	return path && strcmp(path, "???") != 0 ? copy_path(resolving, &unit, path) : NULL;
}

/* What an entry and the entries that it refers to say; the first value counts. */
struct description {
	const char *name, *linkage_name;
	Dwarf_Die named_by; /* the entry with the name */
	bool is_external;
	const char *decl_file;
	uint64_t decl_line;
};

static void describe(struct resolving *resolving, struct description *to, Dwarf_Die *die)
{
	uint64_t file;

	if (!to->name && (to->name = string_of(resolving, die, DW_AT_name)))
		to->named_by = *die;
	if (!to->linkage_name)
		to->linkage_name = string_of(resolving, die, DW_AT_linkage_name);
	if (!to->linkage_name)
		to->linkage_name = string_of(resolving, die, DW_AT_MIPS_linkage_name);
	to->is_external |= dwarf_hasattr(die, DW_AT_external);
	if (!to->decl_file && number_of(die, DW_AT_decl_file, &file))
		to->decl_file = path_of(resolving, die, file);
	if (!to->decl_line && !number_of(die, DW_AT_decl_line, &to->decl_line))
		to->decl_line = 0;
}

static struct description description_of(struct resolving *resolving, const Dwarf_Die *entry)
{
	struct description description = {0};
	Dwarf_Die die = *entry;

	for (unsigned hops = 0; hops < MAX_HOPS; hops++) {
		Dwarf_Attribute attribute;

		describe(resolving, &description, &die);
		if (!dwarf_attr(&die, DW_AT_abstract_origin, &attribute) &&
		    !dwarf_attr(&die, DW_AT_specification, &attribute))
			break;
		if (!dwarf_formref_die(&attribute, &die))
			break;
	}
	return description;
}

/* Languages without named scopes around functions. */
static bool is_flat(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return true;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x002c: /* DW_LANG_C17, which came after DWARF 5 */
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

static bool is_named_scope(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		return true;
	default:
		return false;
	}
}

/* Moves to the child that is the entry at the offset, or that it is in. */
static bool descend(struct resolving *resolving, Dwarf_Die *die, Dwarf_Off offset)
{
	Dwarf_Die child;
	bool any = false;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		if (dwarf_dieoffset(&child) > offset)
			break;
		*die = child;
		any = true;
	} while (next_sibling(&child, &resolving->budget));
	return any;
}

/* The namespaces, types and functions around an entry, outermost first. Returns their number. */
static unsigned scopes_around(struct resolving *resolving, Dwarf_Die *entry,
			      Dwarf_Die around[MAX_SCOPES])
{
	const Dwarf_Off offset = dwarf_dieoffset(entry);
	unsigned count = 0;
	Dwarf_Die die;

	if (!dwarf_diecu(entry, &die, NULL, NULL))
		return 0;
	while (descend(resolving, &die, offset)) {
		if (dwarf_dieoffset(&die) == offset)
			return count;
		if (count < MAX_SCOPES && is_named_scope(dwarf_tag(&die)))
			around[count++] = die;
	}
	return 0;
}

static const char *scope_name(struct resolving *resolving, Dwarf_Die *die, const char *inner)
{
	const char *name = description_of(resolving, die).name;

	if (name)
		return name;
	if (dwarf_tag(die) == DW_TAG_namespace)
		return "(anonymous namespace)";
	return strncmp(inner, "operator()", 10) == 0 ? "{lambda}" : "{unnamed}";
}

/* "space::type::name", as demanglers write it. */
static const char *qualified(struct resolving *resolving, Dwarf_Die *entry, const char *name)
{
	Dwarf_Die around[MAX_SCOPES];
	unsigned count = scopes_around(resolving, entry, around);
	const char *scopes[MAX_SCOPES];
	size_t len = strlen(name) + 1;
	char *ret, *end;

	for (unsigned i = 0; i < count; i++) {
		scopes[i] = scope_name(resolving, &around[i], name);
		len += strlen(scopes[i]) + strlen("::");
	}
	if (len > MAX_NAME_BYTES)
		return name;
	ret = end = arena_alloc(resolving->arena, len);
	for (unsigned i = 0; i < count; i++)
		end = stpcpy(stpcpy(end, scopes[i]), "::");
	strcpy(end, name);
	return ret;
}

static struct function read_function(struct resolving *resolving, const Dwarf_Die *entry)
{
	struct description description = description_of(resolving, entry);
	struct function function = {
		.name = description.linkage_name ? description.linkage_name : description.name,
		.is_linkage_name = description.linkage_name,
		.plain_name = description.linkage_name ? description.name : NULL,
		.decl_file = description.decl_file,
		.decl_line = (uint32_t)description.decl_line,
	};

	/*
	 * extern "C" gives external functions without a linkage name; the plain name is complete.
	 */
	if (function.name && !function.is_linkage_name && !description.is_external &&
	    !is_flat(&description.named_by))
		function.name = qualified(resolving, &description.named_by, function.name);
	return function;
}

static const struct function *function_of(struct resolving *resolving, Dwarf_Die *entry)
{
	uint32_t *id = idmap_put(&resolving->function_ids, (uint64_t)(uintptr_t)entry->addr, 0);

	if (*id == IDMAP_NONE) {
		*id = (uint32_t)resolving->function_count;
		GROW(resolving->functions, resolving->function_count, resolving->function_room);
		resolving->functions[resolving->function_count++] = read_function(resolving, entry);
		return &resolving->functions[resolving->function_count - 1];
	}
	return &resolving->functions[*id];
}

/* --- Functions at addresses ------------------------------------------------------------------ */

/* A function replaces any other; an inlined call only scopes of the same physical function. */
static bool is_inner(const struct resolving *resolving, const struct scope *scope, uint32_t before)
{
	const struct scope *other;

	if (scope->level == 0)
		return true;
	if (before == NO_SCOPE)
		return false;
	other = &resolving->scopes[before];
	return other->physical == scope->physical && other->level < scope->level;
}

/* Gives the scope, number `index`, the addresses that it covers; false if there are none. */
static bool claim(struct resolving *resolving, struct scope *scope, uint32_t index)
{
	uint64_t low, high;
	Dwarf_Addr base;
	ptrdiff_t at = 0;
	bool any = false;

	while (next_range(&scope->die, &resolving->budget, &at, &base, &low, &high)) {
		size_t i = search_first(resolving->vaddrs, resolving->count, low);

		for (; i < resolving->count && resolving->vaddrs[i] < high; i++) {
			if (!resolving->claims_left)
				return any;
			resolving->claims_left--;
			if (!is_inner(resolving, scope, resolving->innermost[i]))
				continue;
			resolving->innermost[i] = index;
			any = true;
		}
	}
	return any;
}

/* Returns the innermost scope for the entry's children. */
static uint32_t enter(struct resolving *resolving, Dwarf_Die *die, int tag, uint32_t around)
{
	const uint32_t index = (uint32_t)resolving->scope_count;
	struct scope scope = {.die = *die, .parent = around, .physical = index};

	if (tag == DW_TAG_inlined_subroutine && around != NO_SCOPE) {
		scope.physical = resolving->scopes[around].physical;
		scope.level = resolving->scopes[around].level + 1;
	} else if (tag != DW_TAG_subprogram) {
		return around;
	}
	if (!has_code(die))
		return around;
	if (scope.level <= MAX_LEVEL)
		scope.is_used = claim(resolving, &scope, index);
	if (!scope.is_used && around == NO_SCOPE)
		return around;
	GROW(resolving->scopes, resolving->scope_count, resolving->scope_room);
	resolving->scopes[resolving->scope_count++] = scope;
	return index;
}

/* Of a scope without any of the addresses nothing is kept. */
static void leave(struct resolving *resolving, uint32_t index)
{
	const struct scope *scope = &resolving->scopes[index];

	if (!scope->is_used)
		resolving->scope_count = index;
	else if (scope->parent != NO_SCOPE)
		resolving->scopes[scope->parent].is_used = true;
}

static void find_scopes(struct resolving *resolving, Dwarf_Die *die, uint32_t around,
			unsigned depth)
{
	Dwarf_Die child;

	if (depth == MAX_DEPTH || dwarf_child(die, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);
		uint32_t scope = enter(resolving, &child, tag, around);

		if (!is_leaf(tag))
			find_scopes(resolving, &child, scope, depth + 1);
		if (scope != around)
			leave(resolving, scope);
	} while (next_sibling(&child, &resolving->budget));
}

/* --- Chains ---------------------------------------------------------------------------------- */

/* Where code runs, or a function is called. */
struct place {
	const char *file; /* NULL: unknown */
	uint32_t line;
};

static bool place_at(struct resolving *resolving, uint64_t vaddr, struct place *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(&resolving->root, vaddr);
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	int number;

	*ret = (struct place){0};
	if (!line || dwarf_lineno(line, &number) != 0)
		return false;
	if (file && strcmp(file, "???") != 0)
		ret->file = copy_path(resolving, &resolving->root, file);
	ret->line = (uint32_t)number;
	return true;
}

static struct place call_place(struct resolving *resolving, Dwarf_Die *die)
{
	struct place place = {0};
	uint64_t file, line;

	if (!number_of(die, DW_AT_call_file, &file))
		return place;
	place.file = path_of(resolving, &resolving->root, file);
	if (number_of(die, DW_AT_call_line, &line))
		place.line = (uint32_t)line;
	return place;
}

static struct scope *scope_at(const struct resolving *resolving, uint32_t index)
{
	return index == NO_SCOPE ? NULL : &resolving->scopes[index];
}

static void fill_call(struct resolving *resolving, struct scope *scope, struct place place,
		      struct call *call)
{
	const struct function *function = function_of(resolving, &scope->die);

	*call = (struct call){
		.name = function->name,
		.is_linkage_name = function->is_linkage_name,
		.plain_name = function->plain_name,
		.file = place.file,
		.line = place.line,
		.start_line = function->decl_line,
		.decl_file = function->decl_file,
	};
}

static struct inline_chain chain_of(struct resolving *resolving, size_t i)
{
	struct scope *scope = scope_at(resolving, resolving->innermost[i]);
	unsigned count = scope ? scope->level + 1 : 1;
	struct place place;
	struct call *calls;

	if (!place_at(resolving, resolving->vaddrs[i], &place) && !scope)
		return (struct inline_chain){0};
	calls = arena_alloc(resolving->arena, count * sizeof(*calls));
	if (!scope)
		calls[0] = (struct call){.file = place.file, .line = place.line};
	for (struct call *call = calls; scope; call++) {
		fill_call(resolving, scope, place, call);
		place = call_place(resolving, &scope->die);
		scope = scope->level ? scope_at(resolving, scope->parent) : NULL;
	}
	return (struct inline_chain){calls, count};
}

static void resolve(struct resolving *resolving, struct inline_chain *ret)
{
	find_scopes(resolving, &resolving->root, NO_SCOPE, 0);
	/* What the walk has left over is not enough to look for names. */
	resolving->budget = budget_of(resolving->libdw, UINT32_MAX);
	for (size_t i = 0; i < resolving->count; i++)
		ret[i] = chain_of(resolving, i);
}

void libdw_resolve(struct libdw *libdw, uint32_t unit, const uint64_t *vaddrs, size_t count,
		   struct arena *arena, struct inline_chain *ret)
{
	struct reader *reader = take_reader(libdw);
	struct resolving resolving = {
		.libdw = libdw,
		.budget = budget_of(libdw, libdw->units[unit].bytes),
		.vaddrs = vaddrs,
		.count = count,
		.claims_left = (uint64_t)count * MAX_CLAIMS,
		.innermost = xcalloc(count, sizeof(*resolving.innermost)),
		.arena = arena,
	};

	for (size_t i = 0; i < count; i++) {
		resolving.innermost[i] = NO_SCOPE;
		ret[i] = (struct inline_chain){0};
	}
	if (reader->debug && dwarf_offdie(reader->debug, libdw->units[unit].root, &resolving.root))
		resolve(&resolving, ret);
	give_reader(libdw, reader);
	free(resolving.innermost);
	free(resolving.scopes);
	free(resolving.functions);
	free(resolving.strings);
	idmap_deinit(&resolving.function_ids);
	idmap_deinit(&resolving.string_ids);
}
