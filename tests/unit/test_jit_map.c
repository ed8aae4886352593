#include "proc/jit_map.h"

#include "folder.h"
#include "lacking.h"
#include "unit_test.h"

#include <fcntl.h>

static const uid_t somebody = 54321;

/* Returns the contents of the map of process 34, which is 12 in its own
 * namespace, or "" if it is not opened. */
static const char *map_of(uid_t last_user)
{
	static char text[64];
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();
	CLEANUP(close_fd) int fd = jit_map_open(caller, folder, 34, last_user);
	ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	assert_true(len >= 0);
	text[len] = '\0';
	return text;
}

static void write_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

static void write_status(uid_t user)
{
	CLEANUP(free_ptr)
	char *status = xasprintf("Name:\tnode\nPid:\t34\nUid:\t%u\t%u\t%u\t%u\n"
				 "NSpid:\t34\t12\n",
				 7, user, user, user);

	write_text("34/status", status);
}

static void own(const char *name, uid_t user)
{
	CLEANUP(free_ptr) char *path = path_of(name);

	assert_int_equal(lchown(path, user, (gid_t)user), 0);
}

/* Makes a process of an unprivileged user. */
static void make_process(void)
{
	static const char *const names[] = {"34", "34/root", "34/root/tmp"};

	write_status(somebody);
	free(path_of("34/root/tmp/x"));
	assert_int_equal(chmod(folder, 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(free_ptr) char *path = path_of(names[i]);

		assert_int_equal(chmod(path, i == 2 ? 01777 : 0755), 0);
	}
}

TEST_IN_FOLDER(the_map_is_found_by_the_process_own_pid_and_root)
{
	write_status(geteuid());
	assert_string_equal(map_of(UNTRUSTED_USER_UNKNOWN), "");
	write_text("34/root/tmp/perf-12.map", "1000 10 inside\n");
	assert_string_equal(map_of(UNTRUSTED_USER_UNKNOWN), "1000 10 inside\n");
}

TEST_IN_FOLDER(the_map_of_an_ended_process_is_found_below_its_root)
{
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();
	CLEANUP(free_ptr) char *path = path_of("34/root");
	CLEANUP(close_fd) int root = -1, fd = -1;

	write_text("34/root/tmp/perf-12.map", "1000 10 inside\n");
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(root >= 0);
	fd = jit_map_open_below(caller, root, 12, geteuid());
	assert_true(fd >= 0);
	assert_int_equal(jit_map_open_below(caller, root, 34, geteuid()), -1);
}

TEST_IN_FOLDER(a_pipe_in_the_maps_place_is_not_opened)
{
	CLEANUP(free_ptr) char *path = path_of("34/root/tmp/perf-12.map");
	CLEANUP(close_fd) int opened = -1;

	write_status(geteuid());
	assert_int_equal(mkfifo(path, 0600), 0);
	opened = watch_opening(path);
	assert_string_equal(map_of(UNTRUSTED_USER_UNKNOWN), "");
	assert_false(was_opened(opened));
}

TEST_IN_FOLDER(a_link_in_the_maps_place_is_not_followed)
{
	write_status(geteuid());
	write_text("34/root/tmp/list", "1000 10 elsewhere\n");
	link_to("list", "34/root/tmp/perf-12.map");
	assert_string_equal(map_of(UNTRUSTED_USER_UNKNOWN), "");
}

TEST_IN_FOLDER(a_folder_on_the_way_does_not_lead_out_of_the_process_root)
{
	if (!has_openat2())
		RETURN_LACKING("openat2(2)");
	CLEANUP(free_ptr) char *outside = path_of("outside");

	write_status(geteuid());
	write_text("outside/perf-12.map", "1000 10 outside\n");
	write_text("34/root/inside/perf-12.map", "1000 10 inside\n");
	link_to(outside, "34/root/tmp");
	assert_string_equal(map_of(UNTRUSTED_USER_UNKNOWN), "");
	remove_file("34/root/tmp");
	link_to("/inside", "34/root/tmp");
	assert_string_equal(map_of(UNTRUSTED_USER_UNKNOWN), "1000 10 inside\n");
}

TEST_IN_FOLDER(a_map_belongs_to_the_user_of_its_process_or_to_root)
{
	if (geteuid() != 0)
		RETURN_LACKING("root");
	make_process();
	write_text("34/root/tmp/perf-12.map", "1000 10 f\n");
	assert_string_equal(map_of(UNTRUSTED_USER_UNKNOWN), "1000 10 f\n");
	own("34/root/tmp/perf-12.map", somebody);
	assert_string_equal(map_of(UNTRUSTED_USER_UNKNOWN), "1000 10 f\n");
	own("34/root/tmp/perf-12.map", somebody + 1);
	assert_string_equal(map_of(UNTRUSTED_USER_UNKNOWN), "");
	/* Maps of other users do not name code of root's processes. */
	write_status(0);
	own("34/root/tmp/perf-12.map", somebody);
	assert_string_equal(map_of(somebody), "");
	own("34/root/tmp/perf-12.map", 0);
	assert_string_equal(map_of(somebody), "1000 10 f\n");
}
