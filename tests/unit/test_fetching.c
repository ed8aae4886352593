#include "symbol/fetching.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A server that has everything that starts with `has`. It stores the requests. */
struct server {
	uint8_t has;
	char asked[256];
};

static void fetch(void *user, struct fetch_wish *wishes, size_t count)
{
	struct server *server = user;

	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(server->asked);

		snprintf(server->asked + len, sizeof(server->asked) - len, "%s:%02x ",
			 wishes[i].name, wishes[i].build_id.bytes[0]);
		if (wishes[i].build_id.bytes[0] != server->has)
			continue;
		wishes[i].fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		wishes[i].path = xstrdup("/cache/file");
	}
}

static const struct build_id id_a = {.bytes = {0xaa, 1}, .len = 2},
			     id_b = {.bytes = {0xbb, 1}, .len = 2},
			     id_dwz = {.bytes = {0xdd, 1}, .len = 2};

TEST(the_costliest_modules_are_fetched_first_and_cheap_ones_not)
{
	struct server server = {.has = 0xbb};
	struct fetched_files files = {0};
	struct fetched_opener openers[3] = {0};
	struct fetching_module modules[] = {
		{.build_id = &id_a, .path = "a", .opener = &openers[0], .samples = 10, .index = 0},
		{.build_id = &id_dwz, .path = "c", .opener = &openers[1], .samples = 9, .index = 1},
		{.build_id = &id_b, .path = "b", .opener = &openers[2], .samples = 500, .index = 2},
	};
	struct fetching fetching = {.fetcher = {.fetch = fetch, .user = &server},
				    .files = &files,
				    .modules = modules,
				    .count = 3};

	fetching_select(&fetching, 1000);
	assert_int_equal(fetching.count, 2);
	assert_true(fetching_round(&fetching));
	assert_string_equal(server.asked, "b:bb a:aa ");
	assert_true(modules[0].is_renewed);
	assert_false(modules[1].is_renewed);
	/* Nothing is requested twice. */
	assert_false(fetching_round(&fetching));
	assert_string_equal(server.asked, "b:bb a:aa ");
	fetched_files_deinit(&files);
}

static int find_nothing(void *user, const struct debugfile_question *question, unsigned attempt,
			char **path)
{
	(void)user, (void)question, (void)attempt, (void)path;
	return -1;
}

TEST(a_supplementary_file_is_fetched_when_a_debug_file_has_asked_for_it)
{
	const struct debugfile_question question = {.kind = DEBUGFILE_BY_BUILD_ID,
						    .build_id = id_dwz};
	struct server server = {.has = 0xdd};
	struct fetched_files files = {0};
	struct fetched_opener opener = {
		.files = &files, .local = {.open = find_nothing}, .own = id_a};
	struct debugfile_opener open_file = fetched_opener(&opener);
	struct fetching_module module = {.build_id = &id_a,
					 .path = "a",
					 .is_complete = true,
					 .opener = &opener,
					 .samples = 1};
	struct fetching fetching = {.fetcher = {.fetch = fetch, .user = &server},
				    .files = &files,
				    .modules = &module,
				    .count = 1};
	char *path = NULL;
	int fd;

	assert_false(fetching_round(&fetching));
	assert_int_equal(open_file.open(open_file.user, &question, 0, &path), -1);
	assert_true(fetching_round(&fetching));
	assert_string_equal(server.asked, "a:dd ");
	fd = open_file.open(open_file.user, &question, 0, &path);
	assert_true(fd >= 0);
	assert_string_equal(path, "/cache/file");
	assert_int_equal(open_file.open(open_file.user, &question, 1, &path), -1);
	close(fd);
	free(path);
	fetched_files_deinit(&files);
}
