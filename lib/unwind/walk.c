#include "unwind/walk.h"

/* How far to prefetch, in steps of how much, and the size of a cache line. */
enum { AHEAD_BYTES = 1024, FETCH_BYTES = 256, LINE_BYTES = 64 };

/* How far below the stack an overflow is detected. */
enum { OVERFLOW_BYTES = 64 << 10 };

/*
 * How much is read above the stack pointer of the last frame on another stack.
 */
enum { LAST_BYTES = 16 };

/*
 * Maximum number of calls from Go to C and back in one stack. Each of them
 * continues above the previous one.
 */
enum { SWITCHES_MAX = 256 };

/* Not inlined, so that walk_enter() needs few registers. */
__attribute__((noinline)) static bool locate_new(struct walk *walk, uint64_t pc,
						 struct location *ret)
{
	struct location *recent;

	if (!address_spaces_locate(walk->spaces, walk->pid, walk->time_ns, pc, ret))
		return false;
	if (ret->start == ret->end) /* JIT code that its compiler has not reported yet */
		return true;
	recent = &walk->recent[walk->next_recent++ % RECENT_MAPPINGS];
	*recent = *ret;
	recent->offset -= pc - ret->start; /* stored relative to the start of the mapping */
	return true;
}

static inline bool walk_locate_inline(struct walk *walk, uint64_t pc, struct location *ret)
{
	const struct location *recent = walk->recent;

	for (unsigned i = 0; i < RECENT_MAPPINGS; i++) {
		if (pc >= recent[i].start && pc < recent[i].end) {
			*ret = recent[i];
			ret->offset += pc - recent[i].start;
			return true;
		}
	}
	return locate_new(walk, pc, ret);
}

bool walk_locate(struct walk *walk, uint64_t pc, struct location *ret)
{
	return walk_locate_inline(walk, pc, ret);
}

void walk_note_unmapped(struct walk *walk, uint64_t pc)
{
	struct location at;

	if (!walk_locate(walk, pc, &at))
		walk->unmapped_pc = pc;
}

bool walk_read_file(const struct walk *walk, const struct location *at, uint64_t pc,
		    uint64_t address, void *into, size_t len)
{
	const struct elf_file *elf = address_spaces_module(walk->spaces, at->module)->elf;
	uint64_t vaddr;

	return elf && elf_file_offset_to_vaddr(elf, at->offset, &vaddr) &&
	       elf_file_read(elf, vaddr + (address - pc), into, len);
}

void walk_stop_unread(struct walk *walk, uint64_t address, uint64_t reach_bytes)
{
	bool within = address - walk->stack_start < reach_bytes;

	if (within)
		walk->needed_bytes = address + sizeof(uint64_t) - walk->stack_start;
	walk->stop = within || walk->changed_stack ? UNWIND_TRUNCATED : UNWIND_LOST;
}

void walk_fetch_ahead(struct walk *walk)
{
	uint64_t at = walk->regs.values[walk->arch->sp] - walk->stack_start;
	uint64_t until = at + AHEAD_BYTES < walk->stack_bytes ? at + AHEAD_BYTES
							      : walk->stack_bytes;

	if (at > walk->stack_bytes)
		return;
	if (walk->fetched_bytes < at)
		walk->fetched_bytes = at;
	for (; walk->fetched_bytes < until; walk->fetched_bytes += LINE_BYTES)
		__builtin_prefetch(walk->stack + walk->fetched_bytes);
}

/*
 * After a stack overflow the interrupted stack pointer is in the page below the
 * stack.
 */
static bool walk_is_interrupted(const struct stack_copies *copies, uint64_t sp)
{
	uint64_t len = bytes_left(&copies->interrupted);

	return len && sp - copies->interrupted_start + OVERFLOW_BYTES <= len + OVERFLOW_BYTES;
}

bool walk_change_stack(struct walk *walk, uint64_t saved_sp_at, uint64_t sp)
{
	const struct stack_copies *copies = walk->copies;

	if (walk->changed_stack)
		return false;
	walk->changed_stack = true;
	walk->saved_sp_at = saved_sp_at;
	if (!walk_is_interrupted(copies, sp))
		return false;
	walk->stack = copies->interrupted.at;
	walk->stack_start = copies->interrupted_start;
	walk->stack_bytes = bytes_left(&copies->interrupted);
	walk->fetched_bytes = 0;
	walk->needed_bytes = 0;
	return true;
}

static bool walk_copy_has(struct bytes copy, uint64_t start, uint64_t address)
{
	return address - start < bytes_left(&copy);
}

/*
 * Go allocates stacks next to each other. sp is on the one that starts closer
 * below it.
 */
static bool is_on_own(const struct walk *walk, uint64_t sp)
{
	uint64_t other_start = walk->copies->interrupted_start;

	return sp - walk->own_start < STACK_REACH_BYTES &&
	       !(other_start > walk->own_start &&
		 walk_copy_has(walk->copies->interrupted, other_start, sp));
}

bool walk_switch(struct walk *walk, uint64_t sp)
{
	bool is_own = is_on_own(walk, sp);
	struct bytes copy = is_own ? walk->copies->own : walk->copies->interrupted;
	uint64_t start = is_own ? walk->own_start : walk->copies->interrupted_start;

	if ((!is_own && !walk_copy_has(copy, start, sp)) || walk->go.switches++ == SWITCHES_MAX)
		return walk_stop(walk, UNWIND_TRUNCATED);
	if (walk->changed_stack)
		walk->other_end = walk->regs.values[walk->arch->sp] + LAST_BYTES;
	walk->changed_stack = !is_own;
	walk->stack = copy.at;
	walk->stack_start = start;
	walk->stack_bytes = bytes_left(&copy);
	walk->fetched_bytes = 0;
	walk->needed_bytes = 0;
	regs_set(&walk->regs, walk->arch->sp, sp);
	if (walk_copy_has(copy, start, sp))
		return true;
	walk_stop_unread(walk, sp, STACK_REACH_BYTES);
	return false;
}

/*
 * Returns the address of the interrupted stack pointer in the kernel's signal
 * frame, which is at sp.
 */
static uint64_t interrupted_sp_at(const struct walk *walk)
{
	const struct arch *arch = walk->arch;

	return arch->signal_frame ? walk->regs.values[arch->sp] + arch->signal_frame->regs[arch->sp]
				  : 0;
}

/* Not inlined, because that would slow down every step of all walks. */
__attribute__((noinline)) static uint64_t strip_signature(struct walk *walk,
							  uint64_t return_address)
{
	const uint8_t *smaller = walk->arch->smaller_spaces;
	uint64_t mask = walk->pc_mask, address = return_address & mask;
	struct location at;

	while (address && !walk_locate(walk, address - 1, &at)) {
		if (!*smaller)
			return return_address & walk->pc_mask;
		mask &= (UINT64_C(1) << *smaller++) - 1;
		address = return_address & mask;
	}
	walk->pc_mask = mask;
	return address;
}

uint64_t walk_strip(struct walk *walk, uint64_t return_address)
{
	return walk->arch->smaller_spaces ? strip_signature(walk, return_address)
					  : return_address & walk->pc_mask;
}

/*
 * Returns true if the caller may have the same sp: a leaf can have pushed
 * nothing, a signal frame cannot.
 */
static bool may_stay(const struct walk *walk, bool is_return_address)
{
	return is_return_address && !walk->is_return_address;
}

bool walk_enter(struct walk *walk, uint64_t sp, uint64_t pc, bool is_return_address)
{
	uint64_t *old_sp = &walk->regs.values[walk->arch->sp];

	pc = walk_strip(walk, pc);
	if (pc == 0) {
		walk->ends_at_zero = true;
		return walk_stop(walk, UNWIND_ROOT);
	}
	if (!is_return_address && !walk->changed_stack && !walk_has(walk, sp, 0))
		walk_change_stack(walk, interrupted_sp_at(walk), sp);
	else if (sp < *old_sp || (sp == *old_sp && !may_stay(walk, is_return_address)))
		return walk_stop(walk, UNWIND_LOST);
	if (!walk_locate_inline(walk, pc - is_return_address, &walk->at)) {
		walk->unmapped_pc = pc - is_return_address;
		return walk_stop(walk, UNWIND_LOST);
	}
	*old_sp = sp;
	if (walk->fetched_bytes < sp - walk->stack_start + AHEAD_BYTES - FETCH_BYTES)
		walk_fetch_ahead(walk);
	walk->regs.pc = pc;
	walk->is_return_address = is_return_address;
	return true;
}
