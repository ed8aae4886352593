#include "proc/kernel_map.h"

#include "folder.h"
#include "proc/kernel_image.h"
#include "unit_test.h"

#include <elf.h>
#include <string.h>
#include <sys/utsname.h>

#define KERNEL_AT 0xffffffff81000000
#define FIRST_AT 0xffffffffc0100000
#define SECOND_AT 0xffffffffc0200000

static const char symbols[] = "ffffffff81000000 T _text\n"
			      "ffffffff81000040 t early_stop\n";

struct fixture {
	struct modules *modules;
	struct kernel_map *map;
};

static void write_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

/* Makes a map of the kernel in the folder, or of another kernel. */
static struct fixture fixture_of(const char *root)
{
	struct modules *modules = modules_new("/proc");

	return (struct fixture){modules, kernel_map_new(root, modules)};
}

static void fixture_deinit(struct fixture *fixture)
{
	kernel_map_free(fixture->map);
	modules_free(fixture->modules);
}

static const char *module_at(struct fixture *fixture, uint64_t pc)
{
	return modules_get(fixture->modules, kernel_map_find(fixture->map, pc))->path;
}

TEST_IN_FOLDER(addresses_belong_to_the_modules_that_the_kernel_lists)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_of(folder);

	write_text("proc/kallsyms", symbols);
	write_text("proc/modules", "second 8192 0 - Live 0xffffffffc0200000 (OE)\n"
				   "first 4096 2 second,third, Live 0xffffffffc0100000\n"
				   "hidden 4096 0 - Live 0x0000000000000000\n"
				   "bad name\n"
				   "../evil 4096 0 - Live 0xffffffffc0300000\n");
	assert_string_equal(module_at(&fixture, FIRST_AT), "[first]");
	assert_string_equal(module_at(&fixture, FIRST_AT + 4095), "[first]");
	assert_string_equal(module_at(&fixture, FIRST_AT + 4096), "[kernel.kallsyms]");
	assert_string_equal(module_at(&fixture, FIRST_AT - 1), "[kernel.kallsyms]");
	assert_string_equal(module_at(&fixture, SECOND_AT + 8191), "[second]");
	assert_string_equal(module_at(&fixture, 0xffffffffc0300000), "[kernel.kallsyms]");
	assert_string_equal(module_at(&fixture, KERNEL_AT + 16), "[kernel.kallsyms]");
	assert_string_equal(module_at(&fixture, 16), "[kernel.kallsyms]");
}

/* Since Linux 6.4, the listed size includes data, which is elsewhere. */
TEST_IN_FOLDER(a_module_ends_where_the_next_one_begins)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_of(folder);

	write_text("proc/kallsyms", symbols);
	write_text("proc/modules", "first 1048577 0 - Live 0xffffffffc0100000\n"
				   "second 4096 0 - Live 0xffffffffc0200000\n");
	assert_string_equal(module_at(&fixture, SECOND_AT - 1), "[first]");
	assert_string_equal(module_at(&fixture, SECOND_AT), "[second]");
}

TEST_IN_FOLDER(without_addresses_all_code_is_the_kernels)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_of(folder);

	write_text("proc/kallsyms", "0000000000000000 T _text\n");
	write_text("proc/modules", "first 4096 0 - Live 0x0000000000000000\n");
	assert_string_equal(module_at(&fixture, FIRST_AT), "[kernel.kallsyms]");
	assert_null(kernel_map_range(fixture.map, kernel_map_find(fixture.map, FIRST_AT)));
}

TEST_IN_FOLDER(the_kernels_code_needs_no_list_of_modules)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_of(folder);
	CLEANUP(free_ptr) char *path = path_of("proc/modules");
	CLEANUP(close_fd) int watch = -1;

	write_text("proc/kallsyms", symbols);
	write_text("proc/modules", "first 4096 0 - Live 0xffffffffc0100000\n");
	watch = watch_opening(path);
	assert_string_equal(module_at(&fixture, KERNEL_AT + 64), "[kernel.kallsyms]");
	assert_false(was_opened(watch));
	assert_string_equal(module_at(&fixture, FIRST_AT), "[first]");
	assert_true(was_opened(watch));
	/* The list is read once per second at most. */
	assert_string_equal(module_at(&fixture, SECOND_AT), "[kernel.kallsyms]");
	assert_false(was_opened(watch));
}

static void add(struct fixture *fixture, uint64_t start, const char *path, uint64_t offset)
{
	const struct mapping mapping = {
		.start = start, .end = start + 0x1000, .offset = offset, .path = path};

	kernel_map_add(fixture->map, &mapping);
}

TEST_IN_FOLDER(a_recording_maps_modules_by_their_files_or_names)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_of(NULL);

	add(&fixture, FIRST_AT, "/lib/modules/6.1.0/kernel/net/fast-path.ko.xz", 0);
	add(&fixture, SECOND_AT, "[ext4]", 0);
	add(&fixture, 0xffffffffc0300000, "/lib/modules/6.1.0/vmlinux", 0);
	add(&fixture, 0xffffffffc0400000, "[bad/name]", 0);
	add(&fixture, 0xffffffffc0500000, "", 0);
	assert_string_equal(module_at(&fixture, FIRST_AT + 1), "[fast_path]");
	assert_string_equal(module_at(&fixture, SECOND_AT + 1), "[ext4]");
	for (uint64_t at = 0xffffffffc0300000; at < 0xffffffffc0600000; at += 0x100000)
		assert_string_equal(module_at(&fixture, at), "[kernel.kallsyms]");
}

TEST_IN_FOLDER(a_recording_says_where_a_symbol_of_its_kernel_was)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_of(NULL);
	const struct kernel_range *range;

	add(&fixture, KERNEL_AT, "[kernel.kallsyms]_stext", KERNEL_AT + 0x10);
	range = kernel_map_range(fixture.map, kernel_map_find(fixture.map, KERNEL_AT));
	assert_non_null(range);
	assert_string_equal(range->symbol, "_stext");
	assert_int_equal(range->symbol_address, KERNEL_AT + 0x10);
}

TEST_IN_FOLDER(a_module_that_is_loaded_in_the_place_of_another_replaces_it)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_of(NULL);

	add(&fixture, FIRST_AT, "[first]", 0);
	add(&fixture, FIRST_AT, "[later]", 0);
	assert_string_equal(module_at(&fixture, FIRST_AT + 1), "[later]");
}

/* --- The files of modules (kernel_image.h) --------------------------------------------------- */

static const unsigned char build_id[4] = {0xab, 0xcd, 0xef, 0x01};

static void write_build_id(const char *name)
{
	const Elf64_Nhdr head = {.n_namesz = sizeof(ELF_NOTE_GNU),
				 .n_descsz = sizeof(build_id),
				 .n_type = NT_GNU_BUILD_ID};
	unsigned char note[sizeof(head) + sizeof(ELF_NOTE_GNU) + sizeof(build_id)];

	memcpy(mempcpy(mempcpy(note, &head, sizeof(head)), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)),
	       build_id, sizeof(build_id));
	write_file(name, note, sizeof(note));
}

/* Opens the module at an address. */
static struct error *open_image(struct fixture *fixture, uint64_t pc, struct kernel_image *ret)
{
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();
	CLEANUP(free_ptr) char *debug_dir = path_of("debug");
	const struct kernel_image_query query = {
		.range = kernel_map_range(fixture->map, kernel_map_find(fixture->map, pc)),
		.root = kernel_map_root(fixture->map),
		.places = {.debug_dir = debug_dir, .caller = caller},
	};

	return kernel_image_open(&query, ret);
}

static uint64_t anchor_of(const struct kernel_image *image, const char *section)
{
	for (size_t i = 0; i < image->anchor_count; i++)
		if (!strcmp(image->anchors[i].name, section))
			return image->anchors[i].pc;
	return 0;
}

TEST_IN_FOLDER(sections_are_where_the_kernel_has_loaded_them)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_of(folder);
	CLEANUP(kernel_image_deinit) struct kernel_image image = {0};
	CLEANUP(free_ptr) char *dependencies = NULL, *packed = NULL;
	struct utsname system;

	uname(&system);
	dependencies = xasprintf("lib/modules/%s/modules.dep", system.release);
	packed = xasprintf("lib/modules/%s/kernel/net/fast-path.ko.xz", system.release);
	write_text("proc/kallsyms", symbols);
	write_text("proc/modules", "fast_path 4096 0 - Live 0xffffffffc0100000\n");
	write_build_id("sys/module/fast_path/notes/.note.gnu.build-id");
	write_text("sys/module/fast_path/sections/.text", "0xffffffffc0100000\n");
	write_text("sys/module/fast_path/sections/.text.unlikely", "0xffffffffc0100800\n");
	write_text("sys/module/fast_path/sections/.data", "0xffffffffc0108000\n");
	/* This section is freed after the module's start. */
	write_text("sys/module/fast_path/sections/.init.text", "0x0000000000000000\n");
	write_text(dependencies, "kernel/net/fast-path-more.ko:\n"
				 "kernel/net/fast-path.ko.xz: kernel/net/other.ko.xz\n");
	/* The contents are checked when it is decompressed. */
	write_text(packed, "packed");
	assert_null(open_image(&fixture, FIRST_AT, &image));
	assert_non_null(image.packed);
	assert_null(image.elf);
	assert_true(image.is_module);
	assert_int_equal(image.build_id.len, sizeof(build_id));
	assert_memory_equal(image.build_id.bytes, build_id, sizeof(build_id));
	assert_int_equal(image.anchor_count, 2);
	assert_int_equal(anchor_of(&image, ".text"), 0xffffffffc0100000);
	assert_int_equal(anchor_of(&image, ".text.unlikely"), 0xffffffffc0100800);
}

TEST_IN_FOLDER(a_module_without_a_file_is_a_failure_that_names_its_build_id)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_of(folder);
	CLEANUP(kernel_image_deinit) struct kernel_image image = {0};
	CLEANUP(error_cleanup) struct error *err = NULL;

	write_text("proc/kallsyms", symbols);
	write_text("proc/modules", "fast_path 4096 0 - Live 0xffffffffc0100000\n");
	write_build_id("sys/module/fast_path/notes/.note.gnu.build-id");
	err = open_image(&fixture, FIRST_AT, &image);
	assert_non_null(err);
	assert_non_null(strstr(error_text(err), "fast_path"));
	assert_non_null(strstr(error_text(err), "abcdef01"));
}
