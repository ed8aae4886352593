/*
 * Allocation that cannot fail. Running out of memory ends the program here with
 * status 1. It calls quick_exit(3), so the handlers of at_quick_exit(3) print
 * the message and restore the terminal; nothing else is reliable without
 * memory.
 *
 * Sizes are checked for overflow. Free with free(). The attribute alloc_size
 * passes the sizes to the compiler, so that -D_FORTIFY_SOURCE=3 checks copies
 * into the memory.
 */
#ifndef PROF_BASE_ALLOC_H
#define PROF_BASE_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

__attribute__((malloc, alloc_size(1), returns_nonnull)) void *xmalloc(size_t size_bytes);
__attribute__((malloc, alloc_size(1, 2), returns_nonnull)) void *xcalloc(size_t count,
									 size_t size_bytes);
/* libiberty calls its allocators by these names. */
__attribute__((alloc_size(2), returns_nonnull)) void *xrealloc(void *ptr, size_t size_bytes);
/* Reallocates to count * size bytes. */
__attribute__((alloc_size(2, 3), returns_nonnull)) void *xreallocarray(void *ptr, size_t count,
								       size_t size_bytes);
__attribute__((malloc, returns_nonnull)) char *xstrdup(const char *str);
__attribute__((malloc, returns_nonnull)) char *xstrndup(const char *str, size_t max_bytes);
__attribute__((malloc, returns_nonnull, format(printf, 1, 2))) char *xasprintf(const char *fmt,
									       ...);
__attribute__((malloc, returns_nonnull, format(printf, 1, 0))) char *xvasprintf(const char *fmt,
										va_list args);

/*
 * Ensures room for one more element in a growing array. Doubles `room` when
 * `count` has reached it.
 *
 *	GROW(list->items, list->count, list->room);
 *	list->items[list->count++] = item;
 */
#define GROW(items, count, room)                                                                   \
	do {                                                                                       \
		if ((count) == (room)) {                                                           \
			(room) = (room) ? (room)*2 : 16;                                           \
			(items) = xreallocarray((items), (room), sizeof(*(items)));                \
		}                                                                                  \
	} while (0)

/*
 * Makes the allocator return freed blocks of 4 MB and more to the system at
 * once. By default glibc keeps blocks of up to 32 MB in the arena of each
 * thread, where they count as used memory. To be called in main().
 */
void alloc_give_back_large_blocks(void);

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
