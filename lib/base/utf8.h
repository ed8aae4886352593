/*
 * UTF-8. Names from files may have any bytes; prof writes only valid UTF-8.
 * Source: the Unicode Standard, 3.9, table 3-7 and "Best Practices for Using
 * U+FFFD".
 */
#ifndef PROF_BASE_UTF8_H
#define PROF_BASE_UTF8_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/strtab.h"

/* U+FFFD, which replaces an invalid part. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"
#define UTF8_BAD UINT32_MAX

/*
 * Returns the next character of a non-empty text. Returns UTF8_BAD for the
 * longest part that starts like a character but is not one.
 */
uint32_t utf8_next(struct bytes *text);

bool utf8_is_valid(struct bytes text);
/*
 * Returns whether the bytes are text: the only control characters are line ends
 * and tabs.
 */
bool utf8_is_text(struct bytes text);
/*
 * Returns str itself if it is valid, else a copy in the arena with each invalid
 * part replaced.
 */
const char *utf8_valid(const char *str, struct arena *arena);
/* Interns a name from a file after making it valid. The name ends at a NUL. */
string_id utf8_intern(struct strtab *strings, struct bytes name);

#endif
