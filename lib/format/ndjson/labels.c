#include "format/ndjson/labels.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The first value of a key stays. */
static void ndjson_labels_add(struct ndjson_labels *labels, const char *key, const char *text)
{
	size_t at = 0, end = labels->count;

	while (at < end) {
		size_t middle = (at + end) / 2;
		int order = strcmp(labels->items[middle].key, key);

		if (!order)
			return;
		if (order < 0)
			at = middle + 1;
		else
			end = middle;
	}
	GROW(labels->items, labels->count, labels->room);
	memmove(labels->items + at + 1, labels->items + at,
		(labels->count++ - at) * sizeof(*labels->items));
	labels->items[at] = (struct format_label){key, text};
}

struct error *ndjson_labels_init(struct ndjson_labels *labels, const struct profile *profile,
				 const struct ndjson_options *options)
{
	uint32_t sets = profile_label_set_count(profile);

	*labels = (struct ndjson_labels){0};
	for (size_t i = 0; i < options->label_count; i++)
		if (strcmp(options->labels[i].key, FORMAT_LABEL_HOST) != 0)
			ndjson_labels_add(labels, options->labels[i].key, options->labels[i].text);
	for (label_set_id i = 0; i < sets && labels->count <= NDJSON_KEYS_MAX; i++) {
		const struct profile_label_set *set = profile_get_label_set(profile, i);

		for (uint32_t at = 0; at < set->count && labels->count <= NDJSON_KEYS_MAX; at++)
			ndjson_labels_add(labels, profile_string(profile, set->labels[at].key), "");
	}
	if (labels->count <= NDJSON_KEYS_MAX)
		return NULL;
	return error_new("rows have a column per label, at most %d", NDJSON_KEYS_MAX);
}

void ndjson_labels_deinit(struct ndjson_labels *labels)
{
	free(labels->items);
}

static void put_value(const struct profile *profile, const struct profile_label *label, FILE *out)
{
	if (label->text)
		fputs(profile_string(profile, label->text), out);
	else
		fprintf(out, "%" PRId64, label->number);
}

static bool has_key(const struct profile *profile, const struct profile_label *label,
		    const char *key)
{
	return !strcmp(profile_string(profile, label->key), key);
}

/*
 * Returns the values of the labels from *index on that have this key, or NULL.
 * The caller frees it.
 */
static char *ndjson_labels_take_values(const struct profile *profile,
				       const struct profile_label_set *set, uint32_t *index,
				       const char *key)
{
	char *text = NULL;
	size_t len;
	FILE *out;

	if (*index == set->count || !has_key(profile, &set->labels[*index], key))
		return NULL;
	out = open_memstream(&text, &len);
	put_value(profile, &set->labels[(*index)++], out);
	for (; *index < set->count && has_key(profile, &set->labels[*index], key); (*index)++) {
		fputc(',', out);
		put_value(profile, &set->labels[*index], out);
	}
	fclose(out);
	return text;
}

void ndjson_labels_put(const struct ndjson_labels *labels, const struct profile *profile,
		       label_set_id id, struct json *json)
{
	const struct profile_label_set *set = profile_get_label_set(profile, id);
	uint32_t index = 0;

	json_begin_object(json);
	for (size_t i = 0; i < labels->count; i++) {
		const struct format_label *item = &labels->items[i];
		CLEANUP(free_ptr)
		char *values = ndjson_labels_take_values(profile, set, &index, item->key);

		json_put_text(json, item->key, values ? values : item->text);
	}
	json_end_object(json);
}
