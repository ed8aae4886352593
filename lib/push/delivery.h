/*
 * Delivers a profile to a server: sends it until the server has answered for good, or patience
 * ends. Between two attempts it waits twice as long each time, or as long as the server asks
 * (Retry-After).
 *
 * What is too large for the server is sent in halves of its samples, and these in halves, up to
 * PUSH_PARTS_MAX parts: each is a profile of its own, and the same whenever the profile is sent
 * again. Patience is for each part.
 */
#ifndef PROF_PUSH_DELIVERY_H
#define PROF_PUSH_DELIVERY_H

#include "push/sender.h"
#include "push/target.h"

enum { PUSH_PARTS_MAX = 64 };

enum push_outcome {
	PUSH_DELIVERED,
	PUSH_LATER,	/* no answer, or the server is busy: try again later */
	PUSH_REJECTED,	/* the server will never take this profile; others it may */
	PUSH_REFUSED,	/* it takes none: credentials, the path or the address are wrong */
	PUSH_STOPPED,	/* the wait was over */
	PUSH_TOO_LARGE, /* only the outcome of an answer: push_deliver() sends parts, or ends with
			   PUSH_REJECTED */
};

struct push_delivery {
	const struct push_labels *labels; /* of the user */
	const char *const *headers;	  /* of the user, NULL-terminated */
	uint64_t patience_ns;
	uid_t caller; /* as in struct connected */
	struct push_wait wait;
};

struct push_result {
	enum push_outcome outcome;
	size_t bytes;	/* of the bodies of the requests that were delivered */
	unsigned parts; /* those requests */
	char *why;	/* of an outcome other than DELIVERED, or what of it was refused; NULL:
			   nothing to say */
	unsigned attempts;
};

void push_result_deinit(struct push_result *result);
void push_deliver(const struct push_delivery *delivery, const struct push_target *target,
		  const struct profile *profile, struct push_result *ret);

/*
 * How long a machine waits before it pushes what all machines have cut at the same time: always the
 * same, spread over half of the time that a segment has, but at most 20 s.
 */
uint64_t push_delay_ns(const char *host, uint64_t every_ns);
/* False: the wait was over before. */
bool push_sleep_until(const struct push_wait *wait, uint64_t until_ns);

/* What an answer means: its status of HTTP (0: none), and its text where servers say only there
 * that the request is too large. */
enum push_outcome push_outcome_of(unsigned status, const char *text);
/* The time before attempt 2, 3 …: from 0.5 s on, at most 30 s; random: any number, for jitter. */
uint64_t push_backoff_ns(unsigned attempt, uint32_t random);

#endif
