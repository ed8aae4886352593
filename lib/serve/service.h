/*
 * The HTTP endpoint that gives any process what net/http/pprof gives programs in Go: routes, who is
 * answered, and what is counted. See docs/CONTINUOUS.md.
 */
#ifndef PROF_SERVE_SERVICE_H
#define PROF_SERVE_SERVICE_H

#include "serve/listen_socket.h"
#include "serve/recordings.h"

/* All borrowed. */
struct service_options {
	const struct listen_socket *socket;
	const char *tls_cert, *tls_key; /* PEM; NULL: without TLS */
	struct gate gate;		/* all but host and is_tls, which follow from these */
	char *const *command;		/* prof's own words, NULL-terminated */
	serve_say *say;
	void *user;
};

struct service;

MUST_CHECK struct error *service_open(const struct service_options *options, struct loop *loop,
				      struct service **ret);
/* Ends recordings and connections. NULL is allowed. */
void service_close(struct service *service);

#endif
