/*
 * Touches a known number of new pages, in three parts. Before the second and
 * the third part it prints a word and waits for a line on stdin. At the end it
 * prints the number of its page faults.
 *
 *	_start … main
 *	  touch  FAULTS, four times as many, FAULTS
 */
#define _GNU_SOURCE
#include "work.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { PAGES = 1000, PAGE_BYTES = 4096, FAULTS = 20000 };

static NOINLINE void touch(volatile char *pages, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		if (i % PAGES == 0)
			madvise((void *)pages, PAGES * PAGE_BYTES, MADV_DONTNEED);
		pages[i % PAGES * PAGE_BYTES] = 1;
	}
}

static void say_and_wait(const char *word)
{
	printf("%s\n", word);
	fflush(stdout);
	while (getchar() != '\n')
		;
}

int main(void)
{
	char *pages = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rusage usage;

	madvise(pages, PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
	touch(pages, FAULTS);
	say_and_wait("first");
	touch(pages, 4 * FAULTS);
	say_and_wait("second");
	touch(pages, FAULTS);
	getrusage(RUSAGE_SELF, &usage);
	printf("%ld\n", usage.ru_minflt);
	return 0;
}
