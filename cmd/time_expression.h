/*
 * Times as people write them, of --since, --until and DIRECTORY@RANGE:
 *
 *	14:05  14:05:30       the last such time that is not in the future
 *	yesterday  today  now
 *	2026-11-24            the beginning of that day
 *	2026-11-24 14:05      also with T between them, with seconds, and with Z for UTC
 *	-90s  -10m  -1h  -2d  so long ago
 *
 * In local time (tzset(3)), unless Z says otherwise. What a day or a time of day means, such as
 * where summer time begins, is mktime(3)'s.
 */
#ifndef PROF_CMD_TIME_EXPRESSION_H
#define PROF_CMD_TIME_EXPRESSION_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Both are Unix times; to_ns is the first one beyond it. */
struct time_range {
	uint64_t from_ns, to_ns;
};

/* now_ns: Unix time. The range is what the words name: a day, a minute, a second; of "-1h" all
 * from then on. */
MUST_CHECK struct error *time_expression_parse(const char *text, uint64_t now_ns,
					       struct time_range *ret);
/*
 * From the beginning of `since` (NULL: ever) to the beginning of `until` (NULL: ever). A time of
 * day as `until` is the first one after `since`. Fails if nothing is between them.
 */
MUST_CHECK struct error *time_expression_between(const char *since, const char *until,
						 uint64_t now_ns, struct time_range *ret);
/* "yesterday", "14:05" or "14:05..14:07", "..14:07", "14:05..". */
MUST_CHECK struct error *time_expression_range(const char *text, uint64_t now_ns,
					       struct time_range *ret);

/* "2026-11-24 14:05:00" */
enum { TIME_TEXT_BYTES = 32 };
void time_text(char text[static TIME_TEXT_BYTES], uint64_t unix_ns);

#endif
