/*
 * Text from outside, as it may stand on a terminal: names of functions, files, programs.
 */
#ifndef PROF_BASE_PRINTABLE_H
#define PROF_BASE_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A copy without anything that a terminal obeys or that turns the order of a line around: control
 * characters (C0, DEL, C1), the marks of bidirectional text, the ends of lines and paragraphs and
 * parts that are no UTF-8 become U+FFFD. To be freed.
 */
char *printable(const char *text);

/* How many columns of a terminal a character takes (0: it stands on the one before), and a text
 * does. Source: Unicode 15, EastAsianWidth.txt, in whole blocks. */
unsigned printable_width(uint32_t character);
size_t printable_columns(const char *text);

#endif
