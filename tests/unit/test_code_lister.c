/* Code is listed by a confined process, and what it sends is checked. */
#include "symbol/code_lister.h"

#include "base/alloc.h"
#include "elf/disassembly.h"
#include "lacking.h"
#include "unit_test.h"

#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <string.h>

/* The code that is listed. */
__attribute__((noinline)) static int callee(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

__attribute__((noinline)) static int caller(int value)
{
	return callee(value) + 1;
}

static int find_base(struct dl_phdr_info *info, size_t size, void *user)
{
	(void)size;
	*(uint64_t *)user = info->dlpi_addr; /* the program comes first */
	return 1;
}

static uint64_t vaddr_of_caller(void)
{
	uint64_t base = 0;

	dl_iterate_phdr(find_base, &base);
	return (uint64_t)(uintptr_t)caller - base;
}

static struct elf_file *open_program(void)
{
	struct elf_file *ret;

	assert_null(elf_file_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "program", &ret));
	return ret;
}

static int open_nothing(void *user, const struct debugfile_question *question, unsigned attempt,
			char **path)
{
	(void)user, (void)question, (void)attempt, (void)path;
	return -1;
}

static struct error *list(int (*opener)(void *, const struct debugfile_question *, unsigned,
					char **),
			  void *user, struct code_listing **ret)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = open_program();
	uint64_t vaddr = vaddr_of_caller();
	const struct code_listing_request request = {
		.elf = elf,
		.name = elf_file_name(elf),
		.opener = {.open = opener, .user = user},
		.vaddrs = &vaddr,
		.count = 1,
	};

	return code_lister_run(&request, ret);
}

static bool lacks_capstone(void)
{
	struct error *err = disassembly_load();

	error_free(err);
	return err;
}

TEST(functions_are_listed_with_the_names_of_those_that_they_call)
{
	CLEANUP(code_listing_cleanup) struct code_listing *listing = NULL;
	bool calls = false;

	if (lacks_capstone())
		RETURN_LACKING("capstone");
	assert_int_equal(caller(1), 2);
	assert_null(list(open_nothing, NULL, &listing));
	assert_int_equal(listing->count, 1);
	assert_true(listing->functions[0].vaddr <= vaddr_of_caller());
	for (size_t i = 0; i < listing->functions[0].count; i++)
		calls |= strstr(listing->functions[0].items[i].target, "callee") != NULL;
	assert_true(calls);
}

/* Returns the only child of this process, or 0. */
static pid_t child(void)
{
	CLEANUP(close_file) FILE *file = fopen("/proc/thread-self/children", "re");
	pid_t pid = 0;

	if (file && fscanf(file, "%d", &pid) != 1)
		pid = 0;
	return pid;
}

struct seen {
	bool asked;
	char status[16384]; /* /proc/PID/status of the process that asks */
};

static int look_who_asks(void *user, const struct debugfile_question *question, unsigned attempt,
			 char **path)
{
	CLEANUP(free_ptr) char *name = xasprintf("/proc/%d/status", (int)child());
	CLEANUP(close_fd) int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct seen *seen = user;

	(void)question, (void)attempt, (void)path;
	seen->asked = true;
	assert_true(read(fd, seen->status, sizeof(seen->status) - 1) > 0);
	return -1;
}

TEST(the_file_is_read_by_a_process_without_rights)
{
	CLEANUP(code_listing_cleanup) struct code_listing *listing = NULL;
	struct seen seen = {0};

	if (lacks_capstone())
		RETURN_LACKING("capstone");
	if (!child() && access("/proc/thread-self/children", R_OK) < 0)
		RETURN_LACKING("/proc/PID/task/TID/children (CONFIG_PROC_CHILDREN)");
	assert_null(list(look_who_asks, &seen, &listing));
	if (!seen.asked)
		RETURN_LACKING("a build-id in programs");
	assert_non_null(strstr(seen.status, "Seccomp:\t2\n"));
	assert_non_null(strstr(seen.status, "CapEff:\t0000000000000000\n"));
	if (geteuid() == 0)
		assert_non_null(strstr(seen.status, "Uid:\t65534\t65534\t65534\t65534\n"));
}

static int kill_who_asks(void *user, const struct debugfile_question *question, unsigned attempt,
			 char **path)
{
	bool *asked = user;

	(void)question, (void)attempt, (void)path;
	*asked = true;
	kill(child(), SIGKILL);
	return -1;
}

TEST(a_file_that_kills_its_reader_is_an_error)
{
	struct code_listing *listing;
	struct error *err;
	bool asked = false;

	if (lacks_capstone())
		RETURN_LACKING("capstone");
	if (access("/proc/thread-self/children", R_OK) < 0)
		RETURN_LACKING("/proc/PID/task/TID/children (CONFIG_PROC_CHILDREN)");
	err = list(kill_who_asks, &asked, &listing);
	if (!asked) {
		assert_null(err);
		code_listing_free(listing);
		RETURN_LACKING("a build-id in programs");
	}
	assert_non_null(err);
	assert_non_null(strstr(error_text(err), "the process that reads it"));
	error_free(err);
}

/* A function at 0x1000 of two instructions. */
static const char bytes[] = "\0\x10\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
			    "\1nop\0\0"
			    "\5call\t0x2000\0target";

static struct code_listing *read_copy(const char *from, size_t len)
{
	char *copy = xmalloc(len);

	memcpy(copy, from, len);
	return code_listing_read(copy, len);
}

TEST(a_listing_is_read_as_it_was_written)
{
	CLEANUP(code_listing_cleanup)
	struct code_listing *listing = read_copy(bytes, sizeof(bytes));
	const struct listed_function *function = listing->functions;

	assert_int_equal(listing->count, 1);
	assert_int_equal(function->vaddr, 0x1000);
	assert_int_equal(function->end, 0x1006);
	assert_int_equal(function->count, 2);
	assert_int_equal(function->items[1].vaddr, 0x1001);
	assert_string_equal(function->items[0].text, "nop");
	assert_string_equal(function->items[0].target, "");
	assert_string_equal(function->items[1].target, "target");
}

static void assert_refused(const char *from, size_t len)
{
	assert_null(read_copy(from, len));
}

TEST(a_damaged_listing_is_refused)
{
	char damaged[sizeof(bytes)];

	for (size_t len = 1; len < sizeof(bytes); len++)
		assert_refused(bytes, len);
	memcpy(damaged, bytes, sizeof(bytes));
	damaged[16] = 0; /* an instruction without bytes */
	assert_refused(damaged, sizeof(damaged));
	memcpy(damaged, bytes, sizeof(bytes));
	damaged[17] = '\033'; /* an escape sequence */
	assert_refused(damaged, sizeof(damaged));
	memcpy(damaged, bytes, sizeof(bytes));
	damaged[15] = '\177'; /* more instructions than bytes */
	assert_refused(damaged, sizeof(damaged));
	memcpy(damaged, bytes, sizeof(bytes));
	memset(damaged, 0xff, 8); /* beyond the last address */
	assert_refused(damaged, sizeof(damaged));
}
