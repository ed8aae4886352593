#include "cmd/segment_rows.h"

#include "base/alloc.h"
#include "cmd/options/selection.h"
#include "cmd/ui/message.h"
#include "profile/tasks.h"
#include "report/logical.h"
#include "segments/range.h"

/* The labels of the options, and labels of segments, which have no text. */
struct keys {
	struct strtab *names;
	struct format_label *items;
	size_t count, room;
};

struct writing {
	const struct segment_rows *rows;
	struct format_options options;
	const struct format *format;
	FILE *out;
	/* NULL for the second reading, whose problems were reported before */
	segment_tell *tell;
};

static struct error *add_keys(void *user, struct profile *segment)
{
	struct keys *keys = user;

	tasks_label(segment);
	for (label_set_id i = 0; i < profile_label_set_count(segment); i++) {
		const struct profile_label_set *set = profile_get_label_set(segment, i);

		for (uint32_t at = 0; at < set->count; at++) {
			const char *key = profile_string(segment, set->labels[at].key);
			uint32_t known = strtab_count(keys->names);
			string_id id = strtab_add(keys->names, key);

			if (strtab_count(keys->names) == known)
				continue;
			GROW(keys->items, keys->count, keys->room);
			keys->items[keys->count++] =
				(struct format_label){strtab_get(keys->names, id), ""};
		}
	}
	return NULL;
}

static struct error *write_segment(void *user, struct profile *segment)
{
	struct writing *writing = user;
	CLEANUP(profile_cleanup) struct profile *logical = NULL;
	struct format_options options = writing->options;
	struct error *err = NULL;

	tasks_label(segment);
	if (writing->rows->logical)
		segment = logical = logical_profile(segment);
	if (writing->rows->event) {
		err = selection_find_event(writing->rows->event, segment, writing->rows->directory,
					   &options.event);
		options.event_only = true;
	}
	return err ? err : writing->format->write(segment, &options, writing->out);
}

static struct error *segment_rows_write_all(void *user, const struct format *format, FILE *out)
{
	struct writing *writing = user;
	struct error *err;

	writing->format = format;
	writing->out = out;
	err = segment_range_each(writing->rows->directory, &writing->rows->range, writing->tell,
				 write_segment, writing);
	writing->tell = NULL;
	return err;
}

static struct error *segment_rows_write_outputs(struct writing *writing)
{
	struct outputs *outputs = writing->rows->outputs;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < outputs->count; i++)
		err = output_write_from(&outputs->items[i], segment_rows_write_all, writing);
	return err;
}

struct error *segment_rows_write(const struct segment_rows *rows)
{
	CLEANUP(strtab_cleanup) struct strtab *names = strtab_new();
	struct writing writing = {.rows = rows, .options = *rows->options, .tell = message};
	struct keys keys = {.names = names};
	struct error *err;

	for (size_t i = 0; i < rows->options->rows.label_count; i++) {
		GROW(keys.items, keys.count, keys.room);
		keys.items[keys.count++] = rows->options->rows.labels[i];
	}
	err = segment_range_each(rows->directory, &rows->range, NULL, add_keys, &keys);
	writing.options.rows = (struct ndjson_options){keys.items, keys.count};
	if (!err)
		err = segment_rows_write_outputs(&writing);
	free(keys.items);
	return err;
}
