#include "record/field_labels.h"

#include "base/hash.h"

#include <assert.h>

/* Of one sample: its fields, and what its thread has (cgroup, container). */
enum { LABELS_MAX = 16 };

/* Combinations of values and threads: 100 MB. */
enum { LABEL_SETS_MAX = 256 << 10 };

void field_labels_deinit(struct field_labels *labels)
{
	idmap_deinit(&labels->values);
	idmap_deinit(&labels->counts);
}

static uint64_t hash_of(const struct record_field *field)
{
	size_t len = bytes_left(&field->text);

	return field->is_text ? hash_mix(hash_bytes(field->text.at, len), len)
			      : (uint64_t)field->number;
}

/* Whether the value is one of the first of its field. */
static bool is_kept(struct field_labels *labels, const struct record_field *field, string_id key)
{
	uint64_t hash = hash_of(field);
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

static struct profile_label label_of(const struct record_field *field, string_id key,
				     struct strtab *strings)
{
	struct profile_label label = {.key = key, .text = strtab_add(strings, "")};

	label.unit = label.text;
	/* A label without a text is a number. */
	if (field->is_text && !bytes_left(&field->text))
		label.text = strtab_add(strings, "[empty]");
	else if (field->is_text)
		label.text = strtab_add_len(strings, (const char *)field->text.at,
					    bytes_left(&field->text));
	else
		label.number = field->number;
	return label;
}

label_set_id field_labels_add(struct field_labels *labels, struct profile *profile,
			      label_set_id thread, const struct record_sample *sample,
			      bool *is_other)
{
	const struct profile_thread copy = *profile_thread_of(profile, thread);
	const struct profile_label_set *set = profile_get_label_set(profile, thread);
	bool is_full = profile_label_set_count(profile) >= LABEL_SETS_MAX;
	struct strtab *strings = profile_strings(profile);
	struct profile_label all[LABELS_MAX];
	uint32_t count = 0;

	assert(set->count + sample->field_count <= LABELS_MAX);
	for (; count < set->count; count++)
		all[count] = set->labels[count];
	*is_other = false;
	for (unsigned i = 0; i < sample->field_count; i++) {
		const struct record_field *field = &sample->fields[i];
		string_id key = strtab_add(strings, field->name);

		if (!is_full && is_kept(labels, field, key)) {
			all[count++] = label_of(field, key, strings);
			continue;
		}
		all[count++] = (struct profile_label){
			.key = key,
			.text = strtab_add(strings, FIELD_OTHER),
			.unit = strtab_add(strings, ""),
		};
		*is_other = true;
	}
	return profile_label_set(profile, &copy, all, count);
}
