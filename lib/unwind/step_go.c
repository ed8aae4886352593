#include "unwind/step_go.h"

#include "unwind/step.h"

enum { GO_WORD_BYTES = 8 };

/*
 * The frame of runtime.cgocallback: three words, the frame pointer and the
 * return address.
 */
enum { CALLBACK_WORDS = 3, CALLBACK_BYTES = (CALLBACK_WORDS + 2) * GO_WORD_BYTES };

static uint64_t step_go_sp_of(const struct walk *walk)
{
	return walk->regs.values[walk->arch->sp];
}

static uint64_t step_go_fp_of(const struct walk *walk)
{
	return walk->regs.values[walk->arch->fp];
}

/*
 * Returns true if the position on the goroutine's stack is known. Otherwise
 * requests it (needs_go of struct call_chain, with g_at) and stops the walk.
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
 * Steps out of asmcgocall or systemstack on the goroutine's stack. The lowest
 * word is the return address. Since Go 1.21 it is the caller's frame pointer,
 * followed by the return address.
 */
static bool leave_switch(struct walk *walk, uint64_t sp, uint64_t fp)
{
	uint64_t word, pc;

	if (!walk_switch(walk, sp) || !walk_read_stack(walk, sp, STACK_REACH_BYTES, &word))
		return false;
	if (fp != sp && is_return_address(walk, word))
		return enter_caller(walk, sp + GO_WORD_BYTES, word, fp);
	return walk_read_stack(walk, sp + GO_WORD_BYTES, STACK_REACH_BYTES, &pc) &&
	       enter_caller(walk, sp + 2 * GO_WORD_BYTES, pc, word);
}

/*
 * Steps to the goroutine: to the frame above the callback that the walk came
 * from, or to the position that the thread saved.
 */
static bool leave_to_goroutine(struct walk *walk, uint64_t g_at)
{
	const struct go_sched *sched = &walk->copies->go;
	struct go_walk *go = &walk->go;
	uint64_t sp = go->sp;

	go->sp = 0;
	if (sp)
		return leave_switch(walk, sp, step_go_fp_of(walk));
	return knows_sched(walk, g_at) && leave_switch(walk, sched->sp, sched->fp);
}

/*
 * Steps out of asmcgocall. It saves the depth of the goroutine's stack and g.
 * If g is 0, it saves its own sp.
 */
static bool leave_call_of_c(struct walk *walk)
{
	uint64_t sp = step_go_sp_of(walk), depth, g;

	if (!walk_read_stack(walk, sp, STACK_REACH_BYTES, &depth) ||
	    !walk_read_stack(walk, sp + GO_WORD_BYTES, STACK_REACH_BYTES, &g))
		return false;
	if (g)
		return leave_to_goroutine(walk, sp + GO_WORD_BYTES);
	return depth > sp ? leave_switch(walk, depth, step_go_fp_of(walk))
			  : walk_stop(walk, UNWIND_LOST);
}

/* Steps to the function whose frame did not fit. */
static bool leave_more_stack(struct walk *walk)
{
	const struct go_sched *sched = &walk->copies->go;

	if (!knows_sched(walk, 0) || !walk_switch(walk, sched->sp))
		return false;
	walk->regs.values[walk->arch->sp] -= GO_WORD_BYTES; /* the call's return address */
	return enter_caller(walk, sched->sp, sched->pc, sched->fp);
}

/*
 * Steps to the C code on the system stack that the frame pointer leads to. The
 * frames above on this stack follow later in the walk.
 */
static bool leave_callback(struct walk *walk)
{
	walk->go.sp = step_go_sp_of(walk) + CALLBACK_BYTES;
	return step_to_other_stack(walk);
}

/*
 * Steps to the C code that called crosscall2, which saves the callee-saved
 * registers of C above its three arguments. Since Go 1.21 it pushes the frame
 * pointer first, like all functions.
 */
static bool leave_to_c(struct walk *walk)
{
	/* DWARF numbers of rbx and r12 to r15. */
	static const uint8_t kept[] = {3, 12, 13, 14, 15};
	uint64_t at = step_go_sp_of(walk) + CALLBACK_WORDS * GO_WORD_BYTES, fp, pc, value;
	struct regs regs = walk->regs;

	for (unsigned i = 0; i < sizeof(kept); i++, at += GO_WORD_BYTES) {
		if (!walk_read_stack(walk, at, STACK_REACH_BYTES, &value))
			return false;
		regs_set(&regs, kept[i], value);
	}
	if (!walk_read_stack(walk, at, STACK_REACH_BYTES, &fp))
		return false;
	at += GO_WORD_BYTES;
	if (fp == at) {
		if (!walk_read_stack(walk, at, STACK_REACH_BYTES, &fp))
			return false;
		at += GO_WORD_BYTES;
	}
	if (!walk_read_stack(walk, at, STACK_REACH_BYTES, &pc) ||
	    !enter_caller(walk, at + GO_WORD_BYTES, pc, fp))
		return false;
	for (unsigned i = 0; i < sizeof(kept); i++)
		regs_set(&walk->regs, kept[i], regs.values[kept[i]]);
	return true;
}

/*
 * Reads the frame pointer that the callee has pushed next to its return
 * address. The first one leads to the lowest address of the other stack.
 */
static void note_saved_fp(struct walk *walk)
{
	uint64_t at = step_go_sp_of(walk) - 2 * GO_WORD_BYTES;

	if (!walk->changed_stack && !walk->saved_sp_at && walk_has(walk, at, GO_WORD_BYTES) &&
	    walk_word(walk, at) == step_go_fp_of(walk))
		walk->saved_sp_at = at;
}

bool step_to_other_stack(struct walk *walk)
{
	uint64_t fp = step_go_fp_of(walk);

	if (!regs_know(&walk->regs, walk->arch->fp) || fp % GO_WORD_BYTES != 0)
		return walk_stop(walk, UNWIND_LOST);
	if (fp == 0)
		return walk_stop(walk, UNWIND_ROOT);
	note_saved_fp(walk);
	return walk_switch(walk, fp) && step_by_frame_pointer(walk);
}

/*
 * Steps out of the system stack. Without g.sched it uses the frame pointer,
 * which is right since Go 1.21.
 */
static bool leave_system_stack(struct walk *walk)
{
	const struct go_sched *sched = &walk->copies->go;

	if (knows_sched(walk, 0))
		return leave_switch(walk, sched->sp, sched->fp);
	return step_to_other_stack(walk);
}

bool go_switches(const struct walk *walk, enum go_function function)
{
	uint64_t own_fp = step_go_sp_of(walk) + CALLBACK_WORDS * GO_WORD_BYTES;

	if (!walk->is_return_address || !regs_know(&walk->regs, walk->arch->sp))
		return false;
	switch (function) {
	case GO_CALLS_C:
	case GO_MORE_STACK:
	case GO_FROM_C:
		return true;
	case GO_SYSTEM_STACK: /* also calls a function on the system stack */
		return regs_know(&walk->regs, walk->arch->fp) &&
		       step_go_fp_of(walk) != step_go_sp_of(walk);
	case GO_CALLED_BY_C: /* calls other functions before it switches */
		return regs_know(&walk->regs, walk->arch->fp) && step_go_fp_of(walk) != own_fp;
	case GO_EXIT:
	case GO_ORDINARY:
	case GO_NONE:
		break;
	}
	return false;
}

static bool step_go_leave(struct walk *walk, enum go_function function)
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
	return step_go_leave(walk, function) ||
	       (walk->stop == UNWIND_LOST && walk_stop(walk, UNWIND_TRUNCATED));
}
