/*
 * Delivers a profile to a server: retries until the server gives a final answer
 * or a timeout expires. The time between attempts doubles, unless the server
 * requests a time (Retry-After).
 *
 * A profile that is too large for the server is split into halves of its
 * samples, and these again, into up to PUSH_PARTS_MAX parts. Each part is a
 * complete profile. The parts are the same whenever the profile is sent again.
 * The timeout applies to each part.
 */
#ifndef PROF_PUSH_DELIVERY_H
#define PROF_PUSH_DELIVERY_H

#include "push/sender.h"
#include "push/target.h"

enum { PUSH_PARTS_MAX = 64 };

enum push_outcome {
	PUSH_DELIVERED,
	PUSH_LATER,	/* no answer, or the server is busy; try again later */
	PUSH_REJECTED,	/* the server will never accept this profile, but may accept others */
	PUSH_REFUSED,	/* accepts none: wrong credentials, path or address */
	PUSH_STOPPED,	/* push_wait has ended */
	PUSH_TOO_LARGE, /* only from push_outcome_of(): push_deliver() sends parts, or returns
			   PUSH_REJECTED */
};

struct push_delivery {
	const struct push_labels *labels; /* configured by the user */
	const char *const *headers;	  /* configured by the user; NULL-terminated */
	uint64_t timeout_ns;
	uid_t caller; /* as in struct connected */
	struct push_wait wait;
};

struct push_result {
	enum push_outcome outcome;
	size_t bytes;	/* size of the delivered request bodies */
	unsigned parts; /* number of delivered requests */
	char *why;	/* reason for an outcome other than PUSH_DELIVERED, or the part that was
			   rejected; NULL for none */
	unsigned attempts;
};

void push_result_deinit(struct push_result *result);
void push_deliver(const struct push_delivery *delivery, const struct push_target *target,
		  const struct profile *profile, struct push_result *ret);

/*
 * Returns how long this host waits before it pushes a segment that all hosts
 * finish at the same time. The delay is constant per host. It is spread over
 * half of the segment's duration, but at most 20 s.
 */
uint64_t push_delay_ns(const char *host, uint64_t every_ns);
/* Returns false if push_wait ended before. */
bool push_sleep_until(const struct push_wait *wait, uint64_t until_ns);

/* Classifies an answer by its HTTP status (0 for none), and by its text for
 * servers that report only there that the request is too large. */
enum push_outcome push_outcome_of(unsigned status, const char *text);
/* Returns the time before attempt 2, 3 and so on: from 0.5 s to at most 30 s.
 * random is any number, for jitter. */
uint64_t push_backoff_ns(unsigned attempt, uint32_t random);

#endif
