/*
 * Reads memory of other processes, in these tests of this process.
 */
#include "proc/memory.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "lacking.h"
#include "unit_test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TEST(memory_is_read_up_to_where_it_ends)
{
	if (!has_process_vm_readv())
		RETURN_LACKING("process_vm_readv(2)");
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

TEST(of_many_parts_only_those_are_missing_that_cannot_be_read)
{
	if (!has_process_vm_readv())
		RETURN_LACKING("process_vm_readv(2)");
	enum { PAGE = 4096, PARTS = 1000 };
	struct memory_part parts[PARTS];
	unsigned char into[PARTS][4];
	unsigned char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED);
	for (unsigned i = 0; i < 3 * PAGE; i++)
		pages[i] = (unsigned char)(i / 10);
	for (unsigned i = 0; i < PARTS; i++)
		parts[i] = (struct memory_part){
			.address = (uint64_t)(pages + 10 * i), .into = into[i], .len = 4};
	assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
	memory_read_parts(getpid(), parts, PARTS);
	for (unsigned i = 0; i < PARTS; i++) {
		bool is_readable = 10 * i + 4 <= PAGE || 10 * i >= 2 * PAGE;

		assert_int_equal(parts[i].is_read, is_readable);
		if (is_readable)
			assert_int_equal(into[i][0], (unsigned char)i);
	}
	memory_read_parts(1 << 29, parts, PARTS);
	assert_false(parts[0].is_read);
	assert_false(parts[PARTS - 1].is_read);
	munmap(pages, 3 * PAGE);
}
