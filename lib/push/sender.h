/*
 * Sends one HTTP POST, in a process of its own that has no more rights than the user
 * (sandbox/connected.h) and writes no file where the kernel has Landlock: what a server does to
 * libcurl is done to that process. Redirects are not followed.
 */
#ifndef PROF_PUSH_SENDER_H
#define PROF_PUSH_SENDER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of a reply; more ends the transfer. */
enum { PUSH_REPLY_BYTES = 4096 };

struct push_post {
	const char *url;
	const char *const *headers; /* NULL-terminated: "Name: value" */
	const void *body;
	size_t len;
	uint64_t timeout_ns;
	uid_t caller; /* as in struct connected */
};

/* Whatever the server said; it may be hostile. */
struct push_reply {
	unsigned status;	      /* of HTTP; 0: no answer */
	uint64_t retry_after_seconds; /* 0: not said */
	bool is_untrusted;	      /* no answer: the server's certificate is not trusted */
	/* The first bytes of the answer, or what libcurl says of why there is none. */
	char text[PUSH_REPLY_BYTES + 1]; /* NUL-terminated */
	size_t len;
};

/* Asked every 50 ms whether to stop waiting. May be NULL. */
struct push_wait {
	bool (*is_over)(void *user);
	void *user;
};

/*
 * Fails if the process cannot be started, has no libcurl, or ends without an answer; with
 * ECANCELED if the wait was over.
 */
MUST_CHECK struct error *push_send(const struct push_post *post, const struct push_wait *wait,
				   struct push_reply *ret);

/* Fails if there is no libcurl. */
MUST_CHECK struct error *push_check_library(uid_t caller);

#endif
