/*
 * Parses the times of --since, --until and DIRECTORY@RANGE:
 *
 *	14:05  14:05:30       the last such time that is not in the future
 *	yesterday  today  now
 *	2026-11-24            the start of that day
 *	2026-11-24 14:05      also with T, with seconds, and with Z for UTC
 *	-90s  -10m  -1h  -2d  this long ago
 *
 * Times are local (tzset(3)), unless they end with Z. mktime(3) defines the
 * start of a day and times around a change of daylight saving time.
 */
#ifndef PROF_SEGMENTS_TIME_EXPRESSION_H
#define PROF_SEGMENTS_TIME_EXPRESSION_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Unix times; to_ns is exclusive. */
struct time_range {
	uint64_t from_ns, to_ns;
};

/* Parses one time. now_ns is Unix time. The range is the named day, minute or
 * second; "-1h" is the range from then on. */
MUST_CHECK struct error *time_expression_parse(const char *text, uint64_t now_ns,
					       struct time_range *ret);
/*
 * Sets *ret to the range from the start of `since` to the start of `until`.
 * NULL means no limit. If `until` is a time of day, it means the first such
 * time after `since`. Fails if the range is empty.
 */
MUST_CHECK struct error *time_expression_between(const char *since, const char *until,
						 uint64_t now_ns, struct time_range *ret);
/* Parses "yesterday", "14:05", "14:05..14:07", "..14:07" or "14:05..". */
MUST_CHECK struct error *time_expression_range(const char *text, uint64_t now_ns,
					       struct time_range *ret);

/* Writes a local time as "2026-11-24 14:05:00". */
enum { TIME_TEXT_BYTES = 32 };
void time_text(char text[static TIME_TEXT_BYTES], uint64_t unix_ns);

#endif
