#include "output/secret_file.h"

#include "folder.h"
#include "lacking.h"
#include "unit_test.h"

#include <unistd.h>

enum { OTHER = 54321 };

static struct error *read_it(const char *name, char **ret)
{
	CLEANUP(free_ptr) char *path = path_of(name);

	return secret_file_read(path, ret);
}

static void write_secret(const char *name, mode_t mode, uid_t owner)
{
	CLEANUP(free_ptr) char *path = path_of(name);

	write_file(name, "secret\n", 7);
	assert_int_equal(chmod(path, mode), 0);
	assert_true(owner == geteuid() || lchown(path, owner, owner) == 0);
}

static void assert_read(const char *name)
{
	CLEANUP(free_ptr) char *text = NULL;

	assert_null(read_it(name, &text));
	assert_string_equal(text, "secret\n");
}

static void assert_refused(const char *name, const char *why, const char *hint)
{
	char *text;
	CLEANUP(error_cleanup) struct error *err = read_it(name, &text);

	assert_non_null(err);
	if (!strstr(error_text(err), why))
		fail_msg("%s", error_text(err));
	if (hint)
		assert_non_null(strstr(error_hint_text(err), hint));
}

TEST_IN_FOLDER(only_its_owner_may_read_it)
{
	static const mode_t modes[] = {0640, 0604, 0620, 0602, 0610, 0601};

	write_secret("own", 0600, geteuid());
	write_secret("readonly", 0400, geteuid());
	assert_read("own");
	assert_read("readonly");
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		write_secret("open", modes[i], geteuid());
		assert_refused("open", "is not secret: its mode is 6", "chmod 600");
	}
}

TEST_IN_FOLDER(a_file_of_another_user_is_not_secret)
{
	CLEANUP(free_ptr) char *path = path_of("theirs");
	CLEANUP(free_ptr) char *text = NULL;

	if (geteuid() != 0)
		RETURN_LACKING("root");
	write_secret("theirs", 0600, OTHER);
	assert_refused("theirs", "belongs to another user", "create a new file");
	assert_null(secret_file_read_public(path, &text));
}

TEST_IN_FOLDER(links_of_others_are_not_followed_and_own_ones_are)
{
	CLEANUP(free_ptr) char *link = path_of("link"), *theirs = path_of("theirs");

	if (geteuid() != 0)
		RETURN_LACKING("root");
	write_secret("own", 0600, geteuid());
	assert_true(symlink("own", link) == 0 && symlink("own", theirs) == 0);
	assert_int_equal(lchown(theirs, OTHER, OTHER), 0);
	assert_read("link");
	assert_refused("theirs", "link of another user", "remove it");
}

TEST_IN_FOLDER(what_is_no_small_text_is_refused_without_waiting)
{
	CLEANUP(free_ptr) char *fifo = path_of("fifo"), *large = path_of("large");

	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_refused("fifo", "is not a regular file", "umask 077");
	write_secret("large", 0600, geteuid());
	assert_int_equal(truncate(large, INT64_C(8) << 30), 0);
	assert_refused("large", "File too large", NULL);
	assert_int_equal(truncate(large, 100), 0);
	assert_refused("large", "is not a text file", NULL);
	assert_refused("missing", "No such file", NULL);
}
