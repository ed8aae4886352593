#include "dwarf/package.h"

#include "base/alloc.h"

/*
 * An index: a hash table of ids and rows, then a row of section ids, then rows
 * of offsets and of sizes.
 */
struct package {
	uint16_t version;
	uint32_t columns, units, slots;
	struct bytes ids, rows, sections, offsets, sizes;
};

/* DW_SECT_* numbers. Version 5 has reused those of types and locations. */
enum { COLUMNS_MAX = 16, NUMBER_BYTES = 4, ID_BYTES = 8 };

static const uint8_t section_ids[] = {
	[1] = 1 + DWARF_INFO,
	[3] = 1 + DWARF_ABBREV,
	[6] = 1 + DWARF_STR_OFFSETS,
};

enum { RNGLISTS_ID = 8 }; /* DW_SECT_MACRO in version 2 */

/* The size of a table cannot overflow, because each number has 32 bits. */
static struct bytes table_of(struct bytes *at, uint64_t rows, uint64_t columns)
{
	return bytes_sub(at, rows * columns * NUMBER_BYTES);
}

static bool read_package(struct bytes at, struct package *package)
{
	const struct bytes start = at;

	/* Version 5 has 16 bits and padding, version 2 has 32 bits. */
	package->version = bytes_u16(&at);
	if (bytes_u16(&at) != 0 || (package->version != 2 && package->version != 5))
		return false;
	package->columns = bytes_u32(&at);
	package->units = bytes_u32(&at);
	package->slots = bytes_u32(&at);
	/* Ensures that all sizes below are smaller than 2^64. */
	if (package->columns > COLUMNS_MAX || !package->units ||
	    package->slots > bytes_left(&start) / ID_BYTES ||
	    (package->slots & (package->slots - 1)) != 0)
		return false;
	package->ids = bytes_sub(&at, (uint64_t)package->slots * ID_BYTES);
	package->rows = table_of(&at, package->slots, 1);
	package->sections = table_of(&at, 1, package->columns);
	package->offsets = table_of(&at, package->units, package->columns);
	package->sizes = table_of(&at, package->units, package->columns);
	return bytes_ok(&at) && package->slots;
}

static uint64_t id_of_slot(const struct package *package, uint32_t slot)
{
	struct bytes at = bytes_at(package->ids, (uint64_t)slot * ID_BYTES);

	return bytes_u64(&at);
}

static uint32_t package_number_at(struct bytes table, uint64_t index)
{
	struct bytes at = bytes_at(table, index * NUMBER_BYTES);

	return bytes_u32(&at);
}

/* Returns the row of the unit, starting at 1, or 0 if there is no such unit. */
static uint32_t package_row_of(const struct package *package, uint64_t id)
{
	const uint32_t mask = package->slots - 1;
	uint32_t slot = (uint32_t)id & mask;

	for (uint32_t i = 0; i < package->slots; i++) {
		uint32_t row = package_number_at(package->rows, slot);

		if (row == 0 || id_of_slot(package, slot) == id)
			return row <= package->units ? row : 0;
		slot = (slot + ((uint32_t)(id >> 32) | 1)) & mask;
	}
	return 0;
}

static bool section_of(const struct package *package, uint32_t id, enum dwarf_section *ret)
{
	if (package->version == 5 && id == RNGLISTS_ID) {
		*ret = DWARF_RNGLISTS;
		return true;
	}
	if (id >= ARRAY_SIZE(section_ids) || !section_ids[id])
		return false;
	*ret = section_ids[id] - 1;
	return true;
}

static bool package_cut(struct bytes *section, uint32_t offset, uint32_t size)
{
	struct bytes at = bytes_at(*section, offset);

	*section = bytes_sub(&at, size);
	return bytes_ok(&at);
}

/*
 * Cuts all sections. A section without a column contains nothing of the unit.
 */
static bool cut_all(const struct package *package, uint32_t row, struct dwarf_sections *sections)
{
	const uint64_t first = (uint64_t)(row - 1) * package->columns;
	struct dwarf_sections all = *sections;

	for (unsigned i = 0; i < DWARF_SECTION_COUNT; i++)
		if (i != DWARF_STR)
			sections->of[i] = (struct bytes){0};
	for (uint32_t i = 0; i < package->columns; i++) {
		enum dwarf_section section;

		if (!section_of(package, package_number_at(package->sections, i), &section))
			continue;
		sections->of[section] = all.of[section];
		if (!package_cut(&sections->of[section],
				 package_number_at(package->offsets, first + i),
				 package_number_at(package->sizes, first + i)))
			return false;
	}
	return true;
}

bool dwarf_package_is_valid(struct bytes index)
{
	struct package package;

	return read_package(index, &package);
}

bool dwarf_package_find(struct bytes index, uint64_t dwo_id, struct dwarf_sections *sections)
{
	struct package package;
	uint32_t row = read_package(index, &package) ? package_row_of(&package, dwo_id) : 0;

	return row && cut_all(&package, row, sections);
}
