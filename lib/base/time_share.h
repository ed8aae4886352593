/*
 * Bounds the time that something may take of each second, whoever causes it.
 *
 *	if (time_share_is_left(&share, begin_ns, MAX_NS)) {
 *		…
 *		time_share_spend(&share, clock_now_ns() - begin_ns);
 *	}
 *
 * One call can take longer than is left, so what a call takes must be bounded, too.
 */
#ifndef PROF_BASE_TIME_SHARE_H
#define PROF_BASE_TIME_SHARE_H

#include "base/clock.h"

#include <stdbool.h>

/* Zero-initialized: nothing is spent. */
struct time_share {
	uint64_t second_ns; /* the start of the present second */
	uint64_t spent_ns;  /* in it; what exceeded the last one's share counts */
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
