#include "unwind/owners.h"

#include "base/alloc.h"
#include "unwind/step.h"

/* GHC reserves 16 KiB (RESERVED_C_STACK_BYTES). */
enum { OWNER_BYTES_MAX = 20 << 10 };

/* Hand-written functions have few rows, and jump soon after the last change of their frame. */
enum { ROWS_MAX = 8, JUMP_WITHIN_BYTES = 32, ROW_STEPS_MAX = 256 };

/* Calls in a search whose functions are looked at, and searches left out after a vain one. */
enum { CALLS_MAX = 64, SKIPPED_MAX = 1023 };

enum { PLACES = 64 };

/* After each vain search twice as many are left out. */
struct backoff {
	uint32_t skipped, to_skip;
};

/* What is known of code in a module. */
struct place {
	module_id module;
	struct backoff usual, when_lost;
	uint64_t bytes; /* from sp to the return address, the last time; 0: none */
};

struct owners {
	struct cfi_cache *cfi;
	struct place places[PLACES];
};

struct owners *owners_new(struct cfi_cache *cfi)
{
	struct owners *owners = xcalloc(1, sizeof(*owners));

	owners->cfi = cfi;
	return owners;
}

void owners_free(struct owners *owners)
{
	free(owners);
}

/* `pc` is at `at`. */
static bool jumps_away(const struct walk *walk, const struct location *at, uint64_t pc)
{
	unsigned char code[JUMP_WITHIN_BYTES];

	return walk_read_file(walk, at, pc, pc, code, sizeof(code)) &&
	       walk->arch->has_register_jump(code, sizeof(code));
}

static bool puts_return_address(const struct walk *walk, const struct cfi_row *row, uint64_t slot)
{
	const struct arch *arch = walk->arch;
	const struct cfi_value *ra = &row->regs[arch->ra];

	return row->cfa.how == CFI_REGISTER && row->cfa.reg == arch->sp && ra->how == CFI_AT_CFA &&
	       walk->regs.values[arch->sp] + (uint64_t)row->cfa.offset + (uint64_t)ra->offset ==
		       slot;
}

/* The row of the function at pc with which its return address is in the slot. */
static bool find_row(struct owners *owners, struct walk *walk, uint64_t pc, uint64_t slot,
		     struct cfi_rule *ret)
{
	const struct module_cfi *cfi;
	struct location at;
	uint64_t start, vaddr;

	if (!walk_locate(walk, pc, &at) || !(cfi = cfi_cache_get(owners->cfi, at.module)) ||
	    !elf_file_offset_to_vaddr(address_spaces_module(walk->spaces, at.module)->elf,
				      at.offset, &start))
		return false;
	vaddr = start;
	for (unsigned i = 0; i < ROWS_MAX; i++) {
		unsigned steps = ROW_STEPS_MAX;

		if (!cfi_find(cfi->own, vaddr, &steps, ret) || ret->start != vaddr)
			return false;
		if (puts_return_address(walk, &ret->row, slot) && jumps_away(walk, &at, pc))
			return true;
		at.offset += ret->end - vaddr;
		pc += ret->end - vaddr;
		vaddr = ret->end;
	}
	return false;
}

static bool step_from_slot(struct owners *owners, struct walk *walk, uint64_t slot, bool *is_call)
{
	struct cfi_rule rule;
	uint64_t pc;

	*is_call = walk_has(walk, slot, walk->arch->word_bytes) &&
		   called_function(walk, walk_strip(walk, walk_word(walk, slot)), &pc);
	return *is_call && find_row(owners, walk, pc, slot, &rule) && step_full(walk, &rule);
}

static bool search(struct owners *owners, struct walk *walk, struct place *place)
{
	uint64_t sp = walk->regs.values[walk->arch->sp];
	unsigned calls = 0;
	bool is_call;

	for (uint64_t bytes = 0; bytes < OWNER_BYTES_MAX && calls < CALLS_MAX &&
				 walk_has(walk, sp + bytes, walk->arch->word_bytes);
	     bytes += walk->arch->word_bytes) {
		if (step_from_slot(owners, walk, sp + bytes, &is_call)) {
			place->bytes = bytes;
			return true;
		}
		calls += is_call;
	}
	return false;
}

static bool skips(struct backoff *backoff)
{
	bool skips = backoff->skipped < backoff->to_skip;

	backoff->skipped += skips;
	return skips;
}

static void search_was_vain(struct backoff *backoff)
{
	backoff->skipped = 0;
	backoff->to_skip = backoff->to_skip < SKIPPED_MAX ? 2 * backoff->to_skip + 1 : SKIPPED_MAX;
}

bool owners_step(struct owners *owners, struct walk *walk)
{
	module_id module = walk->at.module;
	struct place *place = &owners->places[module % PLACES];
	enum unwind_stop stop = walk->stop;
	bool is_call;

	if (!walk->may_search || !regs_know(&walk->regs, walk->arch->sp))
		return false;
	if (place->module != module)
		*place = (struct place){.module = module};
	walk->has_searched = true;
	if (place->bytes &&
	    step_from_slot(owners, walk, walk->regs.values[walk->arch->sp] + place->bytes,
			   &is_call))
		return true;
	if (walk->sought_owner)
		return walk_stop(walk, stop);
	walk->sought_owner = true;
	if (!walk->must_seek_owner && skips(&place->usual)) {
		walk->omitted_owner = !skips(&place->when_lost);
	} else if (search(owners, walk, place)) {
		place->usual = place->when_lost = (struct backoff){0};
		return true;
	} else {
		search_was_vain(walk->must_seek_owner ? &place->when_lost : &place->usual);
	}
	return walk_stop(walk, stop);
}
