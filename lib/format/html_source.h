/*
 * The source lines that a profile's frames are at, and their text, where it can be read here under
 * the names that the debug information gives.
 */
#ifndef PROF_FORMAT_HTML_SOURCE_H
#define PROF_FORMAT_HTML_SOURCE_H

#include "report/labels.h"

struct source_line {
	string_id file;
	uint32_t line;
};

/* By file and line, each once; to be freed. */
struct source_line *source_lines(const struct labels *labels, size_t *ret_count);

/*
 * The texts of lines that are all of one file, valid UTF-8, in the arena; "" of those past its end.
 * NULL: this file cannot be read, or its name is not that of a source.
 */
const char **source_texts(const char *path, const struct source_line *lines, size_t count,
			  struct arena *arena);

#endif
