/*
 * Parses the format of a tracepoint and decodes its fields from the raw data of
 * a sample.
 *
 * The text comes from tracefs (events/SUBSYSTEM/EVENT/format) or from a
 * perf.data file, which may be damaged or hostile. Fields are bounded,
 * malformed lines are ignored, and decoding never reads outside the raw data.
 *
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
	FIELD_NUMBER, /* an integer of 1, 2, 4 or 8 bytes */
	/* Char NAME[16], or a string whose location the field holds. */
	FIELD_TEXT,
	FIELD_BYTES, /* any other array, which has no value */
};

struct tracepoint_field {
	char *name;
	enum tracepoint_field_kind kind;
	unsigned offset, bytes;
	bool is_signed;
	bool is_pointer; /* a number that is an address */
	/* __data_loc: 16 bits of offset in the data, 16 bits of length. */
	bool is_located;
	/* __rel_loc: the offset counts from the end of the field. */
	bool is_relative;
};

/* Zeroed: no fields. */
struct tracepoint_format {
	char *name;  /* "sched_switch"; NULL if the text has none */
	uint64_t id; /* perf_event_attr.config, and common_type in the data */
	/* The line "print fmt:", arguments of printf(), for field_names.h; may
	 * be NULL. */
	char *print;
	struct tracepoint_field *fields;
	size_t count, room;
};

/* Returns false, with nothing to free, if the text has no id. */
bool tracepoint_format_parse(struct bytes text, struct tracepoint_format *ret);
void tracepoint_format_deinit(struct tracepoint_format *format);

/* Returns NULL if it has no such field. */
const struct tracepoint_field *tracepoint_format_find(const struct tracepoint_format *format,
						      const char *name);
/* Returns the names for a message ("prev_comm, prev_pid"), without the fields
 * that all tracepoints have. The caller frees it. */
char *tracepoint_format_names(const struct tracepoint_format *format);

/* Returns common_type, the id of the tracepoint that wrote the data, or false
 * if the data is empty. */
bool tracepoint_data_id(struct bytes data, uint64_t *ret);
/* Returns the value of a FIELD_NUMBER, sign-extended to 64 bits if it is
 * signed. Returns false if the field is of another kind or the data is too
 * short. */
bool tracepoint_field_number(const struct tracepoint_field *field, struct bytes data,
			     uint64_t *ret);
/* Returns the value of a FIELD_TEXT without its NUL, borrowed from the data.
 * Returns false if the field is of another kind or the data is too short. */
bool tracepoint_field_text(const struct tracepoint_field *field, struct bytes data,
			   struct bytes *ret);

#endif
