/*
 * A listening socket: TCP at a numeric address, a Unix socket, or a socket that
 * systemd has opened (sd_listen_fds(3)).
 */
#ifndef PROF_SERVE_LISTEN_SOCKET_H
#define PROF_SERVE_LISTEN_SOCKET_H

#include "base/error.h"

#include <stdbool.h>

struct listen_socket {
	int fd;
	/*
	 * As in a URL: "127.0.0.1" or "[::1]"; "localhost" for a Unix socket.
	 */
	char *host;
	char *address; /* "127.0.0.1:6060", "unix:/run/prof.sock" */
	char *path;    /* path of a Unix socket created here; NULL means none */
	bool is_local; /* only this machine can connect */
};

/*
 * address: "unix:PATH" or "HOST:PORT". HOST is localhost, an IPv4 address or an
 * IPv6 address in brackets. Port 0 chooses a free port.
 */
MUST_CHECK struct error *listen_socket_open(const char *address, struct listen_socket *ret);
/*
 * Takes the socket that systemd has opened for this process. *ret_any is false
 * if there is none.
 */
MUST_CHECK struct error *listen_socket_inherit(struct listen_socket *ret, bool *ret_any);
/* Removes the path. fd may be -1. Required even after an error. */
void listen_socket_close(struct listen_socket *socket);

#endif
