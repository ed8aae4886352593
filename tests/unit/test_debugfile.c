#include "elf/debugfile.h"

#include "base/alloc.h"
#include "base/gzip.h"
#include "elf_file.h"
#include "folder.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

static void write_elf(const char *name, const struct elf_file *file)
{
	write_file(name, file->data, file->len);
}

static void init_with_id(struct elf_file *file, const char *id)
{
	unsigned char note[80];

	elf_file_init(file);
	if (*id)
		elf_file_section(file, (Elf64_Shdr){.sh_type = SHT_NOTE}, ".note", note,
				 elf_file_build_id(note, id, strlen(id)));
}

/* A file with .debug_info that holds `info`. */
static struct elf_file debug_file(const char *id, const char *info)
{
	struct elf_file file;

	init_with_id(&file, id);
	elf_file_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".debug_info", info,
			 strlen(info));
	elf_file_finish(&file);
	return file;
}

/* A stripped file with a link to the file of that name and CRC. */
static struct elf_file linking_file(const char *id, const char *name, uint32_t crc)
{
	size_t len = (strlen(name) + 4) / 4 * 4;
	unsigned char link[256] = {0};
	struct elf_file file;

	memcpy(link, name, strlen(name));
	memcpy(link + len, &crc, 4);
	init_with_id(&file, id);
	elf_file_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".gnu_debuglink", link,
			 len + 4);
	elf_file_finish(&file);
	return file;
}

static struct image *image_of(const struct elf_file *file)
{
	struct image *image = NULL;

	assert_null(image_from_memory(file->data, file->len, "test", &image));
	return image;
}

/* What the debug file of `stripped`, mapped as folder/bin/program, holds; "" when none is found. */
static const char *find(const struct elf_file *stripped)
{
	static char text[64];
	CLEANUP(free_ptr) char *path = xasprintf("%s/bin/program", folder);
	CLEANUP(free_ptr) char *debug_dir = xasprintf("%s/debug", folder);
	CLEANUP(image_cleanup) struct image *image = image_of(stripped);
	CLEANUP(image_cleanup) struct image *found = debugfile_find(image, path, debug_dir);
	struct bytes info = {0};

	if (found)
		info = image_section(found, ".debug_info").data;
	assert_true(bytes_left(&info) < sizeof(text));
	memset(text, 0, sizeof(text));
	if (found)
		memcpy(text, info.at, bytes_left(&info));
	return text;
}

static void a_debug_file_is_found_by_its_build_id(void **state)
{
	(void)state;
	struct elf_file right = debug_file("\xab\xcd\xef", "right");
	struct elf_file wrong = debug_file("\xab\x12\x34", "wrong");
	struct elf_file stripped;

	init_with_id(&stripped, "\xab\xcd\xef");
	elf_file_finish(&stripped);
	assert_string_equal(find(&stripped), "");
	write_elf("debug/.build-id/ab/cdef.debug", &wrong);
	assert_string_equal(find(&stripped), "");
	write_elf("debug/.build-id/ab/cdef.debug", &right);
	assert_string_equal(find(&stripped), "right");
}

static void a_debug_file_is_found_by_its_link(void **state)
{
	(void)state;
	static const char *const places[] = {"bin/program.debug", "bin/.debug/program.debug"};
	struct elf_file debug = debug_file("", "right");
	uint32_t crc = crc32_of(bytes_of(debug.data, debug.len));
	struct elf_file stripped = linking_file("", "program.debug", crc);
	struct elf_file other = linking_file("", "program.debug", crc + 1);
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

static void a_build_id_outweighs_the_crc_of_a_link(void **state)
{
	(void)state;
	struct elf_file right = debug_file("right id", "right");
	struct elf_file wrong = debug_file("wrong id", "wrong");
	struct elf_file stripped = linking_file("right id", "program.debug",
						crc32_of(bytes_of(wrong.data, wrong.len)));

	write_elf("bin/program.debug", &wrong);
	assert_string_equal(find(&stripped), "");
	/* The next place is tried. */
	write_elf("bin/.debug/program.debug", &right);
	assert_string_equal(find(&stripped), "right");
}

static void a_link_to_the_stripped_file_itself_or_out_of_the_folder_is_not_followed(void **state)
{
	(void)state;
	struct elf_file self = linking_file("an id", "program", 0);
	struct elf_file debug = debug_file("an id", "right");
	struct elf_file upwards = linking_file("an id", "../secret", 0);
	struct elf_file cut = linking_file("an id", "program.debug", 0);

	write_elf("bin/program", &self);
	assert_string_equal(find(&self), "");
	write_elf("secret", &debug);
	assert_string_equal(find(&upwards), "");
	/* A link without room for its CRC. */
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

/* A debug file, at a path below the folder, with a link to the supplementary file of that id. */
static struct image *open_with_alt(const char *name, const char *alt, const char *alt_id)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", folder, name);
	unsigned char link[256] = {0};
	struct image *image = NULL;
	struct elf_file file;

	memcpy(link, alt, strlen(alt));
	memcpy(link + strlen(alt) + 1, alt_id, strlen(alt_id));
	elf_file_init(&file);
	elf_file_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".gnu_debugaltlink", link,
			 strlen(alt) + 1 + strlen(alt_id));
	elf_file_finish(&file);
	write_elf(name, &file);
	assert_null(image_open(open(path, O_RDONLY | O_CLOEXEC), path, &image));
	return image;
}

static bool finds_alt(const char *alt, const char *alt_id)
{
	CLEANUP(free_ptr) char *debug_dir = xasprintf("%s/debug", folder);
	CLEANUP(image_cleanup)
	struct image *debug = open_with_alt("debug/usr/program.debug", alt, alt_id);
	CLEANUP(image_cleanup) struct image *found = debugfile_find_alt(debug, debug_dir);

	return found;
}

static void a_supplementary_file_is_found_by_name_and_by_build_id(void **state)
{
	(void)state;
	struct elf_file alt = debug_file("\xab\xcd", "shared");
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

static void a_file_without_links_has_no_debug_file(void **state)
{
	(void)state;
	struct elf_file debug = debug_file("", "info");
	CLEANUP(image_cleanup) struct image *image = image_of(&debug);

	assert_null(debugfile_find(image, "/bin/program", folder));
	assert_null(debugfile_find_alt(image, folder));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_debug_file_is_found_by_its_build_id, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(a_debug_file_is_found_by_its_link, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(a_build_id_outweighs_the_crc_of_a_link, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(
			a_link_to_the_stripped_file_itself_or_out_of_the_folder_is_not_followed,
			make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
			a_supplementary_file_is_found_by_name_and_by_build_id, make_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(a_file_without_links_has_no_debug_file, make_folder,
						remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
