#include "symbol/perfmap.h"

#include "folder.h"
#include "unit_test.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void assert_names(const char *text, const uint64_t *addresses, const char *const *expected,
			 size_t count)
{
	CLEANUP(close_file) FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	CLEANUP(free_ptr) const char **names = xcalloc(count, sizeof(*names));
	struct arena arena = {0};

	assert_non_null(file);
	perfmap_find(file, UINT64_MAX, addresses, count, &arena, names);
	for (size_t i = 0; i < count; i++) {
		if (!expected[i])
			assert_null(names[i]);
		else
			assert_string_equal(names[i], expected[i]);
	}
	arena_deinit(&arena);
}

TEST(a_name_covers_its_size)
{
	static const char text[] = "7f0000001000 100 LazyCompile:*hot /srv/app.js:12:3\n"
				   "0x7f0000002000 0x10 with a prefix\n";
	static const uint64_t addresses[] = {0x7f0000000fff, 0x7f0000001000, 0x7f00000010ff,
					     0x7f0000001100, 0x7f000000200f, 0x7f0000002010};
	static const char *const names[] = {NULL,
					    "LazyCompile:*hot /srv/app.js:12:3",
					    "LazyCompile:*hot /srv/app.js:12:3",
					    NULL,
					    "with a prefix",
					    NULL};

	assert_names(text, addresses, names, ARRAY_SIZE(names));
}

TEST(later_lines_win)
{
	static const char text[] = "1000 100 first\n1040 20 second\n";
	static const uint64_t addresses[] = {0x1010, 0x1050, 0x1070};
	static const char *const names[] = {"first", "second", "first"};

	assert_names(text, addresses, names, ARRAY_SIZE(names));
}

TEST(lines_of_later_code_name_only_what_has_no_other_name)
{
	static char text[] = "1000 10 first\n1000 10 second\n2000 10 late\n2000 10 later\n";
	static const uint64_t addresses[] = {0x1000, 0x2000};
	CLEANUP(close_file) FILE *file = fmemopen(text, strlen(text), "r");
	struct arena arena = {0};
	const char *names[2];

	assert_true(perfmap_find(file, strlen("1000 10 first\n"), addresses, 2, &arena, names));
	assert_string_equal(names[0], "first");
	assert_string_equal(names[1], "late");
	arena_deinit(&arena);
}

TEST(other_lines_are_ignored)
{
	static const char text[] = "\n1000\n1000 \n1000 10\n1000 10 \n-1 -1 minus\n1000 zz zz\n"
				   "fffffffffffffff0 ffffffffffffffff wraps\n"
				   "1000 10 real";
	static const uint64_t addresses[] = {0x10, 0x1000, 0x2000};
	static const char *const names[] = {NULL, "real", NULL};

	assert_names(text, addresses, names, ARRAY_SIZE(names));
}

/* Computes the expected result by applying every line to each of its addresses. */
static void find_one_by_one(const char *text, const uint64_t *addresses, const char **names,
			    size_t count, struct arena *arena)
{
	uint64_t start, size_bytes;
	char name[64];

	for (const char *line = text; line && *line; line = strchr(line, '\n') + 1) {
		assert_int_equal(
			sscanf(line, "%" SCNx64 " %" SCNx64 " %63s", &start, &size_bytes, name), 3);
		for (size_t i = 0; i < count; i++)
			if (addresses[i] >= start && addresses[i] - start < size_bytes)
				names[i] = arena_strndup(arena, name, strlen(name));
	}
}

TEST(overlapping_lines_are_as_if_looked_at_one_by_one)
{
	enum { LINES = 40 };

	for (unsigned round = 0; round < 300; round++) {
		size_t count = round % 23 + 1, len = 0;
		uint64_t addresses[23];
		const char *names[23] = {NULL};
		struct arena arena = {0};
		char text[LINES * 64];

		for (size_t i = 0; i < count; i++)
			addresses[i] = i * i;
		for (unsigned line = 0; line < LINES; line++)
			len += (size_t)sprintf(text + len, "%x %x name%u\n",
					       (round * 7919 + line * 104729) % 500,
					       (round * 31 + line * 6151) % 200, line);
		find_one_by_one(text, addresses, names, count, &arena);
		assert_names(text, addresses, names, count);
		arena_deinit(&arena);
	}
}

TEST(lines_that_cover_everything_cost_little)
{
	enum { LINES = 500000, ADDRESSES = 9000 };
	static const char line[] = "0 ffffffffffffffff a\n";
	CLEANUP(free_ptr) char *text = xmalloc(LINES * strlen(line) + 1);
	CLEANUP(free_ptr) uint64_t *addresses = xcalloc(ADDRESSES, sizeof(*addresses));
	CLEANUP(free_ptr) const char **names = xcalloc(ADDRESSES, sizeof(*names));
	clock_t before;

	for (size_t i = 0; i < ADDRESSES; i++) {
		addresses[i] = 0x1000 + i;
		names[i] = "a";
	}
	for (size_t i = 0; i < LINES; i++)
		strcpy(text + i * strlen(line), line);
	before = clock();
	assert_names(text, addresses, names, ADDRESSES);
	assert_true(clock() - before < 2 * CLOCKS_PER_SEC);
}

TEST(a_long_name_is_cut)
{
	enum { LONG = 2 * PERFMAP_LINE_BYTES_MAX };
	CLEANUP(free_ptr) char *text = xasprintf("1000 10 %0*d\n2000 10 next\n", LONG, 0);
	CLEANUP(free_ptr) char *name = xasprintf("%0*d", PERFMAP_LINE_BYTES_MAX - 8, 0);

	assert_names(text, (const uint64_t[]){0x1000, 0x2000}, (const char *const[]){name, "next"},
		     2);
}

static long peak_kb(void)
{
	struct rusage used;

	assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
	return used.ru_maxrss;
}

TEST_IN_FOLDER(an_endless_map_is_read_up_to_its_bound)
{
	static const char line[] = "1000 10 first\n";
	CLEANUP(free_ptr) char *path = path_of("sparse.map");
	CLEANUP(close_file) FILE *map = fopen(path, "w+");
	static const uint64_t addresses[] = {0x1000, 0x2000};
	long before = peak_kb();
	const char *names[2];
	struct arena arena = {0};

	assert_true(fputs(line, map) > 0 && fflush(map) == 0);
	assert_int_equal(ftruncate(fileno(map), INT64_C(4) * PERFMAP_BYTES_MAX), 0);
	rewind(map);
	assert_false(perfmap_find(map, UINT64_MAX, addresses, 2, &arena, names));
	assert_string_equal(names[0], "first");
	assert_null(names[1]);
	assert_true(peak_kb() - before < 16 << 10);
	arena_deinit(&arena);
}
