/*
 * A pprof profile that is written as it is put together. Messages that follow each other are one
 * message, with the repeated fields of all (protobuf's encoding guide, "Last One Wins"). So each
 * sample, location and so on goes out as a small Profile of its own, and the whole is never held in
 * memory: only the string table is, which is written at the end.
 */
#ifndef PROF_FORMAT_PPROF_STREAM_H
#define PROF_FORMAT_PPROF_STREAM_H

#include "base/error.h"
#include "base/strtab.h"
#include "format/pprof.pb-c.h"

#include <stdio.h>

struct pprof_stream {
	ProtobufCBuffer buffer; /* first: protobuf-c hands it back */
	FILE *out;
	struct strtab *strings; /* its ids are the indices of the string table */
	int error;		/* errno of the first write that failed */
};

/* out is borrowed. */
void pprof_stream_init(struct pprof_stream *stream, FILE *out);
void pprof_stream_deinit(struct pprof_stream *stream);

/* The index of a string in the string table; what is not valid UTF-8 is replaced. */
int64_t pprof_string(struct pprof_stream *stream, const char *str);

/* A Profile's own fields; singular ones must not be set twice. */
void pprof_put(struct pprof_stream *stream, const Pprof__Profile *piece);
void pprof_put_sample_type(struct pprof_stream *stream, Pprof__ValueType *type);
void pprof_put_comment(struct pprof_stream *stream, const char *comment);
void pprof_put_mapping(struct pprof_stream *stream, Pprof__Mapping *mapping);
void pprof_put_function(struct pprof_stream *stream, Pprof__Function *function);
void pprof_put_location(struct pprof_stream *stream, Pprof__Location *location);
/* Bytes of a Profile that are packed already. */
void pprof_put_packed(struct pprof_stream *stream, const uint8_t *bytes, size_t len);

/* The string table, and whether all could be written: 0 or errno. */
int pprof_stream_finish(struct pprof_stream *stream);

#endif
