#include "heapfile/allocator_names.h"
#include "heapfile/heap_file.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Returns "0x2 0x1: 3: 300 [4: 400]\n" for each stack, the root first, or the
 * error. The caller frees it. */
static char *read_text(const char *text)
{
	char *data = NULL;
	size_t len;
	FILE *out = open_memstream(&data, &len);
	CLEANUP(heap_file_deinit) struct heap_file file = {0};
	CLEANUP(error_cleanup) struct error *err = NULL;
	struct heap_file_stack stack;
	bool got;

	err = heap_file_open(bytes_of(text, strlen(text)), &file);
	while (!err && !(err = heap_file_next(&file, &stack, &got)) && got) {
		for (size_t i = stack.depth; i-- > 0;)
			fprintf(out, "%#" PRIx64 "%s", stack.pcs[i], i ? " " : ": ");
		fprintf(out, "%" PRIu64 ": %" PRIu64 " [%" PRIu64 ": %" PRIu64 "]\n",
			stack.inuse.objects, stack.inuse.bytes, stack.allocated.objects,
			stack.allocated.bytes);
	}
	if (err)
		fprintf(out, "%s", error_text(err));
	fclose(out);
	return data;
}

static void assert_reads(const char *text, const char *expected)
{
	CLEANUP(free_ptr) char *read = read_text(text);

	assert_string_equal(read, expected);
}

TEST(jemallocs_lines_of_all_threads_are_read)
{
	assert_reads("heap_v2/1\n  t*: 3: 3000 [4: 4000]\n  t0: 3: 3000 [4: 4000]\n"
		     "@ 0x30 0x20 0x10\n  t*: 2: 2000 [3: 3000]\n  t0: 2: 2000 [3: 3000]\n"
		     "@ 0x40 0x10\r\n  t*: 1: 1000 [1: 1000]\n"
		     "\nMAPPED_LIBRARIES:\n10-20 r-xp 0 0:0 1 /bin/x\n",
		     "0x10 0x20 0x30: 2: 2000 [3: 3000]\n0x10 0x40: 1: 1000 [1: 1000]\n");
}

TEST(tcmallocs_lines_are_read)
{
	assert_reads("heap profile:    137:    11996 [   200:    18899] @ heapprofile\n"
		     "    11:     2864 [    12:     2865] @ 0x30 0x20\n"
		     "     0:        0 [     1:        7] @ 000a\n"
		     "\nMAPPED_LIBRARIES:\n",
		     "0x20 0x30: 11: 2864 [12: 2865]\n0xa: 0: 0 [1: 7]\n");
}

TEST(what_was_sampled_is_scaled_by_its_probability)
{
	/* 1 / (1 − exp(−64/65536)) = 1024.5 */
	assert_reads("heap_v2/65536\n  t*: 1: 64 [2: 128]\n@ 0x1\n  t*: 1: 64 [2: 128]\n",
		     "0x1: 1025: 65568 [2049: 131136]\n");
	assert_reads("heap profile: 1: 64 [ 1: 64] @ heap_v2/65536\n1: 64 [1: 64] @ 0x1\n",
		     "0x1: 1025: 65568 [1025: 65568]\n");
	assert_reads("heap profile: 1: 64 [ 1: 64] @ heap/131072\n1: 64 [1: 64] @ 0x1\n",
		     "0x1: 1025: 65568 [1025: 65568]\n");
	assert_reads("heap_v2/1\n  t*: 1: 0 [0: 0]\n@ 0x1\n  t*: 1: 0 [0: 0]\n",
		     "0x1: 1: 0 [0: 0]\n");
}

TEST(whether_allocations_are_known_is_told_by_the_totals)
{
	static const struct {
		const char *text;
		bool has_allocated;
	} cases[] = {
		{"heap_v2/1\n  t*: 1: 5 [0: 0]\n", false},
		{"heap_v2/1\n  t*: 1: 5 [1: 5]\n", true},
		{"heap_v2/1\n", false},
		{"heap profile: 1: 5 [1: 5] @ heap_v2/1\n", false},
		{"heap profile: 1: 5 [2: 6] @ heap_v2/1\n", true},
		{"heap profile: 1: 5 [1: 5] @ heapprofile\n", true},
		{"heap profile: 1: 5 [1: 5]", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(heap_file_deinit) struct heap_file file = {0};
		CLEANUP(error_cleanup)
		struct error *err = heap_file_open(bytes_of(cases[i].text, strlen(cases[i].text)),
						   &file);

		assert_null(err);
		assert_int_equal(file.has_allocated, cases[i].has_allocated);
	}
}

TEST(a_line_that_is_not_understood_is_an_error_that_tells_which)
{
	static const char *const lines[] = {"@ 0x1 y\n  t*: 1: 1 [0: 0]\n",
					    "@ 0x12345678123456789\n", "@ 0x1\n  t*: 1: 1\n",
					    "@ 0x1\n  t*: 1: 1 [1: 9999999999999999999]\n", "x\n"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP(free_ptr) char *text = xasprintf("heap_v2/1\n%s", lines[i]);
		CLEANUP(free_ptr) char *read = read_text(text);

		assert_non_null(strstr(read, "is not one of a heap profile"));
	}
	assert_reads("heap_v2/0\n", "line 1 is not one of a heap profile");
	assert_reads("heap profile: 1: 5\n", "line 1 is not one of a heap profile");
	assert_reads("heap profile: 0: 0 [0: 0] @ heapprofile\n1: 1 [1: 1]\n",
		     "line 2 is not one of a heap profile");
}

TEST(other_kinds_are_refused_by_name)
{
	assert_reads("heap profile: 1: 5 [1: 5] @ growthz\n",
		     "it is a profile of another kind than the heap: growthz");
	assert_reads("heap profile: 1: 5 [1: 5] @ fragmentationz\n",
		     "it is a profile of another kind than the heap: fragmentationz");
}

TEST(a_stack_is_cut_at_its_root)
{
	CLEANUP(heap_file_deinit) struct heap_file file = {0};
	CLEANUP(error_cleanup) struct error *err = NULL;
	struct heap_file_stack stack;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool got;

	fprintf(out, "heap profile: 1: 1 [1: 1] @ heapprofile\n1: 1 [1: 1] @");
	for (unsigned i = 0; i < HEAP_FILE_DEPTH_MAX + 1; i++)
		fprintf(out, " 0x%x", i);
	fclose(out);
	err = heap_file_open(bytes_of(text, len), &file);
	assert_null(err);
	err = heap_file_next(&file, &stack, &got);
	assert_null(err);
	assert_true(got && stack.is_cut);
	assert_int_equal(stack.depth, HEAP_FILE_DEPTH_MAX);
	assert_int_equal(stack.pcs[1], 1);
	free(text);
}

TEST(files_are_recognized_by_how_they_begin)
{
	assert_true(heap_file_recognize((const unsigned char *)"heap_v2/524288\n", 15));
	assert_true(heap_file_recognize((const unsigned char *)"heap profile: 1: 2", 18));
	assert_false(heap_file_recognize((const unsigned char *)"heap;main 5\n", 12));
	assert_false(heap_file_recognize((const unsigned char *)"heap_v", 6));
}

TEST(allocators_are_known_by_name)
{
	static const char *const theirs[] = {"malloc",	      "operator new(unsigned long)",
					     "_rjem_malloc",  "je_prof_backtrace",
					     "__libc_calloc", "tc_new",
					     "__rust_alloc",  "prof_backtrace_impl"};
	static const char *const programs[] = {"new",
					       "main",
					       "mallocate",
					       "my_malloc",
					       "parse_new",
					       "tc_reader",
					       "operator delete(void*)"};

	for (size_t i = 0; i < ARRAY_SIZE(theirs); i++)
		assert_true(is_allocator_function(theirs[i]));
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		assert_false(is_allocator_function(programs[i]));
	assert_true(is_allocator_library("/usr/lib/libjemalloc.so.2"));
	assert_true(is_allocator_library("libtcmalloc_minimal.so.4"));
	assert_false(is_allocator_library("/usr/lib/libjemalloc/app"));
}
