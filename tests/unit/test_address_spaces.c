#include "proc/address_spaces.h"

#include "base/alloc.h"
#include "built_elf.h"
#include "folder.h"
#include "lacking.h"
#include "proc/usage.h"
#include "regions_model.h"
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* The folder looks like /proc and has the files that are mapped into its
 * processes. */

/* On a busy machine, opening one file can take as long as the time limit for
 * the files of a second. */
static struct address_spaces *new_spaces(const char *proc)
{
	struct address_spaces *spaces = address_spaces_new(proc);

	address_spaces_set_opening_max(spaces, UINT64_MAX);
	return spaces;
}

/* Writes a copy of this program, an ordinary ELF file. */
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

/* Returns the mapping of a file below the folder as perf reports it. */
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

/* Maps a file that does not exist, for tests about addresses and times. */
static void map(struct address_spaces *spaces, pid_t pid, uint64_t time_ns, const char *path,
		uint64_t start, uint64_t end)
{
	struct mapping mapping = {
		.start = start, .end = end, .offset = 0x1000, .inode = 1, .path = path};

	address_spaces_map(spaces, pid, time_ns, &mapping);
}

static const struct module *module_at(struct address_spaces *spaces, pid_t pid, uint64_t time_ns,
				      uint64_t pc)
{
	struct location location;

	address_spaces_locate(spaces, pid, time_ns, pc, &location);
	return address_spaces_module(spaces, location.module);
}

#define assert_at(spaces, pid, time_ns, pc, expected)                                              \
	assert_string_equal(module_at(spaces, pid, time_ns, pc)->path, expected)

TEST_IN_FOLDER(a_pc_is_found_with_its_offset_in_the_file)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);
	struct location location;

	map(spaces, 7, 100, "/nowhere/a", 0x10000, 0x20000);
	assert_true(address_spaces_locate(spaces, 7, 100, 0x10000, &location));
	assert_int_equal(location.offset, 0x1000);
	assert_true(address_spaces_locate(spaces, 7, 200, 0x1ffff, &location));
	assert_int_equal(location.offset, 0x10fff);
	assert_int_equal(location.start, 0x10000);
	assert_int_equal(location.end, 0x20000);
	assert_false(address_spaces_locate(spaces, 7, 200, 0x20000, &location));
	assert_int_equal(location.offset, 0x20000);
	assert_int_equal(address_spaces_module(spaces, location.module)->kind, MODULE_UNKNOWN);
	assert_false(address_spaces_locate(spaces, 7, 200, 0xffff, &location));
	assert_false(address_spaces_locate(spaces, 8, 200, 0x10000, &location));
	assert_false(address_spaces_locate(spaces, 7, 99, 0x10000, &location));
}

TEST_IN_FOLDER(a_mapping_over_another_keeps_the_parts_that_it_does_not_cover)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);
	struct location location;

	map(spaces, 7, 100, "/nowhere/a", 0x10000, 0x20000);
	map(spaces, 7, 200, "/nowhere/b", 0x14000, 0x18000);
	assert_at(spaces, 7, 200, 0x13fff, "/nowhere/a");
	assert_at(spaces, 7, 200, 0x14000, "/nowhere/b");
	assert_at(spaces, 7, 200, 0x17fff, "/nowhere/b");
	assert_true(address_spaces_locate(spaces, 7, 200, 0x18000, &location));
	assert_string_equal(address_spaces_module(spaces, location.module)->path, "/nowhere/a");
	assert_int_equal(location.offset, 0x9000);
	assert_at(spaces, 7, 199, 0x14000, "/nowhere/a");
	/* Covers all three and more. */
	map(spaces, 7, 300, "/nowhere/c", 0x8000, 0x30000);
	assert_at(spaces, 7, 300, 0x18000, "/nowhere/c");
	assert_at(spaces, 7, 299, 0x18000, "/nowhere/a");
	assert_at(spaces, 7, 299, 0x8000, "[unknown]");
}

TEST_IN_FOLDER(a_sample_before_an_exec_is_in_the_old_program)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	map(spaces, 7, 100, "/bin/sh", 0x10000, 0x20000);
	map(spaces, 7, 100, "/lib/old", 0x50000, 0x60000);
	address_spaces_exec(spaces, 7, 200);
	map(spaces, 7, 201, "/bin/ls", 0x10000, 0x20000);
	assert_at(spaces, 7, 199, 0x10000, "/bin/sh");
	assert_at(spaces, 7, 200, 0x10000, "[unknown]");
	assert_at(spaces, 7, 201, 0x10000, "/bin/ls");
	assert_at(spaces, 7, 201, 0x50000, "[unknown]");
	assert_at(spaces, 7, 150, 0x50000, "/lib/old");
}

TEST_IN_FOLDER(a_sample_after_the_end_of_its_process_is_in_the_last_mappings)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	map(spaces, 7, 100, "/bin/ls", 0x10000, 0x20000);
	address_spaces_exit(spaces, 7, 300);
	assert_at(spaces, 7, 299, 0x10000, "/bin/ls");
	assert_at(spaces, 7, 300, 0x10000, "/bin/ls");
	assert_at(spaces, 7, 310, 0x10000, "/bin/ls");
	/* A mapping that is reported late. */
	map(spaces, 7, 290, "/lib/late", 0x30000, 0x40000);
	assert_at(spaces, 7, 310, 0x30000, "/lib/late");
	assert_at(spaces, 7, 289, 0x30000, "[unknown]");
	/* It may be another process, whose records were lost. */
	assert_at(spaces, 7, 300 + 100000000, 0x10000, "[unknown]");
}

TEST_IN_FOLDER(a_process_with_the_id_of_an_ended_one_has_its_own_mappings)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	map(spaces, 6, 100, "/bin/sh", 0x10000, 0x20000);
	map(spaces, 7, 100, "/bin/ls", 0x30000, 0x40000);
	address_spaces_exit(spaces, 7, 300);
	address_spaces_fork(spaces, 6, 7, 400);
	assert_at(spaces, 7, 400, 0x10000, "/bin/sh");
	assert_at(spaces, 7, 400, 0x30000, "[unknown]");
	/* The end is reported after the fork. */
	map(spaces, 8, 100, "/bin/ls", 0x30000, 0x40000);
	address_spaces_fork(spaces, 6, 8, 400);
	address_spaces_exit(spaces, 8, 300);
	assert_at(spaces, 8, 400, 0x10000, "/bin/sh");
	assert_at(spaces, 8, 400, 0x30000, "[unknown]");
}

TEST_IN_FOLDER(a_child_inherits_the_mappings_of_its_parent_at_the_fork)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	map(spaces, 7, 100, "/nowhere/a", 0x10000, 0x20000);
	address_spaces_fork(spaces, 7, 8, 200);
	map(spaces, 7, 300, "/nowhere/b", 0x30000, 0x40000);
	assert_at(spaces, 8, 250, 0x10000, "/nowhere/a");
	assert_at(spaces, 8, 199, 0x10000, "[unknown]");
	assert_at(spaces, 8, 300, 0x30000, "[unknown]");
	address_spaces_exec(spaces, 7, 400);
	assert_at(spaces, 8, 400, 0x10000, "/nowhere/a");
}

TEST_IN_FOLDER(a_fork_that_comes_after_the_childs_exec_takes_effect_at_its_own_time)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	map(spaces, 7, 100, "/bin/sh", 0x10000, 0x20000);
	address_spaces_exec(spaces, 8, 300);
	map(spaces, 8, 301, "/bin/ls", 0x18000, 0x28000);
	address_spaces_fork(spaces, 7, 8, 200);
	assert_at(spaces, 8, 299, 0x10000, "/bin/sh");
	assert_at(spaces, 8, 301, 0x10000, "[unknown]");
	assert_at(spaces, 8, 301, 0x18000, "/bin/ls");
}

TEST_IN_FOLDER(a_parents_mapping_that_comes_after_the_fork_is_its_childs_too)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	map(spaces, 7, 50, "/bin/sh", 0x10000, 0x20000);
	address_spaces_fork(spaces, 7, 8, 200);
	address_spaces_fork(spaces, 7, 9, 90);
	map(spaces, 7, 100, "/nowhere/a", 0x30000, 0x40000);
	assert_at(spaces, 8, 200, 0x30000, "/nowhere/a");
	assert_at(spaces, 8, 199, 0x30000, "[unknown]");
	assert_at(spaces, 9, 300, 0x30000, "[unknown]");
}

TEST_IN_FOLDER(only_mappings_that_ended_earlier_are_forgotten)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	map(spaces, 7, 100, "/bin/sh", 0x10000, 0x20000);
	map(spaces, 8, 100, "/bin/sh", 0x10000, 0x20000);
	map(spaces, 9, 100, "/bin/sh", 0x10000, 0x20000);
	address_spaces_exit(spaces, 8, 200);
	address_spaces_exit(spaces, 9, 300);
	address_spaces_forget(spaces, 250);
	assert_at(spaces, 7, 250, 0x10000, "/bin/sh");
	assert_at(spaces, 8, 199, 0x10000, "[unknown]");
	assert_at(spaces, 9, 299, 0x10000, "/bin/sh");
	/* The pid is used again. */
	map(spaces, 8, 260, "/bin/ls", 0x10000, 0x20000);
	assert_at(spaces, 8, 260, 0x10000, "/bin/ls");
	assert_at(spaces, 7, 260, 0x10000, "/bin/sh");
}

/*
 * Makes the step'th of a series of random changes, each at a different time.
 * modules: the number of modules to map; 0 for a new one each time, because a
 * module that is mapped again late confirms its whole mapping.
 */
static void change_at_random(struct model *model, unsigned step, unsigned modules)
{
	unsigned process = (unsigned)rand() % MODEL_PROCESSES;
	unsigned start = (unsigned)rand() % MODEL_ADDRESSES;
	unsigned end = start + 1 + (unsigned)rand() % (MODEL_ADDRESSES - start);
	uint64_t time_ns = 2 * (step + 1);

	switch (rand() % 8) {
	case 0:
		model_clear(model, process, time_ns);
		break;
	case 1:
		model_fork(model, process, (process + 1) % MODEL_PROCESSES, time_ns);
		break;
	default:
		model_map(model, process, time_ns, start, end,
			  modules ? 1 + (unsigned)rand() % modules : step + 1);
		break;
	}
}

TEST_IN_FOLDER(changes_in_any_order_give_the_same_history)
{
	for (unsigned seed = 0; seed < 3000; seed++) {
		unsigned steps[MODEL_CHANGES];
		struct model model;

		srand(seed);
		model_init(&model);
		for (unsigned i = 0; i < MODEL_CHANGES; i++)
			steps[i] = i;
		for (unsigned i = MODEL_CHANGES - 1; i > 0 && seed % 4; i--) {
			unsigned other = (unsigned)rand() % (i + 1), swapped = steps[i];

			steps[i] = steps[other];
			steps[other] = swapped;
		}
		for (unsigned i = 0; i < MODEL_CHANGES; i++)
			change_at_random(&model, steps[i], seed % 4 ? 0 : seed % 3);
		assert_true(model_agrees(&model, 0, 2 * MODEL_CHANGES + 4));
		assert_true(regions_are_sound(model.processes, MODEL_PROCESSES, &model.account));
		assert_int_equal(model.account.lost_changes, 0);
		assert_true(model_deinit(&model));
	}
}

/* The current mappings, by process and address; 0 if there is none. */
enum { LARGE_ADDRESSES = 4096 };

struct large {
	struct region_account account;
	struct regions processes[MODEL_PROCESSES];
	module_id present[MODEL_PROCESSES][LARGE_ADDRESSES];
};

static void change_large(struct large *large, uint64_t time_ns)
{
	unsigned process = (unsigned)rand() % MODEL_PROCESSES;
	unsigned child = (process + 1) % MODEL_PROCESSES;
	module_id *present = large->present[process];
	unsigned start = (unsigned)rand() % LARGE_ADDRESSES;
	unsigned len = rand() % 64 ? 1 : 1 + (unsigned)rand() % (LARGE_ADDRESSES - start);
	struct region region = {.start = start,
				.end = start + len,
				.offset = start,
				.from_ns = time_ns,
				.module = 1 + (unsigned)rand() % 5};

	switch (rand() % 1024) {
	case 0:
		regions_clear(&large->processes[process], time_ns);
		memset(present, 0, sizeof(large->present[0]));
		break;
	case 1:
	case 2:
		regions_fork(&large->processes[child], &large->processes[process], time_ns);
		memcpy(large->present[child], present, sizeof(large->present[0]));
		break;
	default:
		regions_map(&large->processes[process], &region);
		for (unsigned i = 0; i < len; i++)
			present[start + i] = region.module;
		break;
	}
}

TEST(many_mappings_are_found_in_processes_that_share_them)
{
	enum { CHANGES = 40000, UNTIL_CHECK = 500 };
	struct large *large = xcalloc(1, sizeof(*large));

	srand(1);
	for (unsigned i = 0; i < MODEL_PROCESSES; i++)
		large->processes[i].account = &large->account;
	for (unsigned step = 1; step <= CHANGES; step++) {
		change_large(large, step);
		if (step % UNTIL_CHECK)
			continue;
		assert_true(regions_are_sound(large->processes, MODEL_PROCESSES, &large->account));
		for (unsigned i = 0; i < MODEL_PROCESSES; i++)
			for (unsigned pc = 0; pc < LARGE_ADDRESSES; pc++) {
				const struct region *found = regions_find(&large->processes[i],
									  step, pc);

				assert_int_equal(found ? found->module : 0, large->present[i][pc]);
			}
	}
	for (unsigned i = 0; i < MODEL_PROCESSES; i++)
		regions_deinit(&large->processes[i]);
	assert_int_equal(large->account.bytes, 0);
	free(large);
}

static void map_page(struct regions *regions, uint64_t page, uint64_t pages, uint64_t time_ns)
{
	struct region region = {.start = page << 12,
				.end = (page + pages) << 12,
				.offset = time_ns << 12,
				.from_ns = time_ns};

	regions_map(regions, &region);
}

TEST(a_mapping_costs_the_same_in_whatever_order_they_come)
{
	enum { MAPPINGS = 60000, PATTERNS = 5, WORK_MAX = 2 * CHUNK_REGIONS };

	for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
		struct region_account account = {0};
		struct regions regions = {.account = &account};

		for (uint64_t i = 0; i < MAPPINGS; i++) {
			const uint64_t pages[PATTERNS] = {
				2 * i, 2 * (MAPPINGS - i), 2 * (i * 7919 % MAPPINGS), /* all over */
				(i % 2 ? MAPPINGS + i : MAPPINGS - i), MAPPINGS / 2};
			/* The last one splits the others, and sometimes covers
			 * all of them. */
			uint64_t count = pattern < PATTERNS - 1 ? 1 : i % 64 ? 1 : MAPPINGS;

			map_page(&regions, pages[pattern] + (count == 1 ? i * 3 % MAPPINGS : 0),
				 count, i);
		}
		assert_true(regions_are_sound(&regions, 1, &account));
		assert_true(account.work < (uint64_t)MAPPINGS * WORK_MAX);
		assert_true(account.bytes < (uint64_t)MAPPINGS * 2 * sizeof(struct region));
		regions_deinit(&regions);
		assert_int_equal(account.bytes, 0);
	}
}

TEST(forks_share_the_mappings_of_their_parent)
{
	enum { MAPPINGS = 60000, FORKS = 10000, WORK_MAX = 64 };
	struct region_account account = {0};
	struct regions parent = {.account = &account};
	struct regions *children = xcalloc(FORKS, sizeof(*children));
	uint64_t time_ns = 0, work, bytes;

	for (uint64_t i = 0; i < MAPPINGS; i++)
		map_page(&parent, 2 * i, 1, ++time_ns);
	work = account.work;
	bytes = account.bytes;
	for (unsigned i = 0; i < FORKS; i++) {
		children[i].account = &account;
		regions_fork(&children[i], &parent, ++time_ns);
		assert_non_null(regions_find(&children[i], time_ns, 2 << 12));
		assert_null(regions_find(&children[i], time_ns - 1, 2 << 12));
	}
	assert_int_equal(account.work, work);
	assert_true(account.bytes <= bytes + FORKS * 2 * sizeof(uint64_t));
	/* Neither a change in the child nor an exit copies anything. */
	for (unsigned i = 0; i < FORKS; i++) {
		if (i % 2) {
			map_page(&children[i], 3, 2, ++time_ns);
			assert_int_equal(regions_find(&children[i], time_ns, 4 << 12)->start,
					 3 << 12);
			assert_int_equal(regions_find(&children[i], time_ns - 1, 4 << 12)->start,
					 4 << 12);
		}
		regions_clear(&children[i], ++time_ns);
		assert_non_null(regions_find(&children[i], time_ns - 1, 2 << 12));
		assert_true(regions_forget(&children[i], time_ns));
	}
	assert_true(account.work - work < (uint64_t)FORKS * WORK_MAX);
	assert_int_equal(account.bytes, bytes);
	assert_int_equal(account.lost_changes, 0);
	regions_deinit(&parent);
	assert_int_equal(account.bytes, 0);
	free(children);
}

TEST(late_changes_of_a_process_have_a_budget)
{
	enum { MAPPINGS = 60000, LATE = 2000, WORK_MAX = 3 << 20 };
	struct region_account account = {0};
	struct regions regions = {.account = &account}, child = {.account = &account};
	uint64_t work;

	for (uint64_t i = 0; i < MAPPINGS; i++)
		map_page(&regions, 2 * i, 1, 1000 + i);
	work = account.work;
	for (uint64_t i = 0; i < LATE; i++) {
		map_page(&regions, 0, 2 * MAPPINGS, 900);
		regions_clear(&regions, 950);
		regions_fork(&child, &regions, 970);
	}
	assert_true(account.work - work < WORK_MAX);
	assert_true(account.lost_changes > LATE);
	assert_int_equal(account.lost_processes, 1);
	assert_non_null(regions_find(&regions, 1000 + MAPPINGS, 0));
	/* After older changes are forgotten, new ones are kept. */
	regions_forget(&regions, 1000);
	map_page(&regions, 1, 1, 1500);
	assert_non_null(regions_find(&regions, 1500, 1 << 12));
	regions_deinit(&child);
	regions_deinit(&regions);
	assert_int_equal(account.bytes, 0);
}

TEST_IN_FOLDER(a_new_mapping_survives_an_exec_that_is_reported_late)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	map(spaces, 7, 100, "/bin/sh", 0x10000, 0x20000);
	map(spaces, 7, 300, "/bin/sh", 0x10000, 0x20000);
	address_spaces_exec(spaces, 7, 200);
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

TEST_IN_FOLDER(repeated_mprotect_calls_need_no_memory)
{
	struct region_account account = {0};
	struct regions regions = {.account = &account};

	for (uint64_t i = 0; i < 1000; i++) {
		struct region whole = {.start = 0x10000, .end = 0x50000, .from_ns = 10 * i};
		struct region part = {
			.start = 0x20000, .end = 0x30000, .offset = 0x10000, .from_ns = 10 * i + 5};

		regions_map(&regions, &whole);
		regions_map(&regions, &part);
	}
	assert_int_equal(regions.live->region_count, 1);
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

TEST_IN_FOLDER(a_snapshot_has_earlier_mappings_once)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	write_program("7/root/bin/program");
	struct mapping mapping = mapping_of("/bin/program", "7/root/bin/program", 0x10000, 0x12000);

	write_maps("7/maps", &mapping);
	address_spaces_snapshot(spaces, 7, 100);
	address_spaces_snapshot(spaces, 7, 200);
	assert_at(spaces, 7, 50, 0x10000, "/bin/program");
	assert_at(spaces, 7, 300, 0x10000, "/bin/program");
	assert_at(spaces, 7, 300, 0xf000, "[unknown]");
	/* Records of the same mapping and of another one, both from before the
	 * snapshot. */
	address_spaces_map(spaces, 7, 60, &mapping);
	map(spaces, 7, 150, "/nowhere/a", 0x10000, 0x12000);
	assert_at(spaces, 7, 61, 0x10000, "/bin/program");
	assert_at(spaces, 7, 150, 0x10000, "/nowhere/a");
	address_spaces_snapshot(spaces, 12345, 100); /* gone */
	assert_at(spaces, 12345, 100, 0x10000, "[unknown]");
}

/* The section ".large" has this size and follows all others. */
static void write_large_program(const char *name, size_t bytes)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	CLEANUP(free_ptr) char *data = xmalloc(bytes);
	struct built_elf file;
	Elf64_Shdr *section;

	memset(data, 'x', bytes);
	built_elf_init(&file);
	section = built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".large", "", 0);
	section->sh_offset = sizeof(file.data);
	section->sh_size = bytes;
	built_elf_finish(&file);
	write_file(name, file.data, file.len);
	CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(fd, data, bytes, sizeof(file.data)), bytes);
}

TEST_IN_FOLDER(files_that_were_read_do_not_stay_resident)
{
	enum { BYTES = 72 << 20 };
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	write_large_program("7/root/bin/large", BYTES);
	struct mapping mapping = mapping_of("/bin/large", "7/root/bin/large", 0x10000, 0x12000);

	address_spaces_map(spaces, 7, 100, &mapping);
	struct elf_file *elf = module_at(spaces, 7, 100, 0x10000)->elf;
	struct bytes large = elf_file_section(elf, ".large").data;

	assert_int_equal(bytes_left(&large), BYTES);
	assert_null(memchr(large.at, 'y', BYTES));
	address_spaces_forget(spaces, 0);
	assert_true(usage_of_mapped_files() < BYTES);
	assert_null(memchr(large.at, 'y', BYTES));
}

TEST_IN_FOLDER(a_file_mapped_by_two_processes_is_one_module_with_one_image)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	write_program("7/root/bin/program");
	struct mapping mapping = mapping_of("/bin/program", "7/root/bin/program", 0x10000, 0x12000);

	address_spaces_map(spaces, 7, 100, &mapping);
	address_spaces_map(spaces, 8, 100, &mapping);
	assert_int_equal(address_spaces_module_count(spaces), 1);
	const struct module *module = module_at(spaces, 7, 100, 0x10000);

	assert_int_equal(module->kind, MODULE_FILE);
	assert_non_null(module->elf);
	assert_null(module->problem);
	assert_string_equal(elf_file_name(module->elf), "/bin/program");
	/* The same file under another name, as in another mount namespace. */
	CLEANUP(free_ptr) char *name = path_of("7/root/bin/program");
	CLEANUP(free_ptr) char *other = path_of("9/root/mnt/program");

	assert_int_equal(link(name, other), 0);
	mapping = mapping_of("/mnt/program", "9/root/mnt/program", 0x10000, 0x12000);
	address_spaces_map(spaces, 9, 100, &mapping);
	assert_ptr_equal(module_at(spaces, 9, 100, 0x10000), module);
}

TEST_IN_FOLDER(a_copy_with_the_same_owner_and_build_id_is_the_same_module)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	write_program("7/root/lib/library");
	write_program("8/root/lib/library"); /* another layer of a container */
	struct mapping first = mapping_of("/lib/library", "7/root/lib/library", 0x10000, 0x12000);
	struct mapping second = mapping_of("/lib/library", "8/root/lib/library", 0x10000, 0x12000);

	assert_int_not_equal(first.inode, second.inode);
	address_spaces_map(spaces, 7, 100, &first);
	address_spaces_map(spaces, 8, 100, &second);
	assert_int_not_equal(elf_file_build_id(module_at(spaces, 7, 100, 0x10000)->elf)->len, 0);
	assert_ptr_equal(module_at(spaces, 8, 100, 0x10000), module_at(spaces, 7, 100, 0x10000));
}

/* Writes the file again with another build-id. */
static void write_anew(const char *name, const struct build_id *id)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	CLEANUP(close_fd) int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	char *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	char *at = memmem(data, (size_t)st.st_size, id->bytes, id->len);

	assert_non_null(at);
	assert_int_equal(pwrite(fd, "new", 3, at - data), 3);
	munmap(data, (size_t)st.st_size);
}

TEST_IN_FOLDER(a_file_that_is_written_anew_in_place_is_another_module)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	write_program("7/root/lib/library");
	struct mapping mapping = mapping_of("/lib/library", "7/root/lib/library", 0x10000, 0x12000);

	address_spaces_map(spaces, 7, 100, &mapping);
	const struct module *before = module_at(spaces, 7, 100, 0x10000);
	struct build_id id = *elf_file_build_id(before->elf);

	assert_int_not_equal(id.len, 0);
	write_anew("7/root/lib/library", &id);
	address_spaces_map(spaces, 7, 200,
			   &(struct mapping){.start = 0x20000,
					     .end = 0x22000,
					     .offset = mapping.offset,
					     .device_major = mapping.device_major,
					     .device_minor = mapping.device_minor,
					     .inode = mapping.inode,
					     .path = mapping.path});
	const struct module *after = module_at(spaces, 7, 200, 0x20000);

	assert_ptr_not_equal(after, before);
	assert_memory_equal(elf_file_build_id(after->elf)->bytes, "new", 3);
	/* A module with samples does not change. */
	assert_ptr_equal(module_at(spaces, 7, 200, 0x10000), before);
}

/* Maps both programs, which have the same build-id, in either order. */
static void assert_apart(const struct mapping mappings[2])
{
	for (unsigned first = 0; first < 2; first++) {
		CLEANUP(address_spaces_cleanup)
		struct address_spaces *spaces = new_spaces(folder);

		for (unsigned i = 0; i < 2; i++) {
			pid_t pid = (first + i) % 2 ? 8 : 7;

			address_spaces_map(spaces, pid, 100, &mappings[pid - 7]);
		}
		assert_at(spaces, 7, 100, 0x10000, "/bin/program");
		assert_at(spaces, 8, 100, 0x10000, "/tmp/program");
		assert_non_null(module_at(spaces, 7, 100, 0x10000)->elf);
		assert_non_null(module_at(spaces, 8, 100, 0x10000)->elf);
	}
}

TEST_IN_FOLDER(a_build_id_does_not_unite_what_others_may_have_written)
{
	CLEANUP(free_ptr) char *written = path_of("8/root/tmp/program");

	write_program("7/root/bin/program");
	write_program("8/root/tmp/program");
	struct mapping mappings[2] = {
		mapping_of("/bin/program", "7/root/bin/program", 0x10000, 0x12000),
		mapping_of("/tmp/program", "8/root/tmp/program", 0x10000, 0x12000),
	};

	assert_int_equal(chmod(written, 0666), 0);
	assert_apart(mappings);
	assert_int_equal(chmod(written, 0644), 0);
	if (chown(written, 54321, 54321) < 0)
		RETURN_LACKING("the right to give a file to another user");
	assert_apart(mappings);
}

TEST_IN_FOLDER(a_file_with_the_inode_of_a_deleted_one_is_another_module)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);
	struct mapping mapping = {.start = 0x10000,
				  .end = 0x12000,
				  .inode = 4711,
				  .generation = 1,
				  .path = "/nowhere/program"};

	address_spaces_map(spaces, 7, 100, &mapping);
	address_spaces_map(spaces, 8, 100, &mapping);
	assert_int_equal(address_spaces_module_count(spaces), 1);
	mapping.generation++;
	address_spaces_map(spaces, 8, 200, &mapping);
	assert_int_equal(address_spaces_module_count(spaces), 2);
}

static unsigned count_open(const struct address_spaces *spaces)
{
	unsigned count = 0;

	for (module_id id = 0; id < address_spaces_module_count(spaces); id++)
		count += address_spaces_module(spaces, id)->elf != NULL;
	return count;
}

TEST_IN_FOLDER(files_without_samples_are_closed_and_opened_again_when_they_get_one)
{
	enum { FILES = 12, OPEN = 4 };
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);
	unsigned char header[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	struct location location;

	address_spaces_set_files_max(spaces, OPEN);
	for (unsigned i = 0; i < FILES; i++) {
		char path[32], name[64];

		snprintf(path, sizeof(path), "/lib/%u", i);
		snprintf(name, sizeof(name), "7/root%s", path);
		write_file(name, header, sizeof(header));
		struct mapping mapping = mapping_of(path, name, 0x1000 * (i + 1), 0x1000 * (i + 2));

		address_spaces_map(spaces, 7, 100, &mapping);
		if (i == 0)
			assert_true(address_spaces_locate(spaces, 7, 100, 0x1000, &location));
	}
	assert_int_equal(count_open(spaces), OPEN);
	assert_non_null(address_spaces_module(spaces, location.module)->elf);
	/* The second one was closed, but it is still known. It is opened again
	 * for its first sample. */
	assert_true(address_spaces_locate(spaces, 7, 100, 0x2000, &location));
	assert_string_equal(address_spaces_module(spaces, location.module)->path, "/lib/1");
	assert_non_null(address_spaces_module(spaces, location.module)->elf);
	assert_null(address_spaces_module(spaces, location.module)->problem);
	assert_int_equal(count_open(spaces), OPEN);
}

TEST_IN_FOLDER(files_of_a_storm_are_opened_when_they_get_a_sample)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);
	struct location location;

	write_program("7/root/bin/first");
	write_program("7/root/bin/second");
	struct mapping first = mapping_of("/bin/first", "7/root/bin/first", 0x10000, 0x12000);
	struct mapping second = mapping_of("/bin/second", "7/root/bin/second", 0x20000, 0x22000);

	address_spaces_set_opening_max(spaces, 0);
	address_spaces_map(spaces, 7, 100, &first);
	address_spaces_map(spaces, 7, 100, &second);
	assert_int_equal(count_open(spaces), 1);
	assert_true(address_spaces_locate(spaces, 7, 100, 0x20000, &location));
	assert_string_equal(address_spaces_module(spaces, location.module)->path, "/bin/second");
	assert_non_null(address_spaces_module(spaces, location.module)->elf);
	assert_null(address_spaces_module(spaces, location.module)->problem);
}

TEST_IN_FOLDER(ever_new_files_without_samples_need_no_memory_once_they_are_unmapped)
{
	enum { FILES = 30000 };
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);
	struct location location;
	char path[512];

	memset(path, '/', sizeof(path));
	map(spaces, 8, 100, "/bin/honest", 0x10000, 0x20000);
	assert_true(address_spaces_locate(spaces, 8, 100, 0x10000, &location));
	for (unsigned i = 0; i < FILES; i++) {
		struct mapping mapping = {
			.start = 0x10000, .end = 0x20000, .inode = i + 1, .path = path};

		snprintf(path + sizeof(path) - 16, 16, "%u", i);
		address_spaces_map(spaces, 7, 100 + i, &mapping);
		if (i % 1024 == 0)
			address_spaces_forget(spaces, 100 + i);
	}
	assert_true(address_spaces_module_count(spaces) < FILES / 2);
	assert_at(spaces, 8, FILES, 0x10000, "/bin/honest");
	assert_string_equal(address_spaces_module(spaces, location.module)->path, "/bin/honest");
	assert_at(spaces, 7, FILES + 100, 0x10000, path);
}

TEST_IN_FOLDER(a_process_with_endless_mappings_loses_the_oldest_ones)
{
	enum { MAPPINGS = 150000 };
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	map(spaces, 8, 100, "/bin/honest", 0x10000, 0x20000);
	/* munmap(2) is not reported. */
	for (uint64_t i = 0; i < MAPPINGS; i++)
		map(spaces, 7, 100 + i, "/nowhere/a", 0x1000 * (i + 1), 0x1000 * (i + 2));
	assert_at(spaces, 7, 100 + MAPPINGS, 0x1000, "[unknown]");
	assert_at(spaces, 7, 100 + MAPPINGS, UINT64_C(0x1000) * MAPPINGS, "/nowhere/a");
	assert_at(spaces, 8, 100 + MAPPINGS, 0x10000, "/bin/honest");
}

TEST_IN_FOLDER(processes_without_end_are_forgotten_those_unused_for_longest_first)
{
	enum { MAPPINGS = 100, FIRST = 1000, FORKS = 50000, MEGABYTE = 1 << 20 };
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	map(spaces, 8, 100, "/bin/honest", 0x10000, 0x20000);
	for (uint64_t i = 0; i < MAPPINGS; i++)
		map(spaces, 7, 100 + i, "/nowhere/a", 0x2000 * (i + 1), 0x2000 * (i + 1) + 0x1000);
	/* None of them has many mappings, and a file need not contain their
	 * ends. */
	for (pid_t i = 0; i < FORKS; i++) {
		address_spaces_fork(spaces, 7, FIRST + i, 2000 + (uint64_t)i);
		map(spaces, FIRST + i, 2000 + (uint64_t)i, "/nowhere/b", 0x1000, 0x2000);
		assert_at(spaces, 8, 2000 + (uint64_t)i, 0x10000, "/bin/honest");
	}
	assert_true(address_spaces_bytes(spaces) <= 112 * MEGABYTE);
	assert_true(address_spaces_lossy_processes(spaces) > FORKS / 4);
	assert_at(spaces, FIRST, 2000 + FORKS, 0x2000, "[unknown]");
	assert_at(spaces, FIRST + FORKS - 1, 2000 + FORKS, 0x2000, "/nowhere/a");
}

TEST_IN_FOLDER(many_processes_with_mappings_of_their_own_lose_none)
{
	enum { PROCESSES = 20000, MAPPINGS = 100, FIRST = 1000 };
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	for (pid_t pid = FIRST; pid < FIRST + PROCESSES; pid++)
		for (uint64_t i = 0; i < MAPPINGS; i++)
			map(spaces, pid, 0, "/nowhere/a", 0x2000 * (i + 1), 0x2000 * (i + 1) + 1);
	assert_int_equal(address_spaces_lossy_processes(spaces), 0);
}

/* Makes /proc/PID of a process. Returns false without the right to. */
static bool make_process(pid_t pid, uid_t user)
{
	CLEANUP(free_ptr) char *name = xasprintf("%d", pid);
	CLEANUP(free_ptr) char *path = path_of(name);

	assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
	return chown(path, user, (gid_t)-1) == 0;
}

TEST_IN_FOLDER(a_user_with_too_many_mappings_loses_them_before_others_do)
{
	enum { MAPPINGS = 60000, HONEST = 5000, PROCESSES = 60 };
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	if (!make_process(8, 1001))
		RETURN_LACKING("root");
	for (uint64_t i = 0; i < HONEST; i++)
		map(spaces, 8, 100, "/bin/honest", 0x2000 * (i + 1), 0x2000 * (i + 1) + 0x1000);
	/* Each has fewer mappings than the ordinary process, which has lost its
	 * first ones. */
	for (pid_t pid = 1000; pid < 1000 + PROCESSES; pid++) {
		assert_true(make_process(pid, 1002));
		for (uint64_t i = 0; i < MAPPINGS; i++)
			map(spaces, pid, 200, "/nowhere/a", 0x2000 * (i + 1),
			    0x2000 * (i + 1) + 0x1000);
	}
	assert_true(address_spaces_lossy_processes(spaces) > 0);
	for (uint64_t i = 0; i < HONEST; i++)
		assert_at(spaces, 8, 300, 0x2000 * (i + 1), "/bin/honest");
}

TEST_IN_FOLDER(modules_of_many_small_processes_are_bounded)
{
	enum { PROCESSES = 300, MAPPINGS = 100, MEGABYTE = 1 << 20 };
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);
	char path[4000];
	uint64_t inode = 1;

	memset(path, '/', sizeof(path));
	for (pid_t pid = 1000; pid < 1000 + PROCESSES; pid++)
		for (uint64_t i = 0; i < MAPPINGS; i++) {
			struct mapping mapping = {.start = 0x1000 * (i + 1),
						  .end = 0x1000 * (i + 2),
						  .inode = inode++,
						  .path = path};

			snprintf(path + sizeof(path) - 16, 16, "%lu", (unsigned long)inode);
			address_spaces_map(spaces, pid, 100, &mapping);
		}
	assert_true(address_spaces_lossy_processes(spaces) > 0);
	/* Each needs twice its path. */
	assert_true(address_spaces_module_count(spaces) < 2 * 96 * MEGABYTE / (2 * sizeof(path)));
}

TEST_IN_FOLDER(modules_with_samples_are_bounded_for_each_user)
{
	enum { FILES = 4000, USER = 54321 };
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);
	char path[4000];
	unsigned used = 0;

	if (!make_process(7, USER) || !make_process(8, USER + 1))
		RETURN_LACKING("root");
	memset(path, '/', sizeof(path));
	for (unsigned i = 0; i < FILES; i++) {
		struct mapping mapping = {
			.start = 0x10000, .end = 0x20000, .inode = i + 2, .path = path};

		snprintf(path + sizeof(path) - 16, 16, "%u", i);
		address_spaces_map(spaces, 7, 100 + i, &mapping);
		used += module_at(spaces, 7, 100 + i, 0x10000)->kind == MODULE_FILE;
	}
	assert_at(spaces, 7, 100 + FILES, 0x10000, "[unknown]");
	assert_true(used > FILES / 2 && used < FILES);
	assert_int_equal(address_spaces_lossy_processes(spaces), 1);
	map(spaces, 8, 100, "/bin/honest", 0x10000, 0x20000);
	assert_at(spaces, 8, 100, 0x10000, "/bin/honest");
}

TEST_IN_FOLDER(a_late_mapping_is_inherited_by_a_bounded_number_of_children)
{
	enum { FIRST = 1000, FORKS = 2000 };
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	for (pid_t i = 0; i < FORKS; i++)
		address_spaces_fork(spaces, 7, FIRST + i, 2000);
	map(spaces, 7, 100, "/nowhere/a", 0x2000, 0x3000);
	assert_at(spaces, FIRST, 3000, 0x2000, "/nowhere/a");
	assert_at(spaces, FIRST + FORKS - 1, 3000, 0x2000, "[unknown]");
}

TEST_IN_FOLDER(another_file_of_the_same_name_is_refused)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	write_program("7/root/bin/program");
	write_program("replaced");
	struct mapping by_inode = mapping_of("/bin/program", "replaced", 0x10000, 0x12000);

	address_spaces_map(spaces, 7, 100, &by_inode);
	const struct module *module = module_at(spaces, 7, 100, 0x10000);

	assert_null(module->elf);
	assert_non_null(module->problem);
	struct mapping by_id = {.start = 0x20000, .end = 0x21000, .path = "/bin/program"};

	by_id.build_id = (struct build_id){.bytes = {1, 2, 3, 4}, .len = 20};
	address_spaces_map(spaces, 7, 100, &by_id);
	module = module_at(spaces, 7, 100, 0x20000);
	assert_null(module->elf);
	assert_non_null(module->problem);
}

TEST_IN_FOLDER(a_different_device_number_is_accepted_if_the_mapping_fits_the_file)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	write_program("7/root/bin/program");
	write_program("7/root/bin/other");
	struct mapping mapping = mapping_of("/bin/other", "7/root/bin/other", 0x10000, 0x12000);

	mapping.device_minor++;
	mapping.offset = 0x10000000;
	address_spaces_map(spaces, 7, 100, &mapping);
	assert_null(module_at(spaces, 7, 100, 0x10000)->elf);

	mapping = mapping_of("/bin/program", "7/root/bin/program", 0x20000, 0x21000);
	mapping.device_minor++;
	/* The code of this test program. */
	CLEANUP(close_fd) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_file *image;
	unsigned count;

	assert_null(elf_file_open(steal_fd(&fd), "self", &image));
	for (const struct elf_file_segment *segment = elf_file_segments(image, &count); count;
	     count--, segment++)
		if (segment->executable)
			mapping.offset = segment->offset;
	elf_file_free(image);
	address_spaces_map(spaces, 7, 100, &mapping);
	assert_non_null(module_at(spaces, 7, 100, 0x20000)->elf);
}

TEST_IN_FOLDER(a_deleted_file_is_opened_through_map_files_or_exe_alone)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	write_program("7/root/bin/program");
	write_program("8/map_files/10000-12000");
	struct mapping mapping = mapping_of("/bin/program (deleted)", "7/root/bin/program", 0x10000,
					    0x12000);

	address_spaces_map(spaces, 7, 100, &mapping);
	const struct module *module = module_at(spaces, 7, 100, 0x10000);

	assert_string_equal(module->path, "/bin/program");
	assert_null(module->elf);
	assert_non_null(strstr(module->problem, "/bin/program was deleted"));

	mapping = mapping_of("/bin/program (deleted)", "8/map_files/10000-12000", 0x10000, 0x12000);
	address_spaces_map(spaces, 8, 100, &mapping);
	assert_non_null(module_at(spaces, 8, 100, 0x10000)->elf);

	write_program("9/exe");
	mapping = mapping_of("/bin/program (deleted)", "9/exe", 0x10000, 0x12000);
	address_spaces_map(spaces, 9, 100, &mapping);
	assert_non_null(module_at(spaces, 9, 100, 0x10000)->elf);
}

TEST_IN_FOLDER(a_file_that_could_not_be_opened_is_tried_again)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	write_program("8/root/bin/program");
	struct mapping mapping = mapping_of("/bin/program", "8/root/bin/program", 0x10000, 0x12000);

	address_spaces_map(spaces, 7, 100, &mapping); /* gone already */
	const struct module *module = module_at(spaces, 7, 100, 0x10000);

	assert_null(module->elf);
	assert_int_equal(address_spaces_missed_files(spaces), 1);
	address_spaces_map(spaces, 7, 100, &mapping);
	assert_int_equal(address_spaces_missed_files(spaces), 2);
	address_spaces_map(spaces, 8, 100, &mapping);
	assert_non_null(module->elf);
	assert_null(module->problem);
	assert_int_equal(address_spaces_missed_files(spaces), 2);
	assert_int_equal(address_spaces_module_count(spaces), 1);
}

TEST_IN_FOLDER(memory_without_a_file_is_one_module_per_process)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);
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
		assert_true(address_spaces_locate(spaces, 7, 100, 0x1000 * (i + 1) + 5, &location));
		assert_int_equal(location.offset, 0x1000 * (i + 1) + 5); /* the pc */
	}
	assert_int_equal(address_spaces_module_count(spaces), 1);
	assert_int_equal(address_spaces_module(spaces, 0)->kind, MODULE_JIT);
	assert_int_equal(address_spaces_module(spaces, 0)->pid, 7);
	map(spaces, 8, 100, "//anon", 0x1000, 0x2000);
	assert_int_equal(module_at(spaces, 8, 100, 0x1000)->pid, 8);
}

TEST_IN_FOLDER(a_memfd_that_holds_a_program_is_a_file)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	write_program("7/map_files/10000-12000");
	struct mapping mapping = mapping_of("/memfd:program (deleted)", "7/map_files/10000-12000",
					    0x10000, 0x12000);

	address_spaces_map(spaces, 7, 100, &mapping);
	const struct module *module = module_at(spaces, 7, 100, 0x10000);

	assert_int_equal(module->kind, MODULE_FILE);
	assert_string_equal(module->path, "/memfd:program");
	assert_non_null(module->elf);
}

TEST_IN_FOLDER(a_file_that_is_not_a_program_is_an_error)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	write_file("7/root/lib/managed.dll", "MZ\x90", 3);
	struct mapping mapping = mapping_of("/lib/managed.dll", "7/root/lib/managed.dll", 0x10000,
					    0x12000);

	address_spaces_map(spaces, 7, 100, &mapping);
	assert_string_equal(module_at(spaces, 7, 100, 0x10000)->problem,
			    "/lib/managed.dll is not an ELF file");
}

TEST_IN_FOLDER(the_vdso_has_our_own_image_and_vsyscall_has_none)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);
	struct location location;

	map(spaces, 7, 100, "[vdso]", 0x7ff000010000, 0x7ff000012000);
	map(spaces, 8, 100, "[vdso]", 0x7ff000050000, 0x7ff000052000);
	map(spaces, 7, 100, "[vsyscall]", 0x90000, 0x91000);
	assert_true(address_spaces_locate(spaces, 8, 100, 0x7ff000050123, &location));
	assert_int_equal(location.offset, 0x123);
	const struct module *vdso = address_spaces_module(spaces, location.module);

	assert_ptr_equal(vdso, module_at(spaces, 7, 100, 0x7ff000010000));
	assert_int_equal(vdso->kind, MODULE_VDSO);
	if (getauxval(AT_SYSINFO_EHDR))
		assert_non_null(vdso->elf);
	assert_at(spaces, 7, 100, 0x90000, "[vsyscall]");
	assert_null(module_at(spaces, 7, 100, 0x90000)->elf);
}

TEST_IN_FOLDER(the_kernel_is_one_module_created_on_demand)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces(folder);

	assert_int_equal(address_spaces_module_count(spaces), 0);
	module_id kernel = address_spaces_kernel(spaces);

	assert_int_equal(address_spaces_kernel(spaces), kernel);
	assert_int_equal(address_spaces_module_count(spaces), 1);
	assert_int_equal(address_spaces_module(spaces, kernel)->kind, MODULE_KERNEL);
	assert_string_equal(address_spaces_module(spaces, kernel)->path, "[kernel.kallsyms]");
}

TEST_IN_FOLDER(our_own_process_is_read_from_the_real_proc)
{
	CLEANUP(address_spaces_cleanup) struct address_spaces *spaces = new_spaces("/proc");
	uint64_t pc = (uint64_t)(uintptr_t)our_own_process_is_read_from_the_real_proc;
	struct location location;
	uint64_t vaddr;

	address_spaces_snapshot(spaces, getpid(), 100);
	assert_true(address_spaces_locate(spaces, getpid(), 100, pc, &location));
	const struct module *module = address_spaces_module(spaces, location.module);

	assert_non_null(strstr(module->path, "test_address_spaces"));
	assert_non_null(module->elf);
	assert_true(elf_file_offset_to_vaddr(module->elf, location.offset, &vaddr));
	assert_int_equal(vaddr % 4096, pc % 4096);
}
