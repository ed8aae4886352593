/*
 * Makes untrusted text safe for a terminal: names of functions, files,
 * programs. Everything that is printed to a terminal passes through here. Other
 * outputs use the same table of control characters.
 */
#ifndef PROF_BASE_PRINTABLE_H
#define PROF_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For characters that are not printable ASCII: see printable_is_control(). */
bool printable_is_listed(uint32_t character);

/*
 * Returns true for characters that control a terminal, end a line or reorder
 * it: C0, DEL, C1, the controls of bidirectional text, U+2028 and U+2029,
 * interlinear annotations and tags.
 */
static inline bool printable_is_control(uint32_t character)
{
	return (character < 0x20 || character >= 0x7f) && printable_is_listed(character);
}

/*
 * Returns a copy in which each control character and each part that is not
 * UTF-8 is U+FFFD. The caller frees it.
 */
char *printable(const char *text);

/*
 * Return the number of terminal columns of a character (0 if it combines with
 * the previous one) and of a text. They use wcwidth() in the locale C.UTF-8,
 * whatever the program's locale. If the C library has no such locale, and for
 * unassigned characters, the width is 1.
 */
unsigned printable_width(uint32_t character);
size_t printable_columns(const char *text);

#endif
