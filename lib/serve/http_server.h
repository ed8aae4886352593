/*
 * An HTTP server in an event loop, on one thread, based on libmicrohttpd.
 *
 * A connection has one request. Its owner answers it at once or later; if the
 * client closes the connection before, the owner is informed. The number of
 * clients, the size of a request, the time to send one and the time to receive
 * the answer are limited, even if bytes come slowly.
 */
#ifndef PROF_SERVE_HTTP_SERVER_H
#define PROF_SERVE_HTTP_SERVER_H

#include "base/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HTTP_CONNECTIONS_MAX = 64,
	HTTP_CONNECTIONS_PER_ADDRESS = 16, /* for each remote address */
	HTTP_REQUEST_BYTES_MAX = 16 << 10, /* including all headers */
	HTTP_REQUEST_SECONDS = 10,	   /* until the request is complete */
	HTTP_ANSWER_SECONDS = 60,	   /* until the answer is sent */
};

struct http_server;
struct http_exchange; /* a request and its answer */

struct http_header {
	const char *name, *value;
};

struct http_answer {
	unsigned status;
	const char *type; /* Content-Type */
	const struct http_header *headers;
	size_t header_count;
	/* The content: a file that is sent from its start, or a text. */
	int fd; /* the server takes ownership; -1 means none */
	uint64_t fd_bytes;
	const char *text; /* copied */
	size_t text_len;
};

struct http_options {
	int listen_fd; /* the caller keeps ownership */
	/* Only this machine can connect. Connections beyond the limit wait. */
	bool is_local;
	const char *tls_cert; /* PEM, or NULL without TLS */
	const char *tls_key;
	/* Answers the exchange, or keeps it to answer it later. */
	void (*request)(void *user, struct http_exchange *exchange);
	/*
	 * The client of an unanswered exchange has closed its connection. The
	 * exchange ends.
	 */
	void (*gone)(void *user, struct http_exchange *exchange);
	void *user;
};

struct http_counts {
	size_t connections;	  /* current number */
	uint64_t all_connections; /* since the start */
	uint64_t slow;		  /* connections that were closed because they took too long */
};

/* Fails if mhd_library_load() does. */
MUST_CHECK struct error *http_server_open(const struct http_options *options, struct loop *loop,
					  struct http_server **ret);
/*
 * Closes all connections. Unanswered exchanges end without a call of `gone`.
 * Accepts NULL.
 */
void http_server_close(struct http_server *server);
struct http_counts http_server_counts(const struct http_server *server);

const char *http_exchange_method(const struct http_exchange *exchange);
const char *http_exchange_target(const struct http_exchange *exchange);
/*
 * Returns NULL if the request has no such header. Valid until the exchange is
 * answered.
 */
const char *http_exchange_header(const struct http_exchange *exchange, const char *name);
int http_exchange_socket(const struct http_exchange *exchange);
/* Must be called exactly once. */
void http_exchange_answer(struct http_exchange *exchange, const struct http_answer *answer);

#endif
