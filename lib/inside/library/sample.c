#include "inside.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

/*
 * OpenTelemetry's probes for memory profiling, to which other agents can
 * attach.
 */
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif
#define PROBE_ALLOC(block, bytes, weighted) STAP_PROBE3(otel_memory, alloc, block, bytes, weighted)
#define PROBE_FREE(block) STAP_PROBE1(otel_memory, free, block)
#else
#define PROBE_ALLOC(block, bytes, weighted) (void)(weighted)
#define PROBE_FREE(block) (void)(block)
#endif

_Thread_local struct thread_state thread_state = {.timer = -1};

static struct inside_control idle; /* not in a file: recording is off */
struct inside_control *control = &idle;
unsigned char *shared;

/* How far this process's clock is ahead. */
uint64_t time_offset_ns;

void sample_use(unsigned char *file)
{
	shared = file;
	control = file ? (struct inside_control *)file : &idle;
}

bool has_no_tsc;

/*
 * If the time-stamp counter is forbidden, the C library's clock would end the
 * program. The coarse clock is only a word that the kernel writes at each tick.
 * The returned times still increase strictly within the process.
 */
static uint64_t now_ns(void)
{
	static uint64_t latest_ns;
	uint64_t latest = __atomic_load_n(&latest_ns, __ATOMIC_RELAXED), next;
	bool is_coarse = __atomic_load_n(&has_no_tsc, __ATOMIC_RELAXED);
	struct timespec now;

	clock_gettime(is_coarse ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC, &now);
	next = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec - time_offset_ns;
	do
		next = next > latest ? next : latest + 1;
	while (!__atomic_compare_exchange_n(&latest_ns, &latest, next, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
	return next;
}

/* ---- Which allocations are sampled ---- */

/* xorshift64* (Vigna, 2016). */
static uint64_t next_random(struct thread_state *thread)
{
	uint64_t x = thread->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	thread->random = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/*
 * Returns the distance to the next event of a Poisson process with a mean of
 * one, in units of INSIDE_SCALE, so it is valid for any mean that is set later.
 * Uses only comparisons (von Neumann, 1951): a falling sequence of uniform
 * numbers has odd length with probability exp(-first).
 */
static uint64_t sample_distance(struct thread_state *thread)
{
	for (uint64_t whole = 0;; whole += INSIDE_SCALE) {
		uint64_t first = next_random(thread), last = first, next;
		bool is_odd = true;

		for (; (next = next_random(thread)) < last; last = next)
			is_odd = !is_odd;
		if (is_odd)
			return whole + first / (UINT64_MAX / INSIDE_SCALE + 1);
	}
}

/* ---- The sampled blocks ---- */

uint8_t sampled_blocks[WINDOWS];
bool has_sampled;

/* The blocks of a window are in one cache line. */
enum { WINDOW = 8 };
static uintptr_t blocks[WINDOWS][WINDOW] __attribute__((aligned(64)));

static bool replace_block(size_t window, uintptr_t from, uintptr_t to)
{
	for (int i = 0; i < WINDOW; i++) {
		uintptr_t known = from;

		if (__atomic_load_n(&blocks[window][i], __ATOMIC_RELAXED) == from &&
		    __atomic_compare_exchange_n(&blocks[window][i], &known, to, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void count_blocks(size_t window, int more)
{
	__atomic_fetch_add(&sampled_blocks[window], (uint8_t)more, __ATOMIC_RELAXED);
}

static bool add_block(const void *block)
{
	size_t window = sample_window(block);

	__atomic_store_n(&has_sampled, true, __ATOMIC_RELAXED);
	count_blocks(window, 1);
	if (replace_block(window, 0, (uintptr_t)block))
		return true;
	count_blocks(window, -1);
	return false;
}

static bool remove_block(const void *block)
{
	size_t window = sample_window(block);
	bool is_known = sampled_blocks[window] && replace_block(window, (uintptr_t)block, 0);

	if (is_known)
		count_blocks(window, -1);
	return is_known;
}

/* ---- Rings ---- */

static struct inside_ring *agent_ring_at(uint32_t number)
{
	return (struct inside_ring *)(shared + (size_t)(1 + number) * INSIDE_PAGE_BYTES);
}

static uint32_t own_tid(struct thread_state *thread)
{
	if (!thread->tid)
		thread->tid = process_tid();
	return thread->tid;
}

static void leave_agent_ring(struct thread_state *thread)
{
	if (thread->ring)
		__atomic_store_n(&agent_ring_at(thread->ring - 1)->owner, 0, __ATOMIC_RELEASE);
	thread->ring = 0;
}

/* The place for a record. */
struct room {
	struct inside_ring *ring;
	unsigned char *at;
	uint64_t head; /* head of the ring after the record is written */
};

/*
 * Finds room in the ring that was taken. If the end of the ring is too short,
 * fills it.
 */
static bool find_room(uint32_t number, unsigned type, uint32_t bytes, struct room *ret)
{
	struct inside_ring *ring = agent_ring_at(number);
	unsigned char *ring_bytes = shared + (size_t)(1 + INSIDE_RINGS) * INSIDE_PAGE_BYTES +
				    (size_t)number * INSIDE_RING_BYTES;
	uint64_t at = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	uint64_t used = at - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	uint32_t offset = (uint32_t)(at % INSIDE_RING_BYTES), rest = INSIDE_RING_BYTES - offset;
	uint32_t skipped = bytes > rest ? rest : 0;
	uint64_t room = INSIDE_RING_BYTES - (type == INSIDE_FREE ? 0 : INSIDE_FREE_RESERVE);

	/*
	 * Offsets are multiples of 8, unless the program has overwritten them.
	 */
	if (offset % 8 || used > INSIDE_RING_BYTES || used + skipped + bytes > room)
		return false;
	if (skipped) {
		struct inside_header pad = {.bytes = rest, .type = INSIDE_PAD};

		memcpy(ring_bytes + offset, &pad, 8);
		offset = 0;
	}
	*ret = (struct room){ring, ring_bytes + offset, at + skipped + bytes};
	return true;
}

/* Takes a ring that has room, preferably the thread's last one. */
static bool take_room(struct thread_state *thread, unsigned type, uint32_t bytes, struct room *ret)
{
	uint32_t tid = own_tid(thread);

	for (uint32_t i = 0; i < INSIDE_RINGS; i++) {
		uint32_t number = (tid + i) % INSIDE_RINGS, none = 0;

		if (!__atomic_compare_exchange_n(&agent_ring_at(number)->owner, &none, tid, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		thread->ring = number + 1;
		if (find_room(number, type, bytes, ret))
			return true;
		leave_agent_ring(thread);
	}
	__atomic_fetch_add(type == INSIDE_FREE				 ? &control->lost_frees
			   : type == INSIDE_START || type == INSIDE_MAPS ? &control->lost_mappings
									 : &control->lost,
			   1, __ATOMIC_RELAXED);
	return false;
}

bool sample_write(unsigned type, unsigned flags, const struct iovec parts[3])
{
	struct thread_state *thread = &thread_state;
	struct inside_header *header = parts[0].iov_base;
	size_t bytes = parts[0].iov_len + parts[1].iov_len + parts[2].iov_len, padding = -bytes % 8;
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0), interrupted_sp;
	uint32_t process = process_id(), interrupted_agent_ring;
	struct room room;
	bool has_room;

	if (!shared || !process)
		return false;
	/*
	 * The stack has shrunk since the ring was taken: a signal handler left
	 * a record by longjmp(3).
	 */
	if (thread->low <= thread->agent_ring_sp && thread->agent_ring_sp < sp && sp < thread->end)
		leave_agent_ring(thread);
	interrupted_agent_ring = thread->ring;
	interrupted_sp = thread->agent_ring_sp;
	thread->agent_ring_sp = sp;
	*header = (struct inside_header){.bytes = (uint32_t)(bytes + padding),
					 .type = (uint16_t)type,
					 .flags = (uint16_t)flags,
					 .time_ns = now_ns(),
					 .pid = process,
					 .tid = own_tid(thread)};
	has_room = take_room(thread, type, header->bytes, &room);
	if (has_room) {
		for (int i = 0; i < 3; i++)
			room.at = mempcpy(room.at, parts[i].iov_base, parts[i].iov_len);
		memset(room.at, 0, padding);
		/*
		 * A signal handler called fork(), and the parent finishes the
		 * record.
		 */
		if (process != process_id())
			return true;
		__atomic_store_n(&room.ring->head, room.head, __ATOMIC_RELEASE);
		leave_agent_ring(thread);
	}
	thread->ring = interrupted_agent_ring;
	thread->agent_ring_sp = interrupted_sp;
	return has_room;
}

/* ---- Registers and stack ---- */

struct registers {
	uint64_t mask, values[33];
	unsigned count;
	uintptr_t sp;
};

#ifdef __x86_64__

enum { FP_SP_PC = 1 << 6 | 1 << 7 | 1 << 8 };

static void read_interrupted(const ucontext_t *context, struct registers *ret)
{
	static const uint8_t order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
					REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
					REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	*ret = (struct registers){.mask = 0xff01ff, .count = sizeof(order)};
	for (unsigned i = 0; i < sizeof(order); i++)
		ret->values[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	ret->sp = ret->values[7];
}

#elif defined(__aarch64__)

#define FP_SP_PC (1u << 29 | 1u << 31 | UINT64_C(1) << 32)

static void read_interrupted(const ucontext_t *context, struct registers *ret)
{
	*ret = (struct registers){.mask = UINT64_C(0x1ffffffff), .count = 33};
	memcpy(ret->values, context->uc_mcontext.regs, 31 * 8);
	ret->sp = ret->values[31] = context->uc_mcontext.sp;
	ret->values[32] = context->uc_mcontext.pc;
}

#endif

/*
 * Reads the registers of the function that called this one's caller, at its
 * return address. That function belongs to this library, so prof continues with
 * the library's CFI.
 */
static inline __attribute__((always_inline)) void read_caller(struct registers *ret)
{
	const uint64_t *frame = __builtin_frame_address(0);

	ret->mask = FP_SP_PC;
	ret->count = 3;
	ret->values[0] = frame[0];
	ret->values[1] = ret->sp = (uintptr_t)__builtin_dwarf_cfa();
	ret->values[2] = (uintptr_t)__builtin_return_address(0);
}

/*
 * Outside the known bounds, only the page of the stack pointer is certain to be
 * mapped.
 */
static size_t stack_bytes(uintptr_t sp)
{
	const struct thread_state *thread = &thread_state;
	size_t bytes = thread->low <= sp && sp < thread->end
			       ? thread->end - sp
			       : INSIDE_PAGE_BYTES - sp % INSIDE_PAGE_BYTES;

	return bytes < INSIDE_STACK_MAX ? bytes : INSIDE_STACK_MAX;
}

/* Writes a record of a struct that ends with `stack`. */
static bool write_sample(unsigned type, unsigned flags, void *record, struct inside_stack *stack,
			 const struct registers *registers)
{
	struct iovec parts[] = {{record, (size_t)((char *)(stack + 1) - (char *)record)},
				{(void *)registers->values, (size_t)registers->count * 8},
				{(void *)registers->sp, stack_bytes(registers->sp)}};

	*stack = (struct inside_stack){registers->mask, parts[2].iov_len};
	return sample_write(type, flags, parts);
}

/* ---- The records ---- */

/*
 * Returns the bytes that a sampled allocation stands for: S / (1 - exp(-S /
 * R)).
 */
static uint64_t weighted(size_t bytes, uint64_t period)
{
	double x = (double)bytes / (double)period, power = 1 - x / 1024 + x * x / 2097152;

	if (x > 30)
		return bytes;
	for (int i = 0; i < 10; i++)
		power *= power;
	return (uint64_t)((double)bytes / (1 - power));
}

static __attribute__((noinline)) void write_allocation(void *block, size_t bytes, unsigned flags)
{
	struct inside_alloc record = {.address = (uintptr_t)block, .size_bytes = bytes};
	struct registers registers;

	read_caller(&registers);
	record.period_bytes = __atomic_load_n(&control->alloc_period, __ATOMIC_RELAXED);
	if (!record.period_bytes)
		return;
	if (!add_block(block)) {
		flags |= INSIDE_ALLOC_UNTRACKED;
		__atomic_fetch_add(&control->untracked, 1, __ATOMIC_RELAXED);
	}
	if (write_sample(INSIDE_ALLOC, flags, &record, &record.stack, &registers))
		PROBE_ALLOC(block, bytes, weighted(bytes, record.period_bytes));
	else
		remove_block(block);
}

void *sample_begin(void *block, size_t bytes, unsigned flags)
{
	struct thread_state *thread = &thread_state;
	int saved_errno = errno;
	bool is_due = true;

	if (!thread->random) {
		thread->random = (now_ns() * UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)thread) | 1;
		thread->left = sample_distance(thread);
		is_due = sample_is_due(bytes);
	}
	/*
	 * The process has no memory. The next sample is as far away as this one
	 * was.
	 */
	if (is_due) {
		thread->left = sample_distance(thread);
		if (block)
			write_allocation(block, bytes, flags);
	}
	errno = saved_errno;
	return block;
}

void sample_end(void *block, size_t mapping_bytes)
{
	struct inside_free record = {.address = (uintptr_t)block, .size_bytes = mapping_bytes};
	int saved_errno = errno;

	if (!mapping_bytes && !remove_block(block))
		return;
	PROBE_FREE(block);
	sample_write(INSIDE_FREE, 0, (struct iovec[3]){{&record, sizeof(record)}});
	errno = saved_errno;
}

void sample_cpu(uint64_t period_ns, const void *context)
{
	struct inside_cpu record = {.period_ns = period_ns};
	struct registers registers;

	read_interrupted(context, &registers);
	write_sample(INSIDE_CPU, 0, &record, &record.stack, &registers);
}
