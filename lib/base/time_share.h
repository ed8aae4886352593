/*
 * Limits the time that an activity may take of each second.
 *
 *	if (time_share_is_left(&share, begin_ns, MAX_NS)) {
 *	…
 *	time_share_spend(&share, clock_now_ns() - begin_ns);
 *	}
 *
 * One call can take longer than the remaining share, so the duration of a call
 * must be limited, too.
 */
#ifndef PROF_BASE_TIME_SHARE_H
#define PROF_BASE_TIME_SHARE_H

#include "base/clock.h"

#include <stdbool.h>

/* Zero-initialized: nothing is spent. */
struct time_share {
	uint64_t second_ns; /* the start of the current second */
	uint64_t spent_ns;  /* time spent in it, including the excess of the previous second */
};

static inline bool time_share_is_left(struct time_share *share, uint64_t now_ns, uint64_t max_ns)
{
	uint64_t seconds = (now_ns - share->second_ns) / NS_PER_SECOND;

	if (seconds) {
		share->second_ns = now_ns;
		share->spent_ns = share->spent_ns / max_ns > seconds
					  ? share->spent_ns - seconds * max_ns
					  : 0;
	}
	return share->spent_ns < max_ns;
}

static inline void time_share_spend(struct time_share *share, uint64_t ns)
{
	share->spent_ns += ns;
}

#endif
