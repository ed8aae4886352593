#include "elf/debugfile.h"

#include "base/alloc.h"
#include "base/gzip.h"
#include "built_elf.h"
#include "folder.h"
#include "proc/file_locator.h"
#include "unit_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static void write_elf(const char *name, const struct built_elf *file)
{
	write_file(name, file->data, file->len);
}

static void init_with_id(struct built_elf *file, const char *id)
{
	unsigned char note[80];

	built_elf_init(file);
	if (*id)
		built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_NOTE}, ".note", note,
				  built_elf_build_id(note, id, strlen(id)));
}

/* Makes a file with .debug_info that contains `info`. */
static struct built_elf debug_file(const char *id, const char *info)
{
	struct built_elf file;

	init_with_id(&file, id);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".debug_info", info,
			  strlen(info));
	built_elf_finish(&file);
	return file;
}

/* Makes a stripped file with a link to the file of that name and CRC. */
static struct built_elf linking_file(const char *id, const char *name, uint32_t crc)
{
	size_t len = (strlen(name) + 4) / 4 * 4;
	unsigned char link[256] = {0};
	struct built_elf file;

	memcpy(link, name, strlen(name));
	memcpy(link + len, &crc, 4);
	init_with_id(&file, id);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".gnu_debuglink", link,
			  len + 4);
	built_elf_finish(&file);
	return file;
}

static struct elf_file *elf_file_of(const struct built_elf *file)
{
	struct elf_file *image = NULL;

	assert_null(elf_file_from_memory(file->data, file->len, "test", &image));
	return image;
}

static struct file_locator *locator_of(const char *symfs)
{
	CLEANUP(free_ptr) char *debug_dir = xasprintf("%s/debug", folder);

	return file_locator_new_recorded(
		&(struct recorded_files){.symfs = symfs, .debug_dir = debug_dir});
}

static struct debug_files debug_files_of(const struct file_locator *locator, const char *path)
{
	return file_locator_debug_files(locator, path, -1, geteuid(), false);
}

/* Returns the contents of the debug file of `stripped`, which is mapped as
 * folder/bin/program, or "". */
static const char *find(const struct built_elf *stripped)
{
	static char text[64];
	CLEANUP(free_ptr) char *path = xasprintf("%s/bin/program", folder);
	CLEANUP(file_locator_cleanup) struct file_locator *locator = locator_of(NULL);
	struct debug_files files = debug_files_of(locator, path);
	const struct debugfile_opener opener = debug_files_opener(&files);
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(stripped);
	CLEANUP(elf_file_cleanup) struct elf_file *found = debugfile_find(image, &opener);
	struct bytes info = {0};

	if (found)
		info = elf_file_section(found, ".debug_info").data;
	assert_true(bytes_left(&info) < sizeof(text));
	memset(text, 0, sizeof(text));
	if (found)
		memcpy(text, info.at, bytes_left(&info));
	return text;
}

TEST_IN_FOLDER(a_debug_file_is_found_by_its_build_id)
{
	struct built_elf right = debug_file("\xab\xcd\xef", "right");
	struct built_elf wrong = debug_file("\xab\x12\x34", "wrong");
	struct built_elf stripped;

	init_with_id(&stripped, "\xab\xcd\xef");
	built_elf_finish(&stripped);
	assert_string_equal(find(&stripped), "");
	write_elf("debug/.build-id/ab/cdef.debug", &wrong);
	assert_string_equal(find(&stripped), "");
	write_elf("debug/.build-id/ab/cdef.debug", &right);
	assert_string_equal(find(&stripped), "right");
}

TEST_IN_FOLDER(a_debug_file_is_found_by_its_link)
{
	static const char *const places[] = {"bin/program.debug", "bin/.debug/program.debug"};
	struct built_elf debug = debug_file("", "right");
	uint32_t crc = crc32_of(bytes_of(debug.data, debug.len));
	struct built_elf stripped = linking_file("", "program.debug", crc);
	struct built_elf other = linking_file("", "program.debug", crc + 1);
	CLEANUP(free_ptr) char *global = xasprintf("debug%s/bin/program.debug", folder);

	for (size_t i = 0; i < 3; i++) {
		const char *place = i < 2 ? places[i] : global;
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", folder, place);

		assert_string_equal(find(&stripped), "");
		write_elf(place, &debug);
		assert_string_equal(find(&stripped), "right");
		assert_string_equal(find(&other), "");
		assert_int_equal(unlink(path), 0);
	}
}

/* Reading 30 GB of holes would take about a minute. */
TEST_IN_FOLDER(a_sparse_file_that_a_link_names_is_not_read_to_its_end)
{
	struct built_elf debug = debug_file("", "right");
	struct built_elf stripped = linking_file("", "program.debug", 1);
	CLEANUP(free_ptr) char *path = xasprintf("%s/bin/program.debug", folder);
	clock_t start = clock();

	write_elf("bin/program.debug", &debug);
	assert_int_equal(truncate(path, INT64_C(30) << 30), 0);
	assert_string_equal(find(&stripped), "");
	assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
	assert_int_equal(unlink(path), 0);
}

TEST_IN_FOLDER(a_build_id_outweighs_the_crc_of_a_link)
{
	struct built_elf right = debug_file("right id", "right");
	struct built_elf wrong = debug_file("wrong id", "wrong");
	struct built_elf stripped = linking_file("right id", "program.debug",
						 crc32_of(bytes_of(wrong.data, wrong.len)));

	write_elf("bin/program.debug", &wrong);
	assert_string_equal(find(&stripped), "");
	/* The next place is tried. */
	write_elf("bin/.debug/program.debug", &right);
	assert_string_equal(find(&stripped), "right");
}

TEST_IN_FOLDER(a_link_to_the_stripped_file_itself_or_out_of_the_folder_is_not_followed)
{
	struct built_elf self = linking_file("an id", "program", 0);
	struct built_elf debug = debug_file("an id", "right");
	struct built_elf upwards = linking_file("an id", "../secret", 0);
	struct built_elf cut = linking_file("an id", "program.debug", 0);

	write_elf("bin/program", &self);
	assert_string_equal(find(&self), "");
	write_elf("secret", &debug);
	assert_string_equal(find(&upwards), "");
	/* A link that is too short for its CRC. */
	write_elf("bin/program.debug", &debug);
	assert_string_equal(find(&cut), "right");
	Elf64_Shdr *sections = (Elf64_Shdr *)(cut.data + cut.header.e_shoff);

	sections[2].sh_size -= 1;
	assert_string_equal(find(&cut), "");
	sections[2].sh_size = 3;
	assert_string_equal(find(&cut), "");
	sections[2].sh_size = 0;
	assert_string_equal(find(&cut), "");
}

/* Opens a debug file at a path below the folder, with a link to the
 * supplementary file of that id. */
static struct elf_file *open_with_alt(const char *name, const char *alt, const char *alt_id)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", folder, name);
	unsigned char link[256] = {0};
	struct elf_file *image = NULL;
	struct built_elf file;

	memcpy(link, alt, strlen(alt));
	memcpy(link + strlen(alt) + 1, alt_id, strlen(alt_id));
	built_elf_init(&file);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".gnu_debugaltlink", link,
			  strlen(alt) + 1 + strlen(alt_id));
	built_elf_finish(&file);
	write_elf(name, &file);
	assert_null(elf_file_open(open(path, O_RDONLY | O_CLOEXEC), path, &image));
	return image;
}

static bool finds_alt(const char *alt, const char *alt_id)
{
	CLEANUP(file_locator_cleanup) struct file_locator *locator = locator_of(NULL);
	struct debug_files files = debug_files_of(locator, "/bin/program");
	const struct debugfile_opener opener = debug_files_opener(&files);
	CLEANUP(elf_file_cleanup)
	struct elf_file *debug = open_with_alt("debug/usr/program.debug", alt, alt_id);
	CLEANUP(elf_file_cleanup) struct elf_file *found = debugfile_find_alt(debug, &opener);

	return found;
}

TEST_IN_FOLDER(a_supplementary_file_is_found_by_name_and_by_build_id)
{
	struct built_elf alt = debug_file("\xab\xcd", "shared");
	CLEANUP(free_ptr) char *absolute = xasprintf("%s/debug/.dwz/shared", folder);

	assert_false(finds_alt("../.dwz/shared", "\xab\xcd"));
	write_elf("debug/.dwz/shared", &alt);
	assert_true(finds_alt("../.dwz/shared", "\xab\xcd"));
	assert_true(finds_alt(absolute, "\xab\xcd"));
	assert_false(finds_alt("../.dwz/shared", "\xab\xce"));
	assert_false(finds_alt("../.dwz/shared", ""));
	assert_false(finds_alt("", "\xab\xcd"));
	write_elf("debug/.build-id/ab/cd.debug", &alt);
	assert_true(finds_alt("/moved/away", "\xab\xcd"));
}

TEST_IN_FOLDER(a_supplementary_file_is_found_below_symfs)
{
	struct built_elf alt = debug_file("\xab\xcd", "shared");
	CLEANUP(free_ptr) char *symfs = xasprintf("%s/copied", folder);
	CLEANUP(file_locator_cleanup) struct file_locator *locator = locator_of(symfs);
	struct debug_files files = debug_files_of(locator, "/bin/program");
	const struct debugfile_opener opener = debug_files_opener(&files);
	CLEANUP(elf_file_cleanup)
	struct elf_file *debug = open_with_alt("program.debug", "/usr/lib/debug/.dwz/shared",
					       "\xab\xcd");
	struct elf_file *found = debugfile_find_alt(debug, &opener);

	assert_null(found);
	write_elf("copied/usr/lib/debug/.dwz/shared", &alt);
	found = debugfile_find_alt(debug, &opener);
	assert_non_null(found);
	assert_string_equal(elf_file_name(found), "/usr/lib/debug/.dwz/shared");
	elf_file_free(found);
}

static bool is_answered(enum debugfile_kind kind, const char *name, unsigned attempt)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/bin/program", folder);
	CLEANUP(file_locator_cleanup) struct file_locator *locator = locator_of(NULL);
	struct debug_files files = debug_files_of(locator, path);
	const struct debugfile_opener opener = debug_files_opener(&files);
	CLEANUP(free_ptr) char *found = NULL;
	const struct debugfile_question question = {.kind = kind, .name = name};
	CLEANUP(close_fd) int fd = opener.open(opener.user, &question, attempt, &found);

	return fd >= 0;
}

TEST_IN_FOLDER(hostile_questions_are_refused)
{
	struct built_elf debug = debug_file("", "info");
	CLEANUP(free_ptr) char *path = xasprintf("%s/bin/x.debug", folder);
	CLEANUP(free_ptr) char *upwards = xasprintf("%s/bin/../bin/x.debug", folder);
	CLEANUP(free_ptr) char *text = xasprintf("%s/bin/text", folder);
	static char longest[PATH_MAX + 1];

	write_elf("bin/x.debug", &debug);
	write_file("bin/text", "secret", 6);
	memset(longest, '/', PATH_MAX);
	assert_true(is_answered(DEBUGFILE_BY_LINK, "x.debug", 0));
	assert_false(is_answered(DEBUGFILE_BY_LINK, "x.debug", 1));
	assert_false(is_answered(DEBUGFILE_BY_LINK, "../bin/x.debug", 0));
	assert_false(is_answered(DEBUGFILE_BY_LINK, "..", 0));
	assert_false(is_answered(DEBUGFILE_BY_LINK, "", 0));
	assert_false(is_answered(DEBUGFILE_BY_LINK, NULL, 0));
	assert_true(is_answered(DEBUGFILE_BY_PATH, path, 0));
	assert_false(is_answered(DEBUGFILE_BY_PATH, upwards, 0));
	assert_false(is_answered(DEBUGFILE_BY_PATH, "bin/x.debug", 0));
	assert_false(is_answered(DEBUGFILE_BY_PATH, longest, 0));
	/* It does not start like an ELF file. */
	assert_false(is_answered(DEBUGFILE_BY_PATH, text, 0));
	assert_false(is_answered((enum debugfile_kind)77, path, 0));
}

TEST_IN_FOLDER(a_pipe_that_a_link_names_is_not_opened)
{
	struct built_elf stripped = linking_file("", "pipe", 0);
	CLEANUP(free_ptr) char *path = path_of("bin/pipe");
	CLEANUP(close_fd) int opened = -1;

	assert_int_equal(mkfifo(path, 0600), 0);
	opened = watch_opening(path);
	assert_string_equal(find(&stripped), "");
	assert_false(is_answered(DEBUGFILE_BY_PATH, path, 0));
	assert_false(was_opened(opened));
}

static int open_nothing(void *user, const struct debugfile_question *question, unsigned attempt,
			char **path)
{
	(void)user, (void)question, (void)attempt, (void)path;
	fail_msg("there is nothing to ask");
	return -1;
}

TEST_IN_FOLDER(a_file_without_links_has_no_debug_file)
{
	const struct debugfile_opener none = {.open = open_nothing};

	struct built_elf debug = debug_file("", "info");
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of(&debug);

	assert_null(debugfile_find(image, &none));
	assert_null(debugfile_find_alt(image, &none));
}
