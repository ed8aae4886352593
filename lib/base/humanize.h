/*
 * Formats quantities for display: 12,345 · 3.1 % · 4.2 MB · 1.25 s.
 */
#ifndef PROF_BASE_HUMANIZE_H
#define PROF_BASE_HUMANIZE_H

#include <stdint.h>

struct humanized {
	char text[32];
};

struct humanized humanize_count(uint64_t count);
/* Returns "0.0 %" if whole is 0. */
struct humanized humanize_share(uint64_t part, uint64_t whole);
struct humanized humanize_bytes(uint64_t bytes);
struct humanized humanize_time(uint64_t ns);

#endif
