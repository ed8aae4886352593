/*
 * Writes a pprof profile piece by piece. Concatenated protobuf messages are one
 * message with the repeated fields of all of them (protobuf's encoding guide,
 * "Last One Wins"). Therefore each field of the Profile is written as soon as
 * it is complete, and only the string table, which comes last, is kept in
 * memory.
 */
#ifndef PROF_FORMAT_PPROF_STREAM_H
#define PROF_FORMAT_PPROF_STREAM_H

#include "base/strtab.h"
#include "format/pprof/fields.h"
#include "format/pprof/wire.h"

#include <stdio.h>

struct pprof_stream {
	FILE *out;
	struct strtab *strings;	   /* ids are the indices of the string table */
	struct wire_message piece; /* the field that is being written */
	int error;		   /* errno of the first write that failed */
};

/* out is borrowed. */
void pprof_stream_init(struct pprof_stream *stream, FILE *out);
void pprof_stream_deinit(struct pprof_stream *stream);

/*
 * Returns the index of a string in the string table. Invalid UTF-8 is replaced.
 */
uint64_t pprof_string(struct pprof_stream *stream, const char *str);

/* Write a field of the Profile: a number (not 0), or a message or packed list. */
void pprof_put_number(struct pprof_stream *stream, enum pprof_profile_field field, uint64_t number);
/* Empties the message for the next one, too. */
void pprof_put_message(struct pprof_stream *stream, enum pprof_profile_field field,
		       struct wire_message *message);

/*
 * Writes the string table. Returns 0 or the errno of the first write that
 * failed.
 */
int pprof_stream_finish(struct pprof_stream *stream);

#endif
