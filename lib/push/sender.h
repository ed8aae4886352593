/*
 * Sends one HTTP POST from a separate process that has no more privileges than
 * the user (sandbox/connected.h), and cannot write files if the kernel supports
 * Landlock. A server that exploits libcurl compromises only that process.
 * Redirects are not followed.
 */
#ifndef PROF_PUSH_SENDER_H
#define PROF_PUSH_SENDER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Maximum size of a reply. A larger one ends the transfer. */
enum { PUSH_REPLY_BYTES = 4096 };

struct push_post {
	const char *url;
	const char *const *headers; /* NULL-terminated: "Name: value" */
	const void *body;
	size_t len;
	uint64_t timeout_ns;
	uid_t caller; /* as in struct connected */
};

/* The server's reply, which is untrusted. */
struct push_reply {
	unsigned status;	      /* HTTP status; 0 if there was no answer */
	uint64_t retry_after_seconds; /* 0 if the server requested none */
	bool is_untrusted; /* no answer, because the server's certificate is not trusted */
	/* The first bytes of the answer, or libcurl's error message. */
	char text[PUSH_REPLY_BYTES + 1]; /* NUL-terminated */
	size_t len;
};

/* A callback that is called every 50 ms and returns whether to stop waiting.
 * May be NULL. */
struct push_wait {
	bool (*is_over)(void *user);
	void *user;
};

/* Fails if the process cannot be started, has no libcurl, or ends without an
 * answer. Fails with ECANCELED if wait->is_over() returned true. */
MUST_CHECK struct error *push_send(const struct push_post *post, const struct push_wait *wait,
				   struct push_reply *ret);

/* Fails if libcurl cannot be loaded. */
MUST_CHECK struct error *push_check_library(uid_t caller);

#endif
