#include "unwind/outer_walk.h"

#include "base/alloc.h"

#include <stdlib.h>

enum {
	/*
	 * Frames are cached again when walks have walked this many times the
	 * number of cached frames. Caching costs as much as a few walks.
	 */
	WALKED_AGAIN = 16,
	SLOT_WORD_BYTES = 8,
	/* Reading a gap of this size costs as much as another window. */
	WINDOW_GAP_BYTES = 4 << 10,
};

void outer_walk_deinit(struct outer_walk *outer)
{
	free(outer->kept[0].items);
	free(outer->kept[1].items);
	free(outer->walked);
}

void outer_walk_forget(struct outer_walk *outer)
{
	for (unsigned i = 0; i < ARRAY_SIZE(outer->kept); i++) {
		outer->kept[i].version = 0;
		outer->kept[i].count = 0;
	}
}

void outer_walk_expect(struct outer_walk *outer, uint64_t version, unsigned equal_slots)
{
	bool is_older = equal_slots && version == outer->kept[1].version;

	outer->used = &outer->kept[is_older];
	outer->equal_slots = version == outer->used->version ? equal_slots : 0;
	outer->taken = outer->shared = 0;
	outer->is_at_root = false;
}

/* Returns true if the mapping of the frame's code is unchanged. */
static bool outer_walk_is_mapped(const struct outer_frame *known, struct walk *walk)
{
	bool is_return_address = known->frame.is_return_address;
	struct location at;

	return walk_locate(walk, known->pc - is_return_address, &at) &&
	       at.module == known->frame.module &&
	       at.offset + is_return_address == known->frame.offset;
}

static void drop_unmapped(struct outer_frames *frames, struct walk *walk)
{
	unsigned count = 0;

	while (count < frames->count && outer_walk_is_mapped(&frames->items[count], walk))
		count++;
	frames->count = count;
}

void outer_walk_begin(struct outer_walk *outer, struct walk *walk)
{
	uint64_t mappings = address_spaces_version(walk->spaces, walk->pid);

	if (outer->arch != walk->arch || outer->pid != walk->pid)
		outer_walk_forget(outer);
	for (unsigned i = 0; i < ARRAY_SIZE(outer->kept) && outer->mappings != mappings; i++)
		drop_unmapped(&outer->kept[i], walk);
	outer->arch = walk->arch;
	outer->pid = walk->pid;
	outer->mappings = mappings;
	outer->taken = outer->shared = 0;
	outer->is_at_root = false;
	outer->next = outer->used->count;
	outer->walked_count = 0;
}

static uint64_t known_fp(const struct walk *walk)
{
	return regs_know(&walk->regs, walk->arch->fp) ? walk->regs.values[walk->arch->fp] : 0;
}

static bool outer_walk_is_same(const struct walk *walk, uint64_t address, uint64_t word)
{
	return walk_has(walk, address, walk->arch->word_bytes) && walk_word(walk, address) == word;
}

/*
 * Returns true if the rest of a walk depends on the saved frame pointer. The
 * root does not restore it.
 */
static bool restores_fp(const struct outer_frame *known)
{
	return known->fp_at && known[-1].needs_fp;
}

/*
 * Returns true if the words on the stack that lead from each frame to the next
 * are unchanged. If a frame has changed, the frames outside of it can still be
 * reached.
 */
static bool are_unchanged(struct outer_walk *outer, const struct walk *walk)
{
	for (unsigned i = outer->next; i-- > 0;) {
		const struct outer_frame *known = &outer->used->items[i];

		if (known->slots <= outer->equal_slots)
			return true;
		if ((known->ra_at && !outer_walk_is_same(walk, known->ra_at, known->ra)) ||
		    (restores_fp(known) && !outer_walk_is_same(walk, known->fp_at, known[-1].fp))) {
			outer->next = i;
			return false;
		}
	}
	return true;
}

bool outer_walk_meets(struct outer_walk *outer, const struct walk *walk)
{
	const struct outer_frames *used = outer->used;
	uint64_t sp = walk->regs.values[walk->arch->sp];
	const struct outer_frame *known;

	while (outer->next && used->items[outer->next - 1].sp < sp)
		outer->next--;
	if (!outer->next || !walk->is_return_address || walk->changed_stack)
		return false;
	known = &used->items[outer->next - 1];
	if (known->sp != sp || known->pc != walk->regs.pc ||
	    (known->needs_fp && known->fp != known_fp(walk)) || used->pc_mask != walk->pc_mask ||
	    !are_unchanged(outer, walk))
		return false;
	outer->taken = outer->shared = outer->next;
	return true;
}

void outer_walk_enter(struct outer_walk *outer, const struct walk *walk)
{
	if (outer->walked_count == OUTER_FRAMES_MAX)
		outer->walked_count = 0;
	GROW(outer->walked, outer->walked_count, outer->walked_room);
	outer->walked[outer->walked_count++] = (struct outer_frame){
		.sp = walk->regs.values[walk->arch->sp],
		.pc = walk->regs.pc,
		.fp = known_fp(walk),
		.stack = OUTER_NO_STACK,
	};
}

void outer_walk_leave(struct outer_walk *outer, const struct walk *walk, const struct frame *frame)
{
	struct outer_frame *walked = &outer->walked[outer->walked_count - 1];

	/*
	 * Drops the inner frames. How the walk reached this frame is
	 * irrelevant.
	 */
	if (!walk->is_plain_step || walk->changed_stack) {
		outer->walked_count = 0;
		return;
	}
	walked->frame = *frame;
	walked->uses_fp = walk->uses_fp;
	walked->ra_at = walk->ra_at;
	walked->fp_at = walk->fp_at;
	walked->ra = walk->ra;
}

void outer_walk_end(struct outer_walk *outer, const struct walk *walk)
{
	outer->is_at_root = true;
	outer->pc_mask = walk->pc_mask;
	outer->walked_again += outer->walked_count;
}

bool outer_walk_may_keep(const struct outer_walk *outer)
{
	return outer->is_at_root && outer->used == &outer->kept[0];
}

bool outer_walk_is_outdated(const struct outer_walk *outer)
{
	uint64_t count = outer->taken + outer->walked_count;

	return outer_walk_may_keep(outer) &&
	       (!outer->used->count || outer->walked_again > WALKED_AGAIN * count);
}

static unsigned count_slots(const struct outer_frame *known)
{
	return (known->ra_at != 0) + restores_fp(known);
}

static void outer_walk_add_frame(struct outer_frames *frames, const struct outer_frame *frame)
{
	struct outer_frame *added;

	if (frames->count == OUTER_FRAMES_MAX)
		return;
	GROW(frames->items, frames->count, frames->room);
	added = &frames->items[frames->count];
	*added = *frame;
	added->slots = 0;
	if (!frames->count++)
		added->fp_at = 0;
	added->needs_fp = added->uses_fp ||
			  (frames->count > 1 && !added->fp_at && added[-1].needs_fp);
	added->slots = count_slots(added) + (frames->count > 1 ? added[-1].slots : 0);
}

void outer_walk_keep(struct outer_walk *outer, uint64_t version)
{
	struct outer_frames older = outer->kept[0], *newest = &outer->kept[0];

	outer->kept[0] = outer->kept[1];
	outer->kept[1] = older;
	newest->version = version;
	newest->pc_mask = outer->pc_mask;
	newest->count = 0;
	for (unsigned i = 0; i < outer->taken; i++)
		outer_walk_add_frame(newest, &older.items[i]);
	for (unsigned i = outer->walked_count; i-- > 0;)
		outer_walk_add_frame(newest, &outer->walked[i]);
	outer->shared = newest->count;
	outer->walked_again = 0;
}

/* Adds the slots of a frame. *to already ends with the slots of its caller. */
static void put_slots(const struct outer_frame *known, unsigned index, struct stack_slots *to)
{
	uint64_t needed_end = index ? known[-1].sp : 0;

	if (known->ra_at)
		to->items[to->count++] = (struct stack_slot){
			.at = known->ra_at, .word = known->ra, .needed_end = needed_end};
	if (!restores_fp(known))
		return;
	/*
	 * Without the next slot, as much of the stack is needed as if the frame
	 * were another one.
	 */
	if (known->ra_at)
		to->items[to->count - 1].needed_end = index > 1 ? known[-2].sp : 0;
	to->items[to->count++] = (struct stack_slot){
		.at = known->fp_at, .word = known[-1].fp, .needed_end = needed_end};
}

/*
 * Returns the number of slots, starting with the first one, that fit into one
 * window as aligned words and are close to each other.
 */
static unsigned count_in_window(const struct stack_slot *slots, unsigned count)
{
	unsigned in_window = 1;

	while (in_window < count &&
	       slots[in_window - 1].at - slots[in_window].at < WINDOW_GAP_BYTES &&
	       (slots[0].at - slots[in_window].at) % SLOT_WORD_BYTES == 0 &&
	       slots[0].at + SLOT_WORD_BYTES - slots[in_window].at <= STACK_WINDOW_BYTES)
		in_window++;
	return in_window;
}

static void put_windows(struct stack_slots *slots)
{
	unsigned count;

	for (unsigned first = 0; first < slots->count; first += count) {
		struct stack_slot *window = &slots->items[first];
		uint64_t start;

		count = count_in_window(window, slots->count - first);
		start = window[count - 1].at;
		for (unsigned i = 0; i < count; i++)
			window[i].offset = (uint32_t)(window[i].at - start);
		window->window_bytes = window->offset + SLOT_WORD_BYTES;
	}
}

void outer_walk_slots(const struct outer_walk *outer, struct stack_slots *ret)
{
	const struct outer_frames *newest = &outer->kept[0];

	ret->version = newest->version;
	ret->count = 0;
	if (outer->arch->word_bytes != SLOT_WORD_BYTES)
		return;
	for (unsigned i = 0; i < newest->count && newest->items[i].slots <= STACK_SLOTS_MAX; i++)
		put_slots(&newest->items[i], i, ret);
	put_windows(ret);
}
