/*
 * Memory that is freed all at once. Pointers stay valid until arena_deinit(); nothing is ever
 * moved.
 */
#ifndef PROF_BASE_ARENA_H
#define PROF_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks; /* newest first */
	char *next, *end;	    /* free room in the newest block */
};

/* A zeroed arena is an empty one: `struct arena arena = {0};` */
void arena_deinit(struct arena *arena);

/* Uninitialized, aligned for any type. */
__attribute__((malloc, returns_nonnull)) void *arena_alloc(struct arena *arena, size_t size_bytes);
/* A copy of len bytes with a NUL behind them. */
__attribute__((malloc, returns_nonnull)) char *arena_strndup(struct arena *arena, const char *str,
							     size_t len);

#endif
