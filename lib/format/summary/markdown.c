#include "format/summary/markdown.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/printable.h"

#include <stdlib.h>
#include <string.h>

/* Returns a copy with `before` in front of each character of a set. */
static char *markdown_escape(const char *text, const char *set, char before)
{
	char *escaped = xcalloc(2 * strlen(text) + 1, 1), *at = escaped;

	for (; *text; *at++ = *text++)
		if (strchr(set, *text))
			*at++ = before;
	return escaped;
}

char *markdown_text(const char *text)
{
	CLEANUP(free_ptr) char *safe = printable(text);

	return markdown_escape(safe, "\\`*_<>[]|#&", '\\');
}

/* A code span ends at a backquote, and a cell at a bar. */
char *markdown_code(const char *text)
{
	CLEANUP(free_ptr) char *safe = printable(text);
	CLEANUP(free_ptr) char *escaped = NULL;

	for (char *at = safe; (at = strchr(at, '`'));)
		*at = '\'';
	escaped = markdown_escape(safe, "|", '\\');
	return xasprintf("`%s`", escaped);
}
