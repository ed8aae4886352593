#include "perf/stack_extents.h"

enum {
	/* Number of bytes to copy: for an unknown thread or a thread on another
	 * stack than before, and at most. */
	OTHER_BYTES = 256 << 10,
	BYTES_MAX = 8 << 20,
	/* Increment of the stack-switch score for a stack that ends elsewhere.
	 * One such change is not enough, because the first samples of a program
	 * may be in its loader, on a stack that ends elsewhere. */
	SWITCH_SCORE = 16,
	SWITCH_SCORE_MAX = 64,
	/* Maximum size of a signal handler's stack. */
	HANDLER_BYTES_MAX = 1 << 20,
	/* Bytes above the saved stack pointer that hold the pc and the other
	 * registers. */
	SAVED_BYTES = 256,
};

static size_t stack_extents_index_of(pid_t tid)
{
	return (uint32_t)tid % STACK_EXTENTS;
}

static bool switches_stacks(const struct known_extent *known)
{
	return known->switch_score > SWITCH_SCORE;
}

static void stack_extents_note_end(struct known_extent *known, struct stack_extent extent)
{
	if (extent.is_whole && known->is_whole && known->end != extent.end)
		known->switch_score = switches_stacks(known) ? SWITCH_SCORE_MAX
							     : known->switch_score + SWITCH_SCORE;
	else if (known->switch_score > 0)
		known->switch_score--;
	known->end = extent.end;
	known->is_whole = extent.is_whole;
}

/* Resets the entry for another thread. */
static void stack_extents_begin(struct known_extent *known)
{
	known->switch_score = 0;
	known->is_whole = known->is_deep = false;
	known->end = 0;
	known->saved_sp_at = known->interrupted_end = known->g_at = 0;
	known->needs_go = false;
}

void stack_extents_note(struct stack_extents *extents, pid_t tid, struct stack_extent extent)
{
	struct known_extent *known = &extents->items[stack_extents_index_of(tid)];

	if (known->tid == tid && extent.is_deep)
		known->is_deep = true;
	if (!extent.end && !extent.saved_sp_at && !extent.needs_go)
		return;
	if (known->tid != tid)
		stack_extents_begin(known);
	if (extent.saved_sp_at)
		known->saved_sp_at = extent.saved_sp_at;
	if (extent.saved_sp_at || extent.interrupted_end)
		known->interrupted_end = extent.interrupted_end;
	if (extent.needs_go)
		known->needs_go = true;
	if (extent.g_at)
		known->g_at = extent.g_at;
	if (extent.end) {
		stack_extents_note_end(known, extent);
		known->is_deep = extent.is_deep;
	}
	known->tid = tid;
}

/* Returns 0 if the kernel's copy suffices. */
static size_t above(uint64_t sp, uint64_t end, size_t dumped_bytes)
{
	return end - sp > dumped_bytes ? end - sp : 0;
}

uint64_t stack_extents_saved_sp_at(const struct stack_extents *extents, pid_t tid, uint64_t sp)
{
	const struct known_extent *known = &extents->items[stack_extents_index_of(tid)];
	uint64_t saved_at = known->saved_sp_at;

	return known->tid == tid && saved_at - sp < HANDLER_BYTES_MAX ? saved_at : 0;
}

bool stack_extents_need_go(const struct stack_extents *extents, pid_t tid, uint64_t sp,
			   uint64_t *g_at)
{
	const struct known_extent *known = &extents->items[stack_extents_index_of(tid)];
	uint64_t at = known->g_at;

	*g_at = at - sp < BYTES_MAX ? at : 0;
	return known->tid == tid && known->needs_go;
}

size_t stack_extents_wanted(const struct stack_extents *extents, pid_t tid, uint64_t sp,
			    size_t dumped_bytes)
{
	const struct known_extent *known = &extents->items[stack_extents_index_of(tid)];
	uint64_t end = known->end, saved_at;

	if (!sp)
		return 0;
	if (known->tid != tid)
		return extents->skips_unknown ? 0 : OTHER_BYTES;
	saved_at = stack_extents_saved_sp_at(extents, tid, sp);
	if (saved_at)
		return above(sp, saved_at + SAVED_BYTES, dumped_bytes);
	if (switches_stacks(known))
		return known->is_deep ? OTHER_BYTES : 0;
	if (end <= sp || end - sp > BYTES_MAX)
		return OTHER_BYTES;
	return above(sp, end, dumped_bytes);
}

size_t stack_extents_interrupted(const struct stack_extents *extents, pid_t tid, uint64_t sp)
{
	const struct known_extent *known = &extents->items[stack_extents_index_of(tid)];
	uint64_t end = known->interrupted_end;

	if (end <= sp || end - sp > 2 * BYTES_MAX)
		return OTHER_BYTES;
	return end - sp < BYTES_MAX ? end - sp : BYTES_MAX;
}
