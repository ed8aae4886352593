/*
 * Writes the member "labels" of rows: an object with the same keys in all rows
 * of a profile, sorted by name. The keys are those of the samples and of the
 * options. Values are texts. Several values of a sample for one key are joined
 * by commas. A sample without a value has that of the options, or "".
 */
#ifndef PROF_FORMAT_NDJSON_LABELS_H
#define PROF_FORMAT_NDJSON_LABELS_H

#include "base/error.h"
#include "base/json.h"
#include "profile/profile.h"

enum { NDJSON_KEYS_MAX = 256 };

/* A label that all samples have. */
struct format_label {
	const char *key, *text;
};
/* The key whose text replaces the profile's host. */
#define FORMAT_LABEL_HOST "host.name"

struct ndjson_options {
	const struct format_label *labels; /* values for samples without this key */
	size_t label_count;
};

struct ndjson_labels {
	struct format_label *items; /* by key */
	size_t count, room;
};

/*
 * Borrows the profile and the labels of the options. FORMAT_LABEL_HOST among
 * these is not a label. Fails if there are more than NDJSON_KEYS_MAX keys.
 */
MUST_CHECK struct error *ndjson_labels_init(struct ndjson_labels *labels,
					    const struct profile *profile,
					    const struct ndjson_options *options);
void ndjson_labels_deinit(struct ndjson_labels *labels);

/* Writes the object. */
void ndjson_labels_put(const struct ndjson_labels *labels, const struct profile *profile,
		       label_set_id set, struct json *json);

#endif
