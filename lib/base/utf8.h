/*
 * Names come from files of any make; what prof writes is valid UTF-8.
 * Source: the Unicode Standard, 3.9, table 3-7 and "Best Practices for Using U+FFFD".
 */
#ifndef PROF_BASE_UTF8_H
#define PROF_BASE_UTF8_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/strtab.h"

/* What stands for a part that is no character: U+FFFD. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"
#define UTF8_BAD UINT32_MAX

/* The next character of a text that is not at its end; UTF8_BAD for the longest part that begins
 * like one but is none. */
uint32_t utf8_next(struct bytes *text);

bool utf8_is_valid(struct bytes text);
/* Whether there are no bytes but those of text: of control characters only the ends of lines and
 * tabs. */
bool utf8_is_text(struct bytes text);
/* str itself when it is valid, else a copy in the arena with each bad part replaced. */
const char *utf8_valid(const char *str, struct arena *arena);
/* The id of a name out of a file, made valid; it ends at a NUL. */
string_id utf8_intern(struct strtab *strings, struct bytes name);

#endif
