#include "proc/jitdump.h"

#include "base/alloc.h"
#include "symbol/jitdump_names.h"

#include "unit_test.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PC = 0x7000, CODE_BYTES = 32, RECORD_BYTES_MAX = 256 };

/* A file that its process is writing. */
struct fixture {
	int fd;
	struct timed_caller *caller;
	struct jitdump *jitdump;
};

/* The budget of all files. */
static struct code_budget budget;

static void write_bytes(const struct fixture *fixture, const void *bytes, size_t len)
{
	assert_int_equal(write(fixture->fd, bytes, len), len);
}

static void write_record(const struct fixture *fixture, uint32_t kind, uint64_t time_ns,
			 const void *body, size_t len)
{
	const uint32_t head[] = {kind, (uint32_t)(16 + len)};

	write_bytes(fixture, head, sizeof(head));
	write_bytes(fixture, &time_ns, sizeof(time_ns));
	write_bytes(fixture, body, len);
}

/* Writes a function and returns the offset of its code in the file. */
static uint64_t write_load(const struct fixture *fixture, uint64_t time_ns, uint64_t address,
			   const char *name)
{
	const uint64_t fields[] = {0, address, address, CODE_BYTES, 1};
	unsigned char body[RECORD_BYTES_MAX] = {0};
	size_t len = sizeof(fields);

	memcpy(body, fields, sizeof(fields));
	memcpy(body + len, name, strlen(name) + 1);
	len += strlen(name) + 1 + CODE_BYTES;
	write_record(fixture, 0, time_ns, body, len);
	return (uint64_t)lseek(fixture->fd, 0, SEEK_END) - CODE_BYTES;
}

static void write_move(const struct fixture *fixture, uint64_t time_ns, uint64_t from, uint64_t to)
{
	const uint64_t fields[] = {0, to, from, to, CODE_BYTES, 1};

	write_record(fixture, 1, time_ns, fields, sizeof(fields));
}

static void write_header(const struct fixture *fixture, uint32_t padding, uint64_t flags)
{
	const uint32_t words[] = {0x4a695444, 1, 40, 62, padding, 7};
	const uint64_t time_ns = 1;

	write_bytes(fixture, words, sizeof(words));
	write_bytes(fixture, &time_ns, sizeof(time_ns));
	write_bytes(fixture, &flags, sizeof(flags));
}

static struct fixture fixture_new(void)
{
	struct fixture fixture = {.fd = memfd_create("jitdump", MFD_CLOEXEC),
				  .caller = timed_caller_new()};

	assert_true(fixture.fd >= 0);
	assert_int_equal(budget.used, 0);
	budget = (struct code_budget){0};
	return fixture;
}

static void open_jitdump(struct fixture *fixture, bool is_complete, bool has_other_time)
{
	fixture->jitdump = jitdump_new(dup(fixture->fd), &(struct jitdump_options){
								 .caller = fixture->caller,
								 .budget = &budget,
								 .is_complete = is_complete,
								 .has_other_time = has_other_time,
							 });
}

static void fixture_deinit(struct fixture *fixture)
{
	jitdump_free(fixture->jitdump);
	timed_caller_free(fixture->caller);
	close_fd(&fixture->fd);
}

/* Returns the place of an address. If the file was not read far enough, the
 * place is settled first. */
static uint64_t place_of(const struct fixture *fixture, uint64_t pc, uint64_t time_ns)
{
	struct jitdump_place place;
	uint64_t settled;

	assert_true(jitdump_locate(fixture->jitdump, pc, time_ns, &place));
	if (!(place.offset & JITDUMP_OPEN))
		return place.offset;
	assert_true(jitdump_settle(fixture->jitdump, place.offset, &settled));
	return settled;
}

TEST(each_generation_of_an_address_has_its_own_place)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	uint64_t first, second;

	write_header(&fixture, 0, 0);
	first = write_load(&fixture, 100, PC, "first");
	second = write_load(&fixture, 200, PC, "second");
	write_load(&fixture, 300, PC + 4096, "last");
	open_jitdump(&fixture, false, false);
	assert_int_equal(place_of(&fixture, PC + 3, 150), first + 3);
	assert_int_equal(place_of(&fixture, PC + 3, 250), second + 3);
	assert_int_equal(place_of(&fixture, PC + 3, 400), second + 3);
}

TEST(code_that_runs_before_it_is_reported_is_found)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	uint64_t first;

	write_header(&fixture, 0, 0);
	first = write_load(&fixture, 100, PC, "first");
	write_load(&fixture, 200, PC, "second");
	open_jitdump(&fixture, false, false);
	assert_int_equal(place_of(&fixture, PC, 50), first);
}

TEST(moved_code_keeps_its_bytes)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	uint64_t first, second;

	write_header(&fixture, 0, 0);
	first = write_load(&fixture, 100, PC, "first");
	write_move(&fixture, 200, PC, PC + 8192);
	second = write_load(&fixture, 300, PC, "second");
	open_jitdump(&fixture, false, false);
	assert_int_equal(place_of(&fixture, PC + 8192 + 5, 250), first + 5);
	assert_int_equal(place_of(&fixture, PC + 5, 350), second + 5);
}

TEST(a_function_that_is_written_later_is_settled_at_the_end)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct jitdump_place first, second;
	uint64_t offset, settled;

	write_header(&fixture, 0, 0);
	open_jitdump(&fixture, false, false);
	assert_true(jitdump_locate(fixture.jitdump, PC + 1, 150, &first));
	assert_true(first.offset & JITDUMP_OPEN);
	assert_true(first.offset % 2 == 0);
	assert_false(jitdump_settle(fixture.jitdump, first.offset, &settled));
	assert_int_equal(settled, PC + 1);
	offset = write_load(&fixture, 100, PC, "first");
	jitdump_read_on(fixture.jitdump);
	/* By then, the file may have another function that is not written yet. */
	assert_true(jitdump_locate(fixture.jitdump, PC + 1, 250, &second));
	assert_true(second.offset & JITDUMP_OPEN);
	assert_true(second.offset != first.offset);
	write_load(&fixture, 200, PC, "second");
	jitdump_read_on(fixture.jitdump);
	assert_true(jitdump_settle(fixture.jitdump, first.offset, &settled));
	assert_int_equal(settled, offset + 1);
	assert_true(jitdump_settle(fixture.jitdump, second.offset, &settled));
	assert_int_not_equal(settled, offset + 1);
}

TEST(half_of_a_record_is_awaited)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	uint64_t size;

	write_header(&fixture, 0, 0);
	write_load(&fixture, 100, PC, "first");
	size = (uint64_t)lseek(fixture.fd, 0, SEEK_END);
	assert_int_equal(ftruncate(fixture.fd, (off_t)size - CODE_BYTES - 4), 0);
	open_jitdump(&fixture, false, false);
	jitdump_read_on(fixture.jitdump);
	assert_int_equal(jitdump_count(fixture.jitdump), 0);
	lseek(fixture.fd, 40, SEEK_SET);
	write_load(&fixture, 100, PC, "first");
	jitdump_read_on(fixture.jitdump);
	assert_int_equal(jitdump_count(fixture.jitdump), 1);
}

TEST(a_recorded_file_says_at_once_what_it_lacks)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct jitdump_place place;
	uint64_t first;

	write_header(&fixture, 0, 0);
	first = write_load(&fixture, 100, PC, "first");
	open_jitdump(&fixture, true, false);
	assert_false(jitdump_locate(fixture.jitdump, PC + CODE_BYTES, 150, &place));
	assert_int_equal(place_of(&fixture, PC, 150), first);
	assert_int_equal(place_of(&fixture, PC, 1000), first);
}

TEST(without_a_common_clock_the_last_generation_counts)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	uint64_t second;

	write_header(&fixture, 0, 0);
	write_load(&fixture, 100, PC, "first");
	second = write_load(&fixture, 200, PC, "second");
	open_jitdump(&fixture, true, true);
	assert_int_equal(place_of(&fixture, PC, 150), second);
}

TEST(another_file_is_not_read)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	static const char text[] = "this is not a jitdump, though its name says that it is one";
	struct jitdump_place place;

	write_bytes(&fixture, text, sizeof(text));
	open_jitdump(&fixture, false, false);
	assert_false(jitdump_locate(fixture.jitdump, PC, 150, &place));
}

/* Each function has a megabyte, which is a hole in the file. */
TEST(what_a_file_claims_is_bounded)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	enum { MOVES = 100000 };

	write_header(&fixture, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t fields[] = {0, PC, PC, 1 << 28, 1};
		const uint32_t head[] = {0, 16 + sizeof(fields) + 2 + (1 << 28)};
		const uint64_t time_ns = 100;

		write_bytes(&fixture, head, sizeof(head));
		write_bytes(&fixture, &time_ns, sizeof(time_ns));
		write_bytes(&fixture, fields, sizeof(fields));
		write_bytes(&fixture, "f", 2);
		lseek(fixture.fd, 1 << 28, SEEK_CUR);
	}
	for (unsigned i = 0; i < MOVES; i++) {
		const uint64_t fields[] = {0, PC, PC, PC, 1 << 28, 1};

		write_record(&fixture, 1, 100, fields, sizeof(fields));
	}
	open_jitdump(&fixture, false, false);
	jitdump_read_on(fixture.jitdump);
	assert_true(jitdump_count(fixture.jitdump) < MOVES);
	assert_true(budget.used <= 1 << 20);
}

/* Each move searches for its function among those that were added to its page
 * since. */
TEST(a_file_that_takes_long_is_read_by_and_by_and_others_meanwhile)
{
	CLEANUP(fixture_deinit) struct fixture slow = fixture_new(), other = fixture_new();
	enum { MOVES = 200000, LAST = PC + (1 << 16) };
	struct jitdump_place place;
	uint64_t last, settled;

	write_header(&slow, 0, 0);
	write_load(&slow, 100, PC, "f");
	for (unsigned i = 0; i < MOVES; i++)
		write_move(&slow, 100, PC, PC + CODE_BYTES);
	last = write_load(&slow, 100, LAST, "last");
	write_header(&other, 0, 0);
	write_load(&other, 100, PC, "g");
	write_load(&other, 200, LAST, "last");
	open_jitdump(&slow, false, false);
	open_jitdump(&other, false, false);

	assert_true(jitdump_locate(slow.jitdump, LAST, 100, &place));
	assert_true(place.offset & JITDUMP_OPEN);
	assert_false(jitdump_settle(slow.jitdump, place.offset, &settled));
	assert_int_not_equal(place_of(&other, PC, 100), 0);
	jitdump_read_on(slow.jitdump);
	assert_true(jitdump_settle(slow.jitdump, place.offset, &settled));
	assert_int_equal(settled, last);
}

TEST(names_and_lines_are_found_by_the_place_of_the_code)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct {
		uint64_t address, count, first;
		uint32_t line, column;
		char file[5];
	} __attribute__((packed)) debug = {PC, 1, PC + 4, 12, 3, "a.js"};
	uint64_t first, second;
	CLEANUP(close_file) FILE *file = NULL;
	struct listed_line lines[4];
	const char *names[4];
	struct arena arena = {0};

	write_header(&fixture, 0, 0);
	write_record(&fixture, 2, 100, &debug, sizeof(debug));
	first = write_load(&fixture, 100, PC, "first");
	second = write_load(&fixture, 200, PC, "second");
	file = fdopen(dup(fixture.fd), "r");
	assert_true(jitdump_names_is(file));
	assert_true(jitdump_names_find(
		file, (uint64_t[]){first, first + 4, second + 4, second + CODE_BYTES}, 4, &arena,
		names, lines));
	assert_string_equal(names[0], "first");
	assert_null(lines[0].file);
	assert_string_equal(names[1], "first");
	assert_string_equal(lines[1].file, "a.js");
	assert_int_equal(lines[1].line, 12);
	/* Lines apply only to the next function. */
	assert_string_equal(names[2], "second");
	assert_null(lines[2].file);
	assert_null(names[3]);
	arena_deinit(&arena);
}
