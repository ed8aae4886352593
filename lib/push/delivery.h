/*
 * Delivers a profile to a server: sends it until the server has answered for good, or patience
 * ends. Between two attempts it waits twice as long each time, or as long as the server asks
 * (Retry-After).
 */
#ifndef PROF_PUSH_DELIVERY_H
#define PROF_PUSH_DELIVERY_H

#include "push/sender.h"
#include "push/target.h"

enum push_outcome {
	PUSH_DELIVERED,
	PUSH_LATER,    /* no answer, or the server is busy: try again later */
	PUSH_REJECTED, /* the server will never take this profile; others it may */
	PUSH_REFUSED,  /* it takes none: credentials, the path or the address are wrong */
	PUSH_STOPPED,  /* the wait was over */
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
	size_t bytes; /* of the request's body */
	char *why;    /* of an outcome other than DELIVERED, or what of it was refused; NULL:
			 nothing to say */
	unsigned attempts;
};

void push_result_deinit(struct push_result *result);
void push_deliver(const struct push_delivery *delivery, const struct push_target *target,
		  const struct profile *profile, struct push_result *ret);

/* What a status of HTTP means; 0: no answer. */
enum push_outcome push_outcome_of(unsigned status);
/* The time before attempt 2, 3 …: from 0.5 s on, at most 30 s; random: any number, for jitter. */
uint64_t push_backoff_ns(unsigned attempt, uint32_t random);

#endif
