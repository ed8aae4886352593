#include "record/sample_stacks.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "perf/branch.h"
#include "record/deep_threads.h"
#include "record/own_frames.h"
#include "record/script_frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	/*
	 * 128 MB of stacks. All programs of a large machine together have a
	 * million. A program with random recursion adds a million per second.
	 */
	STACKS_CEILING = 8 << 20,
	/* Above the ceiling, a process may still add 1/64 of it. */
	CEILING_SHARE = 64,
};

/* Estimate of how much larger a stack is than a copier's copy that was too
 * small. */
enum { CUT_OFF_BYTES = 1 << 20 };

struct sample_stacks {
	struct address_spaces *spaces;
	struct unwinder *unwinder;
	const struct arch *arch;
	struct unwinder *compat; /* unwinder for arch->compat; NULL until needed */
	struct session_counts *counts;
	struct profile *profile;    /* profile of the current call */
	struct stack_extent extent; /* result of the current call */

	uint32_t ceiling;
	uint32_t generation;	    /* generation of the profile that the members below belong to */
	struct idmap stacks_by_pid; /* (pid, 0) → number of stacks that its samples have added */

	struct fresh_maps *fresh;      /* NULL if all mappings have records */
	struct script_frames *scripts; /* NULL if no interpreter's frames are read */
	struct own_frames own;	       /* frames of the agent, which are removed */
	size_t most_calls;	       /* maximum number of calls in the CPU's records of a stack */

	struct deep_threads deep;
	struct frame *frames; /* frames of one walk, leaf first */
	unsigned depth;	      /* capacity of frames */
};

struct sample_stacks *sample_stacks_new(struct address_spaces *spaces, struct unwinder *unwinder,
					const struct arch *arch, struct session_counts *counts)
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
	script_frames_free(stacks->scripts);
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

void sample_stacks_set_scripts(struct sample_stacks *stacks, struct script_runtimes *runtimes,
			       struct scripts *scripts)
{
	stacks->scripts = script_frames_new(stacks->spaces, runtimes, scripts);
}

static void set_profile(struct sample_stacks *stacks, struct profile *profile)
{
	uint32_t generation = profile_generation(profile);

	stacks->profile = profile;
	if (stacks->generation == generation)
		return;
	stacks->generation = generation;
	idmap_deinit(&stacks->stacks_by_pid);
	deep_threads_forget_stacks(&stacks->deep);
	if (stacks->scripts)
		script_frames_forget(stacks->scripts);
}

static frame_id frame_at(struct sample_stacks *stacks, const struct frame *frame)
{
	return profile_frame(stacks->profile, frame->module, frame->offset,
			     frame->is_return_address);
}

/* Like address_spaces_locate(), but also finds mappings without a record. */
static bool sample_stacks_locate(struct sample_stacks *stacks, const struct record *record,
				 uint64_t pc, struct location *ret)
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

	sample_stacks_locate(stacks, record, pc - is_return_address, &location);
	return frame_at(stacks, &(struct frame){.module = location.module,
						.offset = location.offset + is_return_address,
						.is_return_address = is_return_address});
}

/* Whether a process may not add further long stacks. */
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

/* Returns NULL if there are no registers, or if they are those of an
 * unsupported architecture. */
static const struct arch *sample_stacks_arch_of(const struct sample_stacks *stacks,
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

static enum unwind_stop sample_stacks_walk(const struct sample_stacks *stacks,
					   struct unwinder *unwinder, const struct record *record,
					   const struct regs *regs,
					   const struct stack_copies *copies,
					   struct call_chain *chain)
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

/* Returns true if the walk reaches the root. */
static bool unwind(struct sample_stacks *stacks, const struct record *record,
		   const struct regs *regs, struct call_chain *chain)
{
	const struct record_sample *sample = &record->sample;
	const struct arch *arch = sample_stacks_arch_of(stacks, sample);
	struct unwinder *unwinder = unwinder_of(stacks, arch);
	const struct stack_copies copies = {.own = sample->stack,
					    .interrupted = sample->interrupted_stack,
					    .interrupted_start = sample->interrupted_start,
					    .go = sample->go};
	bool complete = sample_stacks_walk(stacks, unwinder, record, regs, &copies, chain) ==
			UNWIND_ROOT;
	bool deep = chain->needed_bytes > sample->dumped_bytes;
	bool exceeds = deep || chain->saved_sp_at ||
		       chain->needs_go; /* needs more than the kernel's copy */
	uint64_t sp = regs->values[arch->sp];

	if (!complete &&
	    unwinder_splice(unwinder, record->pid, record->time_ns, sample->user_chain, chain)) {
		stacks->counts->quality.spliced++;
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
	stacks->counts->quality.completed += complete && exceeds;
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

/* Whether to omit the frame. The leaf of a stack that has no other frame is
 * kept. */
static bool is_left_out(struct sample_stacks *stacks, unsigned i, frame_id frame, stack_id stack)
{
	module_id module = profile_get_frame(stacks->profile, frame).module;

	return own_frames_has(&stacks->own, stacks->spaces, module) && (i || stack != STACK_EMPTY);
}

/*
 * Pushes the i-th frame from the leaf. Returns the number of frames that remain
 * to be pushed. At the ceiling, only the leaf remains after the known part of
 * the stack.
 */
static unsigned push_user(struct sample_stacks *stacks, bool at_ceiling, unsigned i, frame_id frame,
			  stack_id *stack)
{
	stack_id known;

	if (is_left_out(stacks, i, frame, *stack))
		return i;
	if (at_ceiling && i && !profile_find_stack(stacks->profile, *stack, frame, &known)) {
		*stack = push_synthetic(stacks, *stack, "[frames left out]");
		stacks->counts->quality.shortened++;
		return 1;
	}
	*stack = profile_push(stacks->profile, *stack, frame);
	return i;
}

/* Continues with the stack of the outer frames that the walk has reached.
 * Returns the number of frames that remain to be pushed. */
static unsigned take_known_stack(const struct outer_walk *outer, const struct call_chain *chain,
				 stack_id *stack)
{
	unsigned taken = outer->taken;

	if (!taken || outer->used->items[taken - 1].stack == OUTER_NO_STACK)
		return chain->count;
	*stack = outer->used->items[taken - 1].stack;
	return chain->count - taken;
}

/* Stores the stack of the frames that were pushed, which are all but `left`
 * frames of the chain. */
static void keep_stack(struct outer_walk *outer, const struct call_chain *chain, unsigned left,
		       stack_id stack)
{
	if (chain->count - left <= outer->shared)
		outer->used->items[chain->count - left - 1].stack = stack;
}

/* Returns whether the process has an interpreter. */
static bool begin_script(struct sample_stacks *stacks, const struct record *record,
			 const struct regs *regs, const struct call_chain *chain, bool is_whole)
{
	const struct arch *arch = sample_stacks_arch_of(stacks, &record->sample);
	struct script_unwound unwound = {
		.unwinder = stacks->unwinder, .chain = chain, .is_whole = is_whole};
	bool is_unknown;

	if (!stacks->scripts || arch != stacks->arch)
		return false;
	unwound.sp = regs->values[arch->sp];
	if (!script_frames_begin(stacks->scripts, record, &unwound, &is_unknown))
		return false;
	stacks->counts->quality.frameless += is_unknown;
	stacks->extent.needs_script = true;
	stacks->extent.lacks_script = is_unknown;
	return true;
}

/*
 * Pushes the functions of the script that the i-th native frame calls. Returns
 * false at the ceiling.
 */
static bool push_script(struct sample_stacks *stacks, bool at_ceiling, unsigned i, stack_id *stack)
{
	frame_id frame;

	if (script_frames_lacks(stacks->scripts, i))
		*stack = push_synthetic(stacks, *stack, "[python?]");
	while (script_frames_next(stacks->scripts, stacks->profile, i, &frame))
		if (push_user(stacks, at_ceiling, 2, frame, stack) != 2)
			return false;
	return true;
}

static stack_id push_left_out(struct sample_stacks *stacks, uint64_t count, stack_id stack)
{
	char text[40];

	snprintf(text, sizeof(text), "[%" PRIu64 " frames]", count);
	return push_synthetic(stacks, stack, text);
}

/* Pushes the user part by unwinding with the registers and the copied stack. */
static stack_id push_unwound(struct sample_stacks *stacks, const struct record *record,
			     const struct regs *regs, stack_id stack)
{
	struct deep_thread *deep = deep_threads_find(&stacks->deep, record);
	struct call_chain chain = {.frames = stacks->frames,
				   .room = stacks->depth,
				   .outer = deep ? &deep->outer : NULL};
	bool at_ceiling = is_at_ceiling(stacks, record->pid);
	bool is_whole = unwind(stacks, record, regs, &chain), pushes_all;
	bool has_script = begin_script(stacks, record, regs, &chain, is_whole);
	unsigned left = chain.count;

	stacks->counts->user_stacks++;
	if (!is_whole) {
		stacks->counts->quality.truncated++;
		stack = push_synthetic(stacks, stack, "[truncated]");
	}
	if (deep)
		stacks->extent.slots = deep_threads_note(&stacks->deep, deep, record,
							 !is_whole && chain.needed_bytes);
	if (has_script && !push_script(stacks, at_ceiling, chain.count, &stack))
		left = chain.count ? 1 : 0;
	/* A cached stack does not contain the functions of a script. */
	pushes_all = deep && deep->outer.is_at_root && !chain.left_out && !at_ceiling &&
		     !has_script;
	if (pushes_all)
		left = take_known_stack(&deep->outer, &chain, &stack);
	while (left) {
		unsigned i = left - 1;

		struct frame frame = chain.frames[i];

		left = has_script && !script_frames_shows(stacks->scripts, i, &frame)
			       ? i
			       : push_user(stacks, at_ceiling, i, frame_at(stacks, &frame), &stack);
		if (pushes_all)
			keep_stack(&deep->outer, &chain, left, stack);
		if (chain.left_out && i == chain.gap && left == i)
			stack = push_left_out(stacks, chain.left_out, stack);
		if (has_script && left == i && !push_script(stacks, at_ceiling, i, &stack))
			left = i ? 1 : 0;
	}
	return stack;
}

static uint64_t chain_at(const struct bytes *chain, size_t index)
{
	struct bytes at = bytes_at(*chain, index * sizeof(uint64_t));

	return bytes_u64(&at);
}

/*
 * Returns the number of addresses before the first one that is not in a
 * mapping. The kernel's walk is wrong in code without frame pointers, so
 * everything from that address on is dropped.
 */
static size_t count_mapped(struct sample_stacks *stacks, const struct record *record, size_t count)
{
	struct location location;

	for (size_t i = 1; i < count; i++)
		if (!sample_stacks_locate(stacks, record,
					  chain_at(&record->sample.user_chain, i) - 1, &location))
			return i;
	return count;
}

/* Pushes the user part of the kernel's frame-pointer walk: the pc, then return
 * addresses. */
static stack_id push_user_chain(struct sample_stacks *stacks, const struct record *record,
				stack_id stack)
{
	const struct bytes *chain = &record->sample.user_chain;
	size_t all = bytes_left(chain) / sizeof(uint64_t);
	size_t count = count_mapped(stacks, record, all);
	bool at_ceiling = is_at_ceiling(stacks, record->pid);

	/* A return address of 0 marks the root. */
	if (count < all && chain_at(chain, count) != 0) {
		stacks->counts->quality.truncated++;
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

/* A sample in the kernel has at least the pc. */
static size_t count_kernel(const struct record_sample *sample)
{
	size_t count = bytes_left(&sample->kernel_chain) / sizeof(uint64_t);

	return count ? count : sample->in_kernel;
}

static uint64_t kernel_at(const struct record_sample *sample, size_t i)
{
	return bytes_left(&sample->kernel_chain) ? chain_at(&sample->kernel_chain, i) : sample->ip;
}

/* Pushes the innermost `left` frames. */
static stack_id sample_stacks_push_kernel(struct sample_stacks *stacks,
					  const struct record_sample *sample, size_t left,
					  stack_id stack)
{
	while (left-- > 0)
		stack = profile_push(stacks->profile, stack,
				     kernel_frame(stacks, kernel_at(sample, left), left > 0));
	return stack;
}

/* During an exec, the registers are those of the old program until the kernel
 * enters the new one. The old memory is gone, so they point to no mapping. */
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

static struct branch sample_stacks_call_at(const struct record_sample *sample, size_t index)
{
	struct bytes at = bytes_at(sample->branches, index * BRANCH_BYTES);
	struct branch call;

	branch_next(&at, &call);
	return call;
}

/* A CPU has registers for 16 or 32 calls. If all of them are used, the stack is
 * most likely truncated, unless the CPU has recorded more calls before. */
static bool fills_registers(struct sample_stacks *stacks, size_t count)
{
	enum { LEAST_REGISTERS = 16 };

	if (count > stacks->most_calls)
		stacks->most_calls = count;
	return count == stacks->most_calls && count >= LEAST_REGISTERS && !(count & (count - 1));
}

/* Returns the pc. If it is unknown, returns the start of the function that was
 * called last. */
static uint64_t innermost_pc(const struct record_sample *sample)
{
	if (bytes_left(&sample->user_chain))
		return chain_at(&sample->user_chain, 0);
	return sample->in_kernel ? sample_stacks_call_at(sample, 0).to : sample->ip;
}

/* Pushes the user part of the calls that the CPU has recorded: the pc, then the
 * call instructions. */
static stack_id push_calls(struct sample_stacks *stacks, const struct record *record,
			   stack_id stack)
{
	size_t count = count_calls(&record->sample);
	uint64_t pc = innermost_pc(&record->sample);
	bool at_ceiling = is_at_ceiling(stacks, record->pid);

	if (is_in_exec(stacks, record, pc))
		return stack;
	if (fills_registers(stacks, count)) {
		stacks->counts->quality.truncated++;
		stack = push_synthetic(stacks, stack, "[truncated]");
	}
	for (unsigned left = (unsigned)count + 1; left;) {
		unsigned i = left - 1;
		uint64_t at = i ? sample_stacks_call_at(&record->sample, i - 1).from : pc;

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
	const struct arch *arch = sample_stacks_arch_of(stacks, sample);
	struct regs regs;

	stacks->counts->quality.compat += sample->regs.abi == ABI_32;
	if (sample_lacks_user_part(sample)) {
		stacks->counts->chainless++;
		stacks->counts->quality.truncated++;
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

	set_profile(stacks, profile);
	stacks->extent = (struct stack_extent){.end = 0};
	stack = push_user_part(stacks, record, stack);
	stack = sample_stacks_push_kernel(stacks, sample, count_kernel(sample), stack);
	count_added(stacks, record->pid, count_before);
	*extent = stacks->extent;
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

	set_profile(stacks, profile);
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
