#include "runtime/cpython_lines.h"

/* Codes of entries: those below SHORT_FORMS have the same line. */
enum {
	SHORT_FORMS = 10,
	LAST_ONE_LINE_FORM = 12,
	NO_COLUMNS_FORM = 13,
	LONG_FORM = 14,
	NO_LOCATION = 15,
	ENTRY_BIT = 0x80,
	MORE_BIT = 0x40,
	BITS = 6,
};

static uint64_t take_number(struct bytes *table)
{
	uint64_t number = 0;
	unsigned shift = 0;

	while (bytes_left(table)) {
		uint8_t byte = bytes_u8(table);

		if (shift < 32)
			number |= (uint64_t)(byte & (MORE_BIT - 1)) << shift;
		shift += BITS;
		if (!(byte & MORE_BIT))
			break;
	}
	return number;
}

static int64_t take_signed(struct bytes *table)
{
	uint64_t number = take_number(table);

	return number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

static int64_t line_change(struct bytes *table, unsigned code)
{
	if (code == NO_COLUMNS_FORM || code == LONG_FORM)
		return take_signed(table);
	return code >= SHORT_FORMS && code <= LAST_ONE_LINE_FORM ? (int64_t)code - SHORT_FORMS : 0;
}

/* Skips the columns, in which no byte has the ENTRY_BIT. */
static void skip_columns(struct bytes *table)
{
	while (bytes_left(table) && !(*table->at & ENTRY_BIT))
		bytes_u8(table);
}

uint32_t cpython_line(struct bytes table, uint32_t first_line, uint32_t unit)
{
	int64_t line = first_line;
	uint64_t start = 0;

	while (bytes_left(&table)) {
		uint8_t head = bytes_u8(&table);
		unsigned code = head >> 3 & NO_LOCATION;

		line += line_change(&table, code);
		start += (head & 7) + 1U;
		if (unit < start)
			return code == NO_LOCATION || line < 0 || line > UINT32_MAX
				       ? 0
				       : (uint32_t)line;
		skip_columns(&table);
	}
	return 0;
}
