#include "unwind/rules.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <assert.h>

/*
 * A key combines a module and an offset in one word. Larger offsets are not
 * cached; they do not occur in practice.
 */
enum { OFFSET_BITS = 40, MODULE_BITS = 24 };
#define KEY_NONE UINT64_MAX

/* A key can be in any slot of its bucket. */
enum { BUCKET_PLACES = 4, BUCKETS_FIRST = 256 };

struct rules_place {
	uint64_t key;
	struct rule rule;
};

struct bucket {
	struct rules_place places[BUCKET_PLACES];
};

enum { BUCKETS_MAX = RULES_BYTES_MAX / sizeof(struct bucket) };

static_assert(sizeof(struct rule) == 8, "a rule is one word");

struct rules {
	struct bucket *buckets;
	size_t bucket_count; /* a power of two */
	size_t used;	     /* places */
	unsigned victim;     /* the next slot to evict when the cache is full */
};

static bool pack_words(const struct arch *arch, int64_t offset, int16_t *words)
{
	int64_t unit = arch->word_bytes;

	*words = (int16_t)(offset / unit);
	return offset % unit == 0 && offset / unit == *words && *words != RULE_SAME;
}

static bool pack_saved(const struct arch *arch, const struct cfi_value *value, int16_t *words)
{
	*words = RULE_SAME;
	return value->how == CFI_SAME ||
	       (value->how == CFI_AT_CFA && pack_words(arch, value->offset, words));
}

struct rule rule_pack(const struct arch *arch, const struct cfi_rule *full)
{
	const struct cfi_value *cfa = &full->row.cfa, *regs = full->row.regs;
	struct rule rule = {.kind = full->has_frame	   ? RULE_FRAME
				    : cfa->reg == arch->sp ? RULE_SP
							   : RULE_FP};

	if (regs[arch->ra].how == CFI_UNDEFINED)
		return (struct rule){.kind = RULE_ROOT};
	if (!full->signal_frame && cfa->how == CFI_REGISTER &&
	    (cfa->reg == arch->sp || cfa->reg == arch->fp) &&
	    pack_words(arch, cfa->offset, &rule.cfa_words) && regs[arch->sp].how == CFI_CFA_PLUS &&
	    regs[arch->sp].offset == 0 && pack_saved(arch, &regs[arch->fp], &rule.fp_words) &&
	    pack_saved(arch, &regs[arch->ra], &rule.ra_words) &&
	    (rule.ra_words != RULE_SAME || arch->ra_in_register))
		return rule;
	return (struct rule){.kind = RULE_FULL};
}

static uint64_t key_of(uint32_t module, uint64_t offset)
{
	if (module >> MODULE_BITS || offset >> OFFSET_BITS)
		return KEY_NONE;
	return (uint64_t)module << OFFSET_BITS | offset;
}

static struct bucket *bucket_of(const struct rules *rules, uint64_t key)
{
	return &rules->buckets[hash_mix(key, 0) & (rules->bucket_count - 1)];
}

static void buckets_new(struct rules *rules, size_t count)
{
	rules->buckets = xreallocarray(NULL, count, sizeof(*rules->buckets));
	memset(rules->buckets, 0xff, count * sizeof(*rules->buckets)); /* KEY_NONE everywhere */
	rules->bucket_count = count;
	rules->used = 0;
}

struct rules *rules_new(void)
{
	struct rules *rules = xcalloc(1, sizeof(*rules));

	buckets_new(rules, BUCKETS_FIRST);
	return rules;
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	free(rules->buckets);
	free(rules);
}

bool rules_get(const struct rules *rules, uint32_t module, uint64_t offset, struct rule *ret)
{
	uint64_t key = key_of(module, offset);
	const struct rules_place *places = bucket_of(rules, key)->places;

	for (unsigned i = 0; i < BUCKET_PLACES; i++) {
		if (places[i].key != key)
			continue;
		*ret = places[i].rule;
		return key != KEY_NONE;
	}
	return false;
}

/* Returns a free slot of the bucket, or else the slot to evict. */
static struct rules_place *place_for(struct rules *rules, uint64_t key)
{
	struct rules_place *places = bucket_of(rules, key)->places;

	for (unsigned i = 0; i < BUCKET_PLACES; i++) {
		if (places[i].key == KEY_NONE) {
			rules->used++;
			return &places[i];
		}
	}
	return &places[rules->victim++ % BUCKET_PLACES];
}

static void rules_grow(struct rules *rules)
{
	struct rules old = *rules;

	buckets_new(rules, old.bucket_count * 2);
	for (size_t i = 0; i < old.bucket_count * BUCKET_PLACES; i++) {
		const struct rules_place *place =
			&old.buckets[i / BUCKET_PLACES].places[i % BUCKET_PLACES];

		if (place->key != KEY_NONE)
			*place_for(rules, place->key) = *place;
	}
	free(old.buckets);
}

void rules_put(struct rules *rules, uint32_t module, uint64_t offset, struct rule rule)
{
	uint64_t key = key_of(module, offset);

	if (key == KEY_NONE)
		return;
	if (rules->used >= rules->bucket_count * BUCKET_PLACES / 2 &&
	    rules->bucket_count < BUCKETS_MAX)
		rules_grow(rules);
	*place_for(rules, key) = (struct rules_place){.key = key, .rule = rule};
}
