/*
 * The format of a tracepoint: where each of its fields is in the raw data of a sample.
 *
 * The text is that of tracefs, events/SUBSYSTEM/EVENT/format, or of a perf.data file, which may be
 * damaged or hostile: fields are bounded, a line that is not understood is ignored, and decoding
 * never reads outside the raw data.
 * Source: Documentation/trace/events.rst, "Event formats"; include/trace/stages.
 */
#ifndef PROF_PERF_TRACEPOINT_FORMAT_H
#define PROF_PERF_TRACEPOINT_FORMAT_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRACEPOINT_FIELDS_MAX = 128 };

enum tracepoint_field_kind {
	FIELD_NUMBER, /* of 1, 2, 4 or 8 bytes */
	FIELD_TEXT,   /* char NAME[16], or a string whose place the field holds */
	FIELD_BYTES,  /* an array of something else: it has no value */
};

struct tracepoint_field {
	char *name;
	enum tracepoint_field_kind kind;
	unsigned offset, bytes;
	bool is_signed;
	bool is_pointer;  /* a number that is an address */
	bool is_located;  /* __data_loc: 16 bits of offset in the data, 16 bits of length … */
	bool is_relative; /* … __rel_loc: the offset counts from the end of the field */
};

/* Zeroed: without fields. */
struct tracepoint_format {
	char *name;  /* "sched_switch"; NULL: the text has none */
	uint64_t id; /* perf_event_attr.config, and common_type in the data */
	char *print; /* "print fmt:", arguments of printf(), for field_names.h; NULL: none */
	struct tracepoint_field *fields;
	size_t count, room;
};

/* False, with nothing to free: the text has no id. */
bool tracepoint_format_parse(struct bytes text, struct tracepoint_format *ret);
void tracepoint_format_deinit(struct tracepoint_format *format);

/* NULL: it has no such field. */
const struct tracepoint_field *tracepoint_format_find(const struct tracepoint_format *format,
						      const char *name);
/* For messages: "prev_comm, prev_pid", without the fields that all tracepoints have. The caller
 * frees it. */
char *tracepoint_format_names(const struct tracepoint_format *format);

/* common_type: the id of the tracepoint that wrote the data. False: there is no data. */
bool tracepoint_data_id(struct bytes data, uint64_t *ret);
/* The value of a FIELD_NUMBER; a signed one is extended to 64 bits. False: it is of another kind,
 * or the data is too short. */
bool tracepoint_field_number(const struct tracepoint_field *field, struct bytes data,
			     uint64_t *ret);
/* The value of a FIELD_TEXT, without its NUL; borrowed from the data. False likewise. */
bool tracepoint_field_text(const struct tracepoint_field *field, struct bytes data,
			   struct bytes *ret);

#endif
