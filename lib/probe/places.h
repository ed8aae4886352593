/*
 * The places of a probe in one file, and their encoding for the transfer from a
 * confined process to prof.
 */
#ifndef PROF_PROBE_PLACES_H
#define PROF_PROBE_PLACES_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Limits a pattern, which can match any number of functions. Each place needs a
 * descriptor per CPU.
 */
enum { PROBE_PLACES_MAX = 1000 };

struct probe_place {
	uint64_t offset; /* in the file */
	/*
	 * Offset in the file of a static probe's semaphore, or 0 if it has
	 * none.
	 */
	uint64_t semaphore;
	char *name; /* demangled name of the function or probe; owned */
};

/* Initialize it with zeros. */
struct probe_places {
	/* By offset, without duplicates after probe_places_settle(). */
	struct probe_place *items;
	size_t count, room;
	uint64_t found; /* number of places found; `items` has at most PROBE_PLACES_MAX */
};

/* Counts a place, and adds it if there is room. Copies the name. */
void probe_places_add(struct probe_places *places, uint64_t offset, uint64_t semaphore,
		      const char *name);
/* Sorts the places and removes duplicates. */
void probe_places_settle(struct probe_places *places);
void probe_places_deinit(struct probe_places *places);

/* Returns the encoded places. The caller frees them. */
char *probe_places_write(const struct probe_places *places, size_t *len);
/* Decodes untrusted bytes. Returns false if they are invalid. */
bool probe_places_read(struct bytes bytes, struct probe_places *ret);

#endif
