#include "base/arena.h"

#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024 };

/*
 * With the address sanitizer, each piece and the unused rest of a block end in
 * a poisoned gap, so that an overflow within a block is reported like one of
 * malloc().
 */
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_IS_POISONED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_IS_POISONED 1
#endif
#endif

#ifdef ARENA_IS_POISONED
#include <sanitizer/asan_interface.h>
enum { GAP_BYTES = 16, GRANULE_BYTES = 8 };
#else
#define ASAN_POISON_MEMORY_REGION(at, len) ((void)(at), (void)(len))
#define ASAN_UNPOISON_MEMORY_REGION(at, len) ((void)(at), (void)(len))
enum { GAP_BYTES = 0, GRANULE_BYTES = 1 };
#endif

struct arena_block {
	struct arena_block *older;
	_Alignas(max_align_t) char data[];
};

void arena_deinit(struct arena *arena)
{
	struct arena_block *block = arena->blocks;

	while (block) {
		struct arena_block *older = block->older;

		free(block);
		block = older;
	}
	*arena = (struct arena){0};
}

static void *block_new(struct arena *arena, size_t size_bytes)
{
	struct arena_block *block = xmalloc(sizeof(*block) + size_bytes);

	block->older = arena->blocks;
	arena->blocks = block;
	arena->size_bytes += size_bytes;
	ASAN_POISON_MEMORY_REGION(block->data, size_bytes);
	return block->data;
}

/* A large piece gets a block of its own, so that it does not waste the rest of the current one. */
static char *arena_reserve(struct arena *arena, size_t size_bytes)
{
	char *ptr;

	if ((size_t)(arena->end - arena->next) < size_bytes) {
		if (size_bytes > BLOCK_BYTES / 4)
			return block_new(arena, size_bytes);
		arena->next = block_new(arena, BLOCK_BYTES);
		arena->end = arena->next + BLOCK_BYTES;
	}
	ptr = arena->next;
	arena->next += size_bytes;
	return ptr;
}

static void *arena_take(struct arena *arena, size_t size_bytes)
{
	size_t whole = (size_bytes + GAP_BYTES + GRANULE_BYTES - 1) & ~(size_t)(GRANULE_BYTES - 1);
	char *ptr = arena_reserve(arena, whole);

	ASAN_UNPOISON_MEMORY_REGION(ptr, size_bytes);
	return ptr;
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
	size_t align = _Alignof(max_align_t);
	size_t padding = -(uintptr_t)arena->next & (align - 1);

	if ((size_t)(arena->end - arena->next) < padding)
		arena->next = arena->end;
	else if (padding)
		/* An empty arena has NULL, and adding to NULL is undefined. */
		arena->next += padding;
	return arena_take(arena, (size_bytes + align - 1) & ~(align - 1));
}

char *arena_strndup(struct arena *arena, const char *str, size_t len)
{
	char *copy = arena_take(arena, len + 1);

	memcpy(copy, str, len);
	copy[len] = '\0';
	return copy;
}

char *arena_text(struct arena *arena, struct bytes text)
{
	return text.at ? arena_strndup(arena, (const char *)text.at, bytes_left(&text)) : NULL;
}
