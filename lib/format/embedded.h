/*
 * Writes files that are part of the program: the scripts and styles of the HTML
 * report and of the SVG flame graph. web/embed.py compresses them.
 */
#ifndef PROF_FORMAT_EMBEDDED_H
#define PROF_FORMAT_EMBEDDED_H

#include "base/bytes.h"

#include <stdio.h>

/* Returns 0 or an errno. */
int embedded_write(struct bytes packed, FILE *out);
/* array: of the header that web/embed.py makes */
#define EMBEDDED_WRITE(array, out) embedded_write(bytes_of(array, sizeof(array)), out)

#endif
