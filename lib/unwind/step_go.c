#include "unwind/step_go.h"

#include "unwind/step.h"

enum { WORD_BYTES = 8 };

/* The frame of runtime.cgocallback: three words, the frame pointer and the return address. */
enum { CALLBACK_WORDS = 3, CALLBACK_BYTES = (CALLBACK_WORDS + 2) * WORD_BYTES };

static uint64_t sp_of(const struct walk *walk)
{
	return walk->regs.values[walk->arch->sp];
}

static uint64_t fp_of(const struct walk *walk)
{
	return walk->regs.values[walk->arch->fp];
}

/*
 * Asks for where the goroutine's stack was left; g_at: see call_chain. False, and the walk has
 * stopped: it is not known.
 */
static bool knows_sched(struct walk *walk, uint64_t g_at)
{
	if (!walk->changed_stack) {
		walk->go.needs_sched = true;
		walk->go.g_at = g_at;
	}
	return walk->copies->go.sp || walk_stop(walk, UNWIND_TRUNCATED);
}

static bool enter_caller(struct walk *walk, uint64_t sp, uint64_t pc, uint64_t fp)
{
	if (!walk_enter(walk, sp, pc, true))
		return false;
	walk->regs.known = reg_bit(walk->arch->sp);
	regs_set(&walk->regs, walk->arch->fp, fp);
	return true;
}

/*
 * Leaves asmcgocall or systemstack on the goroutine's stack, the lowest word of which is the return
 * address or, since Go 1.21, the caller's frame pointer and next to it the return address.
 */
static bool leave_switch(struct walk *walk, uint64_t sp, uint64_t fp)
{
	uint64_t word, pc;

	if (!walk_switch(walk, sp) || !walk_read_stack(walk, sp, STACK_REACH_BYTES, &word))
		return false;
	if (fp != sp && is_return_address(walk, word))
		return enter_caller(walk, sp + WORD_BYTES, word, fp);
	return walk_read_stack(walk, sp + WORD_BYTES, STACK_REACH_BYTES, &pc) &&
	       enter_caller(walk, sp + 2 * WORD_BYTES, pc, word);
}

/* To the goroutine: above the callback that the walk came from, or where the thread left it. */
static bool leave_to_goroutine(struct walk *walk, uint64_t g_at)
{
	const struct go_sched *sched = &walk->copies->go;
	struct go_walk *go = &walk->go;
	uint64_t sp = go->sp;

	go->sp = 0;
	if (sp)
		return leave_switch(walk, sp, fp_of(walk));
	return knows_sched(walk, g_at) && leave_switch(walk, sched->sp, sched->fp);
}

/* asmcgocall keeps how deep the goroutine's stack was, and g; or, g being 0, its own sp. */
static bool leave_call_of_c(struct walk *walk)
{
	uint64_t sp = sp_of(walk), depth, g;

	if (!walk_read_stack(walk, sp, STACK_REACH_BYTES, &depth) ||
	    !walk_read_stack(walk, sp + WORD_BYTES, STACK_REACH_BYTES, &g))
		return false;
	if (g)
		return leave_to_goroutine(walk, sp + WORD_BYTES);
	return depth > sp ? leave_switch(walk, depth, fp_of(walk)) : walk_stop(walk, UNWIND_LOST);
}

/* To the function whose frame did not fit. */
static bool leave_more_stack(struct walk *walk)
{
	const struct go_sched *sched = &walk->copies->go;

	if (!knows_sched(walk, 0) || !walk_switch(walk, sched->sp))
		return false;
	walk->regs.values[walk->arch->sp] -= WORD_BYTES; /* the call's return address */
	return enter_caller(walk, sched->sp, sched->pc, sched->fp);
}

/* To C on the system stack, where the frame pointer leads; what is above on this one is for later.
 */
static bool leave_callback(struct walk *walk)
{
	walk->go.sp = sp_of(walk) + CALLBACK_BYTES;
	return step_to_other_stack(walk);
}

/*
 * To the C code that called crosscall2, which keeps the registers that C preserves above its three
 * arguments. Since Go 1.21 it pushes the frame pointer first, like all functions.
 */
static bool leave_to_c(struct walk *walk)
{
	static const uint8_t kept[] = {3, 12, 13, 14, 15}; /* rbx, r12 to r15, by DWARF's numbers */
	uint64_t at = sp_of(walk) + CALLBACK_WORDS * WORD_BYTES, fp, pc, value;
	struct regs regs = walk->regs;

	for (unsigned i = 0; i < sizeof(kept); i++, at += WORD_BYTES) {
		if (!walk_read_stack(walk, at, STACK_REACH_BYTES, &value))
			return false;
		regs_set(&regs, kept[i], value);
	}
	if (!walk_read_stack(walk, at, STACK_REACH_BYTES, &fp))
		return false;
	at += WORD_BYTES;
	if (fp == at) {
		if (!walk_read_stack(walk, at, STACK_REACH_BYTES, &fp))
			return false;
		at += WORD_BYTES;
	}
	if (!walk_read_stack(walk, at, STACK_REACH_BYTES, &pc) ||
	    !enter_caller(walk, at + WORD_BYTES, pc, fp))
		return false;
	for (unsigned i = 0; i < sizeof(kept); i++)
		regs_set(&walk->regs, kept[i], regs.values[kept[i]]);
	return true;
}

/*
 * The callee has pushed the frame pointer next to its return address. The first one leads to the
 * lowest address of the other stack.
 */
static void note_saved_fp(struct walk *walk)
{
	uint64_t at = sp_of(walk) - 2 * WORD_BYTES;

	if (!walk->changed_stack && !walk->saved_sp_at && walk_has(walk, at, WORD_BYTES) &&
	    walk_word(walk, at) == fp_of(walk))
		walk->saved_sp_at = at;
}

bool step_to_other_stack(struct walk *walk)
{
	uint64_t fp = fp_of(walk);

	if (!regs_know(&walk->regs, walk->arch->fp) || fp % WORD_BYTES != 0)
		return walk_stop(walk, UNWIND_LOST);
	if (fp == 0)
		return walk_stop(walk, UNWIND_ROOT);
	note_saved_fp(walk);
	return walk_switch(walk, fp) && step_by_frame_pointer(walk);
}

/* Without g.sched by the frame pointer, which is right since Go 1.21. */
static bool leave_system_stack(struct walk *walk)
{
	const struct go_sched *sched = &walk->copies->go;

	if (knows_sched(walk, 0))
		return leave_switch(walk, sched->sp, sched->fp);
	return step_to_other_stack(walk);
}

bool go_switches(const struct walk *walk, enum go_function function)
{
	uint64_t own_fp = sp_of(walk) + CALLBACK_WORDS * WORD_BYTES;

	if (!walk->is_return_address || !regs_know(&walk->regs, walk->arch->sp))
		return false;
	switch (function) {
	case GO_CALLS_C:
	case GO_MORE_STACK:
	case GO_FROM_C:
		return true;
	case GO_SYSTEM_STACK: /* likewise */
		return regs_know(&walk->regs, walk->arch->fp) && fp_of(walk) != sp_of(walk);
	case GO_CALLED_BY_C: /* it calls others before it switches */
		return regs_know(&walk->regs, walk->arch->fp) && fp_of(walk) != own_fp;
	case GO_EXIT:
	case GO_ORDINARY:
	case GO_NONE:
		break;
	}
	return false;
}

static bool leave(struct walk *walk, enum go_function function)
{
	switch (function) {
	case GO_CALLS_C:
		return leave_call_of_c(walk);
	case GO_MORE_STACK:
		return leave_more_stack(walk);
	case GO_CALLED_BY_C:
		return leave_callback(walk);
	case GO_FROM_C:
		return leave_to_c(walk);
	case GO_SYSTEM_STACK:
		return leave_system_stack(walk);
	case GO_EXIT:
	case GO_ORDINARY:
	case GO_NONE:
		break;
	}
	return walk_stop(walk, UNWIND_LOST);
}

bool step_go(struct walk *walk, enum go_function function)
{
	return leave(walk, function) ||
	       (walk->stop == UNWIND_LOST && walk_stop(walk, UNWIND_TRUNCATED));
}
