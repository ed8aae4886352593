#include "debuginfod/client.h"
#include "debuginfod/received_file.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <fcntl.h>
#include <sys/stat.h>

TEST(an_end_has_an_error_a_path_and_a_url)
{
	static const char from_server[] = "\0\0\0\0/cache/file\0http://server/buildid/ab/debuginfo";
	static const char from_cache[] = "\0\0\0\0/cache/file\0";
	struct client_done done;

	assert_true(client_done_read(bytes_of(from_server, sizeof(from_server)), &done));
	assert_int_equal(done.error, 0);
	assert_string_equal(done.path, "/cache/file");
	assert_string_equal(done.url, "http://server/buildid/ab/debuginfo");
	free(done.path);
	free(done.url);
	assert_true(client_done_read(bytes_of(from_cache, sizeof(from_cache)), &done));
	assert_null(done.url);
	free(done.path);
}

TEST(a_debug_file_is_asked_for_by_its_build_id_alone)
{
	unsigned char message[CLIENT_GET_BYTES_MAX];
	struct download download = {.build_id = {.bytes = {0xab, 0xcd}, .len = 2}};

	assert_int_equal(client_get_write(&download, message), 3);
	assert_memory_equal(message, "\2\xab\xcd", 3);
	download.source = "/a.c";
	assert_int_equal(client_get_write(&download, message), 7);
	assert_memory_equal(message, "\2\xab\xcd/a.c", 7);
}

TEST(a_failure_has_an_error_and_no_path)
{
	static const char message[] = "\2\0\0\0\0";
	struct client_done done;

	assert_true(client_done_read(bytes_of(message, sizeof(message)), &done));
	assert_int_equal(done.error, 2);
	assert_string_equal(done.path, "");
	assert_null(done.url);
	free(done.path);
}

TEST(progress_is_two_numbers)
{
	const uint64_t message[] = {12, 40};
	uint64_t bytes, total_bytes;

	assert_true(client_progress_read(bytes_of(message, sizeof(message)), &bytes, &total_bytes));
	assert_int_equal(bytes, 12);
	assert_int_equal(total_bytes, 40);
}

TEST(damaged_messages_are_refused)
{
	static const char *const damaged[] = {"\1\1\1", "\1\1\1\1/cache/file"};
	static const char longer[] = "\0\0\0\0/cache/file\0\0more";
	struct client_done done;
	uint64_t bytes, total_bytes;

	for (size_t i = 0; i < ARRAY_SIZE(damaged); i++)
		assert_false(client_done_read(bytes_of(damaged[i], strlen(damaged[i])), &done));
	assert_false(client_done_read(bytes_of(longer, sizeof(longer)), &done));
	assert_false(client_progress_read(bytes_of(longer, 15), &bytes, &total_bytes));
	assert_false(client_progress_read(bytes_of(longer, 17), &bytes, &total_bytes));
	assert_true(client_progress_read(bytes_of(longer, 16), &bytes, &total_bytes));
}

TEST(a_source_with_too_long_a_path_is_not_asked_for)
{
	unsigned char message[CLIENT_GET_BYTES_MAX];
	char path[PATH_MAX + 1] = "";
	struct download download = {.build_id = {.len = 2}, .source = path};

	memset(path, 'x', PATH_MAX);
	assert_int_equal(client_get_write(&download, message), 0);
	path[PATH_MAX - 1] = '\0';
	assert_int_equal(client_get_write(&download, message), 1 + 2 + PATH_MAX - 1);
}

static bool is_usable(int fd, uint64_t max_bytes)
{
	uint64_t bytes;
	bool ret = received_file_is_usable(fd, max_bytes, &bytes);

	close(fd);
	return ret;
}

TEST(only_readable_regular_files_within_the_limit_are_used)
{
	char path[] = "/tmp/received-XXXXXX";
	int fd = mkstemp(path), ends[2];

	assert_int_equal(ftruncate(fd, 1000), 0);
	assert_true(is_usable(open(path, O_RDONLY), 1000));
	assert_false(is_usable(open(path, O_RDONLY), 999));
	assert_false(is_usable(open(path, O_WRONLY), 1000));
	assert_false(is_usable(open(path, O_PATH), 1000));
	assert_int_equal(pipe(ends), 0);
	assert_false(is_usable(ends[0], 1000));
	assert_false(is_usable(ends[1], 1000));
	assert_false(is_usable(open("/dev/zero", O_RDONLY), 1000));
	assert_false(is_usable(open("/", O_RDONLY), 1 << 20));
	unlink(path);
	close(fd);
}
