#include "dwarf/reader.h"

#include "base/alloc.h"

#include <stdlib.h>

/*
 * Allows overlaps, because GCC's link-time optimizer leaves overlapping tables.
 */
static uint64_t reader_abbrev_budget(const struct dwarf_file *file)
{
	return 4 * (uint64_t)bytes_left(&file->sections.of[DWARF_ABBREV]);
}

static uint64_t line_budget(const struct dwarf_file *file)
{
	return 16 * (uint64_t)bytes_left(&file->sections.of[DWARF_LINE]);
}

void dwarf_reader_init(struct dwarf_reader *reader, const struct dwarf_file *debug,
		       const struct dwarf_file *alt, struct arena *arena)
{
	*reader = (struct dwarf_reader){.debug = debug, .alt = alt, .arena = arena};
	reader->abbrev_bytes_left = reader_abbrev_budget(debug);
	reader->line_bytes_left = line_budget(debug);
	if (alt) {
		reader->abbrev_bytes_left += reader_abbrev_budget(alt);
		reader->line_bytes_left += line_budget(alt);
	}
}

void dwarf_reader_init_split(struct dwarf_reader *reader, const struct dwarf_file *file,
			     const struct dwarf_unit *unit, const struct dwarf_view *skeleton,
			     struct arena *arena)
{
	dwarf_reader_init(reader, file, NULL, arena);
	reader->split = unit;
	reader->skeleton = skeleton;
}

void dwarf_reader_deinit(struct dwarf_reader *reader)
{
	for (size_t i = 0; i < reader->opened_count; i++) {
		dwarf_lines_free(reader->opened[i]->lines);
		free(reader->opened[i]);
	}
	free(reader->opened);
	for (size_t i = 0; i < reader->abbrevs_count; i++) {
		dwarf_abbrevs_deinit(reader->abbrevs[i]);
		free(reader->abbrevs[i]);
	}
	free(reader->abbrevs);
	idmap_deinit(&reader->opened_ids);
	idmap_deinit(&reader->abbrevs_ids);
}

static const struct dwarf_abbrevs *load_abbrevs(struct dwarf_reader *reader,
						const struct dwarf_file *file,
						const struct dwarf_unit *unit)
{
	struct bytes table = dwarf_section_at(&file->sections, DWARF_ABBREV, unit->abbrevs);
	struct dwarf_abbrevs *abbrevs = xcalloc(1, sizeof(*abbrevs));
	size_t used;

	if (bytes_left(&table) > reader->abbrev_bytes_left)
		table.end = table.at + reader->abbrev_bytes_left;
	used = dwarf_abbrevs_load(abbrevs, table, unit->encoding);
	reader->abbrev_bytes_left -= used;
	GROW(reader->abbrevs, reader->abbrevs_count, reader->abbrevs_room);
	return reader->abbrevs[reader->abbrevs_count++] = abbrevs;
}

static const struct dwarf_abbrevs *abbrevs_of(struct dwarf_reader *reader,
					      const struct dwarf_file *file,
					      const struct dwarf_unit *unit)
{
	const struct dwarf_encoding encoding = unit->encoding;
	uint32_t kind = (uint32_t)(encoding.version << 16 | encoding.address_bytes << 8 |
				   encoding.offset_bytes << 1 | (file == reader->alt));
	uint32_t *id = idmap_put(&reader->abbrevs_ids, unit->abbrevs, kind);

	if (*id != IDMAP_NONE)
		return reader->abbrevs[*id];
	*id = (uint32_t)reader->abbrevs_count;
	return load_abbrevs(reader, file, unit);
}

static struct dwarf_view view_of(struct dwarf_reader *reader, const struct dwarf_file *file,
				 const struct dwarf_unit *unit)
{
	const struct dwarf_file *alt = file == reader->debug ? reader->alt : NULL;
	const struct dwarf_abbrevs *abbrevs = abbrevs_of(reader, file, unit);

	return reader->split ? dwarf_view_of_split(file, unit, abbrevs, reader->skeleton)
			     : dwarf_view_of(file, alt, unit, abbrevs);
}

struct dwarf_opened *dwarf_reader_open(struct dwarf_reader *reader, const struct dwarf_file *file,
				       const struct dwarf_unit *unit)
{
	uint32_t *id = idmap_put(&reader->opened_ids, unit->offset, file == reader->alt);
	struct dwarf_opened *opened;

	if (*id != IDMAP_NONE)
		return reader->opened[*id];
	*id = (uint32_t)reader->opened_count;
	opened = xcalloc(1, sizeof(*opened));
	opened->view = view_of(reader, file, unit);
	GROW(reader->opened, reader->opened_count, reader->opened_room);
	return reader->opened[reader->opened_count++] = opened;
}

struct dwarf_opened *dwarf_reader_die(struct dwarf_reader *reader, struct dwarf_reference reference,
				      struct dwarf_die *ret)
{
	const struct dwarf_unit *unit = NULL;
	struct dwarf_opened *opened;

	if (reference.file)
		unit = dwarf_file_unit_at(reference.file, reference.offset);
	if (!unit)
		return NULL;
	opened = dwarf_reader_open(reader, reference.file, unit);
	return dwarf_view_die(&opened->view, reference.offset, ret) ? opened : NULL;
}

struct dwarf_lines *dwarf_reader_lines(struct dwarf_reader *reader, struct dwarf_opened *opened)
{
	bool is_split = reader->split && opened->view.unit == reader->split;
	uint64_t used;

	if (opened->lines)
		return opened->lines;
	opened->lines = dwarf_lines_new(is_split ? reader->skeleton : &opened->view,
					reader->line_bytes_left);
	used = dwarf_lines_header_bytes(opened->lines);
	reader->line_bytes_left -= used < reader->line_bytes_left ? used : reader->line_bytes_left;
	return opened->lines;
}
