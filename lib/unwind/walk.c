#include "unwind/walk.h"

/* More is no faster. A line is that of the caches. */
enum { AHEAD_BYTES = 1024, LINE_BYTES = 64 };

bool walk_locate(struct walk *walk, uint64_t pc, struct location *ret)
{
	struct location *recent = walk->recent;

	for (unsigned i = 0; i < RECENT_MAPPINGS; i++) {
		if (pc >= recent[i].start && pc < recent[i].end) {
			*ret = recent[i];
			ret->offset += pc - recent[i].start;
			return true;
		}
	}
	if (!spaces_locate(walk->spaces, walk->pid, walk->time_ns, pc, ret))
		return false;
	recent = &recent[walk->next_recent++ % RECENT_MAPPINGS];
	*recent = *ret;
	recent->offset -= pc - ret->start; /* kept for the start of the mapping */
	return true;
}

bool walk_read_file(const struct walk *walk, const struct location *at, uint64_t pc,
		    uint64_t address, void *into, size_t len)
{
	const struct image *image = spaces_module(walk->spaces, at->module)->image;
	uint64_t vaddr;

	return image && image_offset_to_vaddr(image, at->offset, &vaddr) &&
	       image_read(image, vaddr + (address - pc), into, len);
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

bool walk_enter(struct walk *walk, uint64_t sp, uint64_t pc, bool is_return_address)
{
	uint64_t *old_sp = &walk->regs.values[walk->arch->sp];

	pc &= walk->arch->pc_mask;
	if (pc == 0)
		return walk_stop(walk, UNWIND_ROOT);
	if (!is_return_address && !walk_has(walk, sp, 0))
		walk->changed_stack = true;
	else if (sp < *old_sp || (sp == *old_sp && walk->is_return_address))
		return walk_stop(walk, UNWIND_LOST);
	if (!walk_locate(walk, pc - is_return_address, &walk->at))
		return walk_stop(walk, UNWIND_LOST);
	*old_sp = sp;
	walk_fetch_ahead(walk);
	walk->regs.pc = pc;
	walk->is_return_address = is_return_address;
	return true;
}
