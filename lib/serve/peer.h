/*
 * Finds the user of the program at the other end of a local connection. Source:
 * unix(7), SO_PEERCRED; proc_net_tcp in the kernel's Documentation/networking.
 */
#ifndef PROF_SERVE_PEER_H
#define PROF_SERVE_PEER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

/*
 * Returns false if the user is unknown: the client is on another machine, or
 * has closed its socket.
 */
bool peer_user(int fd, uid_t *ret);

/*
 * Like peer_user(), with the text of /proc/net/tcp or tcp6. `own` and `peer`
 * are the ends as this process sees them, both IPv4 or both IPv6.
 */
bool peer_find_user(FILE *table, const struct sockaddr *own, const struct sockaddr *peer,
		    uid_t *ret);

#endif
