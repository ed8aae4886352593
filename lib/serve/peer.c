#include "serve/peer.h"

#include "base/cleanup.h"
#include "base/line_reader.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>

/* Rows have 150 characters. A machine may have a million sockets. */
#define LINE_BYTES_MAX 512
#define TABLE_BYTES_MAX (UINT64_C(256) << 20)

/* "0100007F:17AC", with 32 digits for IPv6. */
struct socket_end {
	char text[32 + 1 + 4 + 1];
};

/* The kernel prints the address as words in the machine's byte order. */
static struct socket_end peer_end_of(const struct sockaddr *address)
{
	struct socket_end end;

	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)address;

		snprintf(end.text, sizeof(end.text), "%08" PRIX32 ":%04X", in->sin_addr.s_addr,
			 ntohs(in->sin_port));
	} else {
		const struct sockaddr_in6 *in = (const void *)address;
		uint32_t words[4];

		memcpy(words, &in->sin6_addr, sizeof(words));
		snprintf(end.text, sizeof(end.text),
			 "%08" PRIX32 "%08" PRIX32 "%08" PRIX32 "%08" PRIX32 ":%04X", words[0],
			 words[1], words[2], words[3], ntohs(in->sin6_port));
	}
	return end;
}

/*
 * States of a client's socket that can still read, from
 * include/net/tcp_states.h.
 */
enum { ESTABLISHED = 1, FIN_WAIT1 = 4, FIN_WAIT2 = 5, CLOSING = 11 };

static bool can_read(unsigned state)
{
	return state == ESTABLISHED || state == FIN_WAIT1 || state == FIN_WAIT2 || state == CLOSING;
}

/*
 * A socket that no process has any more belongs to root in this table, and its
 * inode is 0. A client that has shut down its writing side still has its
 * socket.
 */
static bool user_of_row(const char *rest, uid_t *ret)
{
	unsigned state, user;
	unsigned long inode;

	if (sscanf(rest, " %x %*s %*s %*s %u %*u %lu", &state, &user, &inode) != 3)
		return false;
	*ret = user;
	return can_read(state) && inode;
}

bool peer_find_user(FILE *table, const struct sockaddr *own, const struct sockaddr *peer,
		    uid_t *ret)
{
	struct socket_end local = peer_end_of(peer), remote = peer_end_of(own);
	char ends[2 * sizeof(local.text) + 2];
	CLEANUP(line_reader_deinit) struct line_reader lines;

	/* The row of the client's socket, whose local end is the client's. */
	snprintf(ends, sizeof(ends), " %s %s ", local.text, remote.text);
	line_reader_init(&lines, table, LINE_BYTES_MAX, TABLE_BYTES_MAX);
	while (line_reader_next(&lines)) {
		const char *found = strstr(lines.line, ends);

		if (found)
			return user_of_row(found + strlen(ends), ret);
	}
	return false;
}

/* Converts the address of an IPv4 client of an IPv6 socket. */
static void unmap(struct sockaddr_storage *address)
{
	const struct sockaddr_in6 in6 = *(const struct sockaddr_in6 *)address;
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = in6.sin6_port};

	if (address->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr))
		return;
	memcpy(&in.sin_addr, &in6.sin6_addr.s6_addr[12], sizeof(in.sin_addr));
	memcpy(address, &in, sizeof(in));
}

static bool is_loopback(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 ==
		       IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static bool tcp_user(int fd, uid_t *ret)
{
	struct sockaddr_storage own = {0}, peer = {0};
	socklen_t own_len = sizeof(own), peer_len = sizeof(peer);
	CLEANUP(close_file) FILE *table = NULL;

	if (getsockname(fd, (struct sockaddr *)&own, &own_len) < 0 ||
	    getpeername(fd, (struct sockaddr *)&peer, &peer_len) < 0)
		return false;
	unmap(&own);
	unmap(&peer);
	if (!is_loopback(&peer) || own.ss_family != peer.ss_family)
		return false;
	table = fopen(peer.ss_family == AF_INET ? "/proc/self/net/tcp" : "/proc/self/net/tcp6",
		      "re");
	return table &&
	       peer_find_user(table, (struct sockaddr *)&own, (struct sockaddr *)&peer, ret);
}

bool peer_user(int fd, uid_t *ret)
{
	int family = 0;
	socklen_t len = sizeof(family);
	struct ucred cred;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len) < 0)
		return false;
	if (family != AF_UNIX)
		return (family == AF_INET || family == AF_INET6) && tcp_user(fd, ret);
	len = sizeof(cred);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return false;
	*ret = cred.uid;
	return true;
}
