/*
 * Quantities as people read them: 12,345 · 3.1 % · 4.2 MB · 1.25 s.
 */
#ifndef PROF_CMD_FIGURE_H
#define PROF_CMD_FIGURE_H

#include <stdint.h>

struct figure {
	char text[32];
};

struct figure figure_count(uint64_t count);
/* Of nothing: 0.0 %. */
struct figure figure_share(uint64_t part, uint64_t whole);
struct figure figure_bytes(uint64_t bytes);
struct figure figure_time(uint64_t ns);

#endif
