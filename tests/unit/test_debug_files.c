#include "proc/debug_files.h"

#include "base/alloc.h"
#include "built_elf.h"
#include "folder.h"
#include "lacking.h"
#include "unit_test.h"

#include <fcntl.h>
#include <libgen.h>

static const uid_t somebody = 54321;

static void write_elf(const char *name, mode_t mode, uid_t owner)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	struct built_elf file;

	built_elf_init(&file);
	built_elf_finish(&file);
	write_file(name, file.data, file.len);
	assert_int_equal(chmod(path, mode), 0);
	assert_int_equal(chown(path, owner, (gid_t)-1), 0);
}

/* Gives access to the files to users other than root. */
static void open_folders(const char *const names[])
{
	for (size_t i = 0; names[i]; i++) {
		CLEANUP(free_ptr) char *path = path_of(names[i]);

		assert_int_equal(chmod(path, 0755), 0);
	}
	assert_int_equal(chmod(folder, 0755), 0);
}

/* Returns the path of the debug file of /opt/program in a container, as seen
 * there, or "". */
static const char *find(enum debugfile_kind kind, const char *name, uid_t owner, bool is_untrusted)
{
	static char found[256];
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();
	CLEANUP(free_ptr) char *inside = path_of("root/x");
	CLEANUP(close_fd) int root = open(dirname(inside), O_PATH | O_CLOEXEC);
	struct debug_files files = {
		.places = {.debug_dir = "/usr/lib/debug", .caller = caller},
		.path = "/opt/program",
		.root = root,
		.owner = owner,
		.is_untrusted = is_untrusted,
	};
	const struct debugfile_opener opener = debug_files_opener(&files);
	const struct debugfile_question question = {
		.kind = kind, .name = name, .build_id = {.bytes = {0xab, 0xcd}, .len = 2}};
	CLEANUP(free_ptr) char *path = NULL;
	CLEANUP(close_fd) int fd = opener.open(opener.user, &question, 0, &path);

	snprintf(found, sizeof(found), "%s", fd < 0 ? "" : path);
	return found;
}

TEST_IN_FOLDER(debug_files_of_a_container_are_in_the_container)
{
	static const struct {
		enum debugfile_kind kind;
		const char *name, *path;
	} cases[] = {
		{DEBUGFILE_BY_BUILD_ID, NULL, "/usr/lib/debug/.build-id/ab/cd.debug"},
		{DEBUGFILE_BY_LINK, "x.debug", "/opt/x.debug"},
		{DEBUGFILE_BY_LINK, "x.debug", "/opt/.debug/x.debug"},
		{DEBUGFILE_BY_LINK, "x.debug", "/usr/lib/debug/opt/x.debug"},
		{DEBUGFILE_BY_PATH, "/usr/lib/debug/.dwz/x", "/usr/lib/debug/.dwz/x"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(free_ptr) char *inside = xasprintf("root%s", cases[i].path);

		assert_string_equal(find(cases[i].kind, cases[i].name, geteuid(), false), "");
		write_elf(inside, 0644, geteuid());
		assert_string_equal(find(cases[i].kind, cases[i].name, geteuid(), false),
				    cases[i].path);
		remove_file(inside);
	}
}

TEST_IN_FOLDER(links_in_a_container_do_not_lead_out_of_it)
{
	if (!has_openat2())
		RETURN_LACKING("openat2(2)");
	CLEANUP(free_ptr) char *outside = path_of("outside");

	write_elf("outside", 0644, geteuid());
	link_to(outside, "root/opt/x.debug");
	assert_string_equal(find(DEBUGFILE_BY_LINK, "x.debug", geteuid(), false), "");
	remove_file("root/opt/x.debug");
	write_elf("root/inside", 0644, geteuid());
	link_to("/inside", "root/opt/x.debug");
	assert_string_equal(find(DEBUGFILE_BY_LINK, "x.debug", geteuid(), false), "/opt/x.debug");
}

TEST_IN_FOLDER(a_program_that_others_cannot_write_has_no_debug_file_that_they_can)
{
	write_elf("root/opt/x.debug", 0664, geteuid());
	assert_string_equal(find(DEBUGFILE_BY_LINK, "x.debug", geteuid(), false), "");
	assert_string_equal(find(DEBUGFILE_BY_LINK, "x.debug", geteuid(), true), "/opt/x.debug");
	if (geteuid() != 0)
		RETURN_LACKING("root");
	write_elf("root/opt/x.debug", 0644, somebody);
	assert_string_equal(find(DEBUGFILE_BY_LINK, "x.debug", 0, false), "");
	assert_string_equal(find(DEBUGFILE_BY_LINK, "x.debug", 0, true), "");
}

TEST_IN_FOLDER(a_program_has_no_debug_file_that_its_owner_cannot_read)
{
	static const char *const folders[] = {"root", "root/opt", NULL};

	if (geteuid() != 0)
		RETURN_LACKING("root");
	write_elf("root/opt/x.debug", 0644, 0);
	open_folders(folders);
	assert_string_equal(find(DEBUGFILE_BY_LINK, "x.debug", somebody, true), "/opt/x.debug");
	write_elf("root/opt/x.debug", 0600, 0);
	assert_string_equal(find(DEBUGFILE_BY_LINK, "x.debug", somebody, true), "");
	assert_string_equal(find(DEBUGFILE_BY_PATH, "/opt/x.debug", somebody, true), "");
	write_elf("root/opt/x.debug", 0600, somebody);
	assert_string_equal(find(DEBUGFILE_BY_LINK, "x.debug", somebody, true), "/opt/x.debug");
	write_elf("root/opt/x.debug", 0644, somebody + 1);
	assert_string_equal(find(DEBUGFILE_BY_LINK, "x.debug", somebody, true), "");
}
