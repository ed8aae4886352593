#include "record/script_merge.h"

/* Returns the first call of the loop from `from` on, or chain->count. */
static unsigned next_loop(const struct script_native *native, unsigned from)
{
	const struct call_chain *chain = native->chain;

	while (from < chain->count &&
	       !script_runtimes_is_loop(native->runtimes, &chain->frames[from]))
		from++;
	return from;
}

/* Whether the memory of the frame contains the address. */
static bool frame_has(const struct call_chain *chain, unsigned i, uint64_t address)
{
	return i + 1 < chain->count && address >= chain->frames[i].sp &&
	       address < chain->frames[i + 1].sp;
}

enum record_comparison { RECORD_NOT_COPIED, RECORD_EQUAL, RECORD_DIFFERS };

/* Compares the record of a call with the copy that the kernel has made when it
 * took the sample. */
static enum record_comparison compare_record(const struct script_native *native,
					     const struct script_frame *entry)
{
	struct bytes at = native->stack;
	uint64_t offset = entry->word_at - native->sp;

	if (offset >= bytes_left(&at) || bytes_left(&at) - offset < sizeof(entry->word))
		return RECORD_NOT_COPIED;
	at = bytes_at(at, offset);
	return bytes_u64(&at) == entry->word ? RECORD_EQUAL : RECORD_DIFFERS;
}

/* Whether the record of the call can be in the part of the stack that was not
 * unwound. */
static bool is_beyond(const struct script_native *native, uint64_t address)
{
	const struct call_chain *chain = native->chain;

	return !native->is_whole && address >= chain->frames[chain->count - 1].sp;
}

/*
 * Whether the frame is a call of the loop. A part of the loop that has no
 * symbol is recognized by the record of a call in its frame.
 */
static bool is_call(const struct script_native *native, unsigned i, enum record_comparison record)
{
	const struct frame *frame = &native->chain->frames[i];
	uint64_t start, end;

	return script_runtimes_is_loop(native->runtimes, frame) ||
	       (record == RECORD_EQUAL &&
		unwinder_function(native->unwinder, frame->module,
				  frame->offset - frame->is_return_address, &start, &end) &&
		script_runtimes_learn(native->runtimes, frame, start, end));
}

/*
 * Places the frames of one call of the loop. A call that has just
 * started or is about to end has no record. It is then the innermost function.
 */
static bool place(const struct script_native *native, const struct script_frame *entry,
		  struct script_part part, unsigned *next, struct script_merge *ret)
{
	const struct call_chain *chain = native->chain;
	enum record_comparison record = compare_record(native, entry);
	unsigned i = *next, loop;

	while (i < chain->count && !frame_has(chain, i, entry->at))
		i++;
	loop = next_loop(native, *next ? *next : 1);
	if (i == chain->count || loop < i || record == RECORD_DIFFERS ||
	    !is_call(native, i, record))
		return false;
	part.native = i;
	ret->parts[ret->count++] = part;
	*next = i + 1;
	return true;
}

/*
 * Places the functions from the i-th frame of the script on, whose calls of the
 * loop were not unwound. If the outermost known frame is one, it may be that of
 * the first of them, which are not placed then.
 */
static bool place_beyond(const struct script_native *native, const struct script_stack *script,
			 unsigned first, unsigned next, struct script_merge *ret)
{
	const unsigned count = native->chain->count, loop = next_loop(native, next);

	for (unsigned i = first; loop == count && i < script->count; i++) {
		if (!script->frames[i].is_entry)
			continue;
		if (compare_record(native, &script->frames[i]) == RECORD_DIFFERS)
			return false;
		ret->parts[ret->count++] =
			(struct script_part){.native = count, .first = first, .end = i};
		first = i + 1;
	}
	return loop + 1 >= count;
}

static bool place_all(const struct script_native *native, const struct script_stack *script,
		      struct script_merge *ret)
{
	const struct call_chain *chain = native->chain;
	unsigned next = 0, first = 0;

	for (unsigned i = 0; i < script->count; i++) {
		const struct script_frame *entry = &script->frames[i];

		if (!entry->is_entry)
			continue;
		if (is_beyond(native, entry->at))
			return place_beyond(native, script, first, next, ret);
		if (!place(native, entry, (struct script_part){.first = first, .end = i}, &next,
			   ret))
			return false;
		first = i + 1;
	}
	/* Outer calls belong to other greenlets, each of which has a list of its
	 * own. */
	if (ret->count)
		return true;
	next = next_loop(native, next_loop(native, 0) ? 0 : 1);
	return next == chain->count || (!native->is_whole && next + 1 == chain->count);
}

enum script_merge_result script_merge(const struct script_native *native,
				      const struct script_stack *script, struct script_merge *ret)
{
	ret->count = 0;
	ret->loop = next_loop(native, 0);
	if (ret->loop == native->chain->count && !script)
		return SCRIPT_MERGE_NONE;
	if (script && !native->chain->left_out && place_all(native, script, ret))
		return ret->count ? SCRIPT_MERGE_DONE : SCRIPT_MERGE_NONE;
	ret->count = 0;
	return ret->loop == native->chain->count ? SCRIPT_MERGE_NONE : SCRIPT_MERGE_UNKNOWN;
}
