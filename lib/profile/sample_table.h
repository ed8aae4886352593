/*
 * The aggregated samples of a profile: for each (stack, label set, event) the
 * number of samples and their weight. Indexes are dense.
 */
#ifndef PROF_PROFILE_SAMPLE_TABLE_H
#define PROF_PROFILE_SAMPLE_TABLE_H

#include "base/idmap.h"
#include "profile/labels.h"
#include "profile/stack_trie.h"

typedef uint32_t event_id;

struct profile_sample {
	stack_id stack;
	label_set_id labels;
	event_id event;
	uint64_t samples;
	uint64_t weight; /* the sum of the periods */
};

/* Zeroed: empty. */
struct sample_table {
	struct profile_sample *items;
	uint32_t count, room;
	/*
	 * Private. By (stack and label set, event): samples that are not the
	 * first of their stack.
	 */
	struct idmap ids;
};

void sample_table_deinit(struct sample_table *table);

/*
 * Adds to the counts of an aggregated sample and returns its index. The stack
 * must be in the trie.
 */
uint32_t sample_table_add(struct sample_table *table, struct stack_trie *trie,
			  const struct profile_sample *samples);
/*
 * Gives each sample the labels that `labels_of` returns, and merges those that
 * have become equal. moved: receives the new index for each old index.
 */
void sample_table_relabel(struct sample_table *table, struct stack_trie *trie,
			  label_set_id (*labels_of)(void *user,
						    const struct profile_sample *sample),
			  void *user, uint32_t *moved);
/* See profile_fade(). */
uint64_t sample_table_fade(struct sample_table *table, double factor, uint64_t least_samples);
/* See profile_reduce_weight(). */
void sample_table_reduce_weight(struct sample_table *table, event_id event, uint64_t by);

#endif
