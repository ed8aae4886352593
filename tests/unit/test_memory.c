/*
 * Memory of other processes, here our own.
 */
#include "proc/memory.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void memory_is_read_up_to_where_it_ends(void **state)
{
	(void)state;
	enum { PAGE = 4096, PAGES = 40 };
	CLEANUP(free_ptr) unsigned char *into = xmalloc((PAGES + 1) * PAGE);
	unsigned char *pages = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start = (uint64_t)pages;

	assert_true(pages != MAP_FAILED);
	memset(pages, 0x11, PAGES * PAGE);
	assert_int_equal(mprotect(pages + PAGES * PAGE, PAGE, PROT_NONE), 0);
	assert_int_equal(memory_read(getpid(), start + 8, into, PAGES * PAGE - 8),
			 PAGES * PAGE - 8);
	assert_memory_equal(into, pages, PAGES * PAGE - 8);
	assert_int_equal(memory_read(getpid(), start, into, (PAGES + 1) * PAGE), PAGES * PAGE);
	assert_int_equal(memory_read(getpid(), start + PAGES * PAGE, into, 8), 0);
	assert_int_equal(memory_read(1 << 29, start, into, 8), 0); /* no such thread */
	munmap(pages, (PAGES + 1) * PAGE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_read_up_to_where_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
