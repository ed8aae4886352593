/*
 * A share as a bar of text.
 */
#ifndef PROF_CMD_BAR_H
#define PROF_CMD_BAR_H

#include <stddef.h>
#include <stdint.h>

/* "████▌   ": in eighths of a column, filled up with spaces; to be freed. */
char *bar(uint64_t part, uint64_t whole, size_t columns);

#endif
