/*
 * Labels of samples from the fields of their tracepoint, whose key is the name of the field, and
 * from where an access to memory found its data (perf/data_source.h).
 *
 * A field can have any number of values, and each costs the profile label sets: the first
 * FIELD_VALUES_MAX values of a field are kept, samples with further ones have the value [other].
 */
#ifndef PROF_RECORD_FIELD_LABELS_H
#define PROF_RECORD_FIELD_LABELS_H

#include "base/idmap.h"
#include "perf/record.h"
#include "profile/profile.h"

enum { FIELD_VALUES_MAX = 1000 };

/* The value of the rest. */
#define FIELD_OTHER "[other]"
/* What is told of session_counts.other_values; the arguments are these and FIELD_VALUES_MAX. */
#define FIELD_OTHER_NOTICE                                                                         \
	"%" PRIu64 " samples are labeled " FIELD_OTHER ": their field has more than %d values"

/* Of one profile. Zeroed: empty. */
struct field_labels {
	struct idmap values; /* (hash of the value, key) → anything */
	struct idmap counts; /* key → number of its values */
};

void field_labels_deinit(struct field_labels *labels);

/* The label set of a thread with the fields of the sample. *is_other: one of its values is
 * FIELD_OTHER. */
label_set_id field_labels_add(struct field_labels *labels, struct profile *profile,
			      label_set_id thread, const struct record_sample *sample,
			      bool *is_other);

#endif
