#include "serve/peer.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "serve/listen_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/un.h>

#include "lacking.h"
#include "unit_test.h"

static const char header[] = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when "
			     "retrnsmt   uid  timeout "
			     "inode\n";
/* The rows of the server, the client, and another port. */
#define SERVER                                                                                     \
	"   0: 0100007F:17AC 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000       " \
	" 0 "                                                                                      \
	"71 1 0000000000000000 20 4 30 10 -1\n"
#define CLIENT(state, inode)                                                                       \
	"   1: 0100007F:C350 0100007F:17AC " state                                                 \
	" 00000000:00000000 00:00000000 00000000  1234        0 " inode                            \
	" 1 0000000000000000 20 4 30 10 -1\n"
#define STRANGER                                                                                   \
	"   2: 0100007F:C351 0100007F:17AC 01 00000000:00000000 00:00000000 00000000     0       " \
	" 0 "                                                                                      \
	"73 1 0000000000000000 20 4 30 10 -1\n"

static struct sockaddr_in end(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				    .sin_port = htons(port)};
}

static bool find(const char *rows, uid_t *ret)
{
	CLEANUP(free_ptr) char *text = xasprintf("%s%s", header, rows);
	CLEANUP(close_file) FILE *in = fmemopen(text, strlen(text), "r");
	struct sockaddr_in own = end(6060), peer = end(50000);

	return peer_find_user(in, (struct sockaddr *)&own, (struct sockaddr *)&peer, ret);
}

TEST(the_user_is_that_of_the_client_s_own_socket)
{
	uid_t user;

	assert_true(find(STRANGER SERVER CLIENT("01", "72"), &user));
	assert_int_equal(user, 1234);
	assert_false(find(STRANGER SERVER, &user));
	assert_false(find("", &user));
}

/* The kernel reports that these belong to root. */
TEST(a_socket_without_a_process_has_no_user)
{
	uid_t user;

	assert_false(find(CLIENT("06", "0"), &user));
	assert_false(find(CLIENT("01", "0"), &user));
	assert_false(find(CLIENT("05", "0"), &user));
	assert_false(find(CLIENT("08", "72"), &user));
	assert_false(find("   1: 0100007F:C350 0100007F:17AC 01 cut", &user));
}

/* After shutdown(SHUT_WR), the client still reads the answer. */
TEST(a_client_that_has_ended_its_request_has_its_user)
{
	uid_t user;

	assert_true(find(CLIENT("04", "72"), &user));
	assert_true(find(CLIENT("05", "72"), &user));
	assert_int_equal(user, 1234);
}

static void connect_to(const struct listen_socket *socket_, const struct sockaddr *address,
		       socklen_t len, int *client, int *server)
{
	*client = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(*client, address, len), 0);
	fcntl(socket_->fd, F_SETFL, 0);
	*server = accept(socket_->fd, NULL, NULL);
	assert_true(*server >= 0);
}

static void assert_own(const char *where)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	struct listen_socket listening;
	CLEANUP(close_fd) int client = -1, server = -1;
	uid_t user;

	assert_null(listen_socket_open(where, &listening));
	assert_true(listening.is_local);
	assert_int_equal(getsockname(listening.fd, (struct sockaddr *)&address, &len), 0);
	connect_to(&listening, (struct sockaddr *)&address, len, &client, &server);
	assert_true(peer_user(server, &user));
	assert_int_equal(user, geteuid());
	listen_socket_close(&listening);
}

TEST(the_user_of_a_live_client_is_known)
{
	CLEANUP(free_ptr) char *path = xasprintf("unix:/tmp/test_peer.%d", getpid());

	assert_own("127.0.0.1:0");
	assert_own("localhost:0");
	assert_own(path);
	assert_int_equal(access(path + strlen("unix:"), F_OK), -1);
}

TEST(so_is_that_of_ipv6)
{
	if (access("/proc/net/if_inet6", F_OK) < 0)
		RETURN_LACKING("IPv6");
	assert_own("[::1]:0");
}

TEST(a_client_that_has_closed_its_socket_has_no_user)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	struct listen_socket listening;
	CLEANUP(close_fd) int client = -1, server = -1;
	uid_t user;

	assert_null(listen_socket_open("127.0.0.1:0", &listening));
	assert_int_equal(getsockname(listening.fd, (struct sockaddr *)&address, &len), 0);
	connect_to(&listening, (struct sockaddr *)&address, len, &client, &server);
	close(client);
	client = -1;
	assert_false(peer_user(server, &user));
	listen_socket_close(&listening);
}

static void assert_no_address(const char *text)
{
	struct listen_socket listening;
	CLEANUP(error_cleanup) struct error *err = listen_socket_open(text, &listening);

	assert_non_null(err);
	listen_socket_close(&listening);
}

TEST(what_is_not_a_numeric_address_is_refused)
{
	static const char *const texts[] = {
		"",
		"6060",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:65536",
		"127.0.0.1:-1",
		"example.org:1",
		"[::1:80",
		":80",
		"[127.0.0.1]:6060",
		"unix:",
		"127.0.0.1:99999999999999999999",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_no_address(texts[i]);
}

TEST(a_socket_that_other_machines_reach_is_not_local)
{
	struct listen_socket listening;

	assert_null(listen_socket_open("0.0.0.0:0", &listening));
	assert_false(listening.is_local);
	listen_socket_close(&listening);
}

TEST(a_stale_unix_socket_is_replaced_and_a_live_one_is_not)
{
	CLEANUP(free_ptr) char *where = xasprintf("unix:/tmp/test_peer_stale.%d", getpid());
	struct listen_socket first, second;

	assert_null(listen_socket_open(where, &first));
	assert_no_address(where);
	/* The connection ends as after SIGKILL. */
	close(first.fd);
	first.fd = -1;
	assert_null(listen_socket_open(where, &second));
	listen_socket_close(&second);
	listen_socket_close(&first);
}
