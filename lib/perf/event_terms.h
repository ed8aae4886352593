/*
 * Parses terms of an event ("event=0x3c,umask=1,inv"), which users write
 * between slashes and the kernel writes into sysfs files.
 */
#ifndef PROF_PERF_EVENT_TERMS_H
#define PROF_PERF_EVENT_TERMS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVENT_TERMS_MAX = 64 };

struct event_term {
	const char *name;
	const char *value; /* NULL if it has no "=" */
};

/* Zeroed: none. */
struct event_terms {
	char *text; /* storage of the terms */
	struct event_term items[EVENT_TERMS_MAX];
	size_t count;
};

/* Ignores spaces around terms. An empty text yields no terms. */
MUST_CHECK struct error *event_terms_parse(const char *text, size_t len, struct event_terms *ret);
void event_terms_deinit(struct event_terms *terms);

/* Returns the last term of that name that has a value, or NULL. */
const struct event_term *event_terms_find(const struct event_terms *terms, const char *name);

/* Parses a decimal number, or a hexadecimal one after 0x. */
MUST_CHECK struct error *event_term_number(const struct event_term *term, uint64_t *ret);

#endif
