/*
 * Loads call frame information in parallel with the thread that walks stacks.
 */
#include "unwind/cfi_loader.h"

#include "base/cleanup.h"
#include "proc/address_spaces.h"
#include "unwind/cfi_cache.h"

#include "unit_test.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

enum { PID = 7, STEPS = 10000 };

static struct elf_file *open_own(void)
{
	struct elf_file *elf = NULL;

	assert_null(elf_file_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "self", &elf));
	return elf;
}

/* Returns true if the rules cover this function. */
static bool covers(const struct cfi *cfi, const struct elf_file *elf)
{
	unsigned steps = STEPS, count;
	const struct elf_file_segment *segment = elf_file_segments(elf, &count);
	struct cfi_rule rule;

	while (!segment->executable)
		segment++;
	for (uint64_t offset = 0; offset < segment->file_bytes; offset += 16) {
		steps = STEPS;
		if (cfi_find(cfi, segment->vaddr + offset, &steps, &rule))
			return true;
	}
	return false;
}

TEST(a_request_gives_the_rules_of_the_file)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = open_own();
	struct cfi_loader *loader = cfi_loader_new(arch_native());
	struct cfi_load *load = cfi_loader_open(loader, elf);

	assert_true(cfi_load_wait_long(load));
	struct loaded_cfi loaded = cfi_load_take(load);

	assert_non_null(loaded.cfi);
	assert_true(covers(loaded.cfi, elf));
	cfi_free(loaded.cfi);
	elf_file_free(loaded.elf);
	cfi_loader_free(loader);
}

TEST(requests_that_nobody_waits_for_end_with_the_loader)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = open_own();
	struct cfi_loader *loader = cfi_loader_new(arch_native());

	/* One is done, the others may be. */
	assert_true(cfi_load_wait_long(cfi_loader_open(loader, elf)));
	for (unsigned i = 0; i < 100; i++)
		cfi_loader_open(loader, elf);
	cfi_loader_index(loader, cfi_new(elf, arch_native()));
	cfi_loader_free(loader);
}

/* Makes a copy of this program that all users may write to, which makes it
 * untrusted. */
static void copy_untrusted(char *path)
{
	CLEANUP(close_fd) int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	CLEANUP(close_fd) int to = mkstemp(path);
	ssize_t copied;

	assert_true(to >= 0);
	do
		copied = sendfile(to, from, NULL, 1 << 20);
	while (copied > 0);
	assert_int_equal(fchmod(to, 0666), 0);
}

/* Opens an untrusted copy of this program. For root, the copy belongs to
 * another user. */
static struct elf_file *open_untrusted(uid_t owner)
{
	char path[] = "/tmp/prof-test-XXXXXX";
	struct elf_file *elf = NULL;

	copy_untrusted(path);
	assert_true(geteuid() != 0 || chown(path, owner, owner) == 0);
	assert_null(elf_file_open(open(path, O_RDONLY | O_CLOEXEC), path, &elf));
	unlink(path);
	assert_true(elf_file_is_untrusted(elf));
	return elf;
}

TEST(an_owner_has_one_request_at_a_time_and_makes_no_other_wait)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = open_untrusted(54321);
	CLEANUP(elf_file_cleanup) struct elf_file *of_another = open_untrusted(54322);
	struct cfi_loader *loader = cfi_loader_new(arch_native());
	struct cfi_load *load = cfi_loader_open(loader, elf), *other;
	struct loaded_cfi loaded;

	assert_true(cfi_load_wait_long(load));
	assert_null(cfi_loader_open(loader, elf));
	if (geteuid() == 0) {
		other = cfi_loader_open(loader, of_another);
		assert_true(cfi_load_wait_long(other));
		loaded = cfi_load_take(other);
		assert_true(covers(loaded.cfi, of_another));
		cfi_free(loaded.cfi);
	}
	cfi_free(cfi_load_take(load).cfi);
	load = cfi_loader_open(loader, elf);
	assert_true(cfi_load_wait_long(load));
	cfi_free(cfi_load_take(load).cfi);
	cfi_loader_free(loader);
}

/* Maps the code of the file at 0x10000. */
static module_id map(struct address_spaces *spaces, const char *path)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = open_own();
	unsigned count;
	const struct elf_file_segment *segment = elf_file_segments(elf, &count);
	struct location location;

	while (!segment->executable)
		segment++;
	address_spaces_map(spaces, PID, 1,
			   &(struct mapping){.start = 0x10000,
					     .end = 0x10000 + segment->file_bytes,
					     .offset = segment->offset,
					     .path = path});
	assert_true(address_spaces_locate(spaces, PID, 1, 0x10000, &location));
	return location.module;
}

TEST(a_recorded_stack_waits_for_the_rules_of_an_untrusted_file)
{
	const struct recorded_files files = {.debug_dir = "/nonexistent"};
	char path[] = "/tmp/prof-test-XXXXXX";

	copy_untrusted(path);
	CLEANUP(address_spaces_cleanup)
	struct address_spaces *spaces = address_spaces_new_recorded(&files);
	struct cfi_cache *cache = cfi_cache_new(spaces, arch_native(), false);
	module_id id = map(spaces, path);
	const struct module *module = address_spaces_module(spaces, id);

	assert_true(elf_file_is_untrusted(module->elf));
	const struct module_cfi *cfi = cfi_cache_get(cache, id);

	assert_non_null(cfi);
	assert_true(covers(cfi->own, module->elf));
	assert_true(cfi_cache_ask_debug_file(cache, id));
	assert_null(cfi->debug);
	cfi_cache_free(cache);
	unlink(path);
}

TEST(a_live_stack_gets_the_rules_of_an_untrusted_file_as_soon_as_they_are_there)
{
	char path[] = "/tmp/prof-test-XXXXXX";

	copy_untrusted(path);
	CLEANUP(address_spaces_cleanup)
	struct address_spaces *spaces = address_spaces_new("/nonexistent");
	struct cfi_cache *cache = cfi_cache_new(spaces, arch_native(), true);
	module_id id = map(spaces, path);
	const struct module_cfi *cfi;

	while (!(cfi = cfi_cache_get(cache, id)))
		usleep(100);
	assert_true(covers(cfi->own, address_spaces_module(spaces, id)->elf));
	cfi_cache_free(cache);
	unlink(path);
}
