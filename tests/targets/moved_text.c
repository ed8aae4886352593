/*
 * moved_text HOW [SECONDS]
 *
 * Moves its own text to anonymous memory at the same addresses, as programs do
 * for huge pages. HOW:
 *
 *	copied  memory is mapped over the text, and filled (iodlr, node --use-largepages)
 *	moved   memory is filled, and moved over the text with mremap(2)
 *	rwx     like copied, but stays writable
 *	kept    the text stays in its file
 *
 * Then prints "ready", and works for SECONDS of CPU time or until it is killed.
 *
 *	_start … main
 *	  outer
 *	    inner  (spin inlined)
 */
#define _GNU_SOURCE
#include "work.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 65536 }; /* the largest page of any architecture */

struct text {
	char *start, *copy;
	size_t len;
};

typedef void *map_function(void *, size_t, int, int, int, off_t);
typedef int protect_function(void *, size_t, int);

static NOINLINE void inner(void)
{
	spin();
}

static NOINLINE void outer(double seconds)
{
	double end = thread_cpu_seconds() + seconds;

	while (seconds < 0 || thread_cpu_seconds() < end)
		for (int i = 0; i < 100; i++)
			inner();
	__asm__ volatile("");
}

/* On pages of its own, which are not moved. It does not call functions in the
 * moved text. */
__attribute__((section("mover"), noinline, aligned(PAGE_BYTES), no_stack_protector)) static void
fill(struct text text, int protection, map_function *map, protect_function *protect)
{
	map(text.start, text.len, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	for (size_t i = 0; i < text.len; i++)
		((volatile char *)text.start)[i] = text.copy[i];
	__builtin___clear_cache(text.start, text.start + text.len);
	protect(text.start, text.len, protection);
}

/* Finds the pages of the file's text from main's mapping up to the mover. */
static bool find_text(struct text *ret)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, here = (unsigned long)&outer, mover = (unsigned long)&fill;
	char line[4352];
	bool is_found = false;

	while (!is_found && fgets(line, sizeof(line), maps))
		is_found = sscanf(line, "%lx-%lx r-xp", &start, &end) == 2 && here >= start &&
			   here < end;
	fclose(maps);
	if (!is_found || mover <= here)
		return false;
	ret->start = (char *)start;
	ret->len = (mover < end ? mover : end) - start;
	return true;
}

static bool move_text(const char *how)
{
	struct text text;

	if (!strcmp(how, "kept"))
		return true;
	if (!find_text(&text))
		return false;
	text.copy = mmap(NULL, text.len, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text.copy == MAP_FAILED)
		return false;
	memcpy(text.copy, text.start, text.len);
	__builtin___clear_cache(text.copy, text.copy + text.len);
	if (!strcmp(how, "copied"))
		fill(text, PROT_READ | PROT_EXEC, mmap, mprotect);
	else if (!strcmp(how, "rwx"))
		fill(text, PROT_READ | PROT_WRITE | PROT_EXEC, mmap, mprotect);
	else
		return !mprotect(text.copy, text.len, PROT_READ | PROT_EXEC) &&
		       mremap(text.copy, text.len, text.len, MREMAP_MAYMOVE | MREMAP_FIXED,
			      text.start) == text.start;
	return true;
}

int main(int argc, char **argv)
{
	if (argc < 2 || !move_text(argv[1])) {
		fprintf(stderr, "moved_text: cannot move the text\n");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	outer(argc > 2 ? strtod(argv[2], NULL) : -1);
	return 0;
}
