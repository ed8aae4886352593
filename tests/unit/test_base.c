#include "base/alloc.h"
#include "base/arena.h"
#include "base/base64.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/gzip.h"
#include "base/idmap.h"
#include "base/search.h"
#include "base/strtab.h"
#include "base/text.h"
#include "base/unpack.h"

#include "unit_test.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

TEST(an_error_in_the_command_line_stays_one_when_it_is_wrapped)
{
	CLEANUP(error_cleanup)
	struct error *usage = error_wrap(error_usage(error_new("not a number")), "-F");
	CLEANUP(error_cleanup) struct error *other = error_new("no such file");

	assert_true(error_is_usage(usage));
	assert_false(error_is_usage(other));
	assert_null(error_usage(NULL));
}

TEST(an_error_prints_its_chain_and_keeps_the_innermost_hint)
{
	CLEANUP(error_cleanup) struct error *err = error_errno(ENOENT, "open %s", "x");

	err = error_hint(err, "make it");
	err = error_wrap(err, "read the symbols of %s", "y");
	err = error_hint(err, "something vaguer");
	assert_string_equal(error_text(err),
			    "read the symbols of y: open x: No such file or directory");
	assert_string_equal(error_hint_text(err), "make it");
	assert_int_equal(error_number(err), ENOENT);
}

TEST(a_cursor_never_reads_past_its_end)
{
	static const unsigned char data[] = {1, 2, 0, 3, 0, 0, 0, 'a', 'b', 0, 'c'};
	struct bytes bytes = bytes_of(data, sizeof(data));

	assert_int_equal(bytes_u8(&bytes), 1);
	assert_int_equal(bytes_u16(&bytes), 2);
	assert_int_equal(bytes_u32(&bytes), 3);
	assert_string_equal(bytes_cstr(&bytes), "ab");
	assert_true(bytes_ok(&bytes));
	assert_null(bytes_cstr(&bytes)); /* "c" has no NUL */
	assert_false(bytes_ok(&bytes));
	assert_int_equal(bytes_u64(&bytes), 0);
	assert_int_equal(bytes_left(&bytes), 0);
}

TEST(leb128_reads_what_dwarf_5_prints_as_examples)
{
	static const struct {
		unsigned char data[2];
		int64_t value;
	} signed_cases[] = {{{0x02}, 2},	  {{0x7e}, -2},	       {{0xff, 0x00}, 127},
			    {{0x81, 0x7f}, -127}, {{0x80, 0x01}, 128}, {{0x80, 0x7f}, -128},
			    {{0x81, 0x01}, 129}};
	static const unsigned char unsigned_data[] = {0x02, 0x7f, 0x80, 0x01,
						      0x81, 0x01, 0xb9, 0x64};
	static const uint64_t unsigned_values[] = {2, 127, 128, 129, 12857};
	struct bytes bytes = bytes_of(unsigned_data, sizeof(unsigned_data));

	for (size_t i = 0; i < ARRAY_SIZE(unsigned_values); i++)
		assert_int_equal(bytes_uleb(&bytes), unsigned_values[i]);
	for (size_t i = 0; i < ARRAY_SIZE(signed_cases); i++) {
		bytes = bytes_of(signed_cases[i].data, 2);
		assert_int_equal(bytes_sleb(&bytes), signed_cases[i].value);
	}
}

TEST(equal_strings_get_equal_ids)
{
	CLEANUP(strtab_cleanup) struct strtab *tab = strtab_new();
	char text[32];

	assert_int_equal(strtab_add(tab, ""), 0);
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(text, sizeof(text), "string %u", i);
		assert_int_equal(strtab_add(tab, text), i + 1);
	}
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(text, sizeof(text), "string %u", i);
		assert_int_equal(strtab_add(tab, text), i + 1);
		assert_string_equal(strtab_get(tab, i + 1), text);
	}
	assert_int_equal(strtab_count(tab), 10001);
}

TEST(a_map_finds_every_pair_again)
{
	struct idmap map = {0};

	assert_int_equal(idmap_get(&map, 1, 1), IDMAP_NONE);
	for (uint32_t i = 0; i < 50000; i++) {
		uint32_t *value = idmap_put(&map, (uint64_t)i << 32, i % 7);

		assert_int_equal(*value, IDMAP_NONE);
		*value = i;
	}
	for (uint32_t i = 0; i < 50000; i++) {
		assert_int_equal(idmap_get(&map, (uint64_t)i << 32, i % 7), i);
		assert_int_equal(idmap_get(&map, (uint64_t)i << 32, i % 7 + 1), IDMAP_NONE);
	}
	idmap_deinit(&map);
}

TEST(removing_a_pair_from_a_map_keeps_the_others)
{
	struct idmap map = {0};

	idmap_remove(&map, 1, 1);
	for (uint32_t i = 0; i < 5000; i++)
		*idmap_put(&map, i, i % 3) = i;
	idmap_remove(&map, 1, 0); /* not there */
	for (uint32_t i = 0; i < 5000; i++)
		if (i % 5)
			idmap_remove(&map, i, i % 3);
	assert_int_equal(map.count, 1000);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(idmap_get(&map, i, i % 3), i % 5 ? IDMAP_NONE : i);
	for (uint32_t i = 0, size = map.mask; i < 100000; i++) {
		*idmap_put(&map, i, 7) = i;
		idmap_remove(&map, i, 7);
		assert_int_equal(map.mask, size);
	}
	idmap_deinit(&map);
}

TEST(allocations_of_an_arena_stay_valid)
{
	struct arena arena = {0};
	char *strings[1000];
	uint64_t *large = arena_alloc(&arena, 1 << 20);

	large[0] = 42;
	for (unsigned i = 0; i < ARRAY_SIZE(strings); i++) {
		uint64_t *aligned = arena_alloc(&arena, 24);

		assert_int_equal((uintptr_t)aligned % _Alignof(max_align_t), 0);
		strings[i] = arena_strndup(&arena, "0123456789abcdef", i % 17);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(strings); i++)
		assert_int_equal(strlen(strings[i]), i % 17);
	assert_int_equal(large[0], 42);
	arena_deinit(&arena);
}

TEST(gzip_output_is_reproducible_and_decompresses)
{
	CLEANUP(free_ptr) char *packed[2] = {0};
	size_t packed_len[2];
	static unsigned char unpacked[300000];
	z_stream zlib = {0};

	for (unsigned run = 0; run < 2; run++) {
		FILE *out = open_memstream(&packed[run], &packed_len[run]);
		FILE *gzip = gzip_writer(out);

		for (unsigned i = 0; i < 50000; i++)
			fprintf(gzip, "%05u\n", i);
		assert_int_equal(fclose(gzip), 0);
		fclose(out);
	}
	assert_int_equal(packed_len[0], packed_len[1]);
	assert_memory_equal(packed[0], packed[1], packed_len[0]);
	assert_int_equal(inflateInit2(&zlib, 15 + 16), Z_OK);
	zlib.next_in = (unsigned char *)packed[0];
	zlib.avail_in = (unsigned)packed_len[0];
	zlib.next_out = unpacked;
	zlib.avail_out = sizeof(unpacked);
	assert_int_equal(inflate(&zlib, Z_FINISH), Z_STREAM_END);
	assert_int_equal(zlib.total_out, sizeof(unpacked));
	assert_memory_equal(unpacked + 6 * 12345, "12345\n", 6);
	inflateEnd(&zlib);
	free(packed[1]);
}

TEST(a_full_disk_makes_the_gzip_stream_fail)
{
	CLEANUP(close_file) FILE *full = fopen("/dev/full", "w");
	FILE *gzip = gzip_writer(full);

	setvbuf(full, NULL, _IONBF, 0);
	fputs("anything", gzip);
	assert_int_not_equal(fclose(gzip), 0);
}

/* Returns "00000\n" to "49999\n", compressed. The caller frees it. */
static char *pack_numbers(FILE *writer(FILE *out), size_t *len)
{
	char *packed = NULL;
	FILE *out = open_memstream(&packed, len);
	FILE *gzip = writer(out);

	for (unsigned i = 0; i < 50000; i++)
		fprintf(gzip, "%05u\n", i);
	assert_int_equal(fclose(gzip), 0);
	fclose(out);
	return packed;
}

/* Returns the number of bytes that a gzip file unpacks to before its end or
 * before an error (*error). */
static size_t unpacked_bytes(void *packed, size_t len, uint64_t limit_bytes, int *error)
{
	CLEANUP(close_file) FILE *in = fmemopen(packed, len, "r");
	CLEANUP(close_file) FILE *gzip = gzip_reader(in, limit_bytes);
	char line[16];
	size_t bytes = 0;

	errno = 0;
	while (fread(line, 6, 1, gzip) == 1) {
		char expected[16];

		snprintf(expected, sizeof(expected), "%05zu\n", bytes / 6 % 50000);
		assert_memory_equal(line, expected, 6);
		bytes += 6;
	}
	*error = ferror(gzip) ? errno : 0;
	assert_int_equal(feof(gzip) != 0, *error == 0);
	return bytes;
}

TEST(what_each_writer_compresses_decompresses)
{
	FILE *(*const writers[])(FILE *) = {gzip_writer, gzip_quick_writer, gzip_small_writer};

	for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
		size_t len;
		CLEANUP(free_ptr) char *packed = pack_numbers(writers[i], &len);
		CLEANUP(close_file) FILE *in = fmemopen(packed, len, "r");
		CLEANUP(close_file) FILE *gzip = gzip_reader(in, UINT64_MAX);
		char line[8];

		assert_true(len < 50000 * 6 / 2);
		for (unsigned number = 0; number < 50000; number++) {
			assert_non_null(fgets(line, sizeof(line), gzip));
			assert_int_equal(strtoul(line, NULL, 10), number);
		}
		assert_null(fgets(line, sizeof(line), gzip));
	}
}

TEST(a_gzip_file_is_read_to_its_end_also_in_pieces)
{
	size_t len;
	int error;
	CLEANUP(free_ptr) char *packed = pack_numbers(gzip_writer, &len);
	CLEANUP(free_ptr) char *twice = xmalloc(2 * len);

	assert_int_equal(unpacked_bytes(packed, len, UINT64_MAX, &error), 300000);
	assert_int_equal(error, 0);
	memcpy(mempcpy(twice, packed, len), packed, len);
	assert_int_equal(unpacked_bytes(twice, 2 * len, UINT64_MAX, &error), 600000);
	assert_int_equal(error, 0);
}

TEST(a_gzip_file_is_decompressed_in_one_call)
{
	size_t len, count;
	CLEANUP(free_ptr) char *packed = pack_numbers(gzip_writer, &len);
	CLEANUP(free_ptr) char *twice = xmalloc(2 * len);
	CLEANUP(free_ptr) char *numbers = NULL;

	memcpy(mempcpy(twice, packed, len), packed, len);
	assert_int_equal(unpack_gzip(bytes_of(twice, 2 * len), 600000, &numbers, &count), 0);
	assert_int_equal(count, 600000);
	assert_memory_equal(numbers + 6 * 49999, "49999\n00000\n", 12);
	assert_memory_equal(numbers + 6 * 99999, "49999\n", 6);
}

TEST(zeros_after_a_gzip_file_are_ignored)
{
	size_t len, count;
	int error;
	CLEANUP(free_ptr) char *packed = pack_numbers(gzip_writer, &len);
	CLEANUP(free_ptr) char *padded = xcalloc(1, 2 * len + 10000);
	CLEANUP(free_ptr) char *numbers = NULL;
	char *none = NULL;

	memcpy(padded, packed, len);
	memcpy(padded + len + 512, packed, len);
	assert_int_equal(unpacked_bytes(padded, 2 * len + 10000, UINT64_MAX, &error), 600000);
	assert_int_equal(error, 0);
	assert_int_equal(unpack_gzip(bytes_of(padded, 2 * len + 10000), 600000, &numbers, &count),
			 0);
	assert_int_equal(count, 600000);
	assert_memory_equal(numbers + 6 * 49999, "49999\n00000\n", 12);
	padded[2 * len + 9999] = 'x';
	unpacked_bytes(padded, 2 * len + 10000, UINT64_MAX, &error);
	assert_int_equal(error, EBADMSG);
	assert_int_equal(unpack_gzip(bytes_of(padded, 2 * len + 10000), 600000, &none, &count),
			 EBADMSG);
}

TEST(a_file_that_is_not_gzip_or_too_large_is_refused)
{
	size_t len, count;
	CLEANUP(free_ptr) char *packed = pack_numbers(gzip_writer, &len);
	char *none = NULL;

	assert_int_equal(unpack_gzip(bytes_of(packed, len), 299999, &none, &count), EFBIG);
	assert_int_equal(unpack_gzip(bytes_of(packed, 1), SIZE_MAX, &none, &count), EBADMSG);
	assert_int_equal(unpack_gzip(bytes_of(packed, len - 1), SIZE_MAX, &none, &count), EBADMSG);
	packed[len - 6] ^= 1; /* in the CRC */
	assert_int_equal(unpack_gzip(bytes_of(packed, len), SIZE_MAX, &none, &count), EBADMSG);
	assert_null(none);
}

TEST(a_damaged_gzip_file_is_an_error_not_its_end)
{
	size_t len;
	int error;
	CLEANUP(free_ptr) char *packed = pack_numbers(gzip_writer, &len);

	unpacked_bytes(packed, 1, UINT64_MAX, &error);
	assert_int_equal(error, EBADMSG);
	assert_in_range(unpacked_bytes(packed, len - 1, UINT64_MAX, &error), 1, 300000);
	assert_int_equal(error, EBADMSG);
	packed[len - 6] ^= 1; /* in the CRC */
	unpacked_bytes(packed, len, UINT64_MAX, &error);
	assert_int_equal(error, EBADMSG);
	packed[0] = 'x';
	assert_int_equal(unpacked_bytes(packed, len, UINT64_MAX, &error), 0);
	assert_int_equal(error, EBADMSG);
}

TEST(a_gzip_file_gives_no_more_than_its_limit)
{
	size_t len;
	int error;
	CLEANUP(free_ptr) char *packed = pack_numbers(gzip_writer, &len);

	assert_int_equal(unpacked_bytes(packed, len, 300000, &error), 300000);
	assert_int_equal(error, 0);
	assert_in_range(unpacked_bytes(packed, len, 299999, &error), 0, 299999);
	assert_int_equal(error, EFBIG);
}

TEST(the_crc_is_that_of_debuglink)
{
	assert_int_equal(crc32_of(bytes_of("123456789", 9)), 0xcbf43926);
}

TEST(a_search_finds_the_first_that_is_not_below)
{
	static const uint64_t sorted[] = {2, 4, 4, 8};

	assert_int_equal(search_first(sorted, 4, 0), 0);
	assert_int_equal(search_first(sorted, 4, 3), 1);
	assert_int_equal(search_first(sorted, 4, 4), 1);
	assert_int_equal(search_first(sorted, 4, 8), 3);
	assert_int_equal(search_first(sorted, 4, 9), 4);
	assert_int_equal(search_first(sorted, 0, 1), 0);
}

TEST(a_hexadecimal_number_ends_where_its_digits_end)
{
	static const struct {
		const char *text;
		uint64_t value;
		const char *rest; /* NULL if it is not a number */
	} cases[] = {{"7f00aB rest", 0x7f00ab, " rest"},
		     {"0x10-20", 0x10, "-20"},
		     {"ffffffffffffffff", UINT64_MAX, ""},
		     {"0ffffffffffffffff", UINT64_MAX, ""},
		     {"10000000000000000", 0, NULL},
		     {"0x", 0, NULL},
		     {" 1", 0, NULL},
		     {"-1", 0, NULL},
		     {"", 0, NULL}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *at = cases[i].text;
		uint64_t value = 0;

		assert_int_equal(text_hex(&at, &value), cases[i].rest != NULL);
		assert_int_equal(value, cases[i].value);
		assert_string_equal(at, cases[i].rest ? cases[i].rest : cases[i].text);
	}
}

TEST(bytes_are_written_as_base64)
{
	/* RFC 4648, 10. */
	static const char *const cases[][2] = {{"", ""},
					       {"f", "Zg=="},
					       {"fo", "Zm8="},
					       {"foo", "Zm9v"},
					       {"foob", "Zm9vYg=="},
					       {"fooba", "Zm9vYmE="},
					       {"foobar", "Zm9vYmFy"},
					       {"\xff\xef\xbe", "/+++"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(free_ptr) char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);
		FILE *base64 = base64_writer(out);

		fputs(cases[i][0], base64);
		assert_int_equal(fclose(base64), 0);
		fclose(out);
		assert_string_equal(text, cases[i][1]);
	}
}

TEST(base64_of_large_data_is_that_of_its_parts)
{
	enum { REPEATS = 200000 };
	CLEANUP(free_ptr) char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	FILE *base64 = base64_writer(out);

	for (unsigned i = 0; i < REPEATS; i++)
		fputs("foo", base64);
	assert_int_equal(fclose(base64), 0);
	fclose(out);
	assert_int_equal(len, REPEATS * 4);
	for (unsigned i = 0; i < REPEATS; i++)
		assert_memory_equal(text + i * 4, "Zm9v", 4);
}

TEST(a_failed_write_of_base64_is_an_error)
{
	FILE *full = fopen("/dev/full", "w");
	FILE *base64;

	setvbuf(full, NULL, _IONBF, 0);
	base64 = base64_writer(full);
	fputs("foo", base64);
	assert_int_not_equal(fclose(base64), 0);
	fclose(full);
}
