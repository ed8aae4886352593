#include "proc/space.h"

#include "folder.h"
#include "proc/regions.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

/* The folder looks like /proc, and holds the files that are mapped into the processes in it. */

/* A copy of this program: an ELF file like any other, in a file of its own. */
static void write_program(const char *name)
{
	CLEANUP(close_fd) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	assert_ptr_not_equal(data, MAP_FAILED);
	write_file(name, data, (size_t)st.st_size);
	munmap(data, (size_t)st.st_size);
}

/* The mapping of a file below the folder, as perf reports it. */
static struct mapping mapping_of(const char *path, const char *on_disk, uint64_t start,
				 uint64_t end)
{
	CLEANUP(free_ptr) char *name = path_of(on_disk);
	struct mapping mapping = {.start = start, .end = end, .offset = 0x1000, .path = path};
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	mapping.inode = st.st_ino;
	mapping.device_major = major(st.st_dev);
	mapping.device_minor = minor(st.st_dev);
	return mapping;
}

/* A file that exists nowhere: for tests that are about addresses and times. */
static void map(struct spaces *spaces, pid_t pid, uint64_t time_ns, const char *path,
		uint64_t start, uint64_t end)
{
	struct mapping mapping = {
		.start = start, .end = end, .offset = 0x1000, .inode = 1, .path = path};

	spaces_map(spaces, pid, time_ns, &mapping);
}

static const struct module *module_at(struct spaces *spaces, pid_t pid, uint64_t time_ns,
				      uint64_t pc)
{
	struct location location;

	spaces_locate(spaces, pid, time_ns, pc, &location);
	return spaces_module(spaces, location.module);
}

#define assert_at(spaces, pid, time_ns, pc, expected)                                              \
	assert_string_equal(module_at(spaces, pid, time_ns, pc)->path, expected)

static void a_pc_is_found_with_its_offset_in_the_file(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);
	struct location location;

	map(spaces, 7, 100, "/nowhere/a", 0x10000, 0x20000);
	assert_true(spaces_locate(spaces, 7, 100, 0x10000, &location));
	assert_int_equal(location.offset, 0x1000);
	assert_true(spaces_locate(spaces, 7, 200, 0x1ffff, &location));
	assert_int_equal(location.offset, 0x10fff);
	assert_int_equal(location.start, 0x10000);
	assert_int_equal(location.end, 0x20000);
	assert_false(spaces_locate(spaces, 7, 200, 0x20000, &location));
	assert_int_equal(location.offset, 0x20000);
	assert_int_equal(spaces_module(spaces, location.module)->kind, MODULE_UNKNOWN);
	assert_false(spaces_locate(spaces, 7, 200, 0xffff, &location));
	assert_false(spaces_locate(spaces, 8, 200, 0x10000, &location));
	assert_false(spaces_locate(spaces, 7, 99, 0x10000, &location));
}

static void a_mapping_over_another_leaves_what_sticks_out(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);
	struct location location;

	map(spaces, 7, 100, "/nowhere/a", 0x10000, 0x20000);
	map(spaces, 7, 200, "/nowhere/b", 0x14000, 0x18000);
	assert_at(spaces, 7, 200, 0x13fff, "/nowhere/a");
	assert_at(spaces, 7, 200, 0x14000, "/nowhere/b");
	assert_at(spaces, 7, 200, 0x17fff, "/nowhere/b");
	assert_true(spaces_locate(spaces, 7, 200, 0x18000, &location));
	assert_string_equal(spaces_module(spaces, location.module)->path, "/nowhere/a");
	assert_int_equal(location.offset, 0x9000);
	assert_at(spaces, 7, 199, 0x14000, "/nowhere/a");
	/* Over all three, and then some. */
	map(spaces, 7, 300, "/nowhere/c", 0x8000, 0x30000);
	assert_at(spaces, 7, 300, 0x18000, "/nowhere/c");
	assert_at(spaces, 7, 299, 0x18000, "/nowhere/a");
	assert_at(spaces, 7, 299, 0x8000, "[unknown]");
}

static void a_sample_from_before_an_exec_is_in_the_program_before_it(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	map(spaces, 7, 100, "/bin/sh", 0x10000, 0x20000);
	map(spaces, 7, 100, "/lib/old", 0x50000, 0x60000);
	spaces_exec(spaces, 7, 200);
	map(spaces, 7, 201, "/bin/ls", 0x10000, 0x20000);
	assert_at(spaces, 7, 199, 0x10000, "/bin/sh");
	assert_at(spaces, 7, 200, 0x10000, "[unknown]");
	assert_at(spaces, 7, 201, 0x10000, "/bin/ls");
	assert_at(spaces, 7, 201, 0x50000, "[unknown]");
	assert_at(spaces, 7, 150, 0x50000, "/lib/old");
	spaces_exit(spaces, 7, 300);
	assert_at(spaces, 7, 299, 0x10000, "/bin/ls");
	assert_at(spaces, 7, 300, 0x10000, "[unknown]");
}

static void a_child_has_what_its_parent_had_at_the_fork(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	map(spaces, 7, 100, "/nowhere/a", 0x10000, 0x20000);
	spaces_fork(spaces, 7, 8, 200);
	map(spaces, 7, 300, "/nowhere/b", 0x30000, 0x40000);
	assert_at(spaces, 8, 250, 0x10000, "/nowhere/a");
	assert_at(spaces, 8, 199, 0x10000, "[unknown]");
	assert_at(spaces, 8, 300, 0x30000, "[unknown]");
	spaces_exec(spaces, 7, 400);
	assert_at(spaces, 8, 400, 0x10000, "/nowhere/a");
}

static void a_fork_that_comes_after_the_childs_exec_takes_effect_at_its_own_time(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	map(spaces, 7, 100, "/bin/sh", 0x10000, 0x20000);
	spaces_exec(spaces, 8, 300);
	map(spaces, 8, 301, "/bin/ls", 0x18000, 0x28000);
	spaces_fork(spaces, 7, 8, 200);
	assert_at(spaces, 8, 299, 0x10000, "/bin/sh");
	assert_at(spaces, 8, 301, 0x10000, "[unknown]");
	assert_at(spaces, 8, 301, 0x18000, "/bin/ls");
}

static void a_parents_mapping_that_comes_after_the_fork_is_its_childs_too(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	map(spaces, 7, 50, "/bin/sh", 0x10000, 0x20000);
	spaces_fork(spaces, 7, 8, 200);
	spaces_fork(spaces, 7, 9, 90);
	map(spaces, 7, 100, "/nowhere/a", 0x30000, 0x40000);
	assert_at(spaces, 8, 200, 0x30000, "/nowhere/a");
	assert_at(spaces, 8, 199, 0x30000, "[unknown]");
	assert_at(spaces, 9, 300, 0x30000, "[unknown]");
}

static void what_ended_before_is_forgotten_and_what_lasts_is_not(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	map(spaces, 7, 100, "/bin/sh", 0x10000, 0x20000);
	map(spaces, 8, 100, "/bin/sh", 0x10000, 0x20000);
	map(spaces, 9, 100, "/bin/sh", 0x10000, 0x20000);
	spaces_exit(spaces, 8, 200);
	spaces_exit(spaces, 9, 300);
	spaces_forget(spaces, 250);
	assert_at(spaces, 7, 250, 0x10000, "/bin/sh");
	assert_at(spaces, 8, 199, 0x10000, "[unknown]");
	assert_at(spaces, 9, 299, 0x10000, "/bin/sh");
	/* The pid is used again. */
	map(spaces, 8, 260, "/bin/ls", 0x10000, 0x20000);
	assert_at(spaces, 8, 260, 0x10000, "/bin/ls");
	assert_at(spaces, 7, 260, 0x10000, "/bin/sh");
}

/* What happened, and the plainest way to tell what was mapped: the last change says it. */
struct change {
	uint64_t time_ns, start, end; /* end 0: all ended */
	module_id module;
};

static module_id expected_module(const struct change *changes, size_t count, uint64_t time_ns,
				 uint64_t pc)
{
	module_id module = 0;
	uint64_t last_ns = 0;

	for (size_t i = 0; i < count; i++)
		if (changes[i].time_ns <= time_ns && changes[i].time_ns >= last_ns &&
		    (!changes[i].end || (pc >= changes[i].start && pc < changes[i].end))) {
			module = changes[i].end ? changes[i].module : 0;
			last_ns = changes[i].time_ns;
		}
	return module;
}

static void apply(struct regions *regions, const struct change *change)
{
	struct region region = {.start = change->start,
				.end = change->end,
				.offset = change->start,
				.from_ns = change->time_ns,
				.module = change->module};

	if (change->end)
		regions_map(regions, &region);
	else
		regions_clear(regions, change->time_ns);
}

static void changes_in_any_order_give_the_same_history(void **state)
{
	(void)state;
	enum { CHANGES = 12, ADDRESSES = 16 };

	for (unsigned seed = 0; seed < 3000; seed++) {
		struct change changes[CHANGES];
		struct regions regions = {0};

		srand(seed);
		for (unsigned i = 0; i < CHANGES; i++) {
			uint64_t start = (uint64_t)rand() % ADDRESSES;
			uint64_t len = 1 + (uint64_t)rand() % (ADDRESSES - start);

			changes[i] = (struct change){.time_ns = 10 * (i + 1),
						     .start = start,
						     .end = rand() % 6 ? start + len : 0,
						     .module = i + 1};
		}
		for (unsigned i = CHANGES - 1; i > 0 && seed % 4; i--) {
			unsigned other = (unsigned)rand() % (i + 1);
			struct change swapped = changes[i];

			changes[i] = changes[other];
			changes[other] = swapped;
		}
		for (unsigned i = 0; i < CHANGES; i++)
			apply(&regions, &changes[i]);
		for (uint64_t time_ns = 5; time_ns < 10 * (CHANGES + 2); time_ns += 5)
			for (uint64_t pc = 0; pc < ADDRESSES; pc++) {
				const struct region *found = regions_find(&regions, time_ns, pc);

				assert_int_equal(found ? found->module : 0,
						 expected_module(changes, CHANGES, time_ns, pc));
				if (found)
					assert_int_equal(found->offset + pc - found->start, pc);
			}
		regions_deinit(&regions);
	}
}

static void what_was_mapped_again_outlives_an_exec_that_is_heard_of_late(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	map(spaces, 7, 100, "/bin/sh", 0x10000, 0x20000);
	map(spaces, 7, 300, "/bin/sh", 0x10000, 0x20000);
	spaces_exec(spaces, 7, 200);
	assert_at(spaces, 7, 199, 0x10000, "/bin/sh");
	assert_at(spaces, 7, 250, 0x10000, "[unknown]");
	assert_at(spaces, 7, 300, 0x10000, "/bin/sh");
	/* And a mapping in between. */
	map(spaces, 7, 400, "/bin/sh", 0x10000, 0x20000);
	map(spaces, 7, 350, "/bin/ls", 0x10000, 0x18000);
	assert_at(spaces, 7, 349, 0x10000, "/bin/sh");
	assert_at(spaces, 7, 350, 0x10000, "/bin/ls");
	assert_at(spaces, 7, 350, 0x18000, "/bin/sh");
	assert_at(spaces, 7, 400, 0x10000, "/bin/sh");
}

static void memory_that_is_protected_again_and_again_takes_no_room(void **state)
{
	(void)state;
	struct regions regions = {0};

	for (uint64_t i = 0; i < 1000; i++) {
		struct region whole = {.start = 0x10000, .end = 0x50000, .from_ns = 10 * i};
		struct region part = {
			.start = 0x20000, .end = 0x30000, .offset = 0x10000, .from_ns = 10 * i + 5};

		regions_map(&regions, &whole);
		regions_map(&regions, &part);
	}
	assert_int_equal(regions.live_count, 1);
	assert_int_equal(regions.past_count, 0);
	regions_deinit(&regions);
}

static void write_maps(const char *name, const struct mapping *mapping)
{
	CLEANUP(free_ptr)
	char *text = xasprintf("%lx-%lx r--p 00000000 %02x:%02x %lu %s\n"
			       "%lx-%lx r-xp %08lx %02x:%02x %lu %s\n",
			       mapping->start - 0x1000, mapping->start, mapping->device_major,
			       mapping->device_minor, mapping->inode, mapping->path, mapping->start,
			       mapping->end, mapping->offset, mapping->device_major,
			       mapping->device_minor, mapping->inode, mapping->path);

	write_file(name, text, strlen(text));
}

static void a_snapshot_shows_what_had_been_there_and_repeats_nothing(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	write_program("7/root/bin/program");
	struct mapping mapping = mapping_of("/bin/program", "7/root/bin/program", 0x10000, 0x12000);

	write_maps("7/maps", &mapping);
	spaces_snapshot(spaces, 7, 100);
	spaces_snapshot(spaces, 7, 200);
	assert_at(spaces, 7, 50, 0x10000, "/bin/program");
	assert_at(spaces, 7, 300, 0x10000, "/bin/program");
	assert_at(spaces, 7, 300, 0xf000, "[unknown]");
	/* The record of the same mapping, and of another one, both from before the snapshot. */
	spaces_map(spaces, 7, 60, &mapping);
	map(spaces, 7, 150, "/nowhere/a", 0x10000, 0x12000);
	assert_at(spaces, 7, 61, 0x10000, "/bin/program");
	assert_at(spaces, 7, 150, 0x10000, "/nowhere/a");
	spaces_snapshot(spaces, 12345, 100); /* gone */
	assert_at(spaces, 12345, 100, 0x10000, "[unknown]");
}

static void a_file_mapped_by_two_processes_is_one_module_with_one_image(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	write_program("7/root/bin/program");
	struct mapping mapping = mapping_of("/bin/program", "7/root/bin/program", 0x10000, 0x12000);

	spaces_map(spaces, 7, 100, &mapping);
	spaces_map(spaces, 8, 100, &mapping);
	assert_int_equal(spaces_module_count(spaces), 1);
	const struct module *module = module_at(spaces, 7, 100, 0x10000);

	assert_int_equal(module->kind, MODULE_FILE);
	assert_non_null(module->image);
	assert_null(module->problem);
	assert_string_equal(image_name(module->image), "/bin/program");
	/* As a record with a build-id, without an inode, reports it from another container. */
	struct mapping by_id = {.start = 0x20000, .end = 0x21000, .path = "/elsewhere/program"};

	by_id.build_id = *image_build_id(module->image);
	assert_int_not_equal(by_id.build_id.len, 0);
	spaces_map(spaces, 9, 100, &by_id);
	assert_ptr_equal(module_at(spaces, 9, 100, 0x20000), module);
}

static void another_file_of_the_same_name_is_refused(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	write_program("7/root/bin/program");
	write_program("replaced");
	struct mapping by_inode = mapping_of("/bin/program", "replaced", 0x10000, 0x12000);

	spaces_map(spaces, 7, 100, &by_inode);
	const struct module *module = module_at(spaces, 7, 100, 0x10000);

	assert_null(module->image);
	assert_non_null(module->problem);
	struct mapping by_id = {.start = 0x20000, .end = 0x21000, .path = "/bin/program"};

	by_id.build_id = (struct build_id){.bytes = {1, 2, 3, 4}, .len = 20};
	spaces_map(spaces, 7, 100, &by_id);
	module = module_at(spaces, 7, 100, 0x20000);
	assert_null(module->image);
	assert_non_null(module->problem);
}

static void another_device_number_is_believed_where_the_mapping_fits_the_file(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	write_program("7/root/bin/program");
	write_program("7/root/bin/other");
	struct mapping mapping = mapping_of("/bin/other", "7/root/bin/other", 0x10000, 0x12000);

	mapping.device_minor++;
	mapping.offset = 0x10000000;
	spaces_map(spaces, 7, 100, &mapping);
	assert_null(module_at(spaces, 7, 100, 0x10000)->image);

	mapping = mapping_of("/bin/program", "7/root/bin/program", 0x20000, 0x21000);
	mapping.device_minor++;
	/* Where this very program has its code. */
	CLEANUP(close_fd) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct image *image;
	unsigned count;

	assert_null(image_open(steal_fd(&fd), "self", &image));
	for (const struct image_segment *segment = image_segments(image, &count); count;
	     count--, segment++)
		if (segment->executable)
			mapping.offset = segment->offset;
	image_free(image);
	spaces_map(spaces, 7, 100, &mapping);
	assert_non_null(module_at(spaces, 7, 100, 0x20000)->image);
}

static void a_deleted_file_is_opened_through_map_files_or_exe_alone(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	write_program("7/root/bin/program");
	write_program("8/map_files/10000-12000");
	struct mapping mapping = mapping_of("/bin/program (deleted)", "7/root/bin/program", 0x10000,
					    0x12000);

	spaces_map(spaces, 7, 100, &mapping);
	const struct module *module = module_at(spaces, 7, 100, 0x10000);

	assert_string_equal(module->path, "/bin/program");
	assert_null(module->image);
	assert_non_null(strstr(module->problem, "/bin/program was deleted"));

	mapping = mapping_of("/bin/program (deleted)", "8/map_files/10000-12000", 0x10000, 0x12000);
	spaces_map(spaces, 8, 100, &mapping);
	assert_non_null(module_at(spaces, 8, 100, 0x10000)->image);

	write_program("9/exe");
	mapping = mapping_of("/bin/program (deleted)", "9/exe", 0x10000, 0x12000);
	spaces_map(spaces, 9, 100, &mapping);
	assert_non_null(module_at(spaces, 9, 100, 0x10000)->image);
}

static void a_file_that_could_not_be_opened_is_tried_again(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	write_program("8/root/bin/program");
	struct mapping mapping = mapping_of("/bin/program", "8/root/bin/program", 0x10000, 0x12000);

	spaces_map(spaces, 7, 100, &mapping); /* gone already */
	const struct module *module = module_at(spaces, 7, 100, 0x10000);

	assert_null(module->image);
	spaces_map(spaces, 8, 100, &mapping);
	assert_non_null(module->image);
	assert_null(module->problem);
	assert_int_equal(spaces_module_count(spaces), 1);
}

static void memory_without_a_file_is_one_module_a_process(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);
	static const char *const paths[] = {"//anon",
					    "",
					    "[heap]",
					    "[stack]",
					    "[anon:v8]",
					    "anon_inode:x",
					    "/memfd:doublemapper (deleted)",
					    "/dev/zero (deleted)",
					    "/SYSV00000000 (deleted)"};
	struct location location;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		map(spaces, 7, 100, paths[i], 0x1000 * (i + 1), 0x1000 * (i + 2));
		assert_true(spaces_locate(spaces, 7, 100, 0x1000 * (i + 1) + 5, &location));
		assert_int_equal(location.offset, 0x1000 * (i + 1) + 5); /* the pc */
	}
	assert_int_equal(spaces_module_count(spaces), 1);
	assert_int_equal(spaces_module(spaces, 0)->kind, MODULE_JIT);
	assert_int_equal(spaces_module(spaces, 0)->pid, 7);
	map(spaces, 8, 100, "//anon", 0x1000, 0x2000);
	assert_int_equal(module_at(spaces, 8, 100, 0x1000)->pid, 8);
}

static void a_memfd_that_holds_a_program_is_a_file(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	write_program("7/map_files/10000-12000");
	struct mapping mapping = mapping_of("/memfd:program (deleted)", "7/map_files/10000-12000",
					    0x10000, 0x12000);

	spaces_map(spaces, 7, 100, &mapping);
	const struct module *module = module_at(spaces, 7, 100, 0x10000);

	assert_int_equal(module->kind, MODULE_FILE);
	assert_string_equal(module->path, "/memfd:program");
	assert_non_null(module->image);
}

static void what_is_no_program_says_so(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	write_file("7/root/lib/managed.dll", "MZ\x90", 3);
	struct mapping mapping = mapping_of("/lib/managed.dll", "7/root/lib/managed.dll", 0x10000,
					    0x12000);

	spaces_map(spaces, 7, 100, &mapping);
	assert_string_equal(module_at(spaces, 7, 100, 0x10000)->problem,
			    "/lib/managed.dll is no ELF file");
}

static void the_vdso_has_our_own_image_and_vsyscall_has_none(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);
	struct location location;

	map(spaces, 7, 100, "[vdso]", 0x10000, 0x12000);
	map(spaces, 8, 100, "[vdso]", 0x50000, 0x52000);
	map(spaces, 7, 100, "[vsyscall]", 0x90000, 0x91000);
	assert_true(spaces_locate(spaces, 8, 100, 0x50123, &location));
	assert_int_equal(location.offset, 0x123);
	const struct module *vdso = spaces_module(spaces, location.module);

	assert_ptr_equal(vdso, module_at(spaces, 7, 100, 0x10000));
	assert_int_equal(vdso->kind, MODULE_VDSO);
	if (getauxval(AT_SYSINFO_EHDR))
		assert_non_null(vdso->image);
	assert_at(spaces, 7, 100, 0x90000, "[vsyscall]");
	assert_null(module_at(spaces, 7, 100, 0x90000)->image);
}

static void the_kernel_is_one_module_made_when_asked_for(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new(folder);

	assert_int_equal(spaces_module_count(spaces), 0);
	module_id kernel = spaces_kernel(spaces);

	assert_int_equal(spaces_kernel(spaces), kernel);
	assert_int_equal(spaces_module_count(spaces), 1);
	assert_int_equal(spaces_module(spaces, kernel)->kind, MODULE_KERNEL);
	assert_string_equal(spaces_module(spaces, kernel)->path, "[kernel.kallsyms]");
}

static void our_own_process_is_read_from_the_real_proc(void **state)
{
	(void)state;
	CLEANUP(spaces_cleanup) struct spaces *spaces = spaces_new("/proc");
	uint64_t pc = (uint64_t)(uintptr_t)our_own_process_is_read_from_the_real_proc;
	struct location location;
	uint64_t vaddr;

	spaces_snapshot(spaces, getpid(), 100);
	assert_true(spaces_locate(spaces, getpid(), 100, pc, &location));
	const struct module *module = spaces_module(spaces, location.module);

	assert_non_null(strstr(module->path, "test_space"));
	assert_non_null(module->image);
	assert_true(image_offset_to_vaddr(module->image, location.offset, &vaddr));
	assert_int_equal(vaddr % 4096, pc % 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_pc_is_found_with_its_offset_in_the_file,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_mapping_over_another_leaves_what_sticks_out,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
			a_sample_from_before_an_exec_is_in_the_program_before_it, make_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(a_child_has_what_its_parent_had_at_the_fork,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
			a_fork_that_comes_after_the_childs_exec_takes_effect_at_its_own_time,
			make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
			a_parents_mapping_that_comes_after_the_fork_is_its_childs_too, make_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(
			what_ended_before_is_forgotten_and_what_lasts_is_not, make_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(changes_in_any_order_give_the_same_history,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
			what_was_mapped_again_outlives_an_exec_that_is_heard_of_late, make_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(
			memory_that_is_protected_again_and_again_takes_no_room, make_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(
			a_snapshot_shows_what_had_been_there_and_repeats_nothing, make_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(
			a_file_mapped_by_two_processes_is_one_module_with_one_image, make_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(another_file_of_the_same_name_is_refused,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
			another_device_number_is_believed_where_the_mapping_fits_the_file,
			make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
			a_deleted_file_is_opened_through_map_files_or_exe_alone, make_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(a_file_that_could_not_be_opened_is_tried_again,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(memory_without_a_file_is_one_module_a_process,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_memfd_that_holds_a_program_is_a_file, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(what_is_no_program_says_so, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(the_vdso_has_our_own_image_and_vsyscall_has_none,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(the_kernel_is_one_module_made_when_asked_for,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(our_own_process_is_read_from_the_real_proc,
						make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
