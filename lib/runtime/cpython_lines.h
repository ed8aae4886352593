/*
 * Reads the location table of a code object of CPython 3.11 and later. Source:
 * InternalDocs/code_objects.md.
 */
#ifndef PROF_RUNTIME_CPYTHON_LINES_H
#define PROF_RUNTIME_CPYTHON_LINES_H

#include "base/bytes.h"

#include <stdint.h>

/*
 * Returns the line of an instruction, or 0 if it has none. Instructions are
 * numbered in units of two bytes.
 */
uint32_t cpython_line(struct bytes table, uint32_t first_line, uint32_t unit);

#endif
