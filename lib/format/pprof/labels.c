#include "format/pprof/labels.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "format/pprof/fields.h"
#include "format/pprof/limits.h"
#include "format/pprof/wire.h"

#include <stdlib.h>

static string_id pprof_labels_intern(const struct pprof_strings *strings, const char *str)
{
	return strtab_add(profile_strings(strings->profile), str);
}

void pprof_labels_init(struct pprof_labels *labels, struct pprof_strings *strings)
{
	*labels = (struct pprof_labels){
		.strings = strings,
		.comm = pprof_labels_intern(strings, COMM_LABEL),
		.thread = pprof_labels_intern(strings, THREAD_LABEL),
		.pid = pprof_labels_intern(strings, PID_LABEL),
		.tid = pprof_labels_intern(strings, TID_LABEL),
		.id = pprof_labels_intern(strings, "id"),
	};
}

void pprof_labels_deinit(struct pprof_labels *labels)
{
	free(labels->others);
}

/* Keeps the first value of a key. */
static bool pprof_labels_take_name(string_id *name, const struct profile_label *label)
{
	if (*name || !label->text)
		return false;
	*name = label->text;
	return true;
}

static bool pprof_labels_take_pid(const struct pprof_labels *labels, pid_t *pid,
				  const struct profile_label *label)
{
	bool is_id = !label->unit || label->unit == labels->id;

	if (*pid >= 0 || label->text || !is_id || label->number < 0 || label->number > INT32_MAX)
		return false;
	*pid = (pid_t)label->number;
	return true;
}

/* Returns false if the label does not describe the thread or has no valid value for it. */
static bool take_label(const struct pprof_labels *labels, struct profile_thread *thread,
		       const struct profile_label *label)
{
	if (label->key == labels->comm)
		return pprof_labels_take_name(&thread->process, label);
	if (label->key == labels->thread)
		return pprof_labels_take_name(&thread->name, label);
	if (label->key == labels->pid)
		return pprof_labels_take_pid(labels, &thread->pid, label);
	return label->key == labels->tid && pprof_labels_take_pid(labels, &thread->tid, label);
}

static bool read_label(struct pprof_labels *labels, struct bytes message,
		       struct profile_thread *thread)
{
	uint64_t field[PPROF_LABEL_FIELDS] = {0};
	struct profile_label label;

	if (!wire_scalars(message, field, PPROF_LABEL_FIELDS))
		return false;
	label = (struct profile_label){
		.key = pprof_strings_get(labels->strings, field[PPROF_LABEL_KEY]),
		.text = pprof_strings_get(labels->strings, field[PPROF_LABEL_STR]),
	};
	if (!label.text) {
		label.number = (int64_t)field[PPROF_LABEL_NUM];
		label.unit = pprof_strings_get(labels->strings, field[PPROF_LABEL_NUM_UNIT]);
	}
	if (take_label(labels, thread, &label))
		return true;
	if (labels->other_count == PPROF_LABELS_MAX)
		return false;
	GROW(labels->others, labels->other_count, labels->other_room);
	labels->others[labels->other_count++] = label;
	return true;
}

static bool read_labels(struct pprof_labels *labels, struct bytes message, label_set_id *ret)
{
	struct profile_thread thread = {.pid = -1, .tid = -1};
	struct wire_field field;

	labels->other_count = 0;
	while (wire_next(&message, &field))
		if (field.number == PPROF_SAMPLE_LABEL && !read_label(labels, field.bytes, &thread))
			return false;
	*ret = profile_label_set(labels->strings->profile, &thread, labels->others,
				 labels->other_count);
	return bytes_ok(&message);
}

static bool pprof_labels_is_equal(struct bytes a, struct bytes b)
{
	size_t len = bytes_left(&a);

	return len && len == bytes_left(&b) && !memcmp(a.at, b.at, len);
}

bool pprof_labels_find(struct pprof_labels *labels, struct bytes message, label_set_id *ret)
{
	uint32_t hash = hash_bytes(message.at, bytes_left(&message));
	struct pprof_recent_labels *recent = &labels->recent[hash % PPROF_RECENT_LABELS];

	if (!pprof_labels_is_equal(message, recent->labels)) {
		if (!read_labels(labels, message, &recent->id))
			return false;
		recent->labels = message;
	}
	*ret = recent->id;
	return true;
}
