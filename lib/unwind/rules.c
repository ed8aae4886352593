#include "unwind/rules.h"

#include "base/alloc.h"

#include <assert.h>

enum { BUCKETS_FIRST = 256, BUCKETS_MAX = RULES_BYTES_MAX / sizeof(struct rules_bucket) };

static_assert(sizeof(struct rule) == 8, "a rule is one word");

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

static void buckets_new(struct rules *rules, size_t count)
{
	rules->buckets = xreallocarray(NULL, count, sizeof(*rules->buckets));
	memset(rules->buckets, 0xff, count * sizeof(*rules->buckets)); /* RULES_NO_KEY everywhere */
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

/* Returns a free slot of the bucket, or else the slot to evict. */
static struct rules_place *place_for(struct rules *rules, uint64_t key)
{
	struct rules_place *places = rules_bucket_of(rules, key)->places;

	for (unsigned i = 0; i < RULES_PLACES; i++) {
		if (places[i].key == RULES_NO_KEY) {
			rules->used++;
			return &places[i];
		}
	}
	return &places[rules->victim++ % RULES_PLACES];
}

static void rules_grow(struct rules *rules)
{
	struct rules old = *rules;

	buckets_new(rules, old.bucket_count * 2);
	for (size_t i = 0; i < old.bucket_count * RULES_PLACES; i++) {
		const struct rules_place *place =
			&old.buckets[i / RULES_PLACES].places[i % RULES_PLACES];

		if (place->key != RULES_NO_KEY)
			*place_for(rules, place->key) = *place;
	}
	free(old.buckets);
}

void rules_put(struct rules *rules, uint32_t module, uint64_t offset, struct rule rule)
{
	uint64_t key = rules_key(module, offset);

	if (key == RULES_NO_KEY)
		return;
	if (rules->used >= rules->bucket_count * RULES_PLACES / 2 &&
	    rules->bucket_count < BUCKETS_MAX)
		rules_grow(rules);
	*place_for(rules, key) = (struct rules_place){.key = key, .rule = rule};
}
