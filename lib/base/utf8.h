/*
 * UTF-8: names from files may have any bytes; what prof writes is valid UTF-8. Source: the Unicode
 * Standard, 3.9, table 3-7 and "Best Practices for Using U+FFFD".
 */
#ifndef PROF_BASE_UTF8_H
#define PROF_BASE_UTF8_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/strtab.h"

/* Replaces an invalid part: U+FFFD. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"
#define UTF8_BAD UINT32_MAX

/*
 * The next character of a non-empty text; UTF8_BAD for the longest part that begins like a
 * character but is not one.
 */
uint32_t utf8_next(struct bytes *text);

bool utf8_is_valid(struct bytes text);
/* True if the bytes are text: of control characters only line ends and tabs. */
bool utf8_is_text(struct bytes text);
/* str itself if it is valid, else a copy in the arena with each invalid part replaced. */
const char *utf8_valid(const char *str, struct arena *arena);
/* Interns a name from a file, made valid; it ends at a NUL. */
string_id utf8_intern(struct strtab *strings, struct bytes name);

#endif
