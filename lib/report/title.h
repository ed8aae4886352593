/*
 * The title of a profile: what was recorded, such as "nginx (pid 812)". prof
 * stores it when it records. For a file without a title, it is derived from
 * the command line of the recorder.
 */
#ifndef PROF_REPORT_TITLE_H
#define PROF_REPORT_TITLE_H

#include "profile/profile.h"

/* Returns "" if nothing is known. The caller frees the result. */
char *title_of(const struct profile *profile);

/*
 * Returns when it was recorded, for how long and where: "2026-11-24 14:05:00,
 * for 4.52 s, on web-1", as far as known, or "". The time is local, or with
 * is_utc "14:05:00 UTC". The caller frees the result.
 */
char *title_recorded(const struct profile_info *info, bool is_utc);

#endif
