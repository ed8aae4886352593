/*
 * Decides which clients get an answer: all rules about a request that do not
 * depend on its target.
 *
 * Without a token only the server's own user, root and the users in the options
 * are accepted. Pages of other sites, including those whose name was made to
 * resolve to this machine (DNS rebinding), are refused by the headers that
 * browsers send.
 */
#ifndef PROF_SERVE_GATE_H
#define PROF_SERVE_GATE_H

#include "serve/token.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct gate {
	/*
	 * Host must be this, or localhost, 127.0.0.1 or [::1]. NULL means it is
	 * not checked, because the TLS certificate identifies the server.
	 */
	const char *host;
	bool is_tls;
	const struct token *token; /* or NULL if users are checked instead */
	const uid_t *users;	   /* users who are accepted in addition to root */
	size_t user_count;
};

/* Headers are NULL if they are missing. */
struct gate_request {
	const char *method, *host, *origin, *fetch_site, *authorization;
	bool has_body;
	bool is_public; /* needs neither token nor user */
	bool has_user;	/* `user` is the client's user on this machine */
	uid_t user;
};

enum gate_verdict {
	GATE_OPEN,
	GATE_METHOD, /* neither GET nor HEAD */
	GATE_BODY,   /* the request has a body */
	GATE_HOST,
	GATE_ORIGIN,
	GATE_TOKEN,
	GATE_USER,
	GATE_VERDICTS
};

enum gate_verdict gate_judge(const struct gate *gate, const struct gate_request *request);

#endif
