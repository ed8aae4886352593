#include "base/alloc.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE_BLOCK_BYTES = 4 << 20 };

__attribute__((noreturn)) static void out_of_memory(void)
{
	quick_exit(1);
}

void *xmalloc(size_t size_bytes)
{
	void *ptr = malloc(size_bytes ? size_bytes : 1);

	if (!ptr)
		out_of_memory();
	return ptr;
}

void *xcalloc(size_t count, size_t size_bytes)
{
	void *ptr = calloc(count ? count : 1, size_bytes ? size_bytes : 1);

	if (!ptr)
		out_of_memory();
	return ptr;
}

void *xreallocarray(void *ptr, size_t count, size_t size_bytes)
{
	void *grown = reallocarray(ptr, count ? count : 1, size_bytes ? size_bytes : 1);

	if (!grown)
		out_of_memory();
	return grown;
}

char *xstrdup(const char *str)
{
	return xstrndup(str, strlen(str));
}

char *xstrndup(const char *str, size_t max_bytes)
{
	char *copy = strndup(str, max_bytes);

	if (!copy)
		out_of_memory();
	return copy;
}

char *xvasprintf(const char *fmt, va_list args)
{
	char *text;

	if (vasprintf(&text, fmt, args) < 0)
		out_of_memory();
	return text;
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	return text;
}

void alloc_give_back_large_blocks(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
#endif
}
