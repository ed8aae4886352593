/*
 * Builds a name from spans of other names.
 */
#ifndef PROF_REPORT_NAME_TEXT_H
#define PROF_REPORT_NAME_TEXT_H

#include "report/name_parts.h"

/*
 * Zeroed: empty. chars is NULL before the first addition and NUL-terminated
 * afterwards.
 */
struct name_text {
	char *chars; /* the caller frees it */
	size_t len, room;
};

void name_text_add_span(struct name_text *text, struct span span);
void name_text_add(struct name_text *text, const char *more);
/* Adds "::", except at the start. */
void name_text_add_joint(struct name_text *text);
/* Truncates the text to its first len bytes. */
void name_text_cut(struct name_text *text, size_t len);

#endif
