#include "dwarf/package.h"

#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

/* DW_SECT_* */
enum { INFO = 1, ABBREV = 3, STR_OFFSETS = 6, RNGLISTS = 8 };

enum { SLOTS = 4, COLUMNS = 4, UNITS = 2, HEADER_WORDS = 4, SECTION_BYTES = 100 };

/* The tables as in the file, with words at the start of the header. */
struct index {
	uint32_t header[HEADER_WORDS]; /* version, columns, units, slots */
	uint64_t ids[SLOTS];
	uint32_t rows[SLOTS];
	uint32_t sections[COLUMNS];
	uint32_t offsets[UNITS][COLUMNS];
	uint32_t sizes[UNITS][COLUMNS];
};

/* Both hash to slot 1; the second one continues in steps of 3. */
#define FIRST UINT64_C(0x100000001)
#define SECOND UINT64_C(0x300000001)

static const struct index good = {
	.header = {5, COLUMNS, UNITS, SLOTS},
	.ids = {SECOND, FIRST},
	.rows = {2, 1},
	.sections = {INFO, ABBREV, STR_OFFSETS, RNGLISTS},
	.offsets = {{0, 0, 0, 0}, {10, 20, 30, 40}},
	.sizes = {{10, 20, 30, 40}, {90, 5, 6, 7}},
};

static const unsigned char section[SECTION_BYTES];

static bool find(const struct index *index, uint64_t id, struct dwarf_sections *ret)
{
	for (unsigned i = 0; i < DWARF_SECTION_COUNT; i++)
		ret->of[i] = bytes_of(section, SECTION_BYTES);
	return dwarf_package_find(bytes_of(index, sizeof(*index)), id, ret);
}

static bool has(const struct index *index, uint64_t id)
{
	struct dwarf_sections sections;

	return find(index, id, &sections);
}

static void assert_part(struct bytes part, size_t offset, size_t size)
{
	assert_ptr_equal(part.at, section + offset);
	assert_int_equal(bytes_left(&part), size);
}

TEST(a_unit_gets_its_parts_of_the_sections)
{
	struct dwarf_sections sections;

	assert_true(find(&good, SECOND, &sections));
	assert_part(sections.of[DWARF_INFO], 10, 90);
	assert_part(sections.of[DWARF_ABBREV], 20, 5);
	assert_part(sections.of[DWARF_STR_OFFSETS], 30, 6);
	assert_part(sections.of[DWARF_RNGLISTS], 40, 7);
	assert_part(sections.of[DWARF_STR], 0, SECTION_BYTES);
	assert_int_equal(bytes_left(&sections.of[DWARF_LINE]), 0);
	assert_true(find(&good, FIRST, &sections));
	assert_part(sections.of[DWARF_INFO], 0, 10);
}

TEST(version_2_has_other_numbers_of_sections)
{
	struct index index = good;
	struct dwarf_sections sections;

	index.header[0] = 2;
	assert_true(find(&index, SECOND, &sections));
	assert_part(sections.of[DWARF_INFO], 10, 90);
	assert_int_equal(bytes_left(&sections.of[DWARF_RNGLISTS]), 0);
}

TEST(a_unit_that_is_not_there_is_not_found)
{
	struct index full = good;

	assert_false(has(&good, 2));
	assert_false(has(&good, FIRST + 4));
	/* without a free slot, the search must still end */
	full.rows[2] = full.rows[3] = 1;
	full.ids[2] = full.ids[3] = FIRST;
	assert_false(has(&full, 2));
}

/* Returns true if the table is read with a different word in its header. */
static bool is_read_with(unsigned word, uint32_t value)
{
	struct index index = good;

	index.header[word] = value;
	return dwarf_package_is_valid(bytes_of(&index, sizeof(index))) && has(&index, FIRST);
}

TEST(a_header_that_lies_is_refused)
{
	assert_true(is_read_with(0, 5));
	assert_false(is_read_with(0, 3));
	assert_false(is_read_with(0, 0x10005));
	assert_false(is_read_with(1, 5));
	assert_false(is_read_with(1, UINT32_MAX));
	assert_false(is_read_with(2, 0));
	assert_false(is_read_with(2, UINT32_MAX));
	assert_false(is_read_with(3, 0));
	assert_false(is_read_with(3, 3));
	assert_false(is_read_with(3, 8));
	assert_false(is_read_with(3, UINT32_C(1) << 31));
}

TEST(rows_and_parts_outside_are_refused)
{
	struct index index = good;

	index.rows[1] = UNITS + 1;
	assert_false(has(&index, FIRST));
	index = good;
	index.sizes[1][1] = 81;
	assert_false(has(&index, SECOND));
	assert_true(has(&index, FIRST));
	index = good;
	index.offsets[1][2] = UINT32_MAX;
	assert_false(has(&index, SECOND));
	index = good;
	index.sections[2] = UINT32_MAX; /* a section that is not read */
	assert_true(has(&index, SECOND));
}

TEST(an_index_that_ends_early_is_refused)
{
	for (size_t len = 0; len < sizeof(good); len++) {
		void *copy = malloc(len + 1);

		memcpy(copy, &good, len);
		assert_false(dwarf_package_is_valid(bytes_of(copy, len)));
		free(copy);
	}
}
