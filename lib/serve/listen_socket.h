/*
 * A socket that listens: of TCP at a numeric address, a unix socket, or one that systemd has opened
 * (sd_listen_fds(3)).
 */
#ifndef PROF_SERVE_LISTEN_SOCKET_H
#define PROF_SERVE_LISTEN_SOCKET_H

#include "base/error.h"

#include <stdbool.h>

struct listen_socket {
	int fd;
	/* As in a URL: "127.0.0.1" or "[::1]"; of a unix socket "localhost". */
	char *host;
	char *address; /* "127.0.0.1:6060", "unix:/run/prof.sock" */
	char *path;    /* of a unix socket that was made here; NULL: none */
	bool is_local; /* only this machine can connect */
};

/* "HOST:PORT", where HOST is localhost, an IPv4 address or an IPv6 address in brackets and port 0
 * is any that is free, or "unix:PATH". */
MUST_CHECK struct error *listen_socket_open(const char *address, struct listen_socket *ret);
/* The socket that systemd has opened for this process; *ret_any is false if there is none. */
MUST_CHECK struct error *listen_socket_inherit(struct listen_socket *ret, bool *ret_any);
/* Removes the path. fd may be -1. Needed after an error, too. */
void listen_socket_close(struct listen_socket *socket);

#endif
