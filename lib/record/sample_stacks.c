#include "record/sample_stacks.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "perf/branch.h"
#include "record/deep_threads.h"
#include "record/own_frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	/*
	 * 128 MB of stacks. All programs of a large machine have a million; one that recurses at
	 * random adds as many per second.
	 */
	STACKS_CEILING = 8 << 20,
	/* Above the ceiling a process may still have this share of it. */
	CEILING_SHARE = 64,
};

/* The guess of how much larger a stack is if a copier's copy was too small. */
enum { CUT_OFF_BYTES = 1 << 20 };

struct sample_stacks {
	struct address_spaces *spaces;
	struct unwinder *unwinder;
	const struct arch *arch;
	struct unwinder *compat; /* of arch->compat; NULL: not needed yet */
	struct stack_counts *counts;
	struct profile *profile;    /* of the current call … */
	struct stack_extent extent; /* … and what it gives back */

	uint32_t ceiling;
	struct idmap stacks_by_pid; /* (pid, 0) → the stacks that its samples have added */

	struct fresh_maps *fresh; /* NULL: a recording has no others than its records tell of */
	struct own_frames own;	  /* that are left out */
	size_t most_calls;	  /* that a CPU has recorded of a stack */

	struct deep_threads deep;
	struct frame *frames; /* of one walk, leaf first */
	unsigned depth;	      /* room for so many */
};

struct sample_stacks *sample_stacks_new(struct address_spaces *spaces, struct unwinder *unwinder,
					const struct arch *arch, struct stack_counts *counts)
{
	struct sample_stacks *stacks = xcalloc(1, sizeof(*stacks));

	stacks->spaces = spaces;
	stacks->unwinder = unwinder;
	stacks->arch = arch;
	stacks->counts = counts;
	sample_stacks_set_depth(stacks, UNWIND_DEPTH_MAX);
	sample_stacks_set_ceiling(stacks, STACKS_CEILING);
	return stacks;
}

void sample_stacks_free(struct sample_stacks *stacks)
{
	if (!stacks)
		return;
	idmap_deinit(&stacks->stacks_by_pid);
	deep_threads_deinit(&stacks->deep);
	own_frames_deinit(&stacks->own);
	free(stacks->frames);
	unwinder_free(stacks->compat);
	free(stacks);
}

void sample_stacks_set_depth(struct sample_stacks *stacks, unsigned frames)
{
	stacks->depth = frames;
	stacks->frames = xreallocarray(stacks->frames, frames, sizeof(*stacks->frames));
}

void sample_stacks_set_ceiling(struct sample_stacks *stacks, uint32_t count)
{
	stacks->ceiling = count;
}

void sample_stacks_set_fresh_maps(struct sample_stacks *stacks, struct fresh_maps *fresh)
{
	stacks->fresh = fresh;
}

void sample_stacks_forget_processes(struct sample_stacks *stacks)
{
	idmap_deinit(&stacks->stacks_by_pid);
	deep_threads_forget_stacks(&stacks->deep);
}

static frame_id frame_at(struct sample_stacks *stacks, const struct frame *frame)
{
	return profile_frame(stacks->profile, frame->module, frame->offset,
			     frame->is_return_address);
}

/* As address_spaces_locate(), also in a mapping that no record has told of. */
static bool locate(struct sample_stacks *stacks, const struct record *record, uint64_t pc,
		   struct location *ret)
{
	if (address_spaces_locate(stacks->spaces, record->pid, record->time_ns, pc, ret))
		return true;
	return stacks->fresh && fresh_maps_find(stacks->fresh, record->pid, record->time_ns, pc) &&
	       address_spaces_locate(stacks->spaces, record->pid, record->time_ns, pc, ret);
}

static frame_id frame_at_pc(struct sample_stacks *stacks, const struct record *record, uint64_t pc,
			    bool is_return_address)
{
	struct location location;

	locate(stacks, record, pc - is_return_address, &location);
	return frame_at(stacks, &(struct frame){.module = location.module,
						.offset = location.offset + is_return_address,
						.is_return_address = is_return_address});
}

/* Whether a process may not add stacks of many frames any more. */
static bool is_at_ceiling(const struct sample_stacks *stacks, pid_t pid)
{
	uint32_t count = profile_stacks(stacks->profile).count, own;

	if (count < stacks->ceiling)
		return false;
	own = idmap_get(&stacks->stacks_by_pid, (uint64_t)pid, 0);
	return count / 2 >= stacks->ceiling ||
	       (own != IDMAP_NONE && own >= stacks->ceiling / CEILING_SHARE);
}

static void count_added(struct sample_stacks *stacks, pid_t pid, uint32_t count_before)
{
	uint32_t added = profile_stacks(stacks->profile).count - count_before, *own;

	if (!added)
		return;
	own = idmap_put(&stacks->stacks_by_pid, (uint64_t)pid, 0);
	*own = (*own == IDMAP_NONE ? 0 : *own) + added;
}

enum { ABI_NONE = 0, ABI_32 = 1 }; /* PERF_SAMPLE_REGS_ABI_* */

/* NULL: the registers are not there, or of a machine that we do not unwind. */
static const struct arch *arch_of(const struct sample_stacks *stacks,
				  const struct record_sample *sample)
{
	if (sample->regs.abi == ABI_NONE)
		return NULL;
	return sample->regs.abi == ABI_32 ? stacks->arch->compat : stacks->arch;
}

static struct unwinder *unwinder_of(struct sample_stacks *stacks, const struct arch *arch)
{
	if (arch == stacks->arch)
		return stacks->unwinder;
	if (!stacks->compat)
		stacks->compat = unwinder_new_like(stacks->unwinder, arch);
	return stacks->compat;
}

static enum unwind_stop walk(const struct sample_stacks *stacks, struct unwinder *unwinder,
			     const struct record *record, const struct regs *regs,
			     const struct stack_copies *copies, struct call_chain *chain)
{
	const struct call_chain empty = *chain;
	enum unwind_stop stop = unwinder_walk(unwinder, record->pid, record->time_ns, regs, copies,
					      chain);

	if (!stacks->fresh || !chain->unmapped_pc ||
	    !fresh_maps_find(stacks->fresh, record->pid, record->time_ns, chain->unmapped_pc))
		return stop;
	*chain = empty;
	return unwinder_walk(unwinder, record->pid, record->time_ns, regs, copies, chain);
}

/* True if the walk reaches the root. */
static bool unwind(struct sample_stacks *stacks, const struct record *record,
		   const struct regs *regs, struct call_chain *chain)
{
	const struct record_sample *sample = &record->sample;
	const struct arch *arch = arch_of(stacks, sample);
	struct unwinder *unwinder = unwinder_of(stacks, arch);
	const struct stack_copies copies = {.own = sample->stack,
					    .interrupted = sample->interrupted_stack,
					    .interrupted_start = sample->interrupted_start,
					    .go = sample->go};
	bool complete = walk(stacks, unwinder, record, regs, &copies, chain) == UNWIND_ROOT;
	bool deep = chain->needed_bytes > sample->dumped_bytes;
	bool exceeds = deep || chain->saved_sp_at || chain->needs_go; /* the kernel's copy */
	uint64_t sp = regs->values[arch->sp];

	if (!complete &&
	    unwinder_splice(unwinder, record->pid, record->time_ns, sample->user_chain, chain)) {
		stacks->counts->spliced++;
		return true;
	}
	stacks->extent = (struct stack_extent){
		.is_whole = complete,
		.is_deep = deep,
		.saved_sp_at = chain->saved_sp_at,
		.interrupted_end = chain->interrupted_end,
		.needs_go = chain->needs_go,
		.g_at = chain->g_at,
	};
	if (!complete && chain->interrupted_end)
		stacks->extent.interrupted_end += CUT_OFF_BYTES;
	stacks->counts->deep += exceeds;
	stacks->counts->completed += complete && exceeds;
	if (complete && chain->needed_bytes)
		stacks->extent.end = sp + chain->needed_bytes;
	else if (bytes_left(&sample->stack) > sample->dumped_bytes)
		stacks->extent.end = sp + chain->needed_bytes + CUT_OFF_BYTES;
	return complete;
}

static stack_id push_synthetic(struct sample_stacks *stacks, stack_id stack, const char *text)
{
	return profile_push(stacks->profile, stack, profile_synthetic_frame(stacks->profile, text));
}

/* The leaf of a stack that has no other frame stays. */
static bool is_left_out(struct sample_stacks *stacks, unsigned i, frame_id frame, stack_id stack)
{
	module_id module = profile_get_frame(stacks->profile, frame).module;

	return own_frames_has(&stacks->own, stacks->spaces, module) && (i || stack != STACK_EMPTY);
}

/*
 * Pushes the i-th frame from the leaf. Returns the number of frames that are left to push: at the
 * ceiling, after the part of the stack that is known, only the leaf.
 */
static unsigned push_user(struct sample_stacks *stacks, bool at_ceiling, unsigned i, frame_id frame,
			  stack_id *stack)
{
	stack_id known;

	if (is_left_out(stacks, i, frame, *stack))
		return i;
	if (at_ceiling && i && !profile_find_stack(stacks->profile, *stack, frame, &known)) {
		*stack = push_synthetic(stacks, *stack, "[frames left out]");
		stacks->counts->shortened++;
		return 1;
	}
	*stack = profile_push(stacks->profile, *stack, frame);
	return i;
}

/*
 * Goes to the stack that ends with the outer frames that the walk has met. Returns the number of
 * frames that are left to push.
 */
static unsigned take_known_stack(const struct outer_walk *outer, const struct call_chain *chain,
				 stack_id *stack)
{
	unsigned taken = outer->taken;

	if (!taken || outer->used->items[taken - 1].stack == OUTER_NO_STACK)
		return chain->count;
	*stack = outer->used->items[taken - 1].stack;
	return chain->count - taken;
}

/* All but `left` frames of the chain have been pushed. */
static void keep_stack(struct outer_walk *outer, const struct call_chain *chain, unsigned left,
		       stack_id stack)
{
	if (chain->count - left <= outer->shared)
		outer->used->items[chain->count - left - 1].stack = stack;
}

/* The user part by its registers and the copied stack. */
static stack_id push_unwound(struct sample_stacks *stacks, const struct record *record,
			     const struct regs *regs, stack_id stack)
{
	struct deep_thread *deep = deep_threads_find(&stacks->deep, record);
	struct call_chain chain = {.frames = stacks->frames,
				   .room = stacks->depth,
				   .outer = deep ? &deep->outer : NULL};
	bool at_ceiling = is_at_ceiling(stacks, record->pid);
	bool is_whole = unwind(stacks, record, regs, &chain), pushes_all;
	unsigned left = chain.count;

	stacks->counts->user_stacks++;
	if (!is_whole) {
		stacks->counts->truncated++;
		stack = push_synthetic(stacks, stack, "[truncated]");
	}
	if (deep)
		stacks->extent.slots = deep_threads_note(&stacks->deep, deep, record,
							 !is_whole && chain.needed_bytes);
	pushes_all = deep && deep->outer.is_at_root && !chain.left_out && !at_ceiling;
	if (pushes_all)
		left = take_known_stack(&deep->outer, &chain, &stack);
	while (left) {
		unsigned i = left - 1;

		left = push_user(stacks, at_ceiling, i, frame_at(stacks, &chain.frames[i]), &stack);
		if (pushes_all)
			keep_stack(&deep->outer, &chain, left, stack);
		if (chain.left_out && i == chain.gap && left == i) {
			char text[40];

			snprintf(text, sizeof(text), "[%" PRIu64 " frames]", chain.left_out);
			stack = push_synthetic(stacks, stack, text);
		}
	}
	return stack;
}

static uint64_t chain_at(const struct bytes *chain, size_t index)
{
	struct bytes at = bytes_at(*chain, index * sizeof(uint64_t));

	return bytes_u64(&at);
}

/*
 * The number of addresses before the first one that is not in a mapping. The kernel's walk goes
 * wrong in code without frame pointers; what follows that address is dropped.
 */
static size_t count_mapped(struct sample_stacks *stacks, const struct record *record, size_t count)
{
	struct location location;

	for (size_t i = 1; i < count; i++)
		if (!locate(stacks, record, chain_at(&record->sample.user_chain, i) - 1, &location))
			return i;
	return count;
}

/* The user part by the kernel's walk along frame pointers: the pc, then return addresses. */
static stack_id push_user_chain(struct sample_stacks *stacks, const struct record *record,
				stack_id stack)
{
	const struct bytes *chain = &record->sample.user_chain;
	size_t all = bytes_left(chain) / sizeof(uint64_t);
	size_t count = count_mapped(stacks, record, all);
	bool at_ceiling = is_at_ceiling(stacks, record->pid);

	/* A return address of 0 is the root. */
	if (count < all && chain_at(chain, count) != 0) {
		stacks->counts->truncated++;
		stack = push_synthetic(stacks, stack, "[truncated]");
	}
	for (unsigned left = (unsigned)count; left;) {
		unsigned i = left - 1;

		left = push_user(stacks, at_ceiling, i,
				 frame_at_pc(stacks, record, chain_at(chain, i), i > 0), &stack);
	}
	return stack;
}

static frame_id kernel_frame(struct sample_stacks *stacks, uint64_t pc, bool is_return_address)
{
	return profile_frame(stacks->profile, address_spaces_kernel_at(stacks->spaces, pc), pc,
			     is_return_address);
}

/* Of a sample in the kernel at least the pc. */
static size_t count_kernel(const struct record_sample *sample)
{
	size_t count = bytes_left(&sample->kernel_chain) / sizeof(uint64_t);

	return count ? count : sample->in_kernel;
}

static uint64_t kernel_at(const struct record_sample *sample, size_t i)
{
	return bytes_left(&sample->kernel_chain) ? chain_at(&sample->kernel_chain, i) : sample->ip;
}

/* The innermost `left` frames. */
static stack_id push_kernel(struct sample_stacks *stacks, const struct record_sample *sample,
			    size_t left, stack_id stack)
{
	while (left-- > 0)
		stack = profile_push(stacks->profile, stack,
				     kernel_frame(stacks, kernel_at(sample, left), left > 0));
	return stack;
}

/*
 * Until an exec enters the new program, the registers are still those of the old one, whose memory
 * is gone: nothing is mapped where they point.
 */
static bool is_in_exec(struct sample_stacks *stacks, const struct record *record, uint64_t pc)
{
	struct location location;

	return record->sample.in_kernel &&
	       !address_spaces_locate(stacks->spaces, record->pid, record->time_ns, pc, &location);
}

static size_t count_calls(const struct record_sample *sample)
{
	return sample->are_branches_calls ? bytes_left(&sample->branches) / BRANCH_BYTES : 0;
}

static struct branch call_at(const struct record_sample *sample, size_t index)
{
	struct bytes at = bytes_at(sample->branches, index * BRANCH_BYTES);
	struct branch call;

	branch_next(&at, &call);
	return call;
}

/* A CPU has registers for 16 or 32 calls. As many may be all there are, but hardly ever on a CPU
 * that has not recorded more. */
static bool fills_registers(struct sample_stacks *stacks, size_t count)
{
	enum { LEAST_REGISTERS = 16 };

	if (count > stacks->most_calls)
		stacks->most_calls = count;
	return count == stacks->most_calls && count >= LEAST_REGISTERS && !(count & (count - 1));
}

/* The pc; where it is not known, the start of the function that was called last. */
static uint64_t innermost_pc(const struct record_sample *sample)
{
	if (bytes_left(&sample->user_chain))
		return chain_at(&sample->user_chain, 0);
	return sample->in_kernel ? call_at(sample, 0).to : sample->ip;
}

/* The user part by the calls that the CPU has recorded: the pc, then the calls themselves. */
static stack_id push_calls(struct sample_stacks *stacks, const struct record *record,
			   stack_id stack)
{
	size_t count = count_calls(&record->sample);
	uint64_t pc = innermost_pc(&record->sample);
	bool at_ceiling = is_at_ceiling(stacks, record->pid);

	if (is_in_exec(stacks, record, pc))
		return stack;
	if (fills_registers(stacks, count)) {
		stacks->counts->truncated++;
		stack = push_synthetic(stacks, stack, "[truncated]");
	}
	for (unsigned left = (unsigned)count + 1; left;) {
		unsigned i = left - 1;
		uint64_t at = i ? call_at(&record->sample, i - 1).from : pc;

		left = push_user(stacks, at_ceiling, i, frame_at_pc(stacks, record, at, false),
				 &stack);
	}
	return stack;
}

bool sample_lacks_user_part(const struct record_sample *sample)
{
	return sample->is_chain_deferred && !bytes_left(&sample->user_chain) &&
	       !bytes_left(&sample->stack) && !count_calls(sample);
}

static stack_id push_user_part(struct sample_stacks *stacks, const struct record *record,
			       stack_id stack)
{
	const struct record_sample *sample = &record->sample;
	const struct arch *arch = arch_of(stacks, sample);
	struct regs regs;

	stacks->counts->compat += sample->regs.abi == ABI_32;
	if (sample_lacks_user_part(sample)) {
		stacks->counts->chainless++;
		stacks->counts->truncated++;
		stack = push_synthetic(stacks, stack, "[truncated]");
	}
	if (count_calls(sample) && !bytes_left(&sample->stack))
		return push_calls(stacks, record, stack);
	if (bytes_left(&sample->user_chain) && !bytes_left(&sample->stack))
		return is_in_exec(stacks, record, chain_at(&sample->user_chain, 0))
			       ? stack
			       : push_user_chain(stacks, record, stack);
	if (arch && regs_from_perf(arch, sample->regs.mask, sample->regs.values, &regs) &&
	    !is_in_exec(stacks, record, regs.pc))
		return push_unwound(stacks, record, &regs, stack);
	return sample->in_kernel ? stack
				 : profile_push(stacks->profile, stack,
						frame_at_pc(stacks, record, sample->ip, false));
}

stack_id sample_stacks_add(struct sample_stacks *stacks, struct profile *profile,
			   const struct record *record, struct stack_extent *extent)
{
	const struct record_sample *sample = &record->sample;
	uint32_t count_before = profile_stacks(profile).count;
	stack_id stack = STACK_EMPTY;

	stacks->profile = profile;
	stacks->extent = (struct stack_extent){.end = 0};
	stack = push_user_part(stacks, record, stack);
	stack = push_kernel(stacks, sample, count_kernel(sample), stack);
	count_added(stacks, record->pid, count_before);
	*extent = stacks->extent;
	return stack;
}

/* --- Found before they are added ---------------------------------------------------------------
 */

/* False: sample_stacks_add() has to walk. */
static bool walk_known(const struct sample_stacks *stacks, const struct record *record,
		       struct call_chain *chain)
{
	const struct record_sample *sample = &record->sample;
	const struct stack_copies copies = {.own = sample->stack};
	struct regs regs;

	/* Of a stack that was compared the rest is not there. */
	return sample->regs.abi > ABI_32 && record_stays(record) && bytes_left(&sample->stack) &&
	       !sample->equal_slots &&
	       regs_from_perf(stacks->arch, sample->regs.mask, sample->regs.values, &regs) &&
	       unwinder_walk_known(stacks->unwinder, record->pid, record->time_ns, &regs, &copies,
				   chain);
}

/* Goes on to the stack that has this frame, if the profile has it. */
static bool enter_known(const struct profile *profile, module_id module, uint64_t offset,
			bool is_return_address, stack_id *stack)
{
	frame_id frame;
	stack_id next;

	if (!profile_find_frame(profile, module, offset, is_return_address, &frame) ||
	    !profile_find_stack(profile, *stack, frame, &next))
		return false;
	*stack = next;
	return true;
}

/* False: one of the frames may be prof's own. */
static bool find_user(const struct sample_stacks *stacks, const struct profile *profile,
		      const struct call_chain *chain, struct found_stack *found)
{
	bool is_known = true;

	for (unsigned i = chain->count; i-- > 0;) {
		const struct frame *frame = &chain->frames[i];

		if (own_frames_may_have(&stacks->own, frame->module))
			return false;
		is_known = is_known && enter_known(profile, frame->module, frame->offset,
						   frame->is_return_address, &found->stack);
		if (is_known)
			found->left_count = i;
	}
	return true;
}

static void find_kernel(const struct sample_stacks *stacks, const struct profile *profile,
			const struct record_sample *sample, struct found_stack *found)
{
	module_id module;

	while (found->kernel_left) {
		size_t i = found->kernel_left - 1;
		uint64_t pc = kernel_at(sample, i);

		if (!address_spaces_kernel_known(stacks->spaces, pc, &module) ||
		    !enter_known(profile, module, pc, i > 0, &found->stack))
			return;
		found->kernel_left = i;
	}
}

static bool has_no_user_part(const struct record_sample *sample)
{
	return sample->in_kernel && !bytes_left(&sample->user_chain) && !sample->regs.abi &&
	       !count_calls(sample) && !sample_lacks_user_part(sample);
}

void sample_stacks_find(const struct sample_stacks *stacks, const struct profile *profile,
			const struct record *record, struct arena *arena, struct found_stack *ret)
{
	const struct record_sample *sample = &record->sample;
	struct frame frames[UNWIND_DEPTH_MAX];
	struct call_chain chain = {.frames = frames, .room = stacks->depth};

	if (chain.room > UNWIND_DEPTH_MAX)
		chain.room = UNWIND_DEPTH_MAX;
	*ret = (struct found_stack){.stack = STACK_EMPTY, .kernel_left = count_kernel(sample)};
	if (walk_known(stacks, record, &chain)) {
		ret->is_user = true;
		if (chain.needed_bytes)
			ret->end = record_register(&sample->regs, stacks->arch->perf_sp) +
				   chain.needed_bytes;
		ret->left_count = chain.count;
		ret->is_found = find_user(stacks, profile, &chain, ret);
	} else {
		ret->is_found = has_no_user_part(sample);
	}
	if (ret->is_found && !ret->left_count)
		find_kernel(stacks, profile, sample, ret);
	if (ret->is_found && ret->left_count) {
		size_t bytes = ret->left_count * sizeof(*frames);

		ret->left = memcpy(arena_alloc(arena, bytes), frames, bytes);
	}
}

stack_id sample_stacks_add_found(struct sample_stacks *stacks, struct profile *profile,
				 const struct record *record, const struct found_stack *found,
				 struct stack_extent *extent)
{
	const struct record_sample *sample = &record->sample;
	uint32_t count_before = profile_stacks(profile).count;
	stack_id stack = found->stack;
	bool at_ceiling;

	stacks->profile = profile;
	stacks->counts->user_stacks += found->is_user;
	at_ceiling = is_at_ceiling(stacks, record->pid);
	for (unsigned left = found->left_count; left;) {
		unsigned i = left - 1;

		left = push_user(stacks, at_ceiling, i, frame_at(stacks, &found->left[i]), &stack);
	}
	stack = push_kernel(stacks, sample, found->kernel_left, stack);
	count_added(stacks, record->pid, count_before);
	*extent = (struct stack_extent){.is_whole = found->is_user, .end = found->end};
	return stack;
}

static frame_id frame_at_address(struct sample_stacks *stacks, const struct record *record,
				 uint64_t address)
{
	bool in_kernel = address >> 63;

	return in_kernel ? kernel_frame(stacks, address, false)
			 : frame_at_pc(stacks, record, address, false);
}

stack_id sample_stacks_add_branch(struct sample_stacks *stacks, struct profile *profile,
				  const struct record *record, uint64_t from, uint64_t to)
{
	uint32_t count_before = profile_stacks(profile).count;
	stack_id stack = STACK_EMPTY;
	bool at_ceiling;

	stacks->profile = profile;
	at_ceiling = is_at_ceiling(stacks, record->pid);
	for (unsigned i = 0; i < 2; i++) {
		frame_id frame = frame_at_address(stacks, record, i ? to : from);

		stack_id known;

		if (at_ceiling && !profile_find_stack(profile, stack, frame, &known))
			return push_synthetic(stacks, stack, "[branches left out]");
		stack = profile_push(profile, stack, frame);
	}
	count_added(stacks, record->pid, count_before);
	return stack;
}
