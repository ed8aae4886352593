/*
 * Reads the lines of a text that anybody may have written, in bounded memory: a line longer than
 * its bound is cut and its rest skipped, and the text ends at a bound of its own.
 *
 *	CLEANUP(line_reader_deinit) struct line_reader lines;
 *
 *	line_reader_init(&lines, in, LINE_BYTES_MAX, TEXT_BYTES_MAX);
 *	while (line_reader_next(&lines))
 *		use(lines.line, lines.len);
 *
 * Read errors end the text; the caller asks ferror(in).
 */
#ifndef PROF_BASE_LINE_READER_H
#define PROF_BASE_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct line_reader {
	/* The current line, until the next call: without its newline, with a NUL after it. */
	char *line;
	size_t len;
	uint64_t offset; /* of its first byte in the text */
	bool is_cut;	 /* it was longer than its bound */

	FILE *in; /* borrowed */
	size_t line_bytes_max;
	uint64_t left_bytes; /* of the bound of the text; 0: the text was at least this long */
	char *buffer;
	size_t room, next, filled; /* of the buffer; next: after the current line */
	uint64_t buffer_offset;	   /* of the buffer in the text */
};

/* Reads from where `in` stands. */
void line_reader_init(struct line_reader *lines, FILE *in, size_t line_bytes_max,
		      uint64_t text_bytes_max);
void line_reader_deinit(struct line_reader *lines);

/* False at the end of the text. */
bool line_reader_next(struct line_reader *lines);

#endif
