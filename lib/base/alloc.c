#include "base/alloc.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE_BLOCK_BYTES = 4 << 20 };

__attribute__((noreturn)) static void out_of_memory(void)
{
	quick_exit(1);
}

/*
 * Large tables are accessed at random, and with small pages much of the latency
 * comes from page table walks. The request is for whole pages, because
 * mremap(2) cannot move a block whose parts differ. A kernel without huge pages
 * refuses the request, which costs only time.
 */
static void *want_huge_pages(void *ptr, size_t size_bytes)
{
	uintptr_t page, first;

	if (size_bytes < LARGE_BLOCK_BYTES)
		return ptr;
	page = (uintptr_t)getpagesize();
	first = (uintptr_t)ptr & -page;
	madvise((void *)first, (uintptr_t)ptr + size_bytes - first, MADV_HUGEPAGE);
	return ptr;
}

void *xmalloc(size_t size_bytes)
{
	void *ptr = malloc(size_bytes ? size_bytes : 1);

	if (!ptr)
		out_of_memory();
	return want_huge_pages(ptr, size_bytes);
}

void *xcalloc(size_t count, size_t size_bytes)
{
	void *ptr = calloc(count ? count : 1, size_bytes ? size_bytes : 1);

	if (!ptr)
		out_of_memory();
	return want_huge_pages(ptr, count * size_bytes);
}

void *xrealloc(void *ptr, size_t size_bytes)
{
	return xreallocarray(ptr, size_bytes, 1);
}

void *xreallocarray(void *ptr, size_t count, size_t size_bytes)
{
	void *grown = reallocarray(ptr, count ? count : 1, size_bytes ? size_bytes : 1);

	if (!grown)
		out_of_memory();
	return want_huge_pages(grown, count * size_bytes);
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
