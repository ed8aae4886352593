#include "unwind/code_rule.h"

#include "base/alloc.h"
#include "unwind/cfi_program.h"
#include "unwind/x86_insn.h"

#include <stdlib.h>

enum { CODE_RULE_WORD_BYTES = 8, DEPTH_MAX = 1 << 28 };

/* Numbers of the callee-saved registers in instructions and in DWARF. */
enum { SAVED = 6, SAVED_FP = 1 };
enum { DWARF_FP = 6, DWARF_SP = 7 };
static const struct {
	uint8_t insn, dwarf;
} saved_registers[SAVED] = {{3, 3}, {5, 6}, {12, 12}, {13, 13}, {14, 14}, {15, 15}};

/* The state before an instruction. */
struct code_rule_state {
	/*
	 * Distances in bytes to the return address: from sp, from the frame
	 * pointer (0 if there is none), and from each saved register (0 if it
	 * is not saved).
	 */
	int32_t depth;
	int32_t fp_depth;
	int32_t saved[SAVED];
	/* A register to which sp was copied, or 0, and its distance. */
	uint8_t copy_reg;
	int32_t copy_depth;
	bool knows_depth;
	bool has_zero_fp;
	bool popped_return_address;
};

struct visited {
	struct code_rule_state state;
	uint8_t length;	  /* length of the instruction, or 0 if no path reaches it */
	bool is_doubtful; /* reached through a call, which may not return */
};

struct code_rule {
	struct visited visited[CODE_RULE_BYTES_MAX];
	/*
	 * Instructions to follow. Those after `calls` are followed when `next`
	 * is empty.
	 */
	uint16_t next[CODE_RULE_BYTES_MAX], calls[CODE_RULE_BYTES_MAX];
	unsigned next_count, call_count;
	const unsigned char *code;
	size_t len;
	bool is_sized;
	bool uses_copies; /* consider copies of sp */
	/* Results for the function. */
	bool has_copies;
	bool returns, saves, names_saved;
	bool has_table, has_varied_tables; /* has jumps through a table */
	struct code_rule_state at_table;
};

struct code_rule *code_rule_new(void)
{
	return xcalloc(1, sizeof(struct code_rule));
}

void code_rule_free(struct code_rule *finder)
{
	free(finder);
}

static bool states_equal(const struct code_rule_state *a, const struct code_rule_state *b)
{
	return a->depth == b->depth && a->fp_depth == b->fp_depth &&
	       memcmp(a->saved, b->saved, sizeof(a->saved)) == 0 && a->copy_reg == b->copy_reg &&
	       (!a->copy_reg || a->copy_depth == b->copy_depth) &&
	       a->knows_depth == b->knows_depth && a->has_zero_fp == b->has_zero_fp &&
	       a->popped_return_address == b->popped_return_address;
}

/* --- Applying an instruction to the state (false ends the path) ----------- */

/*
 * Sets the distance of the CFA, which must not be negative. Registers below sp
 * are no longer saved.
 */
static bool set_depth(struct code_rule_state *state, int64_t depth)
{
	if (depth < 0 || depth > DEPTH_MAX)
		return false;
	state->depth = (int32_t)depth;
	for (unsigned i = 0; i < SAVED; i++)
		if (state->saved[i] > depth)
			state->saved[i] = 0;
	return true;
}

static int saved_index(unsigned reg)
{
	for (int i = 0; i < SAVED; i++)
		if (saved_registers[i].insn == reg)
			return i;
	return -1;
}

/*
 * Records that a register was saved. Only its first store counts, because it
 * must not have changed before.
 */
static void save(struct code_rule *finder, struct code_rule_state *state, unsigned reg,
		 int64_t depth)
{
	int i = saved_index(reg);

	if (i < 0 || state->saved[i] || depth < CODE_RULE_WORD_BYTES || depth > DEPTH_MAX)
		return;
	state->saved[i] = (int32_t)depth;
	finder->saves = true;
}

static void code_rule_restore(struct code_rule_state *state, unsigned reg, int64_t depth)
{
	int i = saved_index(reg);

	if (i >= 0 && state->saved[i] == depth)
		state->saved[i] = 0;
}

static bool apply_push(struct code_rule *finder, struct code_rule_state *state, unsigned reg)
{
	if (!state->knows_depth || state->popped_return_address)
		return true;
	if (!set_depth(state, (int64_t)state->depth + CODE_RULE_WORD_BYTES))
		return false;
	save(finder, state, reg, state->depth);
	return true;
}

static bool apply_pop(struct code_rule_state *state, unsigned reg)
{
	if (reg == saved_registers[SAVED_FP].insn)
		state->fp_depth = 0;
	if (!state->knows_depth || state->popped_return_address)
		return true;
	if (state->depth == 0) {
		state->popped_return_address = true;
		return true;
	}
	return set_depth(state, (int64_t)state->depth - CODE_RULE_WORD_BYTES);
}

static bool apply_from_fp(struct code_rule_state *state, int64_t value)
{
	if (!state->fp_depth)
		return false;
	state->knows_depth = true;
	return set_depth(state, state->fp_depth - value);
}

/*
 * Sets the frame pointer. It counts only if the previous instruction has pushed
 * the caller's.
 */
static void apply_set_fp(struct code_rule_state *state)
{
	if (state->knows_depth && state->depth && state->saved[SAVED_FP] == state->depth)
		state->fp_depth = state->depth;
}

/* A copy of sp counts only if the register's value was saved before. */
static void apply_copy_sp(struct code_rule *finder, struct code_rule_state *state, unsigned reg)
{
	finder->has_copies = true;
	if (!finder->uses_copies || !state->knows_depth || !state->saved[saved_index(reg)])
		return;
	state->copy_reg = (uint8_t)reg;
	state->copy_depth = state->depth;
}

static bool apply_from_copy(struct code_rule_state *state, unsigned reg)
{
	state->knows_depth = state->copy_reg == reg;
	return !state->knows_depth || set_depth(state, state->copy_depth);
}

static bool apply_effect(struct code_rule *finder, struct code_rule_state *state,
			 const struct x86_insn *insn)
{
	switch (insn->effect) {
	case X86_PUSH:
		return apply_push(finder, state, insn->reg);
	case X86_POP:
		return apply_pop(state, insn->reg);
	case X86_ADD:
		return !state->knows_depth || set_depth(state, state->depth - insn->value);
	case X86_FROM_FP:
		return apply_from_fp(state, insn->value);
	case X86_SET_FP:
		apply_set_fp(state);
		return true;
	case X86_ZERO_FP:
		state->has_zero_fp = true;
		return true;
	case X86_LEAVE:
		return apply_from_fp(state, 0) && apply_pop(state, saved_registers[SAVED_FP].insn);
	case X86_SET_SP:
		state->knows_depth = false;
		return true;
	case X86_COPY_SP:
		apply_copy_sp(finder, state, insn->reg);
		return true;
	case X86_FROM_COPY:
		return apply_from_copy(state, insn->reg);
	case X86_STORE:
		if (state->knows_depth)
			save(finder, state, insn->reg, state->depth - insn->value);
		return true;
	case X86_STORE_BY_FP:
		if (state->fp_depth)
			save(finder, state, insn->reg, state->fp_depth - insn->value);
		return true;
	case X86_LOAD:
		if (state->knows_depth)
			code_rule_restore(state, insn->reg, state->depth - insn->value);
		return true;
	case X86_LOAD_BY_FP:
		if (state->fp_depth)
			code_rule_restore(state, insn->reg, state->fp_depth - insn->value);
		return true;
	default:
		return true;
	}
}

static bool code_rule_apply(struct code_rule *finder, struct code_rule_state *state,
			    const struct x86_insn *insn)
{
	bool moves_sp = insn->effect == X86_COPY_SP || insn->effect == X86_FROM_COPY;

	if (!apply_effect(finder, state, insn))
		return false;
	if (!moves_sp && insn->changes >> state->copy_reg & 1)
		state->copy_reg = 0;
	return state->knows_depth || state->fp_depth || state->copy_reg;
}

/* --- Paths ---------------------------------------------------------------- */

/*
 * Schedules a path to continue at `at`. Returns false if another path has
 * reached it with a different state.
 */
static bool code_rule_go_to(struct code_rule *finder, int64_t at,
			    const struct code_rule_state *state, bool is_doubtful)
{
	struct visited *visited;
	struct x86_insn insn;

	/* The path leads to another function, or another part of this one. */
	if (at < 0 || (uint64_t)at >= finder->len)
		return true;
	visited = &finder->visited[at];
	if (visited->length)
		return states_equal(&visited->state, state);
	if (!x86_insn_decode(finder->code + at, finder->len - (size_t)at, &insn))
		return false;
	*visited = (struct visited){
		.state = *state, .length = (uint8_t)insn.length, .is_doubtful = is_doubtful};
	finder->next[finder->next_count++] = (uint16_t)at;
	return true;
}

/*
 * Records a jump through a table. If everything is popped, the jump is a tail
 * call instead, which returns to the caller.
 */
static void note_table(struct code_rule *finder, const struct code_rule_state *state)
{
	if (state->knows_depth && state->depth == 0)
		return;
	finder->has_varied_tables |= finder->has_table && !states_equal(&finder->at_table, state);
	finder->has_table = true;
	finder->at_table = *state;
}

static bool may_return(const struct code_rule_state *state)
{
	return state->popped_return_address || (state->knows_depth && state->depth == 0);
}

static bool code_rule_follow(struct code_rule *finder, unsigned at)
{
	const struct visited *from = &finder->visited[at];
	struct code_rule_state state = from->state;
	int64_t next = (int64_t)at + from->length;
	struct x86_insn insn;

	if (!x86_insn_decode(finder->code + at, finder->len - at, &insn) ||
	    !code_rule_apply(finder, &state, &insn))
		return false;
	finder->names_saved |= insn.names_saved;
	switch (insn.effect) {
	case X86_CALL:
		if (finder->is_sized)
			finder->calls[finder->call_count++] = (uint16_t)at;
		return true;
	case X86_BRANCH:
		return code_rule_go_to(finder, next, &state, from->is_doubtful) &&
		       code_rule_go_to(finder, next + insn.value, &state, from->is_doubtful);
	case X86_JUMP:
		return code_rule_go_to(finder, next + insn.value, &state, from->is_doubtful);
	case X86_JUMP_INDIRECT:
		note_table(finder, &state);
		return true;
	case X86_RETURN:
		finder->returns = true;
		return may_return(&state);
	case X86_END:
		return true;
	default:
		return code_rule_go_to(finder, next, &state, from->is_doubtful);
	}
}

/*
 * Continues after a call when all other paths have been followed. If one of
 * them has already reached the next instruction, its state is right: the call
 * does not return.
 */
static bool land(struct code_rule *finder, unsigned call)
{
	const struct visited *from = &finder->visited[call];
	size_t at = (size_t)call + from->length;

	return at >= finder->len || finder->visited[at].length ||
	       code_rule_go_to(finder, (int64_t)at, &from->state, true);
}

static bool follow_all(struct code_rule *finder, unsigned *steps)
{
	const struct code_rule_state first = {.knows_depth = true};

	if (!code_rule_go_to(finder, 0, &first, false))
		return false;
	while (finder->next_count || finder->call_count) {
		if (*steps == 0)
			return false;
		--*steps;
		if (finder->next_count
			    ? !code_rule_follow(finder, finder->next[--finder->next_count])
			    : !land(finder, finder->calls[--finder->call_count]))
			return false;
	}
	return *steps;
}

/*
 * Returns true if the state after each followed call is the same as at the jump
 * table.
 */
static bool lands_as_at_table(const struct code_rule *finder)
{
	for (size_t at = 0; at < finder->len; at++) {
		const struct visited *visited = &finder->visited[at];

		if (visited->length && visited->is_doubtful &&
		    !states_equal(&visited->state, &finder->at_table))
			return false;
	}
	return !finder->has_varied_tables;
}

/* Returns the instruction that contains the byte. */
static const struct visited *find_visited(const struct code_rule *finder, size_t at)
{
	for (size_t back = 0; back < 15 && back <= at; back++)
		if (finder->visited[at - back].length > back)
			return &finder->visited[at - back];
	return NULL;
}

/* --- Rules ---------------------------------------------------------------- */

static struct cfi_value code_rule_cfa(const struct code_rule_state *state)
{
	struct cfi_value cfa = {.how = CFI_REGISTER, .offset = CODE_RULE_WORD_BYTES};

	if (state->knows_depth) {
		cfa.reg = DWARF_SP;
		cfa.offset += state->depth;
	} else if (state->fp_depth) {
		cfa.reg = DWARF_FP;
		cfa.offset += state->fp_depth;
	} else {
		cfa.reg = saved_registers[saved_index(state->copy_reg)].dwarf;
		cfa.offset += state->copy_depth;
	}
	return cfa;
}

static bool make_rule(const struct code_rule_state *state, struct cfi_rule *ret)
{
	const struct arch *arch = &arch_x86_64;

	*ret = (struct cfi_rule){0};
	cfi_row_default(arch, &ret->row);
	ret->row.cfa = code_rule_cfa(state);
	ret->has_frame = state->knows_depth && state->fp_depth && state->saved[SAVED_FP];
	for (unsigned i = 0; i < SAVED; i++)
		if (state->saved[i])
			ret->row.regs[saved_registers[i].dwarf] = (struct cfi_value){
				.how = CFI_AT_CFA,
				.offset = -CODE_RULE_WORD_BYTES - state->saved[i]};
	if (!state->popped_return_address)
		return true;
	ret->row.regs[arch->ra] = (struct cfi_value){.how = CFI_UNDEFINED};
	return state->has_zero_fp;
}

/*
 * Returns true if the code certainly does not run in the frame of another
 * function.
 */
static bool has_own_frame(const struct code_rule *finder, const struct code_rule_state *state)
{
	return finder->returns || finder->saves || (state->depth && !finder->names_saved);
}

static void code_rule_clear(struct code_rule *finder, bool uses_copies)
{
	for (size_t at = 0; at < finder->len; at++)
		finder->visited[at].length = 0;
	finder->next_count = finder->call_count = 0;
	finder->uses_copies = uses_copies;
	finder->returns = finder->saves = finder->names_saved = finder->has_copies = false;
	finder->has_table = finder->has_varied_tables = false;
}

bool code_rule_analyze(struct code_rule *finder, const unsigned char *code, size_t len,
		       bool is_sized, unsigned *steps)
{
	if (len > CODE_RULE_BYTES_MAX)
		return false;
	finder->code = code;
	finder->len = len;
	finder->is_sized = is_sized;
	code_rule_clear(finder, false);
	if (follow_all(finder, steps))
		return true;
	if (!finder->has_copies)
		return false;
	code_rule_clear(finder, true);
	return follow_all(finder, steps);
}

bool code_rule_find(const struct code_rule *finder, size_t at, struct cfi_rule *ret)
{
	const struct visited *found = at < finder->len ? find_visited(finder, at) : NULL;

	if (!found || !has_own_frame(finder, &found->state) ||
	    (found->is_doubtful && finder->has_table && !lands_as_at_table(finder)))
		return false;
	return make_rule(&found->state, ret);
}
