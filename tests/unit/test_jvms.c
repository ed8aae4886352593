/*
 * Tests what jvms.c reads about Java code, and how often, with a reader that
 * answers from a list of blobs. This process has a file called libjvm.so
 * mapped.
 */
#include "unwind/jvms.h"

#include "base/clock.h"
#include "folder.h"
#include "unit_test.h"
#include "unwind/jvm_reader.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEAP = 0x100000, HEAP_BYTES = 1 << 20, BLOB_BYTES = 256, BLOBS_MAX = 4096 };

/* --- The reader ------------------------------------------------------------------------------- */

struct jvm_reader {
	struct jvm_look_up look_up;
	bool has_blob[BLOBS_MAX]; /* at HEAP + index * BLOB_BYTES */
	uint32_t blob_bytes, frame_bytes;
	bool has_ended, lacks_code;
	unsigned char instruction; /* at the requested pc */
	uint64_t takes_ns;	   /* time of each call */
	unsigned calls, pcs, checks, opened;
};

static struct jvm_reader fake;

/* The clock advances only while the reader reads. */
static uint64_t clock_ns;
uint64_t __wrap_clock_now_ns(void); /* NOLINT: the name that the linker wants */
uint64_t __wrap_clock_now_ns(void)  /* NOLINT */
{
	return clock_ns;
}

struct jvm_reader *jvm_reader_new(const char *proc)
{
	(void)proc;
	memset(&fake, 0, sizeof(fake));
	fake.blob_bytes = BLOB_BYTES;
	fake.frame_bytes = 64;
	fake.instruction = 0x90;
	clock_ns = 100 * NS_PER_SECOND;
	return &fake;
}

void jvm_reader_free(struct jvm_reader *reader)
{
	(void)reader;
}

bool jvm_reader_open(struct jvm_reader *reader, pid_t pid, const struct elf_file *libjvm,
		     uint64_t bias, struct jvm_code *ret)
{
	(void)pid, (void)libjvm, (void)bias;
	reader->opened++;
	memset(ret, 0, sizeof(*ret));
	ret->heaps.count = 1;
	ret->heaps.heaps[0] = (struct code_heap){.low = HEAP, .high = HEAP + HEAP_BYTES};
	return true;
}

struct jvm_look_up *jvm_reader_ask(struct jvm_reader *reader)
{
	memset(&reader->look_up, 0, sizeof(reader->look_up));
	return &reader->look_up;
}

static struct code_blob blob_at(uint64_t pc)
{
	uint64_t start = HEAP + (pc - HEAP) / fake.blob_bytes * fake.blob_bytes;

	return (struct code_blob){
		.start = start,
		.end = start + fake.blob_bytes,
		.complete = start,
		.frame_bytes = fake.frame_bytes,
		.kind = CODE_METHOD,
	};
}

static bool has_blob(uint64_t pc)
{
	return fake.has_blob[(pc - HEAP) / BLOB_BYTES];
}

bool jvm_reader_look_up(struct jvm_reader *reader, pid_t pid, struct jvm_code *code)
{
	struct jvm_look_up *ask = &reader->look_up;

	(void)pid, (void)code;
	clock_ns += reader->takes_ns;
	reader->calls++;
	reader->pcs += ask->pc_count;
	reader->checks += ask->check_count;
	if (reader->has_ended)
		return false;
	for (unsigned i = 0; i < ask->pc_count; i++)
		if (has_blob(ask->pcs[i]))
			ask->blobs[ask->blob_count++] = blob_at(ask->pcs[i]);
	for (unsigned i = 0; i < ask->check_count; i++)
		ask->is_valid[i] = has_blob(ask->checks[i].start) &&
				   ask->checks[i].frame_bytes == reader->frame_bytes;
	ask->has_piece = ask->code_pc != 0 && !reader->lacks_code;
	memset(ask->piece.bytes, 0x90, sizeof(ask->piece.bytes));
	ask->piece.bytes[JAVA_CODE_BEFORE + ask->code_pc % (1 << JVM_PIECE_LOG2)] =
		reader->instruction;
	return true;
}

/* --- Tests ------------------------------------------------------------------------------------ */

struct fixture {
	struct address_spaces *spaces;
	struct jvms *jvms;
	void *libjvm;
	uint64_t now_ns;
};

/* Returns the offset of a program's code in its file. */
static off_t code_offset(int fd)
{
	_Alignas(Elf64_Ehdr) unsigned char start[4096];
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)start;
	const Elf64_Phdr *segment = (const Elf64_Phdr *)(start + sizeof(*header));

	assert_int_equal(pread(fd, start, sizeof(start), 0), sizeof(start));
	while (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
		segment++;
	return (off_t)(segment->p_offset / 4096 * 4096);
}

/* Maps some program as libjvm. */
static void *map_libjvm(void)
{
	CLEANUP(free_ptr) char *path = path_of("libjvm.so");
	CLEANUP(free_ptr) char *copy = xasprintf("cp /proc/self/exe %s", path);
	CLEANUP(close_fd) int fd = -1;
	void *at;

	assert_int_equal(system(copy), 0); /* NOLINT */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, code_offset(fd));
	assert_true(at != MAP_FAILED);
	return at;
}

static struct fixture fixture_new(void)
{
	struct fixture f = {.libjvm = map_libjvm(), .now_ns = 100 * NS_PER_SECOND};

	f.spaces = address_spaces_new("/proc");
	address_spaces_snapshot(f.spaces, getpid(), f.now_ns);
	f.jvms = jvms_new(f.spaces, "/proc");
	return f;
}

static void fixture_free(struct fixture *f)
{
	jvms_free(f->jvms);
	address_spaces_free(f->spaces);
	munmap(f->libjvm, 4096);
}

static uint64_t code_of(unsigned blob)
{
	return HEAP + blob * BLOB_BYTES + 100;
}

/* Returns the frame size of code in bytes, or 0 if there is no rule. */
static uint32_t frame_of(struct fixture *f, uint64_t pc, bool is_return_address, struct bytes stack)
{
	struct jvm *jvm = jvms_find(f->jvms, getpid(), f->now_ns);
	const struct jvm_pc at = {.pc = pc, .is_return_address = is_return_address, .stack = stack};
	struct java_rule rule;

	assert_non_null(jvm);
	return jvm_rule(jvm, &at, &rule) ? rule.frame_bytes : 0;
}

static uint32_t caller_frame_of(struct fixture *f, unsigned blob)
{
	return frame_of(f, code_of(blob), true, bytes_of(NULL, 0));
}

TEST_IN_FOLDER(a_stack_is_looked_up_by_one_call)
{
	struct fixture f = fixture_new();
	uint64_t stack[] = {code_of(1), 7,	   code_of(2), HEAP + HEAP_BYTES + 1,
			    code_of(1), code_of(3)};

	memset(fake.has_blob, true, 3);
	assert_int_equal(frame_of(&f, code_of(0), false, bytes_of(stack, sizeof(stack))), 64);
	assert_int_equal(fake.calls, 1);
	assert_int_equal(fake.pcs, 4); /* each once, and only addresses that can be code */
	assert_int_equal(caller_frame_of(&f, 1), 64);
	assert_int_equal(caller_frame_of(&f, 2), 64);
	assert_int_equal(frame_of(&f, code_of(0), false, bytes_of(NULL, 0)), 64);
	assert_int_equal(fake.calls, 1);
	assert_int_equal(caller_frame_of(&f, 3), 0);
	/* nothing is there, so it is not read again immediately */
	assert_int_equal(caller_frame_of(&f, 3), 0);
	assert_int_equal(fake.calls, 2);
	fixture_free(&f);
}

TEST_IN_FOLDER(all_blobs_in_use_are_compared_by_one_call)
{
	enum { USED = 100 };
	struct fixture f = fixture_new();

	memset(fake.has_blob, true, USED);
	for (unsigned i = 0; i < USED; i++)
		assert_int_equal(caller_frame_of(&f, i), 64);
	fake.calls = 0;
	f.now_ns = clock_now_ns() + 300 * NS_PER_MS;
	assert_int_equal(caller_frame_of(&f, 40), 64);
	assert_int_equal(fake.calls, 1);
	assert_int_equal(fake.checks, USED);
	f.now_ns += 10 * NS_PER_SECOND;
	fake.checks = 0;
	assert_int_equal(caller_frame_of(&f, 40), 64);
	assert_int_equal(fake.checks, 1); /* the others were not used for a long time */
	fixture_free(&f);
}

TEST_IN_FOLDER(of_more_blobs_than_a_call_compares_the_asked_one_is_among_them)
{
	enum { USED = JVM_CHECKS_MAX + 100 };
	struct fixture f = fixture_new();

	memset(fake.has_blob, true, USED);
	for (unsigned i = 0; i < USED; i++)
		assert_int_equal(caller_frame_of(&f, i), 64);
	fake.has_blob[USED - 1] = false;
	f.now_ns = clock_now_ns() + 300 * NS_PER_MS;
	assert_int_equal(caller_frame_of(&f, USED - 1), 0);
	assert_int_equal(fake.checks, JVM_CHECKS_MAX);
	fixture_free(&f);
}

static uint32_t leaf_frame_of(struct fixture *f, uint64_t pc)
{
	return frame_of(f, pc, false, bytes_of(NULL, 0));
}

TEST_IN_FOLDER(a_blob_is_looked_at_again_when_it_was_read_a_quarter_of_a_second_ago)
{
	static const struct {
		unsigned ms, ns; /* time since it was read */
		unsigned calls, checks;
	} cases[] = {{250, 0, 0, 0}, {250, 1, 1, 1}};

	for (unsigned i = 0; i < 2; i++) {
		for (unsigned is_there = 0; is_there < 2; is_there++) {
			struct fixture f = fixture_new();

			fake.has_blob[5] = is_there;
			assert_int_equal(caller_frame_of(&f, 5), is_there ? 64 : 0);
			f.now_ns += cases[i].ms * NS_PER_MS + cases[i].ns;
			assert_int_equal(caller_frame_of(&f, 5), is_there ? 64 : 0);
			assert_int_equal(fake.calls, 1 + cases[i].calls);
			assert_int_equal(fake.checks, is_there ? cases[i].checks : 0);
			fixture_free(&f);
		}
	}
}

/* When another blob is requested. */
TEST_IN_FOLDER(blobs_are_compared_if_they_were_used_and_not_just_read)
{
	static const struct {
		uint64_t after_ns;
		unsigned checks;
	} cases[] = {
		{125 * NS_PER_MS, 0},
		{125 * NS_PER_MS + 1, 2},
		{5 * NS_PER_SECOND, 2},
		{5 * NS_PER_SECOND + 1, 0},
	};

	for (unsigned i = 0; i < 4; i++) {
		struct fixture f = fixture_new();

		memset(fake.has_blob, true, 3);
		caller_frame_of(&f, 0);
		caller_frame_of(&f, 1);
		f.now_ns += cases[i].after_ns;
		assert_int_equal(caller_frame_of(&f, 2), 64);
		assert_int_equal(fake.checks, cases[i].checks);
		fixture_free(&f);
	}
}

TEST_IN_FOLDER(reading_takes_at_most_a_fifth_of_each_second)
{
	struct fixture f = fixture_new();

	memset(fake.has_blob, true, 10);
	fake.takes_ns = 50 * NS_PER_MS;
	for (unsigned second = 0; second < 2; second++) {
		for (unsigned i = 0; i < 5; i++)
			assert_int_equal(caller_frame_of(&f, 5 * second + i), i < 4 ? 64 : 0);
		assert_int_equal(fake.calls, 4 * (second + 1));
		clock_ns = (101 + second) * NS_PER_SECOND;
		f.now_ns += NS_PER_SECOND / 100;
	}
	assert_int_equal(caller_frame_of(&f, 4), 64);
	fixture_free(&f);
}

TEST_IN_FOLDER(a_blob_takes_the_place_of_all_that_it_overlaps)
{
	struct fixture f = fixture_new();

	memset(fake.has_blob, true, 20);
	for (unsigned i = 1; i < 6; i++)
		caller_frame_of(&f, i);
	fake.blob_bytes = 4 * BLOB_BYTES;
	fake.frame_bytes = 96;
	assert_int_equal(caller_frame_of(&f, 0), 96); /* in the place of 0 to 3 */
	fake.blob_bytes = 3 * BLOB_BYTES;
	fake.frame_bytes = 128;
	assert_int_equal(caller_frame_of(&f, 4), 64);
	assert_int_equal(caller_frame_of(&f, 6), 128); /* 6 to 8 */
	assert_int_equal(caller_frame_of(&f, 3), 96);
	assert_int_equal(caller_frame_of(&f, 5), 64);
	assert_int_equal(fake.calls, 7);
	fake.blob_bytes = 5 * BLOB_BYTES;
	/* 5 to 9, which overlaps the end of 6 to 8 */
	assert_int_equal(caller_frame_of(&f, 9), 128);
	assert_int_equal(caller_frame_of(&f, 5), 128);
	assert_int_equal(caller_frame_of(&f, 4), 64);
	assert_int_equal(fake.calls, 8);
	fixture_free(&f);
}

TEST_IN_FOLDER(the_code_at_a_pc_is_read_once)
{
	struct fixture f = fixture_new();

	memset(fake.has_blob, true, 20);
	fake.instruction = 0x5d; /* pop %rbp: the size of the frame is not fixed */
	assert_int_equal(leaf_frame_of(&f, code_of(9)), 0);
	assert_int_equal(leaf_frame_of(&f, code_of(9) + 1), 64);
	assert_int_equal(fake.calls, 1);
	assert_int_equal(caller_frame_of(&f, 1), 64);
	assert_int_equal(leaf_frame_of(&f, code_of(1)), 0);
	assert_int_equal(leaf_frame_of(&f, code_of(1) + 1), 64);
	assert_int_equal(leaf_frame_of(&f, code_of(9)), 0);
	assert_int_equal(fake.calls, 3);
	/* There is no rule if the code cannot be read, or if the blob has
	 * changed in the meantime. */
	fake.lacks_code = true;
	fake.instruction = 0x90;
	assert_int_equal(leaf_frame_of(&f, code_of(2)), 0);
	fake.lacks_code = false;
	assert_int_equal(leaf_frame_of(&f, code_of(2)), 64);
	caller_frame_of(&f, 3);
	fake.has_blob[3] = false;
	f.now_ns += 200 * NS_PER_MS;
	assert_int_equal(leaf_frame_of(&f, code_of(3) + 1), 0);
	fixture_free(&f);
}

/* The least recently used ones are replaced. */
TEST_IN_FOLDER(a_thousand_processes_are_known)
{
	enum { OTHERS = 1 << 24 };
	struct fixture f = fixture_new();

	memset(fake.has_blob, true, 3);
	assert_null(jvms_find(f.jvms, OTHERS, f.now_ns));
	f.now_ns++;
	caller_frame_of(&f, 0);
	for (unsigned i = 1; i < 1024; i++)
		assert_null(jvms_find(f.jvms, OTHERS + (pid_t)i, f.now_ns + i));
	caller_frame_of(&f, 0);
	assert_int_equal(fake.opened, 1);
	for (unsigned i = 0; i < 1024; i++)
		assert_null(jvms_find(f.jvms, OTHERS + 2000 + (pid_t)i, f.now_ns + 2000 + i));
	clock_ns += 2 * NS_PER_SECOND;
	assert_int_equal(caller_frame_of(&f, 0), 64);
	assert_int_equal(fake.opened, 2);
	fixture_free(&f);
}

TEST_IN_FOLDER(a_process_that_becomes_a_machine_or_another_one_is_looked_at_again)
{
	struct address_spaces *spaces = address_spaces_new("/proc");
	struct jvms *jvms = jvms_new(spaces, "/proc");
	void *libjvm;

	assert_null(jvms_find(jvms, getpid(), 1));
	libjvm = map_libjvm();
	address_spaces_snapshot(spaces, getpid(), 2);
	clock_ns += NS_PER_SECOND - 1;
	assert_null(jvms_find(jvms, getpid(), 3));
	clock_ns++;
	assert_non_null(jvms_find(jvms, getpid(), 4));
	assert_non_null(jvms_find(jvms, getpid(), 5));
	assert_int_equal(fake.opened, 1);
	munmap(libjvm, 4096);
	address_spaces_map(spaces, getpid(), 6,
			   &(struct mapping){.start = (uint64_t)libjvm,
					     .end = (uint64_t)libjvm + 4096,
					     .path = "/another"});
	assert_null(jvms_find(jvms, getpid(), 7));
	jvms_free(jvms);
	address_spaces_free(spaces);
}

TEST_IN_FOLDER(a_replaced_blob_has_the_new_ones_rule)
{
	struct fixture f = fixture_new();

	memset(fake.has_blob, true, 2);
	assert_int_equal(caller_frame_of(&f, 0), 64);
	assert_int_equal(caller_frame_of(&f, 1), 64);
	fake.frame_bytes = 96;
	f.now_ns = clock_now_ns() + 300 * NS_PER_MS;
	caller_frame_of(&f, 0);
	assert_int_equal(caller_frame_of(&f, 1), 96);
	fixture_free(&f);
}

TEST_IN_FOLDER(what_is_known_of_a_process_that_ended_stays)
{
	struct fixture f = fixture_new();

	memset(fake.has_blob, true, 2);
	assert_int_equal(caller_frame_of(&f, 0), 64);
	fake.has_ended = true;
	f.now_ns = clock_now_ns() + 300 * NS_PER_MS;
	assert_int_equal(caller_frame_of(&f, 0), 64);
	assert_int_equal(caller_frame_of(&f, 1), 0);
	assert_int_equal(fake.calls, 2);
	fixture_free(&f);
}

TEST_IN_FOLDER(a_process_without_a_virtual_machine_is_none)
{
	struct address_spaces *spaces = address_spaces_new("/proc");
	struct jvms *jvms = jvms_new(spaces, "/proc");
	uint64_t now_ns = clock_now_ns();

	address_spaces_snapshot(spaces, getpid(), now_ns);
	assert_null(jvms_find(jvms, getpid(), now_ns));
	jvms_free(jvms);
	address_spaces_free(spaces);
}
