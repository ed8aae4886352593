#include "unwind/outer_walk.h"

#include "base/alloc.h"

#include <stdlib.h>

void outer_walk_deinit(struct outer_walk *outer)
{
	free(outer->frames);
	free(outer->walked);
}

void outer_walk_begin(struct outer_walk *outer, const struct walk *walk)
{
	uint64_t version = address_spaces_version(walk->spaces, walk->pid);

	if (outer->arch != walk->arch || outer->pid != walk->pid || outer->version != version)
		outer->count = outer->unchanged = 0;
	outer->arch = walk->arch;
	outer->pid = walk->pid;
	outer->version = version;
	outer->taken = 0;
	outer->is_of_last = false;
	outer->next = outer->count;
	outer->walked_count = 0;
}

static uint64_t known_fp(const struct walk *walk)
{
	return regs_know(&walk->regs, walk->arch->fp) ? walk->regs.values[walk->arch->fp] : 0;
}

static bool is_same(const struct walk *walk, uint64_t address, uint64_t word)
{
	return walk_has(walk, address, walk->arch->word_bytes) && walk_word(walk, address) == word;
}

/* Whether the stack has what leads from each of the frames to the next; those outside of one where
 * it has not may still be met. */
static bool are_unchanged(struct outer_walk *outer, const struct walk *walk)
{
	for (unsigned i = outer->next; i-- > 0;) {
		const struct outer_frame *known = &outer->frames[i];

		if ((known->ra_at && !is_same(walk, known->ra_at, known->ra)) ||
		    (i && known->fp_at && !is_same(walk, known->fp_at, known[-1].fp))) {
			outer->next = i;
			return false;
		}
	}
	return true;
}

bool outer_walk_meets(struct outer_walk *outer, const struct walk *walk)
{
	uint64_t sp = walk->regs.values[walk->arch->sp];
	const struct outer_frame *known;

	while (outer->next && outer->frames[outer->next - 1].sp < sp)
		outer->next--;
	if (!outer->next || !walk->is_return_address || walk->changed_stack)
		return false;
	known = &outer->frames[outer->next - 1];
	if (known->sp != sp || known->pc != walk->regs.pc || known->fp != known_fp(walk) ||
	    outer->pc_mask != walk->pc_mask || !are_unchanged(outer, walk))
		return false;
	outer->taken = outer->next;
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
	};
}

void outer_walk_leave(struct outer_walk *outer, const struct walk *walk, const struct frame *frame)
{
	struct outer_frame *walked = &outer->walked[outer->walked_count - 1];

	/* What has led there does not matter: all before it is not kept. */
	if (!walk->is_plain_step || walk->changed_stack) {
		outer->walked_count = 0;
		return;
	}
	walked->frame = *frame;
	walked->ra_at = walk->ra_at;
	walked->fp_at = walk->fp_at;
	walked->ra = walk->ra;
}

void outer_walk_end(struct outer_walk *outer, const struct walk *walk)
{
	outer->count = outer->taken;
	outer->is_of_last = true;
	if (outer->unchanged > outer->taken)
		outer->unchanged = outer->taken;
	for (unsigned i = outer->walked_count; i-- > 0 && outer->count < OUTER_FRAMES_MAX;) {
		GROW(outer->frames, outer->count, outer->room);
		outer->frames[outer->count++] = outer->walked[i];
	}
	outer->pc_mask = walk->pc_mask;
}
