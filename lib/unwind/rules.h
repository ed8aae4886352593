/*
 * Caches unwind rules: eight bytes for each (module, offset) that was a pc on a
 * stack.
 *
 * In nearly all rows of real CFI the CFA is sp or fp plus a constant, and fp
 * and the return address are saved next to it. The cache stores these rules.
 * All other rows are stored as "evaluate the CFI again". The cache is a hash
 * table that grows to RULES_BYTES_MAX and then replaces entries, so a lookup
 * may miss at any time.
 */
#ifndef PROF_UNWIND_RULES_H
#define PROF_UNWIND_RULES_H

#include "base/hash.h"
#include "unwind/arch.h"
#include "unwind/cfi.h"

enum { RULES_BYTES_MAX = 16 << 20 };

enum rule_kind {
	RULE_NONE, /* no CFI covers the pc */
	RULE_ROOT, /* the outermost frame */
	RULE_SP,   /* CFA = sp + cfa_words words */
	RULE_FP,   /* CFA = fp + cfa_words words */
	/*
	 * CFA = fp - fp_words words, or sp + cfa_words words if fp is unknown.
	 */
	RULE_FRAME,
	RULE_FULL, /* not representable: evaluate the CFI */
};

/* The rule belongs to a function whose start is uncertain. */
enum { RULE_INFERRED = 0x80 };

/*
 * The register is not saved in memory: fp, or a leaf's return address on
 * aarch64.
 */
enum { RULE_SAME = INT16_MIN };

struct rule {
	uint8_t kind; /* enum rule_kind, with or without RULE_INFERRED */
	/* enum go_function. It selects the Go rules, whatever the kind is. */
	uint8_t go;
	int16_t cfa_words;
	int16_t fp_words; /* saved at CFA + fp_words words, or RULE_SAME */
	int16_t ra_words; /* saved at CFA + ra_words words, or RULE_SAME */
};

/* Returns a RULE_FULL rule if the full rule is not representable. */
struct rule rule_pack(const struct arch *arch, const struct cfi_rule *full);

/*
 * A key combines a module and an offset in one word. Larger offsets are not
 * cached; they do not occur in practice.
 */
enum { RULES_OFFSET_BITS = 40, RULES_MODULE_BITS = 24 };
#define RULES_NO_KEY UINT64_MAX

/* A key can be in any slot of its bucket. */
enum { RULES_PLACES = 4 };

struct rules_place {
	uint64_t key;
	struct rule rule;
};

struct rules_bucket {
	struct rules_place places[RULES_PLACES];
};

/* Private, except that rules_get() is inlined: each frame needs it. */
struct rules {
	struct rules_bucket *buckets;
	size_t bucket_count; /* a power of two */
	size_t used;	     /* places */
	unsigned victim;     /* the next slot to evict when the cache is full */
};

struct rules *rules_new(void);
void rules_free(struct rules *rules);
DEFINE_CLEANUP(rules, rules_free)

static inline uint64_t rules_key(uint32_t module, uint64_t offset)
{
	if (module >> RULES_MODULE_BITS || offset >> RULES_OFFSET_BITS)
		return RULES_NO_KEY;
	return (uint64_t)module << RULES_OFFSET_BITS | offset;
}

static inline struct rules_bucket *rules_bucket_of(const struct rules *rules, uint64_t key)
{
	return &rules->buckets[hash_mix(key, 0) & (rules->bucket_count - 1)];
}

static inline bool rules_get(const struct rules *rules, uint32_t module, uint64_t offset,
			     struct rule *ret)
{
	uint64_t key = rules_key(module, offset);
	const struct rules_place *places = rules_bucket_of(rules, key)->places;

	for (unsigned i = 0; i < RULES_PLACES; i++) {
		if (places[i].key != key)
			continue;
		*ret = places[i].rule;
		return key != RULES_NO_KEY;
	}
	return false;
}

void rules_put(struct rules *rules, uint32_t module, uint64_t offset, struct rule rule);

#endif
