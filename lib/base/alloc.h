/*
 * Allocation that cannot fail: out of memory ends the program here, in one place, with status 1.
 * That is by quick_exit(3), so the functions that at_quick_exit(3) was given say it and restore the
 * terminal; nothing else can be trusted without memory.
 * Sizes are overflow-checked. Free with free(). The compiler knows the sizes (alloc_size), so that
 * -D_FORTIFY_SOURCE=3 checks what is copied there.
 */
#ifndef PROF_BASE_ALLOC_H
#define PROF_BASE_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

__attribute__((malloc, alloc_size(1), returns_nonnull)) void *xmalloc(size_t size_bytes);
__attribute__((malloc, alloc_size(1, 2), returns_nonnull)) void *xcalloc(size_t count,
									 size_t size_bytes);
/* For libiberty, which calls its allocators by the names of these. */
__attribute__((alloc_size(2), returns_nonnull)) void *xrealloc(void *ptr, size_t size_bytes);
/* count * size bytes. */
__attribute__((alloc_size(2, 3), returns_nonnull)) void *xreallocarray(void *ptr, size_t count,
								       size_t size_bytes);
__attribute__((malloc, returns_nonnull)) char *xstrdup(const char *str);
__attribute__((malloc, returns_nonnull)) char *xstrndup(const char *str, size_t max_bytes);
__attribute__((malloc, returns_nonnull, format(printf, 1, 2))) char *xasprintf(const char *fmt,
									       ...);
__attribute__((malloc, returns_nonnull, format(printf, 1, 0))) char *xvasprintf(const char *fmt,
										va_list args);

/*
 * Ensures room for one more element in a growing array: doubles `room` when `count` has reached
 * it.
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
 * Lets the system have freed blocks of 4 MB and more back at once, so that what was freed counts
 * nowhere; glibc would keep blocks up to 32 MB in the arena of each thread. For main().
 */
void alloc_give_back_large_blocks(void);

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
