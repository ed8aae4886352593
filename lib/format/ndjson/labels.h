/*
 * The member "labels" of rows: an object with the same keys in all rows of a profile, by name:
 * those of its samples and those that the options give. Values are texts, and where a sample has
 * several of one key, they are joined by commas. Where it has none the value is that of the
 * options, or "".
 */
#ifndef PROF_FORMAT_NDJSON_LABELS_H
#define PROF_FORMAT_NDJSON_LABELS_H

#include "base/json.h"
#include "format/format.h"

enum { NDJSON_KEYS_MAX = 256 };

struct ndjson_labels {
	struct format_label *items; /* by key */
	size_t count, room;
};

/* Borrows the profile and the labels of the options; FORMAT_LABEL_HOST of these is no label. Fails
 * if there are more than NDJSON_KEYS_MAX keys. */
MUST_CHECK struct error *ndjson_labels_init(struct ndjson_labels *labels,
					    const struct profile *profile,
					    const struct format_options *options);
void ndjson_labels_deinit(struct ndjson_labels *labels);

/* Writes the object. */
void ndjson_labels_put(const struct ndjson_labels *labels, const struct profile *profile,
		       label_set_id set, struct json *json);

#endif
