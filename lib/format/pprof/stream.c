#include "format/pprof/stream.h"

#include "base/arena.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>

void pprof_stream_init(struct pprof_stream *stream, FILE *out)
{
	*stream = (struct pprof_stream){.out = out, .strings = strtab_new()};
}

void pprof_stream_deinit(struct pprof_stream *stream)
{
	strtab_free(stream->strings);
	free(stream->piece.bytes);
}

uint64_t pprof_string(struct pprof_stream *stream, const char *str)
{
	struct arena arena = {0};
	string_id id = strtab_add(stream->strings, utf8_valid(str, &arena));

	arena_deinit(&arena);
	return id;
}

static void stream_write_piece(struct pprof_stream *stream)
{
	struct wire_message *piece = &stream->piece;

	if (!stream->error &&
	    fwrite_unlocked(piece->bytes, 1, piece->len, stream->out) != piece->len)
		stream->error = errno ? errno : EIO;
	piece->len = 0;
}

void pprof_put_number(struct pprof_stream *stream, enum pprof_profile_field field, uint64_t number)
{
	wire_put_number(&stream->piece, field, number);
	stream_write_piece(stream);
}

void pprof_put_message(struct pprof_stream *stream, enum pprof_profile_field field,
		       struct wire_message *message)
{
	wire_put_message(&stream->piece, field, message);
	stream_write_piece(stream);
	message->len = 0;
}

int pprof_stream_finish(struct pprof_stream *stream)
{
	for (string_id i = 0; i < strtab_count(stream->strings); i++) {
		wire_put_bytes(&stream->piece, PPROF_PROFILE_STRING, strtab_get(stream->strings, i),
			       strtab_len(stream->strings, i));
		stream_write_piece(stream);
	}
	return stream->error;
}
