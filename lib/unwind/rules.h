/*
 * Cache of unwind rules: eight bytes for each (module, offset) that was ever a pc in a stack.
 *
 * Nearly all rows of real CFI say "the CFA is sp or fp plus a constant, and fp and the return
 * address are saved next to it"; these rules are cached. All others are cached as "evaluate the
 * CFI again". The cache is a hash table that grows to RULES_BYTES_MAX and then replaces entries,
 * so a lookup may miss at any time.
 */
#ifndef PROF_UNWIND_RULES_H
#define PROF_UNWIND_RULES_H

#include "unwind/arch.h"
#include "unwind/cfi.h"

enum { RULES_BYTES_MAX = 16 << 20 };

enum rule_kind {
	RULE_NONE, /* no CFI here */
	RULE_ROOT, /* the outermost frame */
	RULE_SP,   /* CFA = sp + cfa_words words */
	RULE_FP,   /* CFA = fp + cfa_words words */
	RULE_FULL, /* does not fit: evaluate the CFI */
};

/* The rule is of a function of which it is not certain where it begins. */
enum { RULE_INFERRED = 0x80 };

/* Still in its register, not in memory: fp, and on aarch64 a leaf's return address. */
enum { RULE_SAME = INT16_MIN };

struct rule {
	uint8_t kind; /* enum rule_kind, perhaps with RULE_INFERRED */
	uint8_t go;   /* enum go_function: whose rules apply, whatever the kind */
	int16_t cfa_words;
	int16_t fp_words; /* saved at CFA + fp_words words, or RULE_SAME */
	int16_t ra_words; /* likewise */
};

/* RULE_FULL if the rule does not fit. */
struct rule rule_pack(const struct arch *arch, const struct cfi_rule *full);

struct rules;

struct rules *rules_new(void);
void rules_free(struct rules *rules);
DEFINE_CLEANUP(rules, rules_free)

bool rules_get(const struct rules *rules, uint32_t module, uint64_t offset, struct rule *ret);
void rules_put(struct rules *rules, uint32_t module, uint64_t offset, struct rule rule);

#endif
