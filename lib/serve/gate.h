/*
 * Whom the server answers: every rule about a request before its target matters.
 *
 * Without a token only the server's own user, root and users whom the options name are answered.
 * Pages of other sites, also those whose name was made to resolve to this machine (DNS rebinding),
 * are refused by the headers that browsers send.
 */
#ifndef PROF_SERVE_GATE_H
#define PROF_SERVE_GATE_H

#include "serve/token.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct gate {
	/* Host must be this, or localhost, 127.0.0.1 or [::1]. NULL: it is not checked, because the
	 * certificate of TLS says who is spoken to. */
	const char *host;
	bool is_tls;
	const struct token *token; /* NULL: users are checked */
	const uid_t *users;	   /* who are answered beside root */
	size_t user_count;
};

/* Headers are NULL if they are missing. */
struct gate_request {
	const char *method, *host, *origin, *fetch_site, *authorization;
	bool has_body;
	bool is_public; /* needs neither token nor user */
	bool has_user;	/* `user` is the client's, on this machine */
	uid_t user;
};

enum gate_verdict {
	GATE_OPEN,
	GATE_METHOD, /* neither GET nor HEAD */
	GATE_BODY,   /* there is one */
	GATE_HOST,
	GATE_ORIGIN,
	GATE_TOKEN,
	GATE_USER,
	GATE_VERDICTS
};

enum gate_verdict gate_judge(const struct gate *gate, const struct gate_request *request);

#endif
