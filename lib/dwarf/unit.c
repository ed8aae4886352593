#include "dwarf/unit.h"

#include "base/alloc.h"

#include <dwarf.h>
#include <stdlib.h>

uint64_t dwarf_initial_length(struct bytes *at, uint8_t *offset_bytes)
{
	uint64_t length = bytes_u32(at);

	*offset_bytes = 4;
	if (length == 0xffffffff) {
		*offset_bytes = 8;
		length = bytes_u64(at);
	} else if (length >= 0xfffffff0) { /* reserved */
		bytes_fail(at);
	}
	return length;
}

/*
 * Reads the header after the length. *type is DW_UT_*; versions before 5 have
 * only one type.
 */
static void unit_read_header(struct bytes *at, struct dwarf_unit *unit, uint8_t *type)
{
	struct dwarf_encoding *encoding = &unit->encoding;
	uint16_t version = bytes_u16(at);

	*type = DW_UT_compile;
	if (version < 2 || version > 5) {
		bytes_fail(at);
		return;
	}
	encoding->version = (uint8_t)version;
	if (version >= 5) {
		*type = bytes_u8(at);
		encoding->address_bytes = bytes_u8(at);
		unit->abbrevs = bytes_uint(at, encoding->offset_bytes);
	} else {
		unit->abbrevs = bytes_uint(at, encoding->offset_bytes);
		encoding->address_bytes = bytes_u8(at);
	}
	if (*type == DW_UT_skeleton || *type == DW_UT_split_compile)
		unit->dwo_id = bytes_u64(at);
	if (encoding->address_bytes != 4 && encoding->address_bytes != 8)
		bytes_fail(at);
}

static bool unit_is_wanted(uint8_t type)
{
	return type != DW_UT_type && type != DW_UT_split_type;
}

/* Linkers pad with a few zeros, which look like empty units. */
enum { EMPTY_UNITS_MAX = 1 << 20 };

void dwarf_file_init(struct dwarf_file *file, const struct dwarf_sections *sections)
{
	const struct bytes info = sections->of[DWARF_INFO];
	struct bytes at = info;
	unsigned empty = 0;

	file->sections = *sections;
	while (bytes_left(&at) && empty < EMPTY_UNITS_MAX) {
		struct dwarf_unit unit = {.offset = (uint64_t)(at.at - info.at)};
		uint64_t length = dwarf_initial_length(&at, &unit.encoding.offset_bytes);
		struct bytes body = bytes_sub(&at, length);
		uint8_t type;

		empty += length == 0;
		unit_read_header(&body, &unit, &type);
		if (!bytes_ok(&body) || !unit_is_wanted(type)) {
			file->has_unread |= length && !bytes_ok(&body);
			continue;
		}
		unit.first_die = (uint64_t)(body.at - info.at);
		unit.end = (uint64_t)(body.end - info.at);
		GROW(file->units, file->unit_count, file->unit_room);
		file->units[file->unit_count++] = unit;
	}
}

void dwarf_file_deinit(struct dwarf_file *file)
{
	free(file->units);
}

const struct dwarf_unit *dwarf_file_unit_at(const struct dwarf_file *file, uint64_t offset)
{
	size_t low = 0, high = file->unit_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct dwarf_unit *unit = &file->units[middle];

		if (offset >= unit->end)
			low = middle + 1;
		else if (offset < unit->offset)
			high = middle;
		else
			return offset >= unit->first_die ? unit : NULL;
	}
	return NULL;
}

struct bytes dwarf_unit_contents(const struct dwarf_file *file, const struct dwarf_unit *unit)
{
	const struct bytes info = file->sections.of[DWARF_INFO];

	return bytes_of(info.at + unit->first_die, unit->end - unit->first_die);
}
