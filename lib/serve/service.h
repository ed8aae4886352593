/*
 * The HTTP endpoint that gives any process what net/http/pprof gives Go
 * programs: routes, access control and metrics. See docs/CONTINUOUS.md.
 */
#ifndef PROF_SERVE_SERVICE_H
#define PROF_SERVE_SERVICE_H

#include "serve/listen_socket.h"
#include "serve/recordings.h"

/* All members are borrowed. */
struct service_options {
	const struct listen_socket *socket;
	const char *tls_cert, *tls_key; /* PEM, or NULL without TLS */
	/*
	 * All members except host and is_tls, which follow from the other
	 * options.
	 */
	struct gate gate;
	char *const *command; /* prof's own arguments, NULL-terminated */
	serve_say *say;
	void *user;
};

struct service;

MUST_CHECK struct error *service_open(const struct service_options *options, struct loop *loop,
				      struct service **ret);
/* Ends recordings and connections. Accepts NULL. */
void service_close(struct service *service);

#endif
