#include "format/pprof_stream.h"

#include "base/utf8.h"

#include <errno.h>

static void append(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
	struct pprof_stream *stream = (struct pprof_stream *)buffer;

	if (!stream->error && fwrite_unlocked(data, 1, len, stream->out) != len)
		stream->error = errno ? errno : EIO;
}

void pprof_stream_init(struct pprof_stream *stream, FILE *out)
{
	*stream = (struct pprof_stream){
		.buffer = {.append = append},
		.out = out,
		.strings = strtab_new(),
	};
}

void pprof_stream_deinit(struct pprof_stream *stream)
{
	strtab_free(stream->strings);
}

int64_t pprof_string(struct pprof_stream *stream, const char *str)
{
	struct arena arena = {0};
	string_id id = strtab_add(stream->strings, utf8_valid(str, &arena));

	arena_deinit(&arena);
	return id;
}

void pprof_put(struct pprof_stream *stream, const Pprof__Profile *piece)
{
	pprof__profile__pack_to_buffer(piece, &stream->buffer);
}

/* A Profile with one element in one of its repeated fields. */
#define DEFINE_PUT(field, type)                                                                    \
	void pprof_put_##field(struct pprof_stream *stream, type *field)                           \
	{                                                                                          \
		Pprof__Profile piece = PPROF__PROFILE__INIT;                                       \
                                                                                                   \
		piece.n_##field = 1;                                                               \
		piece.field = &field;                                                              \
		pprof_put(stream, &piece);                                                         \
	}

DEFINE_PUT(sample_type, Pprof__ValueType)
DEFINE_PUT(mapping, Pprof__Mapping)
DEFINE_PUT(function, Pprof__Function)
DEFINE_PUT(location, Pprof__Location)

void pprof_put_packed(struct pprof_stream *stream, const uint8_t *bytes, size_t len)
{
	append(&stream->buffer, len, bytes);
}

void pprof_put_comment(struct pprof_stream *stream, const char *comment)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	int64_t id = pprof_string(stream, comment);

	piece.n_comment = 1;
	piece.comment = &id;
	pprof_put(stream, &piece);
}

int pprof_stream_finish(struct pprof_stream *stream)
{
	for (string_id i = 0; i < strtab_count(stream->strings); i++) {
		Pprof__Profile piece = PPROF__PROFILE__INIT;
		char *str = (char *)(uintptr_t)strtab_get(stream->strings, i);

		piece.n_string_table = 1;
		piece.string_table = &str;
		pprof_put(stream, &piece);
	}
	return stream->error;
}
