#include "base/line_reader.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 16 << 10 };

void line_reader_init(struct line_reader *lines, FILE *in, size_t line_bytes_max,
		      uint64_t text_bytes_max)
{
	*lines = (struct line_reader){
		.in = in,
		.line_bytes_max = line_bytes_max,
		.left_bytes = text_bytes_max,
		.room = 2 * PIECE_BYTES,
		.buffer = xmalloc(2 * PIECE_BYTES),
	};
}

void line_reader_deinit(struct line_reader *lines)
{
	free(lines->buffer);
}

/* Moves the bytes that have not been consumed to the start of the buffer. */
static void move_to_start(struct line_reader *lines)
{
	lines->filled -= lines->next;
	memmove(lines->buffer, lines->buffer + lines->next, lines->filled);
	lines->buffer_offset += lines->next;
	lines->next = 0;
}

/*
 * Appends to the buffer and leaves room for a NUL. Returns false at the end of
 * the text.
 */
static bool line_reader_fill(struct line_reader *lines)
{
	size_t len = PIECE_BYTES, got;

	/* fread(3) would try to read again. */
	if (feof(lines->in))
		return false;
	if (lines->next && lines->room - lines->filled <= PIECE_BYTES)
		move_to_start(lines);
	if (lines->room - lines->filled <= PIECE_BYTES) {
		lines->room *= 2;
		lines->buffer = xreallocarray(lines->buffer, lines->room, 1);
	}
	if (len > lines->left_bytes)
		len = (size_t)lines->left_bytes;
	got = fread(lines->buffer + lines->filled, 1, len, lines->in);
	lines->filled += got;
	lines->left_bytes -= got;
	return got;
}

static void skip_rest(struct line_reader *lines)
{
	char *newline;

	do {
		newline = memchr(lines->buffer + lines->next, '\n', lines->filled - lines->next);
		lines->next = newline ? (size_t)(newline - lines->buffer) + 1 : lines->filled;
	} while (!newline && line_reader_fill(lines));
}

/*
 * Returns the length of the next line, or of its start if that is longer than
 * the limit.
 */
static size_t line_reader_find_end(struct line_reader *lines)
{
	size_t seen = 0, held;

	for (;;) {
		char *start = lines->buffer + lines->next, *newline;

		held = lines->filled - lines->next;
		newline = memchr(start + seen, '\n', held - seen);
		if (newline)
			return (size_t)(newline - start);
		seen = held;
		if (held > lines->line_bytes_max || !line_reader_fill(lines))
			return held;
	}
}

bool line_reader_next(struct line_reader *lines)
{
	size_t len;

	if (lines->is_cut)
		skip_rest(lines);
	len = line_reader_find_end(lines);
	lines->line = lines->buffer + lines->next;
	lines->offset = lines->buffer_offset + lines->next;
	if (lines->next == lines->filled)
		return false;
	lines->is_cut = len > lines->line_bytes_max;
	lines->len = lines->is_cut ? lines->line_bytes_max : len;
	lines->next += lines->len + 1; /* after the newline, or after a byte of the rest */
	if (lines->next > lines->filled)
		lines->next = lines->filled; /* the last line has no newline */
	lines->line[lines->len] = '\0';
	return true;
}
