#include "unwind/fp_search.h"

#include "base/alloc.h"
#include "unwind/step.h"

#include <dwarf.h>

/* Jumps are not searched in larger functions, which are rare. */
enum { FUNCTION_BYTES_MAX = 16 << 10 };

/*
 * Maximum number of jumps between the called function and the function found.
 */
enum { JUMPS_MAX = 2 };

/*
 * Limits of a search: how far above sp a frame pointer is searched, the number
 * of steps of all walks, and the amount of code that is searched for jumps.
 * Beyond the last limit, any call is accepted.
 */
enum { SEARCH_BYTES = 64 << 10, STEPS_MAX = 1 << 12, SCANNED_BYTES_MAX = 256 << 10 };

/* Alignment of the CFA (psABI x86-64, 3.2.2; AAPCS64, 6.4.5.1). */
enum { CFA_ALIGNMENT = 16 };

enum { SIZES_MAX = 16, PLACES_MAX = 64, FP_SEARCH_ROW_STEPS_MAX = 1 << 12 };

/*
 * A function sets up its frame pointer within this many bytes, after a check of
 * the stack size.
 */
enum { PROLOGUE_BYTES_MAX = 64 };

/* No code is mapped below this address. */
enum { PAGE_BYTES = 4096 };

struct fp_search {
	struct cfi_cache *cfi;
	bool (*step)(void *user, struct walk *walk);
	void *user;
	unsigned steps_left;
	uint64_t scanned_bytes; /* of code */
	unsigned char code[JUMPS_MAX + 1][FUNCTION_BYTES_MAX];
};

struct fp_search *fp_search_new(struct cfi_cache *cfi, bool (*step)(void *user, struct walk *walk),
				void *user)
{
	struct fp_search *search = xcalloc(1, sizeof(*search));

	search->cfi = cfi;
	search->step = step;
	search->user = user;
	return search;
}

void fp_search_free(struct fp_search *search)
{
	free(search);
}

/* The range of one CFI entry. */
struct fp_search_function {
	struct location at; /* of start */
	uint64_t start, end;
};

static bool fp_search_find_function(struct fp_search *search, struct walk *walk, uint64_t pc,
				    struct fp_search_function *ret)
{
	const struct module_cfi *cfi;
	uint64_t vaddr, start, end;

	if (!walk_locate(walk, pc, &ret->at) ||
	    !(cfi = cfi_cache_get(search->cfi, ret->at.module)) ||
	    !elf_file_offset_to_vaddr(address_spaces_module(walk->spaces, ret->at.module)->elf,
				      ret->at.offset, &vaddr))
		return false;
	if (!(cfi->own && cfi_function(cfi->own, vaddr, &start, &end)) &&
	    !(cfi->debug && cfi_function(cfi->debug, vaddr, &start, &end)))
		return false;
	ret->at.offset -= vaddr - start;
	ret->start = pc - (vaddr - start);
	ret->end = ret->start + (end - start);
	return true;
}

/*
 * Returns the function's code, or NULL if it is too large or cannot be read
 * without blocking.
 */
static const unsigned char *read_function(struct fp_search *search, const struct walk *walk,
					  const struct fp_search_function *function,
					  unsigned buffer)
{
	uint64_t len = function->end - function->start;

	return len <= FUNCTION_BYTES_MAX &&
			       walk_read_file(walk, &function->at, function->start, function->start,
					      search->code[buffer], len)
		       ? search->code[buffer]
		       : NULL;
}

/*
 * Returns true if the code at pc may jump into the function, directly or
 * through another function.
 */
static bool may_jump_to(struct fp_search *search, struct walk *walk, uint64_t pc,
			const struct fp_search_function *function, unsigned jumps)
{
	const struct arch *arch = walk->arch;
	const unsigned char *code;
	struct fp_search_function from;
	uint64_t len, target;

	if (!arch->jump_at || !fp_search_find_function(search, walk, pc, &from) ||
	    from.start != pc || !(code = read_function(search, walk, &from, jumps)))
		return true;
	len = from.end - from.start;
	search->scanned_bytes += len;
	if (search->scanned_bytes > SCANNED_BYTES_MAX)
		return true;
	for (uint64_t i = 0; i < len; i++) {
		enum jump jump = arch->jump_at(code + i, len - i, from.start + i, &target);
		struct fp_search_function other;

		if (jump == JUMP_INDIRECT)
			return true;
		if (jump == JUMP_NONE || target - from.start < len)
			continue;
		if (target - function->start < function->end - function->start)
			return true;
		/*
		 * Otherwise it is the code of another function or only looks
		 * like a jump.
		 */
		if (fp_search_find_function(search, walk, target, &other) &&
		    other.start == target &&
		    (jumps == JUMPS_MAX || may_jump_to(search, walk, target, function, jumps + 1)))
			return true;
	}
	return false;
}

/*
 * Returns true if a call that returns to the address may have led to the
 * function.
 */
static bool may_have_called(struct fp_search *search, struct walk *walk, uint64_t return_address,
			    const struct fp_search_function *function)
{
	unsigned char code[CODE_BYTES];
	struct location at;
	uint64_t target;

	if (!walk_locate(walk, return_address - 1, &at))
		return false;
	if (!address_spaces_module(walk->spaces, at.module)->elf)
		return true;
	if (!walk_read_file(walk, &at, return_address - 1, return_address - sizeof(code), code,
			    sizeof(code)) ||
	    !walk->arch->ends_with_call(code))
		return false;
	return !walk->arch->call_target(code, return_address, &target) ||
	       target == function->start || may_jump_to(search, walk, target, function, 0);
}

/* Moves the walk to the caller if it may have called the function. */
static bool step_checked(struct fp_search *search, struct walk *walk)
{
	struct fp_search_function function;
	bool found = fp_search_find_function(search, walk, walk_pc(walk), &function);

	if (!search->steps_left) {
		walk_stop(walk, UNWIND_LOST);
		return false;
	}
	search->steps_left--;
	walk->was_not_called = false;
	if (!search->step(search->user, walk))
		return false;
	if (found && !walk->was_not_called && walk->is_return_address &&
	    !may_have_called(search, walk, walk->regs.pc, &function))
		return walk_stop(walk, UNWIND_LOST);
	return true;
}

/* Enters the caller through a frame pointer. */
static bool enter_by(struct fp_search *search, const struct walk *walk, uint64_t fp,
		     struct walk *caller)
{
	*caller = *walk;
	caller->may_search = false;
	caller->needed_bytes = 0;
	regs_set(&caller->regs, walk->arch->fp, fp);
	return step_checked(search, caller);
}

static bool fp_search_find_row(struct fp_search *search, struct walk *walk, struct cfi_rule *ret)
{
	const struct module_cfi *cfi = cfi_cache_get(search->cfi, walk->at.module);
	unsigned steps = FP_SEARCH_ROW_STEPS_MAX;
	uint64_t vaddr;

	return cfi &&
	       elf_file_offset_to_vaddr(address_spaces_module(walk->spaces, walk->at.module)->elf,
					walk->at.offset, &vaddr) &&
	       ((cfi->own && cfi_find(cfi->own, vaddr, &steps, ret)) ||
		(cfi->debug && cfi_find(cfi->debug, vaddr, &steps, ret)));
}

/* How a walk from a candidate ends. */
enum end {
	END_NOWHERE,
	/*
	 * At the end of the copy, or at a return address of 0, which any word
	 * can contain.
	 */
	END_OPEN,
	END_ROOT, /* at a root according to CFI */
};

static enum end walk_to_end(struct fp_search *search, struct walk *walk)
{
	struct cfi_rule rule;

	while (step_checked(search, walk)) {
	}
	if (walk->stop == UNWIND_LOST)
		return END_NOWHERE;
	if (walk->stop == UNWIND_ROOT && (!fp_search_find_row(search, walk, &rule) ||
					  rule.row.regs[walk->arch->ra].how == CFI_UNDEFINED))
		return END_ROOT;
	return END_OPEN;
}

/* The frame of a function whose CFI needs the frame pointer. */
struct sought {
	struct cfi_row row;
	struct fp_search_function function;
	uint64_t saved_bytes; /* from the lowest saved register to the CFA */
	bool is_plain;	      /* the CFA is the frame pointer plus a constant */
	/*
	 * Otherwise the CFA is the word at this offset from the frame pointer.
	 */
	int64_t cfa_at;
	unsigned stride;
};

/*
 * Parses the expression of a CFA that is stored in the frame (breg, deref). gcc
 * emits it for functions that align their stack.
 */
static bool parse_kept_cfa(const struct arch *arch, const struct cfi_value *cfa, int64_t *cfa_at)
{
	struct bytes from;

	if (cfa->how != CFI_EXPRESSION)
		return false;
	from = bytes_of(cfa->expression, cfa->expression_bytes);
	if (bytes_u8(&from) != DW_OP_breg0 + arch->fp)
		return false;
	*cfa_at = bytes_sleb(&from);
	return bytes_u8(&from) == DW_OP_deref && bytes_ok(&from) && !bytes_left(&from);
}

static bool find_sought(struct fp_search *search, struct walk *walk, const struct cfi_rule *rule,
			struct sought *ret)
{
	const struct arch *arch = walk->arch;

	if (rule->signal_frame ||
	    !fp_search_find_function(search, walk, walk_pc(walk), &ret->function))
		return false;
	ret->row = rule->row;
	ret->is_plain = rule->row.cfa.how == CFI_REGISTER && rule->row.cfa.reg == arch->fp;
	if (rule->row.regs[arch->ra].how != CFI_AT_CFA ||
	    (!ret->is_plain && !parse_kept_cfa(arch, &rule->row.cfa, &ret->cfa_at)))
		return false;
	ret->saved_bytes = 0;
	for (unsigned reg = 0; reg < arch->register_count; reg++) {
		const struct cfi_value *value = &rule->row.regs[reg];

		if (value->how == CFI_AT_CFA && value->offset < 0 &&
		    (uint64_t)-value->offset > ret->saved_bytes)
			ret->saved_bytes = (uint64_t)-value->offset;
	}
	ret->stride = ret->is_plain && walk->regs.values[arch->sp] % CFA_ALIGNMENT == 0
			      ? CFA_ALIGNMENT
			      : arch->word_bytes;
	return true;
}

/* Candidates for the CFA. */
struct fp_search_places {
	uint64_t cfas[PLACES_MAX];
	unsigned count;
};

/* Adds the candidates in [low, low + extent], as long as there is room. */
static void fp_search_add_places(struct fp_search_places *places, uint64_t low, uint64_t extent)
{
	uint64_t cfa = low + -low % CFA_ALIGNMENT;

	do {
		unsigned i = 0;

		while (i < places->count && places->cfas[i] != cfa)
			i++;
		if (i == PLACES_MAX)
			return;
		places->cfas[i] = cfa;
		places->count += i == places->count;
		cfa += CFA_ALIGNMENT;
	} while (cfa - low <= extent);
}

/*
 * Finds the candidates from the code of the function. If there are none, the
 * CFA can be anywhere. Arguments that were pushed for a call are usually popped
 * after it.
 */
static void fp_search_find_places(struct fp_search *search, const struct walk *walk,
				  const struct sought *sought, struct fp_search_places *ret)
{
	const struct arch *arch = walk->arch;
	const struct fp_search_function *function = &sought->function;
	uint64_t sizes[SIZES_MAX], low = walk->regs.values[arch->sp] + sought->saved_bytes;
	const unsigned char *code;
	unsigned char after[CODE_BYTES];
	unsigned count, alignment, popped = 0;

	ret->count = 0;
	if (!sought->is_plain || !arch->frame_sizes ||
	    !(code = read_function(search, walk, function, 0)))
		return;
	count = arch->frame_sizes(code, function->end - function->start, sizes, SIZES_MAX,
				  &alignment);
	if (walk->is_return_address &&
	    walk_read_file(walk, &walk->at, walk_pc(walk), walk->regs.pc, after, sizeof(after)))
		popped = arch->popped_bytes(after);
	for (unsigned i = 0; i < count; i++) {
		fp_search_add_places(ret, low + sizes[i], alignment - 1);
		if (popped)
			fp_search_add_places(ret, low + sizes[i] + popped, alignment - 1);
	}
}

static uint64_t fp_search_fp_of(const struct sought *sought, uint64_t cfa)
{
	return cfa - (uint64_t)sought->row.cfa.offset;
}

/*
 * Chooses the only possible candidate. If there are several, chooses the only
 * one from which a walk reaches a root.
 */
static bool choose_place(struct fp_search *search, const struct walk *walk,
			 const struct sought *sought, const struct fp_search_places *places,
			 uint64_t *fp)
{
	unsigned possible = 0, rooted = 0;
	uint64_t possible_fp = 0, rooted_fp = 0;
	struct walk caller;

	for (unsigned i = 0; i < places->count; i++) {
		uint64_t candidate = fp_search_fp_of(sought, places->cfas[i]);

		if (!enter_by(search, walk, candidate, &caller))
			continue;
		possible++;
		possible_fp = candidate;
		if (places->count == 1 || walk_to_end(search, &caller) == END_NOWHERE)
			continue;
		rooted++;
		rooted_fp = candidate;
	}
	*fp = possible == 1 ? possible_fp : rooted_fp;
	return possible == 1 || rooted == 1;
}

/* Returns true if one of the candidates is beyond the copy. */
static bool needs_larger_copy(struct walk *walk, const struct fp_search_places *places)
{
	for (unsigned i = 0; i < places->count; i++) {
		if (walk_has(walk, places->cfas[i], 0))
			continue;
		walk_stop_unread(walk, places->cfas[i], STACK_REACH_BYTES);
		return true;
	}
	return false;
}

/*
 * Returns true if the word can be a return address. This is only a quick check.
 */
static bool can_be_code(const struct walk *walk, uint64_t slot)
{
	uint64_t word;

	if (!walk_has(walk, slot, walk->arch->word_bytes))
		return false;
	word = walk_word(walk, slot);
	return word >= PAGE_BYTES && !walk_has(walk, word, 0);
}

/* Like can_be_code(), for the return address that a frame pointer leads to. */
static bool can_be_fp(const struct walk *walk, const struct sought *sought, uint64_t fp)
{
	uint64_t at = fp + (uint64_t)sought->cfa_at, cfa;

	if (sought->is_plain) {
		cfa = fp + (uint64_t)sought->row.cfa.offset;
	} else {
		if (!walk_has(walk, at, walk->arch->word_bytes))
			return false;
		cfa = walk_word(walk, at);
		if (cfa <= fp || cfa % CFA_ALIGNMENT)
			return false;
	}
	return can_be_code(walk, cfa + (uint64_t)sought->row.regs[walk->arch->ra].offset);
}

/*
 * Chooses the only word of the stack from which a walk reaches its end. A
 * partial copy of the stack does not contain all words.
 */
static bool choose_any(struct fp_search *search, struct walk *walk, const struct sought *sought,
		       uint64_t *fp)
{
	uint64_t start = walk->regs.values[walk->arch->sp], stride = sought->stride, at = start;
	bool is_part = walk->stack_bytes < SEARCH_BYTES;
	unsigned possible = 0, rooted = 0;
	struct walk caller;

	if (sought->is_plain) {
		at += sought->saved_bytes;
		at = fp_search_fp_of(sought, at + -at % stride);
	}
	for (;
	     at - start < SEARCH_BYTES && rooted < 2 && search->steps_left && walk_has(walk, at, 0);
	     at += stride) {
		enum end end = END_NOWHERE;

		if (can_be_fp(walk, sought, at) && enter_by(search, walk, at, &caller))
			end = walk_to_end(search, &caller);
		rooted += end == END_ROOT;
		possible += end != END_NOWHERE;
		if (end != END_NOWHERE)
			*fp = at;
	}
	if (!rooted && is_part)
		walk_stop_unread(walk, walk->stack_start + 2 * walk->stack_bytes,
				 STACK_REACH_BYTES);
	return possible == 1 && search->steps_left && (rooted || !is_part);
}

/*
 * Returns true if the return address in this slot fits the frame of a function
 * without CFI that was called there.
 */
static bool fits_prologue(struct fp_search *search, struct walk *walk, uint64_t slot)
{
	const struct arch *arch = walk->arch;
	uint64_t target, sizes[SIZES_MAX], sp = walk->regs.values[arch->sp], len;
	unsigned char *code = search->code[0];
	unsigned count, alignment;
	size_t set_up;

	if (!called_function(walk, walk_word(walk, slot), &target))
		return false;
	len = walk->regs.pc - target;
	search->scanned_bytes += CODE_BYTES;
	if (len > FUNCTION_BYTES_MAX || search->scanned_bytes > SCANNED_BYTES_MAX ||
	    !walk_read_file(walk, &walk->at, walk_pc(walk), target, code, len))
		return false;
	search->scanned_bytes += len;
	if (!arch->sets_up_fp(code, len, &set_up) || set_up > PROLOGUE_BYTES_MAX)
		return false;
	/* The second one would belong to the next function. */
	if (arch->sets_up_fp(code + set_up + 1, len - set_up - 1, &(size_t){0}))
		return false;
	count = arch->frame_sizes(code, len, sizes, SIZES_MAX, &alignment);
	for (unsigned i = 0; i < count; i++)
		if (alignment == 1 && sp + sizes[i] + arch->word_bytes == slot)
			return true;
	return false;
}

/*
 * Handles code without CFI that keeps frame pointers (stripped Go programs).
 * The call must lead to a function that sets up a frame pointer and reserves
 * exactly as many bytes as there are below it.
 */
static bool choose_by_prologue(struct fp_search *search, struct walk *walk, uint64_t *fp)
{
	const struct arch *arch = walk->arch;
	uint64_t start = walk->regs.values[arch->sp], slot;
	unsigned found = 0;

	if (!arch->sets_up_fp || !walk->is_return_address)
		return false;
	for (slot = start + arch->word_bytes;
	     slot - start < SEARCH_BYTES && walk_has(walk, slot, arch->word_bytes);
	     slot += arch->word_bytes) {
		if (!can_be_code(walk, slot) || !fits_prologue(search, walk, slot))
			continue;
		*fp = slot - arch->word_bytes;
		found++;
	}
	return found == 1;
}

static bool choose_by_cfi(struct fp_search *search, struct walk *walk, const struct sought *sought,
			  uint64_t *fp)
{
	struct fp_search_places places;

	fp_search_find_places(search, walk, sought, &places);
	return choose_place(search, walk, sought, &places, fp) ||
	       (!needs_larger_copy(walk, &places) && choose_any(search, walk, sought, fp));
}

bool fp_search_find(struct fp_search *search, struct walk *walk)
{
	struct sought sought;
	struct cfi_rule rule;
	uint64_t fp = 0;

	if (!regs_know(&walk->regs, walk->arch->sp))
		return false;
	search->steps_left = STEPS_MAX;
	search->scanned_bytes = 0;
	if (fp_search_find_row(search, walk, &rule)) {
		if (!find_sought(search, walk, &rule, &sought) ||
		    !choose_by_cfi(search, walk, &sought, &fp))
			return false;
	} else if (!choose_by_prologue(search, walk, &fp)) {
		return false;
	}
	regs_set(&walk->regs, walk->arch->fp, fp);
	return true;
}
