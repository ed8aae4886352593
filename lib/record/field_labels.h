/*
 * Labels samples with the fields of their tracepoint, keyed by field name, and
 * with the data source of a memory access (perf/data_source.h).
 *
 * Each distinct value adds label sets to the profile. Only the first
 * FIELD_VALUES_MAX values of a field are kept. Samples with further values get
 * the value [other].
 */
#ifndef PROF_RECORD_FIELD_LABELS_H
#define PROF_RECORD_FIELD_LABELS_H

#include "base/idmap.h"
#include "perf/record.h"
#include "profile/profile.h"

enum { FIELD_VALUES_MAX = 1000 };

/* The label value of all values beyond the limit. */
#define FIELD_OTHER "[other]"
/* The notice about session_counts.other_values. Its arguments are that count
 * and FIELD_VALUES_MAX. */
#define FIELD_OTHER_NOTICE                                                                         \
	"%" PRIu64 " samples are labeled " FIELD_OTHER ": their field has more than %d values"

/* The values of one profile. A zeroed struct is empty. */
struct field_labels {
	struct idmap values; /* (hash of the value, key) → any value other than IDMAP_NONE */
	struct idmap counts; /* key → number of its values */
};

void field_labels_deinit(struct field_labels *labels);

/* Returns the thread's label set extended by the fields of the sample. Sets
 * *is_other if a value was replaced by FIELD_OTHER. */
label_set_id field_labels_add(struct field_labels *labels, struct profile *profile,
			      label_set_id thread, const struct record_sample *sample,
			      bool *is_other);

#endif
