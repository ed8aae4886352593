#include "proc/maps.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Returns the only executable mapping in the text. */
static struct mapping only_mapping(struct maps *maps, const char *text)
{
	struct mapping mapping, other;

	*maps = (struct maps){.rest = bytes_of(text, strlen(text))};
	assert_true(maps_next(maps, &mapping));
	assert_false(maps_next(&(struct maps){.rest = maps->rest}, &other));
	return mapping;
}

TEST(only_executable_mappings_are_read)
{
	struct maps maps;
	struct mapping mapping = only_mapping(
		&maps, "7f0c5e1a2000-7f0c5e1c8000 r--p 00000000 fe:00 1066     /usr/lib/libc.so.6\n"
		       "7f0c5e1c8000-7f0c5e31d000 r-xp 00026000 fe:1f 1066     /usr/lib/libc.so.6\n"
		       "7f0c5e370000-7f0c5e374000 r--p 001ce000 fe:00 1066     /usr/lib/libc.so.6\n"
		       "7f0c5e374000-7f0c5e376000 rw-p 001d2000 fe:00 1066     /usr/lib/libc.so.6\n"
		       "7f0c5e376000-7f0c5e383000 rw-p 00000000 00:00 0 \n");

	assert_int_equal(mapping.start, 0x7f0c5e1c8000);
	assert_int_equal(mapping.end, 0x7f0c5e31d000);
	assert_int_equal(mapping.offset, 0x26000);
	assert_int_equal(mapping.device_major, 0xfe);
	assert_int_equal(mapping.device_minor, 0x1f);
	assert_int_equal(mapping.inode, 1066);
	assert_int_equal(mapping.build_id.len, 0);
	assert_string_equal(mapping.path, "/usr/lib/libc.so.6");
}

TEST(a_mapping_without_a_file_has_an_empty_path)
{
	struct maps maps;

	assert_string_equal(only_mapping(&maps, "1000-2000 rwxp 00000000 00:00 0 \n").path, "");
	assert_string_equal(only_mapping(&maps, "1000-2000 rwxp 00000000 00:00 0").path, "");
}

TEST(a_path_may_hold_blanks_newlines_and_backslashes)
{
	struct maps maps;

	assert_string_equal(
		only_mapping(&maps, "1000-2000 r-xp 00000000 00:01 3   /a b/c (deleted)").path,
		"/a b/c (deleted)");
	assert_string_equal(
		only_mapping(&maps, "1000-2000 r-xp 00000000 00:01 3   /a\\012b\\040").path,
		"/a\nb\\040");
}

TEST(the_last_page_of_the_address_space_is_a_mapping_too)
{
	struct maps maps;
	struct mapping mapping = only_mapping(
		&maps, "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]\n");

	assert_int_equal(mapping.start, 0xffffffffff600000);
	assert_string_equal(mapping.path, "[vsyscall]");
}

TEST(lines_that_are_no_mappings_are_passed_over)
{
	struct maps maps;
	struct mapping mapping =
		only_mapping(&maps, "\n"
				    "1000-\n"
				    "1000-2000 r-x\n"
				    "1000 2000 r-xp 00000000 00:00 0 /no-dash\n"
				    "2000-1000 r-xp 00000000 00:00 0 /backwards\n"
				    "1000-1000 r-xp 00000000 00:00 0 /empty\n"
				    "1000-2000 r-xp 00000000 0000 0 /no-colon\n"
				    "100000000000000000000000-2 r-xp 00000000 00:00 0 /too-long\n"
				    "3000-4000 r-xp 00000000 00:00 0 /good\n"
				    "5000-6000 r-xp");

	assert_string_equal(mapping.path, "/good");
}

TEST(a_path_too_long_for_the_kernel_is_cut)
{
	CLEANUP(free_ptr) char *name = xmalloc(10000);

	memset(name, 'x', 9999);
	name[9999] = '\0';
	CLEANUP(free_ptr) char *text = xasprintf("1000-2000 r-xp 00000000 00:01 3 /%s\n", name);
	struct maps maps;

	assert_int_equal(strlen(only_mapping(&maps, text).path), MAPS_PATH_MAX - 1);
}

TEST(our_own_maps_are_read_whole)
{
	size_t len;
	CLEANUP(free_ptr) char *text = maps_load("/proc", getpid(), &len);
	struct maps maps = {.rest = bytes_of(text, len)};
	uint64_t pc = (uint64_t)(uintptr_t)our_own_maps_are_read_whole;
	struct mapping mapping;
	bool found = false;

	while (maps_next(&maps, &mapping))
		found |= pc >= mapping.start && pc < mapping.end &&
			 strstr(mapping.path, "test_maps");
	assert_true(found);
	assert_null(maps_load("/nowhere", 1, &len));
	assert_int_equal(len, 0);
}

TEST(of_long_maps_the_first_lines_are_read)
{
	size_t len, all;
	CLEANUP(free_ptr) char *whole = maps_load("/proc", getpid(), &all);
	CLEANUP(free_ptr) char *text = maps_load_some("/proc", getpid(), 300, &len);

	assert_in_range(len, 1, 300);
	assert_int_equal(text[len - 1], '\n');
	assert_memory_equal(text, whole, len);
	assert_non_null(memchr(whole + len, '\n', all - len));
	free(text);
	text = maps_load_some("/proc", getpid(), 10, &len);
	assert_int_equal(len, 0);
}

TEST(beyond_their_share_of_the_time_the_first_mappings_are_read)
{
	char proc[] = "/tmp/test_maps.XXXXXX";
	CLEANUP(free_ptr) char *folder = (assert_non_null(mkdtemp(proc)), xasprintf("%s/7", proc));
	CLEANUP(free_ptr) char *path = xasprintf("%s/maps", folder);
	struct time_share share = {0};
	bool is_cut;
	size_t len;

	assert_int_equal(mkdir(folder, 0700), 0);
	CLEANUP(close_file) FILE *file = fopen(path, "we");
	for (unsigned i = 0; i < 1000; i++)
		fprintf(file, "%x000-%x000 r-xp 00000000 fe:00 1 /%0100u\n", i, i + 1, i);
	fflush(file);
	free(maps_load_within(&share, proc, 7, &len, &is_cut));
	assert_false(is_cut);
	assert_int_equal(len, ftell(file));

	time_share_spend(&share, NS_PER_SECOND);
	free(maps_load_within(&share, proc, 7, &len, &is_cut));
	assert_true(is_cut);
	assert_in_range(len, 60 << 10, 64 << 10);
	remove(path);
	rmdir(folder);
	rmdir(proc);
}

static void write_file(char *path, const char *text)
{
	CLEANUP(free_ptr) char *name = path;
	FILE *file = fopen(name, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

TEST(where_the_first_thread_has_ended_another_ones_maps_are_read)
{
	static const char *const folders[] = {"", "/7", "/7/task", "/7/task/7", "/7/task/8"};
	static const char *const files[] = {"/7/maps", "/7/task/7/maps", "/7/task/8/maps"};
	char proc[] = "/tmp/test_maps.XXXXXX";
	size_t len;

	assert_non_null(mkdtemp(proc));
	for (size_t i = 1; i < ARRAY_SIZE(folders); i++) {
		CLEANUP(free_ptr) char *folder = xasprintf("%s%s", proc, folders[i]);

		assert_int_equal(mkdir(folder, 0700), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		write_file(xasprintf("%s%s", proc, files[i]), i == 2 ? "of 8" : "");
	CLEANUP(free_ptr) char *text = maps_load(proc, 7, &len);

	assert_int_equal(len, 4);
	assert_memory_equal(text, "of 8", len);
	for (size_t i = ARRAY_SIZE(files); i-- > 0;) {
		CLEANUP(free_ptr) char *file = xasprintf("%s%s", proc, files[i]);

		assert_int_equal(remove(file), 0);
	}
	for (size_t i = ARRAY_SIZE(folders); i-- > 0;) {
		CLEANUP(free_ptr) char *folder = xasprintf("%s%s", proc, folders[i]);

		assert_int_equal(remove(folder), 0);
	}
}
