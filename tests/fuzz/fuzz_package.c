/*
 * Fuzzes the index of a package of split units (.debug_cu_index): 8 bytes with
 * the id to look up, then the index. The result must be inside the package's
 * sections.
 */
#include "dwarf/package.h"
#include "replay.h"

#include <stdlib.h>

enum { SECTION_BYTES = 4096 };

static void check(const struct dwarf_sections *found, const unsigned char *section)
{
	for (unsigned i = 0; i < DWARF_SECTION_COUNT; i++) {
		const struct bytes *bytes = &found->of[i];

		if (bytes->at && (bytes->at < section || bytes->end < bytes->at ||
				  bytes->end > section + SECTION_BYTES))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char section[SECTION_BYTES];
	struct bytes index = bytes_of(data, size);
	uint64_t id = bytes_u64(&index);
	struct dwarf_sections sections;

	for (unsigned i = 0; i < DWARF_SECTION_COUNT; i++)
		sections.of[i] = bytes_of(section, SECTION_BYTES);
	if (dwarf_package_find(index, id, &sections)) {
		if (!dwarf_package_is_valid(index))
			abort();
		check(&sections, section);
		for (unsigned i = 0; i < DWARF_SECTION_COUNT; i++)
			note_number("sections", sections.of[i].at
							? (uint64_t)(sections.of[i].at - section)
									  << 32 |
								  bytes_left(&sections.of[i])
							: 0);
	}
	return 0;
}
