/*
 * Reads weights and labels of a profile from the fields of tracepoint samples.
 *
 * A reader holds the formats of one event: that of a tracepoint, or those of
 * all tracepoints that match a pattern. The latter may have different fields;
 * their samples get the name of their tracepoint as the field "event". If a
 * sample's data is too short for a field, the sample lacks the field.
 */
#ifndef PROF_PERF_FIELD_READER_H
#define PROF_PERF_FIELD_READER_H

#include "base/error.h"
#include "base/value.h"
#include "perf/record.h"
#include "perf/tracepoint_format.h"

/* Maximum number of labels of one event. */
enum { FIELD_LABELS_MAX = 8 };

/* Upper bound of a sample's weight. A larger value, such as an invalid length
 * passed to a system call, would hide all other samples. */
#define FIELD_WEIGHT_MAX (UINT64_C(1) << 40)

struct field_reader;

struct field_reader *field_reader_new(void);
void field_reader_free(struct field_reader *reader);
DEFINE_CLEANUP(field_reader, field_reader_free)

/* Adds a tracepoint ("sched:sched_switch"). Takes ownership of the format. */
void field_reader_add(struct field_reader *reader, const char *tracepoint,
		      struct tracepoint_format *format);
/* Labels samples with the name of their tracepoint. */
void field_reader_label_event(struct field_reader *reader);

size_t field_reader_count(const struct field_reader *reader);
const char *field_reader_name(const struct field_reader *reader, size_t index);
const struct tracepoint_format *field_reader_format(const struct field_reader *reader,
						    size_t index);
/* Returns whether the tracepoint with this id has the weight field. */
bool field_reader_weighs(const struct field_reader *reader, uint64_t id);

/*
 * Makes this numeric field the weight of samples. Negative values weigh 0, and
 * values above FIELD_WEIGHT_MAX weigh that. nr_sector counts sectors of 512
 * bytes. Fails if no tracepoint has the field, or if it is a string in one of
 * them.
 */
MUST_CHECK struct error *field_reader_set_weight(struct field_reader *reader, const char *field);
/* Labels samples with this field, or with each field of "prev_comm+next_comm".
 * Fails if no tracepoint has the field. */
MUST_CHECK struct error *field_reader_add_label(struct field_reader *reader, const char *field);
MUST_CHECK struct error *field_reader_add_labels(struct field_reader *reader, const char *fields);

bool field_reader_has_weight(const struct field_reader *reader);
/* Returns the kind of the weights: VALUE_BYTES for fields named bytes, count,
 * len, size, nr_sector …, otherwise VALUE_COUNT. */
enum value_kind field_reader_kind(const struct field_reader *reader);
/* Returns whether a profile needs the raw data of samples. */
bool field_reader_is_needed(const struct field_reader *reader);

/* Sets the sample's period and fields from its raw data. They are borrowed
 * until the next call. */
void field_reader_read(struct field_reader *reader, struct record_sample *sample);

#endif
