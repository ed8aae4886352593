/*
 * What is asked about Java code, and how often: jvms.c with a reader that answers from a list of
 * blobs. Our own process has a file called libjvm.so mapped.
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
	uint32_t frame_bytes;
	bool has_ended;
	unsigned calls, pcs, checks;
};

static struct jvm_reader fake;

struct jvm_reader *jvm_reader_new(const char *proc)
{
	(void)proc;
	memset(&fake, 0, sizeof(fake));
	fake.frame_bytes = 64;
	return &fake;
}

void jvm_reader_free(struct jvm_reader *reader)
{
	(void)reader;
}

bool jvm_reader_open(struct jvm_reader *reader, pid_t pid, const struct elf_file *libjvm,
		     uint64_t bias, struct jvm_code *ret)
{
	(void)reader, (void)pid, (void)libjvm, (void)bias;
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
	uint64_t start = pc / BLOB_BYTES * BLOB_BYTES;

	return (struct code_blob){
		.start = start,
		.end = start + BLOB_BYTES,
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
	ask->has_piece = ask->code_pc != 0;
	return true;
}

/* --- Tests ------------------------------------------------------------------------------------ */

struct fixture {
	struct address_spaces *spaces;
	struct jvms *jvms;
	void *libjvm;
	uint64_t now_ns;
};

/* Where the code of a program is in its file. */
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

/* Any program. */
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
	struct fixture f = {.libjvm = map_libjvm(), .now_ns = clock_now_ns()};

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

/* The bytes of the frame of code; 0: there is no rule. */
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
	assert_int_equal(fake.pcs, 4); /* each once, and only those that can be code */
	assert_int_equal(caller_frame_of(&f, 1), 64);
	assert_int_equal(caller_frame_of(&f, 2), 64);
	assert_int_equal(frame_of(&f, code_of(0), false, bytes_of(NULL, 0)), 64);
	assert_int_equal(fake.calls, 1);
	assert_int_equal(caller_frame_of(&f, 3), 0);
	assert_int_equal(caller_frame_of(&f, 3), 0); /* nothing is there: not asked at once again */
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
	assert_int_equal(fake.checks, 1); /* the others were not used for long */
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
