#include "probe/places.h"
#include "probe/static_probes.h"

#include "unit_test.h"

#include <stdlib.h>

/* A note as sys/sdt.h writes it for a 64-bit program. */
struct note {
	uint32_t owner_bytes, content_bytes, type;
	char owner[8];
	uint64_t vaddr, base, semaphore;
	char texts[24];
} __attribute__((packed));

static struct note note_of(uint64_t vaddr, uint64_t semaphore)
{
	return (struct note){
		.owner_bytes = 8,
		.content_bytes = 3 * sizeof(uint64_t) + 24,
		.type = 3,
		.owner = "stapsdt",
		.vaddr = vaddr,
		.base = 0x1000,
		.semaphore = semaphore,
		.texts = "shop\0query\0-4@%edi",
	};
}

TEST(probes_have_an_address_a_semaphore_and_two_names)
{
	struct note notes[] = {note_of(0x400, 0x5000), note_of(0x480, 0)};
	struct bytes at = bytes_of(notes, sizeof(notes));
	struct static_probe probe;

	assert_true(static_probe_next(&at, false, 0x1000, &probe));
	assert_int_equal(probe.vaddr, 0x400);
	assert_int_equal(probe.semaphore_vaddr, 0x5000);
	assert_true(bytes_are(probe.provider, "shop"));
	assert_true(bytes_are(probe.name, "query"));
	assert_true(static_probe_next(&at, false, 0x1000, &probe));
	assert_int_equal(probe.vaddr, 0x480);
	assert_int_equal(probe.semaphore_vaddr, 0);
	assert_false(static_probe_next(&at, false, 0x1000, &probe));
}

TEST(addresses_follow_a_file_that_was_prelinked)
{
	struct note note = note_of(0x400, 0x5000);
	struct bytes at = bytes_of(&note, sizeof(note));
	struct static_probe probe;

	assert_true(static_probe_next(&at, false, 0x41000, &probe));
	assert_int_equal(probe.vaddr, 0x40400);
	assert_int_equal(probe.semaphore_vaddr, 0x45000);
}

TEST(other_and_damaged_notes_are_no_probes)
{
	struct note notes[] = {note_of(0x400, 0), note_of(0x480, 0)};
	struct bytes at = bytes_of(notes, sizeof(notes)), cut;
	struct static_probe probe;

	notes[0].owner[0] = 'x';
	assert_true(static_probe_next(&at, false, 0, &probe));
	assert_int_equal(probe.vaddr, 0x480);
	notes[1].content_bytes = 1 << 30;
	at = bytes_of(notes, sizeof(notes));
	assert_false(static_probe_next(&at, false, 0, &probe));
	for (size_t len = 0; len < sizeof(notes[0]); len++) {
		cut = bytes_of(&notes[1], len);
		assert_false(static_probe_next(&cut, false, 0, &probe));
	}
}

TEST(places_survive_the_way_between_processes)
{
	struct probe_places sent = {0}, got = {0};
	char *bytes;
	size_t len;

	probe_places_add(&sent, 0x20, 0, "b");
	probe_places_add(&sent, 0x10, 0x99, "a");
	probe_places_add(&sent, 0x20, 0, "b again");
	probe_places_settle(&sent);
	bytes = probe_places_write(&sent, &len);
	assert_true(probe_places_read(bytes_of(bytes, len), &got));
	assert_int_equal(got.count, 2);
	assert_int_equal(got.found, 2);
	assert_string_equal(got.items[0].name, "a");
	assert_int_equal(got.items[0].semaphore, 0x99);
	assert_int_equal(got.items[1].offset, 0x20);
	probe_places_deinit(&got);
	for (size_t cut = 0; cut < len; cut++)
		if (probe_places_read(bytes_of(bytes, cut), &got))
			probe_places_deinit(&got);
	assert_false(probe_places_read(bytes_of(bytes, len - 1), &got));
	free(bytes);
	probe_places_deinit(&sent);
}

TEST(places_beyond_the_most_are_counted)
{
	struct probe_places places = {0};

	for (uint64_t i = 0; i < PROBE_PLACES_MAX + 5; i++)
		probe_places_add(&places, i, 0, "f");
	assert_int_equal(places.count, PROBE_PLACES_MAX);
	assert_int_equal(places.found, PROBE_PLACES_MAX + 5);
	probe_places_deinit(&places);
}
