/*
 * Memory that is freed all at once. Pointers stay valid until arena_deinit(); nothing is ever
 * moved.
 */
#ifndef PROF_BASE_ARENA_H
#define PROF_BASE_ARENA_H

#include "base/bytes.h"

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks; /* newest first */
	char *next, *end;	    /* free room in the newest block */
	size_t size_bytes;	    /* of all blocks */
};

/* Zero-initialized: empty, `struct arena arena = {0};` */
void arena_deinit(struct arena *arena);

/* Uninitialized, aligned for any type. */
__attribute__((malloc, alloc_size(2), returns_nonnull)) void *arena_alloc(struct arena *arena,
									  size_t size_bytes);
/* A copy of len bytes, NUL-terminated. */
__attribute__((malloc, returns_nonnull)) char *arena_strndup(struct arena *arena, const char *str,
							     size_t len);
/* A copy of the text with a NUL behind it; NULL where text.at is (bytes_text()). */
char *arena_text(struct arena *arena, struct bytes text);

#endif
