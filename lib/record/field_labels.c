#include "record/field_labels.h"

#include "base/hash.h"
#include "perf/data_source.h"

#include <assert.h>
#include <string.h>

/* Per sample: its fields, its data source, and the labels of its thread
 * (cgroup, container). */
enum { LABELS_MAX = 16 };

/* Combinations of values and threads: 100 MB. */
enum { LABEL_SETS_MAX = 256 << 10 };

void field_labels_deinit(struct field_labels *labels)
{
	idmap_deinit(&labels->values);
	idmap_deinit(&labels->counts);
}

static uint64_t field_labels_hash_of(const struct record_field *field)
{
	size_t len = bytes_left(&field->text);

	return field->is_text ? hash_mix(hash_bytes(field->text.at, len), len)
			      : (uint64_t)field->number;
}

/* Whether the value is one of the first FIELD_VALUES_MAX of its field. */
static bool field_labels_is_kept(struct field_labels *labels, const struct record_field *field,
				 string_id key)
{
	uint64_t hash = field_labels_hash_of(field);
	uint32_t *count;

	if (idmap_get(&labels->values, hash, key) != IDMAP_NONE)
		return true;
	count = idmap_put(&labels->counts, key, 0);
	if (*count == IDMAP_NONE)
		*count = 0;
	if (*count == FIELD_VALUES_MAX)
		return false;
	++*count;
	*idmap_put(&labels->values, hash, key) = 0;
	return true;
}

static struct profile_label field_labels_label_of(const struct record_field *field, string_id key,
						  struct strtab *strings)
{
	struct profile_label label = {.key = key, .text = strtab_add(strings, "")};

	label.unit = label.text;
	/* A label without text would be a number. */
	if (field->is_text && !bytes_left(&field->text))
		label.text = strtab_add(strings, "[empty]");
	else if (field->is_text)
		label.text = strtab_add_len(strings, (const char *)field->text.at,
					    bytes_left(&field->text));
	else
		label.number = field->number;
	return label;
}

/* The labels of one sample under construction. */
struct sample_labels {
	struct profile_label items[LABELS_MAX];
	uint32_t count;
	bool has_other;
};

static void add_fields(struct field_labels *labels, struct profile *profile,
		       const struct record_field *fields, unsigned count, struct sample_labels *ret)
{
	bool is_full = profile_label_set_count(profile) >= LABEL_SETS_MAX;
	struct strtab *strings = profile_strings(profile);

	assert(ret->count + count <= LABELS_MAX);
	for (unsigned i = 0; i < count; i++) {
		const struct record_field *field = &fields[i];
		string_id key = strtab_add(strings, field->name);

		if (!is_full && field_labels_is_kept(labels, field, key)) {
			ret->items[ret->count++] = field_labels_label_of(field, key, strings);
			continue;
		}
		ret->items[ret->count++] = (struct profile_label){
			.key = key,
			.text = strtab_add(strings, FIELD_OTHER),
			.unit = strtab_add(strings, ""),
		};
		ret->has_other = true;
	}
}

label_set_id field_labels_add(struct field_labels *labels, struct profile *profile,
			      label_set_id thread, const struct record_sample *sample,
			      bool *is_other)
{
	const struct profile_thread copy = *profile_thread_of(profile, thread);
	const struct profile_label_set *set = profile_get_label_set(profile, thread);
	struct sample_labels all = {.count = set->count};
	struct data_source source = {.count = 0};

	assert(set->count <= LABELS_MAX);
	if (set->count)
		memcpy(all.items, set->labels, set->count * sizeof(*set->labels));
	add_fields(labels, profile, sample->fields, sample->field_count, &all);
	if (sample->data_source)
		data_source_decode(sample->data_source, &source);
	add_fields(labels, profile, source.labels, source.count, &all);
	*is_other = all.has_other;
	return profile_label_set(profile, &copy, all.items, all.count);
}
