/* Prints text for a terminal of 80 columns. The text must be ASCII. */
#ifndef PROF_CMD_UI_WRAP_H
#define PROF_CMD_UI_WRAP_H

#include <stdio.h>

enum { WRAP_WIDTH = 80 };

/*
 * Prints text and a newline, broken at spaces so that no line is longer than WRAP_WIDTH. The text
 * starts in column `indent`, as do the lines that follow; `column` is the current column.
 */
void wrap_text(const char *text, int column, int indent, FILE *out);

#endif
