#include "inside.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* OpenTelemetry's probes of memory profiling, which other agents can attach to. */
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define PROBE_ALLOC(block, bytes, weighted) STAP_PROBE3(otel_memory, alloc, block, bytes, weighted)
#define PROBE_FREE(block) STAP_PROBE1(otel_memory, free, block)
#else
#define PROBE_ALLOC(block, bytes, weighted) (void)(weighted)
#define PROBE_FREE(block) (void)(block)
#endif

_Thread_local struct thread_state thread_state = {.timer = -1};

static struct inside_control idle; /* of no file: nobody records */
struct inside_control *control = &idle;
unsigned char *shared;

void sample_use(unsigned char *file)
{
	shared = file;
	control = file ? (struct inside_control *)file : &idle;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
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
 * The distance to the next event of a Poisson process, in units of INSIDE_SCALE: of a mean of one,
 * so that it holds for any mean that is set later. By comparisons alone (von Neumann, 1951): of
 * uniform numbers in falling order an odd count comes with probability exp(-first).
 */
static uint64_t distance(struct thread_state *thread)
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

/* ---- The blocks that were sampled ---- */

uint8_t sampled_blocks[WINDOWS];
bool has_sampled;

/* The blocks of a window are in one line of the cache. */
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

/* ---- Lanes ---- */

static struct inside_lane *lane_at(uint32_t number)
{
	return (struct inside_lane *)(shared + (size_t)(1 + number) * INSIDE_PAGE_BYTES);
}

static uint32_t own_tid(struct thread_state *thread)
{
	if (!thread->tid)
		thread->tid = (uint32_t)syscall(SYS_gettid);
	return thread->tid;
}

static void leave_lane(struct thread_state *thread)
{
	if (thread->lane)
		__atomic_store_n(&lane_at(thread->lane - 1)->owner, 0, __ATOMIC_RELEASE);
	thread->lane = 0;
}

/* Where a record goes. */
struct room {
	struct inside_lane *lane;
	unsigned char *at;
	uint64_t head; /* of the lane, when it is written */
};

/* In the lane that was taken; fills the end of the lane if that is too short. */
static bool find_room(uint32_t number, unsigned type, uint32_t bytes, struct room *ret)
{
	struct inside_lane *lane = lane_at(number);
	unsigned char *ring = shared + (size_t)(1 + INSIDE_LANES) * INSIDE_PAGE_BYTES +
			      (size_t)number * INSIDE_LANE_BYTES;
	uint64_t at = __atomic_load_n(&lane->head, __ATOMIC_RELAXED);
	uint64_t used = at - __atomic_load_n(&lane->tail, __ATOMIC_ACQUIRE);
	uint32_t offset = (uint32_t)(at % INSIDE_LANE_BYTES), rest = INSIDE_LANE_BYTES - offset;
	uint32_t skipped = bytes > rest ? rest : 0;
	uint64_t room = INSIDE_LANE_BYTES - (type == INSIDE_FREE ? 0 : INSIDE_FREE_RESERVE);

	/* Offsets are multiples of 8, unless somebody has written there. */
	if (offset % 8 || used > INSIDE_LANE_BYTES || used + skipped + bytes > room)
		return false;
	if (skipped) {
		struct inside_header pad = {.bytes = rest, .type = INSIDE_PAD};

		memcpy(ring + offset, &pad, 8);
		offset = 0;
	}
	*ret = (struct room){lane, ring + offset, at + skipped + bytes};
	return true;
}

/* Takes a lane that has room: the thread's usual one, or else the next. */
static bool take_room(struct thread_state *thread, unsigned type, uint32_t bytes, struct room *ret)
{
	uint32_t tid = own_tid(thread);

	for (uint32_t i = 0; i < INSIDE_LANES; i++) {
		uint32_t number = (tid + i) % INSIDE_LANES, none = 0;

		if (!__atomic_compare_exchange_n(&lane_at(number)->owner, &none, tid, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		thread->lane = number + 1;
		if (find_room(number, type, bytes, ret))
			return true;
		leave_lane(thread);
	}
	__atomic_fetch_add(type == INSIDE_FREE				 ? &control->lost_frees
			   : type == INSIDE_START || type == INSIDE_MAPS ? &control->lost_mappings
									 : &control->lost,
			   1, __ATOMIC_RELAXED);
	return false;
}

/* What follows the struct of a record. */
struct part {
	const void *at;
	size_t bytes;
};

static const struct part no_part = {"", 0};

static unsigned char *put(unsigned char *at, struct part part)
{
	memcpy(at, part.at, part.bytes);
	return at + part.bytes;
}

/*
 * A record is its struct, of struct_bytes, and two parts, padded with 0. A signal handler may write
 * one in the middle of another, and may leave that one by longjmp(3): then the stack has shrunk
 * since the lane was taken. It may also fork(): then only the parent ends the record. False: it is
 * lost, and counted.
 */
static bool write_record(struct inside_header *header, size_t struct_bytes, unsigned type,
			 unsigned flags, struct part first, struct part second)
{
	struct thread_state *thread = &thread_state;
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	uint32_t process = process_id();
	size_t bytes = struct_bytes + first.bytes + second.bytes, padding = -bytes % 8;
	uint32_t lane;
	uintptr_t lane_sp;
	struct room room;
	unsigned char *at;
	bool is_written = false;

	if (!shared || !process)
		return false;
	if (thread->low <= thread->lane_sp && thread->lane_sp < sp && sp < thread->end)
		leave_lane(thread);
	lane = thread->lane;
	lane_sp = thread->lane_sp;
	*header = (struct inside_header){.bytes = (uint32_t)(bytes + padding),
					 .type = (uint16_t)type,
					 .flags = (uint16_t)flags,
					 .time_ns = now_ns(),
					 .pid = process,
					 .tid = own_tid(thread)};
	thread->lane_sp = sp;
	if (take_room(thread, type, header->bytes, &room)) {
		at = put(room.at, (struct part){header, struct_bytes});
		at = put(put(at, first), second);
		memset(at, 0, padding);
		if (process != process_id())
			return true;
		__atomic_store_n(&room.lane->head, room.head, __ATOMIC_RELEASE);
		leave_lane(thread);
		is_written = true;
	}
	thread->lane = lane;
	thread->lane_sp = lane_sp;
	return is_written;
}

/* ---- Registers and stack ---- */

struct registers {
	uint64_t mask, values[33];
	unsigned count;
	uintptr_t sp;
};

#ifdef __x86_64__

/* The registers of the code that this is inlined into: prof unwinds from there, by this library's
 * CFI. Order: bx, bp, sp, ip, r12 to r15. */
static inline __attribute__((always_inline)) void read_own(struct registers *ret)
{
	__asm__ volatile("movq %%rbx, 0(%0)\n\tmovq %%rbp, 8(%0)\n\tmovq %%rsp, 16(%0)\n\t"
			 "leaq 0(%%rip), %%rcx\n\tmovq %%rcx, 24(%0)\n\t"
			 "movq %%r12, 32(%0)\n\tmovq %%r13, 40(%0)\n\t"
			 "movq %%r14, 48(%0)\n\tmovq %%r15, 56(%0)"
			 :
			 : "r"(ret->values)
			 : "rcx", "memory");
	ret->mask = 0xf001c2;
	ret->count = 8;
	ret->sp = ret->values[2];
}

static void read_interrupted(const ucontext_t *context, struct registers *ret)
{
	static const uint8_t order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
					REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
					REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	for (unsigned i = 0; i < sizeof(order); i++)
		ret->values[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	ret->mask = 0xff01ff;
	ret->count = sizeof(order);
	ret->sp = ret->values[7];
}

#elif defined(__aarch64__)

/* Order: x19 to x30, sp, pc. */
static inline __attribute__((always_inline)) void read_own(struct registers *ret)
{
	__asm__ volatile("stp x19, x20, [%0]\n\tstp x21, x22, [%0, 16]\n\t"
			 "stp x23, x24, [%0, 32]\n\tstp x25, x26, [%0, 48]\n\t"
			 "stp x27, x28, [%0, 64]\n\tstp x29, x30, [%0, 80]\n\t"
			 "mov x9, sp\n\tadr x10, .\n\tstp x9, x10, [%0, 96]"
			 :
			 : "r"(ret->values)
			 : "x9", "x10", "memory");
	ret->mask = UINT64_C(0x1fff80000);
	ret->count = 14;
	ret->sp = ret->values[12];
}

static void read_interrupted(const ucontext_t *context, struct registers *ret)
{
	memcpy(ret->values, context->uc_mcontext.regs, 31 * 8);
	ret->values[31] = context->uc_mcontext.sp;
	ret->values[32] = context->uc_mcontext.pc;
	ret->mask = UINT64_C(0x1ffffffff);
	ret->count = 33;
	ret->sp = ret->values[31];
}

#endif

/* Outside the known bounds only the page of the stack pointer is surely there. */
static size_t stack_bytes(uintptr_t sp)
{
	const struct thread_state *thread = &thread_state;
	size_t bytes = thread->low <= sp && sp < thread->end
			       ? thread->end - sp
			       : INSIDE_PAGE_BYTES - sp % INSIDE_PAGE_BYTES;

	return bytes < INSIDE_STACK_MAX ? bytes : INSIDE_STACK_MAX;
}

/* stack: of the record. */
static bool write_sample(struct inside_header *header, struct inside_stack *stack, unsigned type,
			 unsigned flags, const struct registers *registers)
{
	size_t struct_bytes = (size_t)((char *)(stack + 1) - (char *)header);
	struct part values = {registers->values, (size_t)registers->count * 8};
	struct part words = {(const void *)registers->sp, stack_bytes(registers->sp)};

	*stack = (struct inside_stack){registers->mask, words.bytes};
	return write_record(header, struct_bytes, type, flags, values, words);
}

/* ---- The records ---- */

/* The bytes that a sampled allocation stands for: S / (1 - exp(-S / R)). */
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

	read_own(&registers);
	record.period_bytes = __atomic_load_n(&control->alloc_period, __ATOMIC_RELAXED);
	if (!record.period_bytes)
		return;
	if (!add_block(block)) {
		flags |= INSIDE_ALLOC_UNTRACKED;
		__atomic_fetch_add(&control->untracked, 1, __ATOMIC_RELAXED);
	}
	if (write_sample(&record.header, &record.stack, INSIDE_ALLOC, flags, &registers))
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
		thread->left = distance(thread);
		is_due = sample_is_due(bytes);
	}
	/* The process has no memory: the next samples are as far away as this one was. */
	if (is_due) {
		thread->left = distance(thread);
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
	write_record(&record.header, sizeof(record), INSIDE_FREE, 0, no_part, no_part);
	errno = saved_errno;
}

void sample_cpu(uint64_t period_ns, const void *context)
{
	struct inside_cpu record = {.period_ns = period_ns};
	struct registers registers;

	read_interrupted(context, &registers);
	write_sample(&record.header, &record.stack, INSIDE_CPU, 0, &registers);
}

void sample_write(struct inside_header *header, size_t struct_bytes, unsigned type, unsigned flags,
		  const char *text, size_t text_bytes)
{
	write_record(header, struct_bytes, type, flags, (struct part){text, text_bytes}, no_part);
}
