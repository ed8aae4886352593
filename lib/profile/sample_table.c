#include "profile/sample_table.h"

#include "profile/table.h"

void sample_table_deinit(struct sample_table *table)
{
	TABLE_DEINIT(*table);
}

static uint32_t sample_table_add_like(struct sample_table *table, const struct profile_sample *like)
{
	GROW(table->items, table->count, table->room);
	table->items[table->count] = (struct profile_sample){
		.stack = like->stack, .labels = like->labels, .event = like->event};
	return table->count++;
}

/*
 * Most stacks have one aggregated sample, which the stack refers to. Only
 * further ones are in the map.
 */
static uint32_t sample_table_find(struct sample_table *table, struct stack_trie *trie,
				  const struct profile_sample *like)
{
	uint32_t *id = &trie->items[like->stack].first_sample;

	if (*id != STACK_NO_SAMPLE &&
	    (table->items[*id].labels != like->labels || table->items[*id].event != like->event))
		id = idmap_put(&table->ids, table_key(like->stack, like->labels), like->event);
	if (*id == IDMAP_NONE)
		*id = sample_table_add_like(table, like);
	return *id;
}

uint32_t sample_table_add(struct sample_table *table, struct stack_trie *trie,
			  const struct profile_sample *samples)
{
	uint32_t id = sample_table_find(table, trie, samples);

	table->items[id].samples += samples->samples;
	table->items[id].weight += samples->weight;
	return id;
}

void sample_table_relabel(struct sample_table *table, struct stack_trie *trie,
			  label_set_id (*labels_of)(void *user,
						    const struct profile_sample *sample),
			  void *user, uint32_t *moved)
{
	const uint32_t count = table->count;

	idmap_deinit(&table->ids);
	table->count = 0;
	for (stack_id id = 0; id < trie->count; id++)
		trie->items[id].first_sample = STACK_NO_SAMPLE;
	/* This works in place, because samples only move towards the front. */
	for (uint32_t i = 0; i < count; i++) {
		struct profile_sample sample = table->items[i];

		sample.labels = labels_of(user, &sample);
		moved[i] = sample_table_add(table, trie, &sample);
	}
}

uint64_t sample_table_fade(struct sample_table *table, double factor, uint64_t least_samples)
{
	uint64_t left = 0;

	for (uint32_t i = 0; i < table->count; i++) {
		struct profile_sample *sample = &table->items[i];

		sample->samples = (uint64_t)((double)sample->samples * factor);
		sample->weight = (uint64_t)((double)sample->weight * factor);
		if (sample->samples < least_samples)
			sample->samples = sample->weight = 0;
		left += sample->samples > 0;
	}
	return left;
}

static uint64_t sample_table_weight_of(const struct sample_table *table, event_id event)
{
	uint64_t weight = 0;

	for (uint32_t i = 0; i < table->count; i++)
		if (table->items[i].event == event)
			weight += table->items[i].weight;
	return weight;
}

void sample_table_reduce_weight(struct sample_table *table, event_id event, uint64_t by)
{
	uint64_t whole = sample_table_weight_of(table, event), passed = 0, reduced = 0;

	if (by > whole)
		by = whole;
	for (uint32_t i = 0; i < table->count; i++) {
		struct profile_sample *sample = &table->items[i];
		uint64_t due;

		if (sample->event != event || !sample->weight)
			continue;
		passed += sample->weight;
		/*
		 * The share is computed from the sum so far, so that rounding
		 * errors do not add up.
		 */
		due = (uint64_t)((long double)passed / (long double)whole * (long double)by);
		due = due > reduced ? due - reduced : 0;
		due = due < sample->weight ? due : sample->weight;
		sample->weight -= due;
		reduced += due;
	}
}
