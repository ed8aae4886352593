#include "unwind/owners.h"

#include "base/alloc.h"
#include "unwind/step.h"

/* GHC reserves 16 KiB (RESERVED_C_STACK_BYTES). */
enum { OWNER_BYTES_MAX = 20 << 10 };

/*
 * Hand-written functions have few rows, and jump soon after the last change of
 * their frame.
 */
enum { ROWS_MAX = 8, JUMP_WITHIN_BYTES = 32, OWNERS_ROW_STEPS_MAX = 256 };

/*
 * Maximum number of calls whose functions a search checks, and of searches that
 * are skipped after a failure.
 */
enum { CALLS_MAX = 64, SKIPPED_MAX = 1023 };

enum { PLACES = 64 };

/* The number of skipped searches doubles after each failure. */
struct backoff {
	uint32_t skipped, to_skip;
};

/* The search history for code in a module. */
struct owners_place {
	module_id module;
	struct backoff usual, when_lost;
	uint64_t bytes; /* distance from sp to the last return address found; 0 if none */
};

struct owners {
	struct cfi_cache *cfi;
	struct owners_place places[PLACES];
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

/*
 * Returns true if the code at pc jumps through a register. `at` is the location
 * of pc.
 */
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

/*
 * Finds the row of the function at pc that puts the return address into the
 * slot.
 */
static bool owners_find_row(struct owners *owners, struct walk *walk, uint64_t pc, uint64_t slot,
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
		unsigned steps = OWNERS_ROW_STEPS_MAX;

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
	return *is_call && owners_find_row(owners, walk, pc, slot, &rule) && step_full(walk, &rule);
}

static bool owners_search(struct owners *owners, struct walk *walk, struct owners_place *place)
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
	struct owners_place *place = &owners->places[module % PLACES];
	enum unwind_stop stop = walk->stop;
	bool is_call;

	if (!walk->may_search || !regs_know(&walk->regs, walk->arch->sp))
		return false;
	if (place->module != module)
		*place = (struct owners_place){.module = module};
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
	} else if (owners_search(owners, walk, place)) {
		place->usual = place->when_lost = (struct backoff){0};
		return true;
	} else {
		search_was_vain(walk->must_seek_owner ? &place->when_lost : &place->usual);
	}
	return walk_stop(walk, stop);
}
