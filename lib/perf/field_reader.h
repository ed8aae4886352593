/*
 * What the fields of a tracepoint's samples mean to a profile: a weight, and labels.
 *
 * A reader knows the formats of one event: of one tracepoint, or of those that a pattern matches,
 * which may have different fields; their samples get the name of their tracepoint as a field
 * "event". A sample whose data is too short for a field lacks it.
 */
#ifndef PROF_PERF_FIELD_READER_H
#define PROF_PERF_FIELD_READER_H

#include "base/error.h"
#include "base/value.h"
#include "perf/record.h"
#include "perf/tracepoint_format.h"

/* Fields of one event that become labels. */
enum { FIELD_LABELS_MAX = 8 };

/* A sample weighs no more: what claims more (an invalid length given to a system call) would hide
 * all others. */
#define FIELD_WEIGHT_MAX (UINT64_C(1) << 40)

struct field_reader;

struct field_reader *field_reader_new(void);
void field_reader_free(struct field_reader *reader);
DEFINE_CLEANUP(field_reader, field_reader_free)

/* tracepoint: its name, "sched:sched_switch". Takes the format. */
void field_reader_add(struct field_reader *reader, const char *tracepoint,
		      struct tracepoint_format *format);
/* Labels samples with the name of their tracepoint. */
void field_reader_label_event(struct field_reader *reader);

size_t field_reader_count(const struct field_reader *reader);
const char *field_reader_name(const struct field_reader *reader, size_t index);
const struct tracepoint_format *field_reader_format(const struct field_reader *reader,
						    size_t index);
/* Whether the tracepoint with this number has the field for weights. */
bool field_reader_weighs(const struct field_reader *reader, uint64_t id);

/*
 * Samples weigh what this field of theirs says: a number, 0 if it is negative, and at most
 * FIELD_WEIGHT_MAX. nr_sector counts sectors of 512 bytes. It is an error if no tracepoint has the
 * field, or one as a text.
 */
MUST_CHECK struct error *field_reader_set_weight(struct field_reader *reader, const char *field);
/* Labels samples with this field, or with each of "prev_comm+next_comm". Likewise. */
MUST_CHECK struct error *field_reader_add_label(struct field_reader *reader, const char *field);
MUST_CHECK struct error *field_reader_add_labels(struct field_reader *reader, const char *fields);

bool field_reader_has_weight(const struct field_reader *reader);
/* Of the weights: VALUE_BYTES by the name of the field (bytes, count, len, size, nr_sector …), else
 * VALUE_COUNT. */
enum value_kind field_reader_kind(const struct field_reader *reader);
/* Whether a profile needs the raw data of samples. */
bool field_reader_is_needed(const struct field_reader *reader);

/* Sets the sample's period and fields from its raw data; they are borrowed until the next call. */
void field_reader_read(struct field_reader *reader, struct record_sample *sample);

#endif
