/*
 * Reads the lines of an untrusted text in bounded memory. A line longer than
 * its limit is truncated and its rest skipped. The text has a limit of its own.
 *
 *	CLEANUP(line_reader_deinit) struct line_reader lines;
 *
 *	line_reader_init(&lines, in, LINE_BYTES_MAX, TEXT_BYTES_MAX);
 *	while (line_reader_next(&lines))
 *	use(lines.line, lines.len);
 *
 * A read error ends the text; the caller checks ferror(in).
 */
#ifndef PROF_BASE_LINE_READER_H
#define PROF_BASE_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct line_reader {
	/*
	 * The current line, valid until the next call: without its newline,
	 * NUL-terminated.
	 */
	char *line;
	size_t len;
	uint64_t offset; /* of its first byte in the text */
	bool is_cut;	 /* it was longer than its limit */

	FILE *in; /* borrowed */
	size_t line_bytes_max;
	uint64_t left_bytes; /* the rest of the text's limit; 0 means the limit is reached */
	char *buffer;
	size_t room, next, filled; /* positions in the buffer; next: after the current line */
	uint64_t buffer_offset;	   /* of the buffer in the text */
};

/* Reads from the current position of `in`. */
void line_reader_init(struct line_reader *lines, FILE *in, size_t line_bytes_max,
		      uint64_t text_bytes_max);
void line_reader_deinit(struct line_reader *lines);

/* Returns false at the end of the text. */
bool line_reader_next(struct line_reader *lines);

#endif
