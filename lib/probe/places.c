#include "probe/places.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

/* Longer names are truncated. */
enum { PLACES_NAME_BYTES_MAX = 4096 };

void probe_places_add(struct probe_places *places, uint64_t offset, uint64_t semaphore,
		      const char *name)
{
	places->found++;
	if (places->count == PROBE_PLACES_MAX)
		return;
	GROW(places->items, places->count, places->room);
	places->items[places->count++] = (struct probe_place){
		.offset = offset,
		.semaphore = semaphore,
		.name = xstrndup(name, strnlen(name, PLACES_NAME_BYTES_MAX)),
	};
}

static int by_offset(const void *left, const void *right)
{
	const struct probe_place *a = left, *b = right;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

void probe_places_settle(struct probe_places *places)
{
	size_t kept = 0;

	if (places->count)
		qsort(places->items, places->count, sizeof(*places->items), by_offset);
	for (size_t i = 0; i < places->count; i++) {
		if (kept && places->items[kept - 1].offset == places->items[i].offset) {
			free(places->items[i].name);
			places->found--;
			continue;
		}
		places->items[kept++] = places->items[i];
	}
	places->count = kept;
}

void probe_places_deinit(struct probe_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->items[i].name);
	free(places->items);
	*places = (struct probe_places){0};
}

static char *places_put(char *to, const void *from, size_t len)
{
	return bytes_append(to, bytes_of(from, len));
}

char *probe_places_write(const struct probe_places *places, size_t *len)
{
	size_t room = sizeof(places->found);
	char *bytes, *at;

	for (size_t i = 0; i < places->count; i++)
		room += 2 * sizeof(uint64_t) + strlen(places->items[i].name) + 1;
	at = bytes = xmalloc(room);
	at = places_put(at, &places->found, sizeof(places->found));
	for (size_t i = 0; i < places->count; i++) {
		const struct probe_place *place = &places->items[i];

		at = places_put(at, &place->offset, sizeof(place->offset));
		at = places_put(at, &place->semaphore, sizeof(place->semaphore));
		at = places_put(at, place->name, strlen(place->name) + 1);
	}
	*len = room;
	return bytes;
}

bool probe_places_read(struct bytes bytes, struct probe_places *ret)
{
	CLEANUP(probe_places_deinit) struct probe_places places = {0};
	uint64_t found = bytes_u64(&bytes);

	while (bytes_left(&bytes)) {
		uint64_t offset = bytes_u64(&bytes), semaphore = bytes_u64(&bytes);
		const char *name = bytes_cstr(&bytes);

		if (!name || places.count == PROBE_PLACES_MAX)
			return false;
		probe_places_add(&places, offset, semaphore, name);
	}
	if (!bytes_ok(&bytes) || !places.count || found < places.count)
		return false;
	places.found = found;
	*ret = places;
	places = (struct probe_places){0};
	return true;
}
