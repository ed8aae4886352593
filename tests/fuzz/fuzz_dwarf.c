/*
 * Fuzzes DWARF of a file and its supplementary file: the unit that covers an
 * address, and the functions at the address.
 *
 * The input is a sequence of sections without an ELF file around them: a byte
 * with the number of the section (enum dwarf_section; plus 16 in the
 * supplementary file), two bytes with its length, and its bytes. The corpus was
 * extracted from small programs linked at 0x1000.
 */
#include "dwarf/dwarf.h"

#include "dwarf/sections.h"
#include "noted.h"

#include <stdlib.h>

enum { ADDRESSES = 64, START = 0x1000, STEP = 4, OF_SUPPLEMENT = 16 };

static void read_sections(struct bytes input, struct dwarf_sections *debug,
			  struct dwarf_sections *alt)
{
	while (bytes_left(&input)) {
		unsigned number = bytes_u8(&input);
		struct dwarf_sections *to = number & OF_SUPPLEMENT ? alt : debug;
		uint16_t length = bytes_u16(&input);
		struct bytes section = bytes_sub(&input, length);

		to->of[(number & 15) % DWARF_SECTION_COUNT] = section;
	}
}

static void resolve_run(const struct dwarf *dwarf, uint32_t unit, const uint64_t *vaddrs,
			size_t count)
{
	struct inline_chain chains[ADDRESSES];
	struct arena arena = {0};

	if (unit == DWARF_NO_UNIT)
		return;
	note_number("units", unit + ((uint64_t)dwarf_has_unread(dwarf) << 32));
	note_number("units", dwarf_unit_bytes(dwarf, unit));
	note_number("units",
		    dwarf_resolve(dwarf, unit, vaddrs, count, NULL, &arena, chains) + count);
	for (size_t i = 0; i < count; i++)
		for (unsigned j = 0; j < chains[i].count; j++) {
			const struct call *call = &chains[i].calls[j];

			note_call(call);
		}
	arena_deinit(&arena);
}

static void resolve_all(const struct dwarf *dwarf)
{
	uint64_t vaddrs[ADDRESSES];
	size_t end;

	for (size_t i = 0; i < ADDRESSES; i++)
		vaddrs[i] = START + i * STEP;
	for (size_t i = 0; i < ADDRESSES; i = end) {
		uint32_t unit = dwarf_unit_of(dwarf, vaddrs[i]);

		for (end = i; end < ADDRESSES && dwarf_unit_of(dwarf, vaddrs[end]) == unit;)
			end++;
		resolve_run(dwarf, unit, &vaddrs[i], end - i);
	}
}

static void run_in_turn(void *user, size_t count, void (*work)(void *context, size_t i),
			void *context)
{
	(void)user;
	for (size_t i = 0; i < count; i++)
		work(context, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dwarf_sharing in_parts = {.part_bytes = 64, .run = run_in_turn};
	struct dwarf_sections debug = {0}, alt = {0};
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = NULL;

	read_sections(bytes_of(data, size), &debug, &alt);
	dwarf = dwarf_of_sections(&debug, &alt);
	resolve_all(dwarf);
	/* The first pass makes a table of contents, which the second pass uses. */
	dwarf_keep_contents(dwarf);
	resolve_all(dwarf);
	resolve_all(dwarf);
	dwarf_share_units(dwarf, &in_parts);
	resolve_all(dwarf);
	return 0;
}
