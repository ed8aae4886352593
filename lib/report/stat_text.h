/*
 * Formats the counters of a recording like perf stat: a value, the event, and a
 * derived value ("0.98 CPUs used", "1.64 per cycle").
 */
#ifndef PROF_REPORT_STAT_TEXT_H
#define PROF_REPORT_STAT_TEXT_H

#include "profile/profile.h"

/*
 * Returns a table with a line for each known counter, each ending with \n, or
 * NULL if nothing was counted. The caller frees it.
 */
char *stat_table(const struct profile_info *info);
/*
 * Returns the most important counters in one line, "0.98 CPUs used, 12 context
 * switches", or NULL if nothing was counted. The caller frees it.
 */
char *stat_line(const struct profile_info *info);

#endif
