/*
 * Draws bars of text.
 */
#ifndef PROF_CMD_UI_BAR_H
#define PROF_CMD_UI_BAR_H

#include <stddef.h>
#include <stdint.h>

/* Returns a bar of part / whole, "████▌   ", in eighths of a column, padded
 * with spaces. The caller frees it. */
char *bar(uint64_t part, uint64_t whole, size_t columns);

#endif
