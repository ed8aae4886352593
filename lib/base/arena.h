/*
 * Memory that is freed all at once. Pointers stay valid until arena_deinit(),
 * because nothing is moved.
 */
#ifndef PROF_BASE_ARENA_H
#define PROF_BASE_ARENA_H

#include "base/bytes.h"

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks; /* newest first */
	char *next, *end;	    /* free room in the newest block */
	size_t size_bytes;	    /* total size of all blocks */
};

/* An arena is zero-initialized: `struct arena arena = {0};` */
void arena_deinit(struct arena *arena);

/* Returns uninitialized memory, aligned for any type. */
__attribute__((malloc, alloc_size(2), returns_nonnull)) void *arena_alloc(struct arena *arena,
									  size_t size_bytes);
/* Returns a copy of len bytes, NUL-terminated. */
__attribute__((malloc, returns_nonnull)) char *arena_strndup(struct arena *arena, const char *str,
							     size_t len);
/*
 * Returns a NUL-terminated copy of the text, or NULL if text.at is NULL
 * (bytes_text()).
 */
char *arena_text(struct arena *arena, struct bytes text);

#endif
