/*
 * What was counted beside the samples, in the words of perf stat: a value, the event, and what
 * follows from it ("0.98 CPUs used", "1.64 per cycle").
 */
#ifndef PROF_REPORT_STAT_TEXT_H
#define PROF_REPORT_STAT_TEXT_H

#include "profile/profile.h"

/* A table with a line per known counter, each with \n; NULL: nothing was counted. To be freed. */
char *stat_table(const struct profile_info *info);
/* The most telling of it in one line: "0.98 CPUs used, 12 context switches"; NULL likewise. */
char *stat_line(const struct profile_info *info);

#endif
