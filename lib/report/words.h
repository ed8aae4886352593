/*
 * What things are called in tables.
 */
#ifndef PROF_REPORT_WORDS_H
#define PROF_REPORT_WORDS_H

#include "report/top.h"

/* "function", "module", … */
const char *words_of_key(enum top_key key);
/* The file's name without its folder; "[kernel]". Borrowed from the profile. */
const char *words_of_module(const struct profile *profile, uint32_t module);
/* To be freed. */
char *words_of_row(const struct view *view, enum top_key key, const struct top_row *row);

#endif
