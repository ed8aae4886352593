/*
 * Places of a probe in one file, and their bytes between a confined process and prof.
 */
#ifndef PROF_PROBE_PLACES_H
#define PROF_PROBE_PLACES_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pattern may mean any number of functions; each place takes a descriptor per CPU. */
enum { PROBE_PLACES_MAX = 1000 };

struct probe_place {
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* of a static probe, in the file; 0: none */
	char *name;	    /* of the function or probe, demangled; owned */
};

/* Zeroed: none. */
struct probe_places {
	struct probe_place *items; /* by offset, each once */
	size_t count, room;
	uint64_t found; /* of these are the items the first PROBE_PLACES_MAX */
};

/* Counts it, and adds it if there is room. The name is copied. */
void probe_places_add(struct probe_places *places, uint64_t offset, uint64_t semaphore,
		      const char *name);
/* Sorts them, and leaves one of each place. */
void probe_places_settle(struct probe_places *places);
void probe_places_deinit(struct probe_places *places);

/* To be freed. */
char *probe_places_write(const struct probe_places *places, size_t *len);
/* Of hostile bytes. False: they are nonsense. */
bool probe_places_read(struct bytes bytes, struct probe_places *ret);

#endif
