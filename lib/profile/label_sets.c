#include "profile/label_sets.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void label_sets_deinit(struct label_sets *sets)
{
	TABLE_DEINIT(sets->threads);
	TABLE_DEINIT(sets->names);
	TABLE_DEINIT(sets->sets);
	arena_deinit(&sets->arena);
}

thread_id label_sets_thread(struct label_sets *sets, const struct profile_thread *thread)
{
	uint64_t ids = table_key((uint32_t)thread->pid, (uint32_t)thread->tid);
	uint64_t names = table_key(thread->process, thread->name);
	uint32_t pair = TABLE_PUT(sets->names, names, 0, names);

	return TABLE_PUT(sets->threads, ids, pair, *thread);
}

static uint64_t label_sets_hash_of(const struct profile_label_set *set)
{
	uint64_t hash = hash_mix(set->thread, set->count);

	for (uint32_t i = 0; i < set->count; i++) {
		const struct profile_label *label = &set->labels[i];

		hash = hash_mix(hash ^ table_key(label->key, label->text), (uint64_t)label->number);
		hash = hash_mix(hash, label->unit);
	}
	return hash;
}

static bool label_sets_are_equal(const struct profile_label_set *a,
				 const struct profile_label_set *b)
{
	if (a->thread != b->thread || a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct profile_label *left = &a->labels[i], *right = &b->labels[i];

		if (left->key != right->key || left->text != right->text ||
		    left->unit != right->unit || left->number != right->number)
			return false;
	}
	return true;
}

static int compare_keys(const struct strtab *strings, const struct profile_label *a,
			const struct profile_label *b)
{
	return a->key == b->key ? 0
				: strcmp(strtab_get(strings, a->key), strtab_get(strings, b->key));
}

/* qsort() is not stable, but labels with equal keys must keep their order. */
static int compare_labels(const void *a, const void *b, void *strings)
{
	const struct profile_label *const *left = a, *const *right = b;
	int ret = compare_keys(strings, *left, *right);

	return ret ? ret : (*left > *right) - (*left < *right);
}

static bool are_sorted(const struct strtab *strings, const struct profile_label *labels,
		       uint32_t count)
{
	uint32_t i = 1;

	while (i < count && compare_keys(strings, &labels[i - 1], &labels[i]) <= 0)
		i++;
	return i >= count;
}

/* The caller frees the result. */
static struct profile_label *label_sets_sort(const struct strtab *strings,
					     const struct profile_label *labels, uint32_t count)
{
	struct profile_label *sorted = xcalloc(count, sizeof(*sorted));
	CLEANUP(free_ptr) const struct profile_label **order = xcalloc(count, sizeof(*order));

	for (uint32_t i = 0; i < count; i++)
		order[i] = &labels[i];
	qsort_r(order, count, sizeof(*order), compare_labels, (void *)(uintptr_t)strings);
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = *order[i];
	return sorted;
}

static label_set_id label_sets_add(struct label_sets *sets, const struct profile_label_set *set)
{
	size_t size_bytes = set->count * sizeof(*set->labels);
	struct profile_label *labels = NULL;

	if (size_bytes) {
		labels = arena_alloc(&sets->arena, size_bytes);
		memcpy(labels, set->labels, size_bytes);
	}
	GROW(sets->sets.items, sets->sets.count, sets->sets.room);
	sets->sets.items[sets->sets.count] = *set;
	sets->sets.items[sets->sets.count].labels = labels;
	return sets->sets.count++;
}

label_set_id label_sets_put(struct label_sets *sets, const struct strtab *strings, thread_id thread,
			    const struct profile_label *labels, uint32_t count)
{
	CLEANUP(free_ptr)
	struct profile_label *sorted = are_sorted(strings, labels, count)
					       ? NULL
					       : label_sets_sort(strings, labels, count);
	struct profile_label_set set = {
		.thread = thread,
		.count = count,
		.labels = sorted ? sorted : labels,
	};
	uint64_t hash = label_sets_hash_of(&set);

	for (uint32_t nth = 0;; nth++) {
		uint32_t *id = idmap_put(&sets->sets.ids, hash, nth);

		if (*id == IDMAP_NONE)
			*id = label_sets_add(sets, &set);
		else if (!label_sets_are_equal(&sets->sets.items[*id], &set))
			continue;
		return *id;
	}
}

size_t label_sets_memory_bytes(const struct label_sets *sets)
{
	return TABLE_MEMORY_BYTES(sets->threads) + TABLE_MEMORY_BYTES(sets->names) +
	       TABLE_MEMORY_BYTES(sets->sets) + sets->arena.size_bytes;
}
