#include "serve/listen_socket.h"

#include "base/alloc.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* INHERITED_FD is the first descriptor that systemd passes. */
enum { INHERITED_FD = 3, BACKLOG = 64 };

union any_address {
	struct sockaddr_storage storage;
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/* Sets everything except fd and path. */
static struct error *listen_socket_describe(int fd, struct listen_socket *ret)
{
	union any_address address = {0};
	socklen_t len = sizeof(address);
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (getsockname(fd, &address.any, &len) < 0)
		return error_errno(errno, "examine the socket");
	if (address.any.sa_family == AF_UNIX) {
		ret->host = xstrdup("localhost");
		ret->address = xasprintf("unix:%s", address.un.sun_path);
		ret->is_local = true;
		return NULL;
	}
	if (getnameinfo(&address.any, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return error_new("the socket is neither a TCP nor a Unix socket");
	ret->is_local = address.any.sa_family == AF_INET
				? ntohl(address.in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
				: IN6_IS_ADDR_LOOPBACK(&address.in6.sin6_addr);
	ret->host = xasprintf(address.any.sa_family == AF_INET ? "%s" : "[%s]", host);
	ret->address = xasprintf("%s:%s", ret->host, port);
	return NULL;
}

static struct error *listen_at(const union any_address *address, socklen_t len, const char *name,
			       struct listen_socket *ret)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int on = 1;

	if (fd < 0)
		return error_errno(errno, "open a socket");
	ret->fd = fd;
	if (address->any.sa_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, &address->any, len) < 0 || listen(fd, BACKLOG) < 0)
		return error_errno(errno, "listen on %s", name);
	return listen_socket_describe(fd, ret);
}

/* Removes a socket that no process listens on any more. */
static void remove_stale(const struct sockaddr_un *address)
{
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (lstat(address->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) && fd >= 0 &&
	    connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	    errno == ECONNREFUSED)
		unlink(address->sun_path);
}

/*
 * Any user may connect, because the server asks the kernel for the user of each
 * client.
 */
static struct error *open_unix(const char *path, struct listen_socket *ret)
{
	union any_address address = {.un = {.sun_family = AF_UNIX}};
	struct error *err;
	mode_t mask;

	if (!*path || strlen(path) >= sizeof(address.un.sun_path))
		return error_new("unix:%s: the path of a socket has 1 to %zu bytes", path,
				 sizeof(address.un.sun_path) - 1);
	strcpy(address.un.sun_path, path);
	remove_stale(&address.un);
	mask = umask(S_IXUSR | S_IXGRP | S_IXOTH);
	err = listen_at(&address, sizeof(address.un), path, ret);
	umask(mask);
	if (!err)
		ret->path = xstrdup(path);
	return err;
}

static bool parse_port(const char *text, in_port_t *ret)
{
	unsigned port = 0;

	for (const char *c = text; *c; c++) {
		if (*c < '0' || *c > '9' || port > UINT16_MAX)
			return false;
		port = port * 10 + (unsigned)(*c - '0');
	}
	*ret = htons((uint16_t)port);
	return *text && port <= UINT16_MAX;
}

static socklen_t parse_v4(const char *host, in_port_t port, union any_address *ret)
{
	ret->in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port};
	return inet_pton(AF_INET, host, &ret->in.sin_addr) == 1 ? sizeof(ret->in) : 0;
}

/* Returns 0 if the text is not an address. */
static socklen_t listen_socket_parse(const char *text, union any_address *ret)
{
	const char *colon = strrchr(text, ':');
	CLEANUP(free_ptr) char *host = colon ? xstrndup(text, (size_t)(colon - text)) : NULL;
	size_t len = host ? strlen(host) : 0;
	in_port_t port;

	if (!host || !parse_port(colon + 1, &port))
		return 0;
	if (!strcmp(host, "localhost"))
		return parse_v4("127.0.0.1", port, ret);
	if (*host == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		ret->in6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port};
		return inet_pton(AF_INET6, host + 1, &ret->in6.sin6_addr) == 1 ? sizeof(ret->in6)
									       : 0;
	}
	return parse_v4(host, port, ret);
}

struct error *listen_socket_open(const char *address, struct listen_socket *ret)
{
	union any_address parsed;
	socklen_t len;

	*ret = (struct listen_socket){.fd = -1};
	if (text_begins(address, "unix:"))
		return open_unix(address + strlen("unix:"), ret);
	len = listen_socket_parse(address, &parsed);
	if (!len)
		return error_hint(error_new("%s is not an address", address),
				  "127.0.0.1:6060, [::1]:6060, localhost:6060 or unix:PATH");
	return listen_at(&parsed, len, address, ret);
}

/* Returns whether the variable has this number. */
static bool says(const char *variable, long number)
{
	const char *value = getenv(variable);

	return value && strtol(value, NULL, 10) == number;
}

struct error *listen_socket_inherit(struct listen_socket *ret, bool *ret_any)
{
	int listens = 0;
	socklen_t len = sizeof(listens);

	*ret = (struct listen_socket){.fd = -1};
	*ret_any = says("LISTEN_PID", getpid());
	if (!*ret_any)
		return NULL;
	if (!says("LISTEN_FDS", 1) ||
	    getsockopt(INHERITED_FD, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0 || !listens)
		return error_new("systemd must pass exactly one listening socket");
	ret->fd = INHERITED_FD;
	fcntl(ret->fd, F_SETFD, FD_CLOEXEC);
	fcntl(ret->fd, F_SETFL, fcntl(ret->fd, F_GETFL) | O_NONBLOCK);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	return listen_socket_describe(ret->fd, ret);
}

void listen_socket_close(struct listen_socket *socket)
{
	if (socket->path)
		unlink(socket->path);
	if (socket->fd >= 0)
		close(socket->fd);
	free(socket->path);
	free(socket->host);
	free(socket->address);
	*socket = (struct listen_socket){.fd = -1};
}
