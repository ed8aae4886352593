#include "proc/kernel_map.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/line_reader.h"
#include "base/search.h"
#include "base/text.h"
#include "proc/kernel.h"

#include <stdio.h>

/*
 * Distribution kernels load about 200 modules. A recording may contain any
 * number.
 */
enum { RANGES_MAX = 4096 };

/*
 * Limits of code that has a name of its own. The kernel truncates the names at
 * KSYM_NAME_LEN.
 */
enum { SYMBOLS_MAX = 16 << 10, SYMBOL_NAME_BYTES_MAX = 512 };

/* MODULE_NAME_LEN is 64 - sizeof(long). */
enum { MODULE_NAME_BYTES_MAX = 64 };

/* In /proc/modules, a line contains the names of all modules that use one. */
enum { KERNEL_MAP_LINE_BYTES_MAX = 16 << 10, KERNEL_MAP_TEXT_BYTES_MAX = 4 << 20 };

/* No kernel has more code than this. */
#define KERNEL_BYTES_MAX (UINT64_C(64) << 20)

#define READING_EVERY_NS NS_PER_SECOND

static const char kernel_path[] = "[kernel.kallsyms]";

struct kernel_symbol {
	uint64_t start, end;
	char *name;
};

struct kernel_map {
	char *root; /* NULL if this is not the running kernel */
	struct modules *modules;
	module_id kernel;
	struct kernel_range *ranges; /* of modules, sorted by start */
	size_t count, room;
	struct kernel_range own; /* the kernel itself; start is 0 if unknown */
	bool is_own_read;
	uint64_t read_ns;	       /* when /proc/modules was last read, or 0 */
	size_t last;		       /* index of the last range that was found */
	struct kernel_symbol *symbols; /* sorted by start */
	size_t symbol_count, symbol_room;
};

struct kernel_map *kernel_map_new(const char *root, struct modules *modules)
{
	struct kernel_map *map = xcalloc(1, sizeof(*map));

	map->root = root ? xstrdup(root) : NULL;
	map->modules = modules;
	map->kernel = MODULE_NONE;
	return map;
}

void kernel_map_free(struct kernel_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->count; i++) {
		free(map->ranges[i].name);
		free(map->ranges[i].file);
	}
	for (size_t i = 0; i < map->symbol_count; i++)
		free(map->symbols[i].name);
	free(map->symbols);
	free(map->ranges);
	free(map->own.name);
	free(map->root);
	free(map);
}

const char *kernel_map_root(const struct kernel_map *map)
{
	return map->root;
}

static module_id kernel_map_kernel_of(struct kernel_map *map)
{
	if (map->kernel == MODULE_NONE)
		map->kernel = modules_kernel(map->modules);
	return map->kernel;
}

/* Adds a module, which replaces one at the same address. */
static void kernel_map_add_module(struct kernel_map *map, const char *name,
				  const struct mapping *mapping)
{
	CLEANUP(free_ptr) char *path = xasprintf("[%s]", name);
	size_t index = SEARCH_AFTER(map->ranges, map->count, start, mapping->start);
	struct kernel_range *range;

	if (index && map->ranges[index - 1].start == mapping->start) {
		range = &map->ranges[index - 1];
		free(range->name);
		free(range->file);
	} else {
		if (map->count == RANGES_MAX)
			return;
		GROW(map->ranges, map->count, map->room);
		range = &map->ranges[index];
		memmove(range + 1, range, (map->count++ - index) * sizeof(*range));
	}
	*range = (struct kernel_range){
		.start = mapping->start,
		.end = mapping->end,
		.module = modules_kernel_module(map->modules, path),
		.name = xstrdup(name),
		.file = *mapping->path == '/' ? xstrdup(mapping->path) : NULL,
		.build_id = mapping->build_id,
	};
}

static bool is_module_name(const char *name, size_t len)
{
	return len && len < MODULE_NAME_BYTES_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") >=
		       len;
}

/*
 * Example: "nf_conntrack 172032 1 nf_nat, Live 0xffffffffc0a1b000 (OE)". A
 * hidden address is 0.
 */
static void kernel_map_add_line(struct kernel_map *map, char *line)
{
	char *state = NULL, *fields[6];
	unsigned long size;
	uint64_t start;
	const char *at;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		fields[i] = strtok_r(i ? NULL : line, " ", &state);
		if (!fields[i])
			return;
	}
	at = fields[5];
	size = strtoul(fields[1], NULL, 10);
	if (is_module_name(fields[0], strlen(fields[0])) && text_hex(&at, &start) && start &&
	    size && start <= UINT64_MAX - size)
		kernel_map_add_module(
			map, fields[0],
			&(struct mapping){.start = start, .end = start + size, .path = ""});
}

static void read_modules(struct kernel_map *map)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/proc/modules", map->root);
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	CLEANUP(line_reader_deinit) struct line_reader lines;

	line_reader_init(&lines, file, KERNEL_MAP_LINE_BYTES_MAX, KERNEL_MAP_TEXT_BYTES_MAX);
	while (file && line_reader_next(&lines))
		kernel_map_add_line(map, lines.line);
}

/*
 * Returns the kernel's range from the mapping in a perf recording, or else from
 * the running kernel.
 */
static const struct kernel_range *own_range(struct kernel_map *map)
{
	struct kernel_code code;

	if (map->own.start || map->is_own_read || !map->root)
		return map->own.start ? &map->own : NULL;
	map->is_own_read = true;
	code = kernel_start_here(map->root);
	if (!code.start)
		return NULL;
	map->own = (struct kernel_range){
		.start = code.start,
		.end = code.start + KERNEL_BYTES_MAX,
		.module = kernel_map_kernel_of(map),
		.name = xstrdup(""),
		.symbol = code.symbol,
		.symbol_address = code.start,
	};
	return &map->own;
}

static bool kernel_map_is_in(const struct kernel_range *range, uint64_t pc)
{
	return pc - range->start < range->end - range->start;
}

static bool kernel_map_find_at(struct kernel_map *map, uint64_t pc, module_id *ret)
{
	size_t index;

	if (map->last < map->count && kernel_map_is_in(&map->ranges[map->last], pc) &&
	    (map->last + 1 == map->count || pc < map->ranges[map->last + 1].start)) {
		*ret = map->ranges[map->last].module;
		return true;
	}
	index = SEARCH_AFTER(map->ranges, map->count, start, pc);
	if (!index || !kernel_map_is_in(&map->ranges[index - 1], pc))
		return false;
	map->last = index - 1;
	*ret = map->ranges[index - 1].module;
	return true;
}

static bool kernel_map_may_read(struct kernel_map *map, uint64_t pc)
{
	const struct kernel_range *own;
	uint64_t now_ns;

	if (!map->root)
		return false;
	own = own_range(map);
	if (!own || kernel_map_is_in(own, pc))
		return false;
	now_ns = clock_now_ns();
	if (map->read_ns && now_ns - map->read_ns < READING_EVERY_NS)
		return false;
	map->read_ns = now_ns;
	return true;
}

void kernel_map_add_symbol(struct kernel_map *map, uint64_t start, uint64_t len, const char *name)
{
	size_t index = SEARCH_AFTER(map->symbols, map->symbol_count, start, start);
	struct kernel_symbol *symbol;

	if (!len || len > UINT64_MAX - start || !*name)
		return;
	if (index && map->symbols[index - 1].start == start) {
		symbol = &map->symbols[index - 1];
		free(symbol->name);
	} else {
		if (map->symbol_count == SYMBOLS_MAX)
			return;
		GROW(map->symbols, map->symbol_count, map->symbol_room);
		symbol = &map->symbols[index];
		memmove(symbol + 1, symbol, (map->symbol_count++ - index) * sizeof(*symbol));
	}
	*symbol = (struct kernel_symbol){
		.start = start,
		.end = start + len,
		.name = xstrndup(name, strnlen(name, SYMBOL_NAME_BYTES_MAX)),
	};
}

const char *kernel_map_symbol(const struct kernel_map *map, uint64_t pc)
{
	size_t index = SEARCH_AFTER(map->symbols, map->symbol_count, start, pc);

	return index && pc < map->symbols[index - 1].end ? map->symbols[index - 1].name : NULL;
}

module_id kernel_map_find(struct kernel_map *map, uint64_t pc)
{
	module_id module;

	if (kernel_map_symbol(map, pc))
		return kernel_map_kernel_of(map);
	if (kernel_map_find_at(map, pc, &module))
		return module;
	if (kernel_map_may_read(map, pc)) {
		read_modules(map);
		if (kernel_map_find_at(map, pc, &module))
			return module;
	}
	return kernel_map_kernel_of(map);
}

const struct kernel_range *kernel_map_range(struct kernel_map *map, module_id module)
{
	for (size_t i = 0; i < map->count; i++)
		if (map->ranges[i].module == module)
			return &map->ranges[i];
	return module == map->kernel ? own_range(map) : NULL;
}

/* --- Mappings of a recording ----------------------------------------------------------------- */

static void kernel_map_add_kernel(struct kernel_map *map, const struct mapping *mapping)
{
	const char *symbol = mapping->path + strlen(kernel_path);

	if (map->own.start)
		return;
	map->own = (struct kernel_range){
		.start = mapping->start,
		.end = mapping->end,
		.module = kernel_map_kernel_of(map),
		.name = xstrdup(""),
		.symbol = !strcmp(symbol, "_stext") ? "_stext" : "_text",
		.symbol_address = mapping->offset,
		.build_id = mapping->build_id,
	};
}

/* Returns whether this is a suffix of module files. */
static bool is_module_file(const char *suffix)
{
	static const char *const known[] = {".ko", ".ko.xz", ".ko.gz", ".ko.zst", ".ko.debug"};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(suffix, known[i]))
			return true;
	return false;
}

/*
 * Returns the module's name for "[ext4]" or
 * "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz", or NULL for other paths. The
 * caller frees it.
 */
static char *kernel_map_module_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
	size_t len = strcspn(start, ".]");
	char *name;

	if (*path == '[' && path[1 + strcspn(path + 1, "]")] == ']')
		start = path + 1, len = strcspn(start, "]");
	else if (!is_module_file(start + len))
		return NULL;
	if (!is_module_name(start, len))
		return NULL;
	name = xstrndup(start, len);
	for (char *at = name; *at; at++)
		if (*at == '-')
			*at = '_';
	return name;
}

void kernel_map_add(struct kernel_map *map, const struct mapping *mapping)
{
	CLEANUP(free_ptr) char *name = NULL;

	if (mapping->start >= mapping->end)
		return;
	if (text_begins(mapping->path, kernel_path)) {
		kernel_map_add_kernel(map, mapping);
		return;
	}
	name = kernel_map_module_name(mapping->path);
	if (name)
		kernel_map_add_module(map, name, mapping);
}
