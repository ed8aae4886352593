/*
 * Allocation that cannot fail: out of memory ends the program here, in one place, with status 1.
 * Sizes are overflow-checked. Free with free().
 */
#ifndef PROF_BASE_ALLOC_H
#define PROF_BASE_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

__attribute__((malloc, returns_nonnull)) void *xmalloc(size_t size_bytes);
__attribute__((malloc, returns_nonnull)) void *xcalloc(size_t count, size_t size_bytes);
/* count * size bytes. */
__attribute__((returns_nonnull)) void *xreallocarray(void *ptr, size_t count, size_t size_bytes);
__attribute__((malloc, returns_nonnull)) char *xstrdup(const char *str);
__attribute__((malloc, returns_nonnull)) char *xstrndup(const char *str, size_t max_bytes);
__attribute__((malloc, returns_nonnull, format(printf, 1, 2))) char *xasprintf(const char *fmt,
									       ...);
__attribute__((malloc, returns_nonnull, format(printf, 1, 0))) char *xvasprintf(const char *fmt,
										va_list args);

/*
 * Room for one more element in a growing array: `room` doubles when `count` has reached it.
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

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
