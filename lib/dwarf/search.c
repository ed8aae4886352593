#include "dwarf/search.h"

#include "base/alloc.h"
#include "dwarf/name.h"
#include "dwarf/reader.h"
#include "dwarf/scan.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* The units of a file, and the data that they refer to. */
struct searched {
	struct dwarf_file debug, alt;
	struct dwarf_reader reader;
};

static void open_searched(struct searched *searched, struct elf_file *debug, struct elf_file *alt,
			  struct arena *arena)
{
	struct dwarf_sections sections = dwarf_sections_of(debug);

	*searched = (struct searched){0};
	dwarf_file_init(&searched->debug, &sections);
	if (alt) {
		sections = dwarf_sections_of(alt);
		dwarf_file_init(&searched->alt, &sections);
	}
	dwarf_reader_init(&searched->reader, &searched->debug, alt ? &searched->alt : NULL, arena);
}

static void close_searched(struct searched *searched)
{
	dwarf_reader_deinit(&searched->reader);
	dwarf_file_deinit(&searched->debug);
	dwarf_file_deinit(&searched->alt);
}

/* ---- Lines ---- */

/* The state of a search in one unit. */
struct line_walk {
	struct dwarf_line_search *search;
	struct dwarf_lines *lines;
	struct arena *arena;
	/* The last file that was compared, and the result. */
	uint64_t file;
	bool has_looked, is_wanted;
	bool is_on_line; /* the last row was on the line */
};

/* Compares whole components: "main.rs" does not match "domain.rs". */
static bool ends_with_path(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);

	return len >= end_len && !strcmp(path + len - end_len, end) &&
	       (len == end_len || end[0] == '/' || path[len - end_len - 1] == '/');
}

static bool search_is_wanted(struct line_walk *walk, uint64_t file)
{
	if (!walk->has_looked || walk->file != file) {
		const char *path = dwarf_lines_path(walk->lines, file, walk->arena);

		walk->has_looked = true;
		walk->file = file;
		walk->is_wanted = path && ends_with_path(path, walk->search->file);
	}
	return walk->is_wanted;
}

static void take_row(void *user, uint64_t vaddr, const struct dwarf_place *row)
{
	struct line_walk *walk = user;
	struct dwarf_line_search *search = walk->search;
	bool was_on_line = walk->is_on_line;

	walk->is_on_line = false;
	if (!row->line || !search_is_wanted(walk, row->file))
		return;
	search->has_file = true;
	if (row->line < search->line && row->line > search->before)
		search->before = row->line;
	if (row->line > search->line && (!search->after || row->line < search->after))
		search->after = row->line;
	walk->is_on_line = row->line == search->line;
	if (!walk->is_on_line || was_on_line)
		return;
	GROW(search->vaddrs, search->count, search->room);
	search->vaddrs[search->count++] = vaddr;
}

void dwarf_search_line(struct dwarf_line_search *search, struct elf_file *debug,
		       struct elf_file *alt)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	CLEANUP(close_searched) struct searched searched;

	open_searched(&searched, debug, alt, &arena);
	for (size_t i = 0; i < searched.debug.unit_count; i++) {
		struct dwarf_opened *opened = dwarf_reader_open(&searched.reader, &searched.debug,
								&searched.debug.units[i]);
		struct line_walk walk = {
			.search = search,
			.arena = &arena,
			.lines = dwarf_reader_lines(&searched.reader, opened),
		};

		dwarf_lines_each(walk.lines, take_row, &walk);
	}
}

void dwarf_line_search_deinit(struct dwarf_line_search *search)
{
	free(search->vaddrs);
	*search = (struct dwarf_line_search){0};
}

/* ---- Inlined functions ---- */

/* The entry of an inlined function. */
struct inlined_entry {
	struct dwarf_reference function;
	uint64_t call_file;
	uint32_t call_line;
	bool has_call_file;
};

static struct inlined_entry search_read_entry(const struct dwarf_view *view,
					      const struct dwarf_die *die)
{
	struct inlined_entry entry = {0};
	struct dwarf_attrs attrs = dwarf_attrs_of(view, die);
	struct dwarf_value value;

	while (dwarf_attrs_next(&attrs, &value)) {
		switch (value.name) {
		case DW_AT_abstract_origin:
			entry.function = dwarf_reference(view, &value);
			break;
		case DW_AT_call_file:
			entry.call_file = value.number;
			entry.has_call_file = true;
			break;
		case DW_AT_call_line:
			entry.call_line = (uint32_t)value.number;
			break;
		default:
			break;
		}
	}
	return entry;
}

void dwarf_search_inlined(struct elf_file *debug, struct elf_file *alt, struct arena *arena,
			  bool (*found)(void *user, const struct dwarf_inlined *inlined),
			  void *user)
{
	CLEANUP(close_searched) struct searched searched;
	CLEANUP(dwarf_names_deinit) struct dwarf_names names;
	bool is_over = false;

	open_searched(&searched, debug, alt, arena);
	dwarf_names_init(&names, &searched.reader);
	for (size_t i = 0; i < searched.debug.unit_count && !is_over; i++) {
		struct dwarf_opened *opened = dwarf_reader_open(&searched.reader, &searched.debug,
								&searched.debug.units[i]);
		struct dwarf_scan scan;
		struct dwarf_die die;

		dwarf_scan_init(&scan, &opened->view, DWARF_INLINED);
		while (!is_over && dwarf_scan_next(&scan, &die)) {
			struct inlined_entry entry = search_read_entry(&opened->view, &die);
			size_t known = names.count;
			uint32_t number = dwarf_names_add(&names, entry.function);
			struct dwarf_inlined inlined = {.caller_line = entry.call_line};

			if (number < known)
				continue;
			inlined.name = names.functions[number].name;
			if (entry.has_call_file)
				inlined.caller_file = dwarf_lines_path(
					dwarf_reader_lines(&searched.reader, opened),
					entry.call_file, arena);
			is_over = inlined.name && found(user, &inlined);
		}
	}
}
