#include "proc/enclosed_memory.h"

#include "base/alloc.h"
#include "unit_test.h"

#define FILE_A(range, permissions) range " " permissions " 00001000 fe:01 1066 /usr/bin/a\n"
#define FILE_B(range) range " r--p 00000000 fe:01 1067 /usr/lib/b.so\n"
#define MEMORY(range) range " r-xp 00000000 00:00 0 \n"
#define HUGE(range) range " r-xp 00000000 00:0f 77 /anon_hugepage (deleted)\n"
#define DATA(range) range " rw-p 00000000 00:00 0 \n"

/* expected: "START-END(BEFORE,AFTER) …" for each range that is found, with the
 * inodes of the adjacent files. */
static void assert_found(const char *text, const char *expected)
{
	CLEANUP(free_ptr) struct enclosed_scan *scan = xcalloc(1, sizeof(*scan));
	CLEANUP(free_ptr) char *found = xstrdup("");
	struct enclosed_memory memory;

	scan->maps.rest = bytes_of(text, strlen(text));
	scan->maps.data = true;
	while (enclosed_memory_next(scan, &memory)) {
		char *longer = xasprintf("%s%jx-%jx(%ju,%ju) ", found, (uintmax_t)memory.start,
					 (uintmax_t)memory.end,
					 (uintmax_t)(memory.before ? memory.before->inode : 0),
					 (uintmax_t)(memory.after ? memory.after->inode : 0));

		free(found);
		found = longer;
	}
	assert_string_equal(found, expected);
}

TEST(memory_between_mappings_of_a_file_is_found)
{
	assert_found(FILE_A("1000-2000", "r--p") MEMORY("2000-5000") FILE_A("5000-6000", "r--p"),
		     "2000-5000(1066,1066) ");
	assert_found(FILE_A("1000-2000", "r--p") DATA("2000-3000") HUGE("3000-5000")
			     DATA("5000-6000") FILE_A("6000-7000", "rw-p"),
		     "3000-5000(1066,1066) ");
}

TEST(memory_that_borders_on_a_file_is_found)
{
	assert_found(FILE_A("1000-2000", "r--p") MEMORY("2000-5000"), "2000-5000(1066,0) ");
	assert_found(MEMORY("2000-5000") FILE_B("5000-6000"), "2000-5000(0,1067) ");
	assert_found(FILE_A("1000-2000", "r--p") MEMORY("2000-3000") MEMORY("4000-5000")
			     FILE_B("5000-6000") MEMORY("6000-7000"),
		     "2000-3000(1066,1067) 4000-5000(1066,1067) 6000-7000(1067,0) ");
}

TEST(other_memory_is_not_found)
{
	assert_found(FILE_A("1000-2000", "r-xp") MEMORY("3000-4000") FILE_B("5000-6000"), "");
	assert_found(FILE_A("1000-2000", "r-xp") DATA("2000-3000") FILE_A("3000-4000", "r--p"), "");
	assert_found(MEMORY("3000-4000"), "");
	assert_found("", "");
}
