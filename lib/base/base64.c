#include "base/base64.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BASE64_ROOM_BYTES = 48 * 1024 }; /* a multiple of 3 */

struct base64_stream {
	FILE *out;
	size_t len;
	unsigned char bytes[BASE64_ROOM_BYTES];
	char text[BASE64_ROOM_BYTES / 3 * 4];
};

static void encode_three(const unsigned char *three, char *four)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = (uint32_t)three[0] << 16 | (uint32_t)three[1] << 8 | three[2];

	for (int i = 0; i < 4; i++)
		four[i] = digits[bits >> (18 - 6 * i) & 63];
}

/* Encodes the buffer; the last one or two bytes are padded. */
static bool base64_flush(struct base64_stream *stream)
{
	size_t len = (stream->len + 2) / 3 * 4, missing = (3 - stream->len % 3) % 3;

	memset(stream->bytes + stream->len, 0, missing);
	for (size_t i = 0; i * 3 < stream->len; i++)
		encode_three(stream->bytes + i * 3, stream->text + i * 4);
	memset(stream->text + len - missing, '=', missing);
	stream->len = 0;
	return fwrite(stream->text, 1, len, stream->out) == len;
}

static ssize_t base64_write(void *cookie, const char *data, size_t size)
{
	struct base64_stream *stream = cookie;

	for (size_t done = 0; done < size;) {
		size_t room = BASE64_ROOM_BYTES - stream->len;
		size_t part = size - done < room ? size - done : room;

		memcpy(stream->bytes + stream->len, data + done, part);
		stream->len += part;
		done += part;
		if (stream->len == BASE64_ROOM_BYTES && !base64_flush(stream))
			return 0;
	}
	return (ssize_t)size;
}

static int base64_close(void *cookie)
{
	struct base64_stream *stream = cookie;
	bool finished = base64_flush(stream);

	free(stream);
	return finished ? 0 : -1;
}

FILE *base64_writer(FILE *out)
{
	static const cookie_io_functions_t functions = {.write = base64_write,
							.close = base64_close};
	struct base64_stream *stream = xcalloc(1, sizeof(*stream));
	FILE *file;

	stream->out = out;
	file = fopencookie(stream, "w", functions);
	if (!file)
		free(stream);
	return file;
}
