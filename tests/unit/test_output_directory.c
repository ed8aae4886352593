#include "output/directory.h"

#include "folder.h"
#include "lacking.h"
#include "unit_test.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { OTHER = 54321 };

static void give_away(const char *name)
{
	CLEANUP(free_ptr) char *path = path_of(name);

	assert_int_equal(lchown(path, OTHER, OTHER), 0);
}

static void make_link(const char *name, const char *to)
{
	CLEANUP(free_ptr) char *path = path_of(name);

	assert_int_equal(symlink(to, path), 0);
}

static void make_directory(const char *name, mode_t mode)
{
	CLEANUP(free_ptr) char *inside = xasprintf("%s/x", name);
	CLEANUP(free_ptr) char *path = path_of(name);

	free(path_of(inside)); /* creates the directories of the path */
	assert_int_equal(chmod(path, mode), 0);
}

static struct output_directory opened(const char *name, bool creates)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	struct output_directory directory;
	struct error *err = output_directory_open(path, creates, &directory);

	if (err)
		fail_msg("%s", error_text(err));
	return directory;
}

static void assert_refused(const char *name, bool creates, const char *why)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	struct output_directory directory;
	CLEANUP(error_cleanup) struct error *err = output_directory_open(path, creates, &directory);

	assert_non_null(err);
	if (!strstr(error_text(err), why))
		fail_msg("%s", error_text(err));
}

static void assert_is(const struct output_directory *directory, const char *name)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	struct stat there, st;

	assert_int_equal(stat(path, &there), 0);
	assert_int_equal(fstat(directory->fd, &st), 0);
	assert_true(st.st_ino == there.st_ino && st.st_dev == there.st_dev);
}

TEST_IN_FOLDER(a_path_leads_to_its_directory)
{
	static const char *const names[] = {"a/b", "a/b//", "a/./b/", "a/b/../b", "link", "link/"};

	make_directory("a/b", 0755);
	make_link("link", "a/b");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(output_directory_close)
		struct output_directory directory = opened(names[i], true);

		assert_is(&directory, "a/b");
		assert_false(directory.is_shared);
	}
}

TEST_IN_FOLDER(a_missing_directory_is_made_for_the_user_alone)
{
	struct stat st;

	make_link("link", "new");
	assert_refused("link", false, "No such file");
	{
		CLEANUP(output_directory_close)
		struct output_directory directory = opened("link/", true);

		assert_is(&directory, "new");
		assert_int_equal(fstat(directory.fd, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0700);
	}
}

TEST_IN_FOLDER(what_is_no_directory_is_refused)
{
	write_file("file", "x", 1);
	make_link("dangling", "nowhere/at/all");
	make_link("loop", "loop");
	assert_refused("file", true, "Not a directory");
	assert_refused("dangling", true, "No such file");
	assert_refused("loop", true, "Too many levels");
}

TEST_IN_FOLDER(links_of_others_are_refused_anywhere_in_the_path)
{
	if (geteuid() != 0)
		RETURN_LACKING("root");
	make_directory("private/archive", 0700);
	make_link("first", "private");
	make_link("last", "private/archive");
	give_away("first");
	give_away("last");
	assert_refused("first/archive", true, "link of another user");
	assert_refused("last", true, "link of another user");
	assert_refused("last/", true, "link of another user");
	make_directory("theirs", 0755);
	give_away("theirs");
	make_link("theirs/own", "../private");
	assert_refused("theirs/own/archive", true, "another user could have created");
}

/* ---- Files ---- */

struct seen {
	char names[512]; /* each preceded by "+" or "-" */
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void note(void *user, const char *name, const struct stat *st, bool is_ours)
{
	struct seen *seen = user;
	size_t len = strlen(seen->names);

	(void)st;
	snprintf(seen->names + len, sizeof(seen->names) - len, "%c%s ", is_ours ? '+' : '-', name);
}

static void assert_lists(const struct output_directory *directory, const char *expected)
{
	struct seen seen = {""};
	char sorted[512] = "", *words[32], *rest = NULL;
	size_t count = 0;

	assert_null(output_directory_each(directory, note, &seen));
	for (char *word = strtok_r(seen.names, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		words[count++] = word;
	qsort(words, count, sizeof(*words), compare_names);
	for (size_t i = 0; i < count; i++) {
		strcat(sorted, i ? " " : "");
		strcat(sorted, words[i]);
	}
	assert_string_equal(sorted, expected);
}

static int number_of(const struct output_directory *directory, const char *name)
{
	struct stat st;
	int fd = output_directory_open_file(directory, name, &st);
	int number = fd < 0 ? errno : 0;

	close_fd(&fd);
	return number;
}

/* Makes a regular file, a link, a FIFO, a socket, a directory, a file of
 * another user, and a hard link. */
static void fill(const char *name)
{
	CLEANUP(free_ptr) char *private = path_of("private/file");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char entry[64];

#define ENTRY(text) (snprintf(entry, sizeof(entry), "%s/%s", name, text), entry)
	write_file("private/file", "secret", 6);
	write_file(ENTRY("own"), "x", 1);
	write_file(ENTRY("theirs"), "x", 1);
	make_link(ENTRY("link"), "../private/file");
	make_directory(ENTRY("directory"), 0755);
	CLEANUP(free_ptr) char *fifo = path_of(ENTRY("fifo"));
	CLEANUP(free_ptr) char *hard = path_of(ENTRY("hard"));
	CLEANUP(free_ptr) char *local = path_of(ENTRY("socket"));

	assert_int_equal(mkfifo(fifo, 0666), 0);
	assert_int_equal(link(private, hard), 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", local);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	close(listener);
	give_away(ENTRY("theirs"));
#undef ENTRY
}

TEST_IN_FOLDER(files_of_others_and_what_is_no_file_are_left_alone)
{
	if (geteuid() != 0)
		RETURN_LACKING("root");
	fill("guarded");
	fill("shared");
	give_away("shared");
	{
		CLEANUP(output_directory_close)
		struct output_directory guarded = opened("guarded", false);
		CLEANUP(output_directory_close)
		struct output_directory shared = opened("shared", false);

		assert_lists(&guarded, "+hard +own -theirs");
		assert_lists(&shared, "+own -hard -theirs");
		assert_int_equal(number_of(&shared, "own"), 0);
		assert_int_equal(number_of(&shared, "theirs"), EPERM);
		assert_int_equal(number_of(&shared, "hard"), EPERM);
		assert_int_equal(number_of(&shared, "link"), ELOOP);
		assert_int_equal(number_of(&shared, "fifo"), EINVAL);
		assert_int_equal(number_of(&shared, "directory"), EINVAL);
		assert_int_equal(number_of(&shared, "socket"), ENXIO);
		assert_int_equal(number_of(&shared, "missing"), ENOENT);
	}
}

TEST_IN_FOLDER(a_reader_takes_regular_files_of_all_users)
{
	CLEANUP(free_ptr) char *path = path_of("link");
	CLEANUP(output_directory_close) struct output_directory directory = {0};

	if (geteuid() != 0)
		RETURN_LACKING("root");
	fill("shared");
	give_away("shared");
	make_link("link", "shared");
	give_away("link");
	assert_null(output_directory_open_to_read(path, &directory));
	assert_lists(&directory, "+hard +own +theirs");
	assert_int_equal(number_of(&directory, "theirs"), 0);
	assert_int_equal(number_of(&directory, "link"), ELOOP);
	assert_int_equal(number_of(&directory, "fifo"), EINVAL);
}

static void write_into(const struct output_directory *directory, const char *name)
{
	CLEANUP(output_place_deinit) struct output_place place = OUTPUT_PLACE_INIT;
	CLEANUP(output_file_discard) struct output_file file = OUTPUT_FILE_INIT;

	assert_null(output_directory_place(directory, name, &place));
	assert_null(output_file_create(&place, &file));
	assert_int_equal(write(file.fd, "new", 3), 3);
	assert_null(output_file_replace(&file, &place));
}

static void assert_holds(const char *name, const char *text)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	CLEANUP(close_file) FILE *in = fopen(path, "r");
	char content[16] = "";

	assert_non_null(in);
	assert_non_null(fgets(content, sizeof(content), in));
	assert_string_equal(content, text);
}

/* The path now leads to another directory, with files of the same names. */
TEST_IN_FOLDER(an_open_directory_stays_the_same_whatever_its_path_leads_to)
{
	CLEANUP(free_ptr) char *path = path_of("parent/output"), *moved = path_of("moved");
	CLEANUP(output_directory_close) struct output_directory directory = {0};

	write_file("private/one", "secret", 6);
	write_file("private/two", "secret", 6);
	write_file("parent/output/one", "old", 3);
	write_file("parent/output/two", "old", 3);
	directory = opened("parent/output", false);
	assert_int_equal(rename(path, moved), 0);
	make_link("parent/output", "../private");
	write_into(&directory, "one");
	write_into(&directory, "three");
	assert_true(output_directory_remove(&directory, "two"));
	assert_lists(&directory, "+one +three");
	assert_holds("moved/one", "new");
	assert_holds("private/one", "secret");
	assert_holds("private/two", "secret");
}

TEST_IN_FOLDER(a_directory_that_was_removed_is_not_another_of_its_name)
{
	CLEANUP(output_directory_close) struct output_directory directory = opened("output", true);
	CLEANUP(error_cleanup) struct error *err = NULL;
	struct output_place place;

	remove_file("output");
	make_directory("output", 0755);
	err = output_directory_place(&directory, "one", &place);
	assert_int_equal(error_number(err), ENOENT);
	assert_non_null(strstr(error_hint_text(err), "restart prof"));
}

/* They are only removed from the directory. */
TEST_IN_FOLDER(links_fifos_and_hard_links_are_replaced_and_not_written_into)
{
	CLEANUP(output_directory_close) struct output_directory directory = {0};

	write_file("private/file", "secret", 6);
	{
		CLEANUP(free_ptr) char *private = path_of("private/file");
		CLEANUP(free_ptr)
		char *hard = path_of("output/hard"), *fifo = path_of("output/fifo");

		make_link("output/link", "../private/file");
		assert_int_equal(link(private, hard), 0);
		assert_int_equal(mkfifo(fifo, 0666), 0);
	}
	directory = opened("output", false);
	write_into(&directory, "link");
	write_into(&directory, "hard");
	write_into(&directory, "fifo");
	assert_lists(&directory, "+fifo +hard +link");
	assert_holds("output/link", "new");
	assert_holds("private/file", "secret");
}
