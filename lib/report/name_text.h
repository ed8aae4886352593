/* A name that is put together from spans of others. */
#ifndef PROF_REPORT_NAME_TEXT_H
#define PROF_REPORT_NAME_TEXT_H

#include "report/name_parts.h"

/* Zeroed: empty; chars is NULL before the first addition, else ends with a NUL. */
struct name_text {
	char *chars; /* to be freed */
	size_t len, room;
};

void name_text_add_span(struct name_text *text, struct span span);
void name_text_add(struct name_text *text, const char *more);
/* "::", unless it would be at the beginning. */
void name_text_add_joint(struct name_text *text);
/* Leaves out what comes after the first len bytes. */
void name_text_cut(struct name_text *text, size_t len);

#endif
