/*
 * Fuzzes the memory that a hostile program shares with prof.
 *
 * The input is either a byte 255 followed by operations (struct input), or
 * plain bytes. Plain bytes are parts of 32-bit words: the agent ring (low
 * byte), the position in it (0: its start, 1: before its end, 2: the current
 * one), the distance that the head moves, the number of bytes that follow, and
 * these bytes. The agent rings are read after each part. Only operations
 * advance the time, so the load of the machine does not change the outcome.
 */
#include "../unit/agent_ring_writer.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "inside/source.h"
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Replaces the clocks of base/clock.h (--wrap). */
uint64_t __wrap_clock_now_ns(void);	   /* NOLINT: the names that the linker wants */
uint64_t __wrap_clock_thread_cpu_ns(void); /* NOLINT */

enum {
	PC_BIT = 8,
	PARTS_MAX = 64,
	OPERATIONS = 255, /* the first byte of an input */
	OPERATIONS_MAX = 96,
	AGENT_RINGS = 4,
	LINE_BYTES = 4400,
	OWN_START = 1 << 16, /* the addresses of synthetic mappings are lower */
};

/* The processes that records name. */
static struct {
	struct inside_file file;
	pid_t self, child, other; /* the other process does not share the file */
} world;

static struct {
	uint64_t now_ns, cpu_ns;
} clocks = {.now_ns = 1000 * NS_PER_SECOND};

uint64_t __wrap_clock_now_ns(void) /* NOLINT */
{
	return ++clocks.now_ns;
}

uint64_t __wrap_clock_thread_cpu_ns(void) /* NOLINT */
{
	return clocks.cpu_ns;
}

static void check(bool holds)
{
	if (!holds)
		abort();
}

static pid_t waiting_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static void prepare_world(void)
{
	if (!world.self) {
		world.other = waiting_child();
		check(!inside_file_make(&world.file));
		world.child = waiting_child();
		world.self = getpid();
	}
	check(fallocate(world.file.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			(off_t)INSIDE_FILE_BYTES) == 0);
}

static uint64_t sum_of(struct bytes bytes)
{
	uint64_t sum = 0;

	while (bytes_left(&bytes))
		sum = sum * 31 + bytes_u8(&bytes);
	return sum;
}

/* Reads every byte that a record claims to have. Notes everything that does not
 * depend on clocks and process ids. */
static void check_record(const struct record *record, bool is_noted)
{
	uint64_t numbers[] = {record->type, 0, 0, 0};

	check(record->type == RECORD_LOST || (record->pid > 0 && record->tid > 0));
	check(record->pid != world.other);
	check(record->time_ns <= clock_now_ns());
	if (record->type == RECORD_MMAP) {
		check(record->mmap.is_claimed || record->pid == world.self ||
		      record->pid == world.child);
		numbers[1] = record->mmap.is_claimed;
		numbers[2] = strlen(record->mmap.path);
		is_noted &= record->mmap.start < OWN_START;
	} else if (record->type == RECORD_SAMPLE || record->type == RECORD_ALLOC) {
		numbers[1] = sum_of(record->sample.regs.values) ^ sum_of(record->sample.stack);
		numbers[2] = record->type == RECORD_ALLOC ? record->allocation.address
							  : record->sample.period;
	} else if (record->type == RECORD_FREE) {
		numbers[1] = record->allocation.address;
	} else {
		numbers[1] = record->type == RECORD_COMM ? strlen(record->comm.name) : 0;
		is_noted = false;
	}
	for (unsigned i = 0; is_noted && i < ARRAY_SIZE(numbers); i++)
		note_number("records", numbers[i]);
	/* keeps the compiler from omitting the reads */
	check(numbers[1] != 0x8badf00d8badf00d);
}

static bool read_next(struct record_source *records, bool is_noted)
{
	struct record record;
	bool is_there = record_source_next(records, &record);

	if (is_there)
		check_record(&record, is_noted);
	return is_there;
}

static void read_batch(struct record_source *records, bool is_noted)
{
	record_source_batch(records);
	while (read_next(records, is_noted))
		continue;
}

/* ---- Plain bytes ---- */

static void write_part(struct bytes *from)
{
	unsigned index = bytes_u32(from) % INSIDE_RINGS, place = bytes_u32(from) % 3;
	uint32_t moved = bytes_u32(from);
	struct bytes what = bytes_sub(from, bytes_u32(from) % (64 << 10));
	struct inside_ring *agent_ring = agent_ring_of(&world.file, index);
	unsigned char *ring = agent_ring_bytes(&world.file, index);
	size_t len = bytes_left(&what);

	if (place < 2)
		agent_ring->head = agent_ring->tail = place ? INSIDE_RING_BYTES - len / 8 * 8 : 0;
	for (size_t i = 0; i < len; i++)
		ring[(agent_ring->head + i) % INSIDE_RING_BYTES] = what.at[i];
	agent_ring->head += moved;
}

static void read_parts(struct record_source *records, struct bytes from)
{
	for (unsigned i = 0; i < PARTS_MAX && bytes_left(&from); i++) {
		write_part(&from);
		read_batch(records, false);
	}
}

/* ---- Operations ---- */

struct input {
	const uint8_t *at, *end;
	struct inside_source *source;
	struct record_source records;
	uint64_t begin_ns, written;
};

static unsigned take(struct input *input, unsigned below)
{
	return input->at < input->end ? *input->at++ % below : 0;
}

static int take_pid(struct input *input)
{
	int pids[] = {world.self, world.child, world.other, INT32_MAX, 0, -1};

	return pids[take(input, ARRAY_SIZE(pids))];
}

/* Orders records by number, not by the clock. */
static uint64_t take_time(struct input *input)
{
	uint64_t now_ns = input->begin_ns + ++input->written;
	uint64_t times_ns[] = {now_ns, now_ns, now_ns, 1, now_ns + 1000 * NS_PER_SECOND};

	return times_ns[take(input, ARRAY_SIZE(times_ns))];
}

/* Returns the first mapping of a file's code in this process. */
static const char *own_mapping(void)
{
	static char line[LINE_BYTES];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && fgets(line, sizeof(line), maps) &&
	       (!strstr(line, " r-xp ") || !strchr(line, '/')))
		continue;
	if (maps)
		fclose(maps);
	return line;
}

static const char *take_mappings(struct input *input)
{
	static const char *const texts[] = {
		"1000-3000 r-xp 00000000 fe:01 77 /bin/program\n8000-9000 r-xp 0 00:00 0 [vdso]\n",
		"9000-8000 r-xp 0 fe:01 77 /a\nffffffffffffffff-0 r-xp 0 0:0 1 /b\n",
		"nonsense\n\n1-2 r-xp ffffffffffffffffffff fe:01 77 /c",
		"5000-6000 r-xp 0 fe:01 77 ../../etc/shadow\n3000-4000 ---p 0 fe:01 77 /d\n",
	};
	unsigned which = take(input, ARRAY_SIZE(texts) + 1);

	return which < ARRAY_SIZE(texts) ? texts[which] : own_mapping();
}

static void write_record(struct input *input, enum inside_type type)
{
	struct {
		struct inside_header header;
		uint64_t words[1 + LINE_BYTES / 8];
	} record = {0};
	/* Makes the registers and the stack of a sample. */
	const uint64_t stack[] = {7 << (PC_BIT - 2), 32, 1, 2, 0x1234, 11, 12, 13, 14};
	unsigned flags = take(input, 4), words = 3;
	int pid = take_pid(input), tid = take_pid(input);
	unsigned agent_ring = take(input, AGENT_RINGS), address = take(input, 16);

	record.header = header_of(type, flags, pid, tid);
	record.header.time_ns = take_time(input);
	record.words[0] = type == INSIDE_START ? (uint32_t)take_pid(input) : address;
	record.words[1] = UINT64_C(1) << take(input, 64);
	if (type == INSIDE_MAPS) {
		strcpy((char *)&record.words[1], take_mappings(input));
		record.words[0] = strlen((char *)&record.words[1]);
		words = 1 + ((unsigned)record.words[0] + 7) / 8;
	} else if (type == INSIDE_CPU || type == INSIDE_ALLOC) {
		words = type == INSIDE_CPU ? 1 : 3;
		memcpy(&record.words[words], stack, sizeof(stack));
		words += ARRAY_SIZE(stack);
	}
	agent_ring_write(&world.file, agent_ring, &record, sizeof(record.header) + words * 8);
}

/* Changes a length, a type, a mask of registers or another word of a record
 * that was written and perhaps read. */
static void change_ring(struct input *input)
{
	unsigned index = take(input, AGENT_RINGS);
	uint64_t at = agent_ring_of(&world.file, index)->head - 8 * (uint64_t)take(input, 128);

	at += take(input, 8);
	agent_ring_bytes(&world.file, index)[at % INSIDE_RING_BYTES] = (unsigned char)take(input,
											   256);
}

static void change_agent_ring(struct input *input)
{
	struct inside_ring *agent_ring = agent_ring_of(&world.file, take(input, AGENT_RINGS));
	const uint64_t steps[] = {8,
				  64,
				  1,
				  (uint64_t)-8,
				  INSIDE_RING_BYTES - 64,
				  INSIDE_RING_BYTES,
				  INSIDE_RING_BYTES + 8,
				  UINT64_C(1) << 63};
	uint64_t *changed[] = {&agent_ring->head, &agent_ring->tail};
	bool of_tail = take(input, 8) == 0;

	*changed[of_tail] += steps[take(input, ARRAY_SIZE(steps))];
	agent_ring->owner = (uint32_t)take_pid(input);
}

static void change_control(struct input *input)
{
	struct inside_control *control = world.file.control;
	uint64_t *counters[] = {&control->magic,      &control->alloc_period,  &control->lost,
				&control->lost_frees, &control->lost_mappings, &control->untracked};
	unsigned which = take(input, ARRAY_SIZE(counters));

	*counters[which] += UINT64_C(1) << take(input, 64);
}

static void steer(struct input *input)
{
	switch (take(input, 6)) {
	case 0:
		inside_source_pause(input->source);
		break;
	case 1:
		inside_source_resume(input->source);
		break;
	case 2:
		inside_source_limit(input->source, input->begin_ns + take(input, 32));
		break;
	case 3:
		inside_source_limit(input->source, 0);
		break;
	case 4:
		inside_source_skip(input->source);
		break;
	default:
		record_source_disable(&input->records);
		break;
	}
}

static void let_time_pass(struct input *input)
{
	const unsigned times_ms[] = {1, 10, 60, 200, 1000, 5000};
	uint64_t time_ns = times_ms[take(input, ARRAY_SIZE(times_ms))] * NS_PER_MS;

	clocks.now_ns += time_ns;
	if (take(input, 2))
		clocks.cpu_ns += time_ns;
}

static void operate(struct input *input)
{
	unsigned kind = take(input, 16);

	if (kind >= INSIDE_START && kind <= INSIDE_FREE) {
		write_record(input, kind);
		return;
	}
	switch (kind) {
	case 6:
		read_batch(&input->records, true);
		break;
	case 7:
		record_source_batch(&input->records);
		break;
	case 8:
		for (unsigned i = take(input, 16); i > 0 && read_next(&input->records, true); i--)
			continue;
		break;
	case 9:
		change_agent_ring(input);
		break;
	case 10:
		change_control(input);
		break;
	case 11:
		steer(input);
		break;
	case 12:
		let_time_pass(input);
		break;
	default:
		change_ring(input);
		break;
	}
}

/* Whatever was written, a valid agent ring is read again. */
static void check_that_agent_rings_work(struct input *input)
{
	inside_source_limit(input->source, 0);
	for (unsigned i = 0; i < AGENT_RINGS; i++) {
		struct record record;
		struct inside_ring *agent_ring = agent_ring_of(&world.file, i);

		agent_ring->head = (agent_ring->head + 7) / 8 * 8;
		for (unsigned again = 0; again < 2; again++)
			read_batch(&input->records, false);
		agent_ring_write_free(&world.file, i, world.self, world.self, 4321);
		record_source_batch(&input->records);
		do
			check(record_source_next(&input->records, &record));
		while (record.type != RECORD_FREE);
		check(record.allocation.address == 4321 && agent_ring->tail == agent_ring->head);
		while (read_next(&input->records, false))
			continue;
	}
}

static void run_operations(struct input *input)
{
	struct inside_counts counts;

	for (unsigned i = 0; i < OPERATIONS_MAX && input->at < input->end; i++)
		operate(input);
	read_batch(&input->records, true);
	counts = inside_source_counts(input->source);
	note_number("counts", counts.damaged);
	note_number("counts", counts.strangers);
	note_number("counts", counts.lost_frees + counts.lost_mappings + counts.untracked);
	check_that_agent_rings_work(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool is_plain = !size || data[0] != OPERATIONS;
	unsigned how = is_plain || size < 2 ? 0 : data[1];
	struct input input = {.at = data + (size > 1 ? 2 : size), .end = data + size};

	prepare_world();
	input.begin_ns = clock_now_ns() - NS_PER_SECOND;
	input.source = inside_source_new(&(struct inside_options){
		.file = &world.file,
		.cpu_hz = 100,
		.alloc_period = 1,
		.pc_bit = PC_BIT,
		.allocations_only = how & 1,
		.pids = &world.self,
		.pid_count = how >> 1 & 1,
	});
	input.records = inside_record_source(input.source);
	error_free(record_source_enable(&input.records));
	if (is_plain)
		read_parts(&input.records, bytes_of(data, size));
	else
		run_operations(&input);
	record_source_close(&input.records);
	return 0;
}
