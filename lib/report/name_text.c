#include "report/name_text.h"

#include "base/alloc.h"

#include <string.h>

void name_text_add_span(struct name_text *text, struct span span)
{
	size_t len = span_bytes(span);

	if (text->room - text->len <= len) {
		text->room = 2 * text->room + len + 64;
		text->chars = xreallocarray(text->chars, text->room, 1);
	}
	if (len)
		memcpy(text->chars + text->len, span.at, len);
	text->len += len;
	text->chars[text->len] = '\0';
}

void name_text_add(struct name_text *text, const char *more)
{
	name_text_add_span(text, span_of(more));
}

void name_text_add_joint(struct name_text *text)
{
	if (text->len)
		name_text_add(text, "::");
}

void name_text_cut(struct name_text *text, size_t len)
{
	text->len = len;
	text->chars[len] = '\0';
}
