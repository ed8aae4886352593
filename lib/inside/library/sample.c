#include "inside.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#endif

_Thread_local struct thread_state thread_state INITIAL_EXEC = {.timer = -1};

static struct inside_control idle; /* of no file: nobody records */
struct inside_control *control = &idle;
unsigned char *shared;
bool has_sampled;

void sample_use(unsigned char *file)
{
	shared = file;
	control = file ? (struct inside_control *)file : &idle;
}

/* ---- Which allocations are sampled ---- */

/* ln(x) of 0 < x <= 1: exponent and mantissa, the latter by the series of atanh; within 1e-9. */
static double logarithm(double x)
{
	uint64_t bits;
	double m, s, square, sum = 0;

	memcpy(&bits, &x, sizeof(bits));
	int exponent = (int)(bits >> 52) - 1023;
	bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
	memcpy(&m, &bits, sizeof(m));
	s = (m - 1) / (m + 1);
	square = s * s;
	for (int n = 17; n > 0; n -= 2)
		sum = sum * square + 1.0 / n;
	return 0.6931471805599453 * exponent + 2 * s * sum;
}

/* ---- The contract of OpenTelemetry's memory profiling: any agent can attach to these probes ----
 */

#ifdef STAP_PROBE1

#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif

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

static void tell_allocation(void *block, size_t bytes, uint64_t period)
{
	STAP_PROBE3(otel_memory, alloc, block, bytes, weighted(bytes, period));
}

static void tell_free(void *block)
{
	STAP_PROBE1(otel_memory, free, block);
}

#else

static void tell_allocation(void *block, size_t bytes, uint64_t period)
{
	(void)block, (void)bytes, (void)period;
}

static void tell_free(void *block)
{
	(void)block;
}

#endif

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

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

/* Bytes between two events of a Poisson process. */
static int64_t interval(struct thread_state *thread, uint64_t mean)
{
	double uniform = ((double)(next_random(thread) >> 11) + 1) / 9007199254740992.0;

	return (int64_t)(-logarithm(uniform) * (double)mean);
}

/* ---- The blocks that were sampled ---- */

/*
 * A set of addresses in windows of one cache line. How many a window holds is in a table of its own
 * that stays in the first cache: most blocks are looked up there alone.
 */
enum { WINDOW = 8, WINDOW_BITS = 15 };

static _Atomic uint8_t fill[1 << WINDOW_BITS];
static _Atomic uintptr_t blocks[1 << WINDOW_BITS][WINDOW] __attribute__((aligned(64)));

static uint32_t window_of(uintptr_t block)
{
	return (uint32_t)((block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - WINDOW_BITS));
}

static bool blocks_add(uintptr_t block)
{
	uint32_t window = window_of(block);

	atomic_fetch_add(&fill[window], 1);
	for (int i = 0; i < WINDOW; i++) {
		uintptr_t none = 0;

		if (atomic_compare_exchange_strong(&blocks[window][i], &none, block))
			return true;
	}
	atomic_fetch_sub(&fill[window], 1);
	return false;
}

static bool blocks_remove(uintptr_t block)
{
	uint32_t window = window_of(block);

	if (likely(!atomic_load_explicit(&fill[window], memory_order_relaxed)))
		return false;
	for (int i = 0; i < WINDOW; i++) {
		uintptr_t known = block;

		if (atomic_load_explicit(&blocks[window][i], memory_order_relaxed) == block &&
		    atomic_compare_exchange_strong(&blocks[window][i], &known, 0)) {
			atomic_fetch_sub(&fill[window], 1);
			return true;
		}
	}
	return false;
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

static struct inside_lane *take_lane(struct thread_state *thread, uint32_t *number)
{
	uint32_t tid = own_tid(thread);

	for (uint32_t i = 0; i < INSIDE_LANES; i++) {
		uint32_t none = 0;

		*number = (tid + i) % INSIDE_LANES;
		if (__atomic_compare_exchange_n(&lane_at(*number)->owner, &none, tid, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return lane_at(*number);
	}
	__atomic_fetch_add(&control->crowded, 1, __ATOMIC_RELAXED);
	return NULL;
}

static uint64_t *lost_counter(struct inside_lane *lane, unsigned type)
{
	return type == INSIDE_FREE			     ? &lane->lost_frees
	       : type == INSIDE_START || type == INSIDE_MAPS ? &lane->lost_mappings
							     : &lane->lost;
}

/* Finds room for a record, and fills the end of the lane if it is too short for it. */
static unsigned char *find_room(struct inside_lane *lane, uint32_t number, unsigned type,
				uint32_t bytes, uint64_t *head)
{
	unsigned char *ring = shared + (size_t)(1 + INSIDE_LANES) * INSIDE_PAGE_BYTES +
			      (size_t)number * INSIDE_LANE_BYTES;
	uint64_t at = __atomic_load_n(&lane->head, __ATOMIC_RELAXED);
	uint64_t used = at - __atomic_load_n(&lane->tail, __ATOMIC_ACQUIRE);
	uint32_t offset = (uint32_t)(at % INSIDE_LANE_BYTES), rest = INSIDE_LANE_BYTES - offset;
	uint32_t skipped = bytes > rest ? rest : 0;
	uint64_t room = INSIDE_LANE_BYTES - (type == INSIDE_FREE ? 0 : INSIDE_FREE_RESERVE);

	/* Offsets are multiples of 8, unless somebody has written there. */
	if (offset % 8 || used > INSIDE_LANE_BYTES || used + skipped + bytes > room)
		return NULL;
	if (skipped) {
		struct inside_header pad = {.bytes = rest, .type = INSIDE_PAD};

		memcpy(ring + offset, &pad, 8);
		offset = 0;
	}
	*head = at + skipped + bytes;
	return ring + offset;
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
 * A record is its struct, of struct_bytes, and two parts, padded with 0. A signal handler may
 * fork() while it is being written: then only the parent ends it. False: it is lost, and counted.
 */
static bool write_record(struct inside_header *header, size_t struct_bytes, unsigned type,
			 unsigned flags, struct part first, struct part second)
{
	static const char zeros[8];
	struct thread_state *thread = &thread_state;
	uint32_t process = process_id(), number;
	size_t bytes = struct_bytes + first.bytes + second.bytes, padding = -bytes % 8;
	struct inside_lane *lane;
	unsigned char *at;
	uint64_t head;

	if (!shared || !process)
		return false;
	*header = (struct inside_header){.bytes = (uint32_t)(bytes + padding),
					 .type = (uint16_t)type,
					 .flags = (uint16_t)flags,
					 .time_ns = now_ns(),
					 .pid = process,
					 .tid = own_tid(thread)};
	lane = take_lane(thread, &number);
	if (!lane)
		return false;
	at = find_room(lane, number, type, header->bytes, &head);
	if (at) {
		thread->lane = number + 1;
		at = put(at, (struct part){header, struct_bytes});
		at = put(put(at, first), second);
		put(at, (struct part){zeros, padding});
		thread->lane = 0;
		if (process != process_id())
			return true;
		__atomic_store_n(&lane->head, head, __ATOMIC_RELEASE);
	} else {
		__atomic_fetch_add(lost_counter(lane, type), 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&lane->owner, 0, __ATOMIC_RELEASE);
	return at;
}

/*
 * One sample at a time per thread, but for those of its CPU timer. A signal handler that left an
 * interrupted sample by longjmp(3) has left a lane, too: the stack has shrunk since then.
 */
static bool begin_sample(struct thread_state *thread, uintptr_t sp)
{
	bool is_abandoned = thread->busy && sp > thread->busy && thread->low <= thread->busy &&
			    sp < thread->end;

	if (thread->busy && !is_abandoned)
		return false;
	if (is_abandoned && thread->lane)
		__atomic_store_n(&lane_at(thread->lane - 1)->owner, 0, __ATOMIC_RELEASE);
	thread->lane = 0;
	thread->busy = sp;
	return true;
}

/* ---- Registers and stack ---- */

enum { REGISTERS = 33 };

struct state {
	uint64_t values[REGISTERS];
	unsigned count;
	uintptr_t sp;
	struct inside_stack stack;
};

/* Outside the known bounds only the page of the stack pointer is surely there. */
static void measure_stack(const struct thread_state *thread, struct state *state)
{
	uintptr_t sp = state->sp;
	bool is_known = thread->low <= sp && sp < thread->end;
	uintptr_t len = is_known ? thread->end - sp : INSIDE_PAGE_BYTES - sp % INSIDE_PAGE_BYTES;

	state->stack.is_whole = is_known && len <= INSIDE_STACK_MAX;
	state->stack.stack_bytes = (uint32_t)(len < INSIDE_STACK_MAX ? len : INSIDE_STACK_MAX);
}

#ifdef __x86_64__

/* The registers of the code that this is inlined into: prof unwinds from there, by this library's
 * CFI. Order: bx, bp, sp, ip, r12 to r15. */
static inline __attribute__((always_inline)) void read_registers(struct state *state)
{
	__asm__ volatile("movq %%rbx, 0(%0)\n\tmovq %%rbp, 8(%0)\n\tmovq %%rsp, 16(%0)\n\t"
			 "leaq 0(%%rip), %%rcx\n\tmovq %%rcx, 24(%0)\n\t"
			 "movq %%r12, 32(%0)\n\tmovq %%r13, 40(%0)\n\t"
			 "movq %%r14, 48(%0)\n\tmovq %%r15, 56(%0)"
			 :
			 : "r"(state->values)
			 : "rcx", "memory");
	state->stack.regs_mask = 0xf001c2;
	state->count = 8;
	state->sp = state->values[2];
}

static void read_context(const ucontext_t *context, struct state *state)
{
	static const uint8_t order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
					REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
					REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	for (unsigned i = 0; i < sizeof(order); i++)
		state->values[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	state->stack.regs_mask = 0xff01ff;
	state->count = sizeof(order);
	state->sp = state->values[7];
}

#elif defined(__aarch64__)

/* Order: x19 to x30, sp, pc. */
static inline __attribute__((always_inline)) void read_registers(struct state *state)
{
	__asm__ volatile("stp x19, x20, [%0]\n\tstp x21, x22, [%0, 16]\n\t"
			 "stp x23, x24, [%0, 32]\n\tstp x25, x26, [%0, 48]\n\t"
			 "stp x27, x28, [%0, 64]\n\tstp x29, x30, [%0, 80]\n\t"
			 "mov x9, sp\n\tadr x10, .\n\tstp x9, x10, [%0, 96]"
			 :
			 : "r"(state->values)
			 : "x9", "x10", "memory");
	state->stack.regs_mask = UINT64_C(0x1fff80000);
	state->count = 14;
	state->sp = state->values[12];
}

static void read_context(const ucontext_t *context, struct state *state)
{
	memcpy(state->values, context->uc_mcontext.regs, 31 * 8);
	state->values[31] = context->uc_mcontext.sp;
	state->values[32] = context->uc_mcontext.pc;
	state->stack.regs_mask = UINT64_C(0x1ffffffff);
	state->count = 33;
	state->sp = state->values[31];
}

#endif

static bool write_state(struct inside_header *header, size_t struct_bytes, unsigned type,
			unsigned flags, const struct state *state)
{
	struct part registers = {state->values, (size_t)state->count * 8};
	struct part stack = {(const void *)state->sp, state->stack.stack_bytes};

	return write_record(header, struct_bytes, type, flags, registers, stack);
}

/* ---- The records ---- */

static __attribute__((noinline)) void write_allocation(void *block, size_t bytes, unsigned flags,
						       uint64_t period)
{
	struct state state;
	struct inside_alloc record = {.address = (uintptr_t)block, .size_bytes = bytes};

	read_registers(&state);
	measure_stack(&thread_state, &state);
	record.period_bytes = period;
	record.stack = state.stack;
	if (!blocks_add((uintptr_t)block)) {
		flags |= INSIDE_ALLOC_UNTRACKED;
		__atomic_fetch_add(&control->untracked, 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&has_sampled, true, __ATOMIC_RELAXED);
	if (write_state(&record.header, sizeof(record), INSIDE_ALLOC, flags, &state))
		tell_allocation(block, bytes, period);
	else
		blocks_remove((uintptr_t)block);
}

void sample_drawn(void *block, size_t bytes, unsigned flags)
{
	struct thread_state *thread = &thread_state;
	uint64_t period = __atomic_load_n(&control->alloc_period, __ATOMIC_RELAXED);
	int saved_errno = errno;
	bool is_first = !thread->random;

	if (is_first)
		thread->random = (now_ns() * UINT64_C(0x9e3779b97f4a7c15)) ^ (uintptr_t)thread;
	if (!thread->random)
		thread->random = 1;
	/* The process has no memory: the next samples are as far away as this one was. */
	thread->left = interval(thread, period);
	if (is_first) {
		thread->left -= (int64_t)bytes;
		if (thread->left >= 0) {
			errno = saved_errno;
			return;
		}
		thread->left = interval(thread, period);
	}
	if (block && begin_sample(thread, (uintptr_t)__builtin_frame_address(0))) {
		write_allocation(block, bytes, flags, period);
		thread->busy = 0;
	}
	errno = saved_errno;
}

void sample_end(void *block, size_t size_bytes)
{
	struct inside_free record = {.address = (uintptr_t)block, .size_bytes = size_bytes};
	int saved_errno = errno;

	if (likely(!size_bytes && !blocks_remove((uintptr_t)block)))
		return;
	tell_free(block);
	write_record(&record.header, sizeof(record), INSIDE_FREE, 0, no_part, no_part);
	errno = saved_errno;
}

void sample_cpu(uint64_t period_ns, const void *context)
{
	struct inside_cpu record = {.period_ns = period_ns};
	struct thread_state *thread = &thread_state;
	uint32_t lane = thread->lane; /* of what was interrupted */
	struct state state;

	read_context(context, &state);
	measure_stack(thread, &state);
	record.stack = state.stack;
	write_state(&record.header, sizeof(record), INSIDE_CPU, 0, &state);
	thread->lane = lane;
}

void sample_write(struct inside_header *header, size_t struct_bytes, unsigned type, unsigned flags,
		  const char *text, size_t text_bytes)
{
	write_record(header, struct_bytes, type, flags, (struct part){text, text_bytes}, no_part);
}
