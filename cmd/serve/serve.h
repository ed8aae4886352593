/*
 * Implements prof serve in two parts: its options, and the service, which needs
 * libmicrohttpd.
 */
#ifndef PROF_CMD_SERVE_SERVE_H
#define PROF_CMD_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct user_list {
	uid_t *items;
	size_t count, room;
};

struct serve_options {
	const char *listen; /* NULL for systemd's socket or SERVE_USUAL_ADDRESS */
	const char *token_file, *tls_cert, *tls_key;
	/* clients that are answered, in addition to root and prof's own user */
	struct user_list users;
	bool quiet, verbose;
};

#define SERVE_USUAL_ADDRESS "127.0.0.1:6060"

/* Serves until a signal arrives. words: prof's command line, NULL-terminated.
 * Returns a status. */
int serve(const struct serve_options *options, char *const *words);

#endif
