#include "serve/http_server.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "serve/library.h"
#include "serve/peer.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

/* The size of a request plus room for libmicrohttpd's own tables. */
enum { POOL_BYTES = HTTP_REQUEST_BYTES_MAX + (4 << 10) };

/*
 * The server's pages must not be framed, cached, or interpreted as another
 * type. A connection has one request.
 */
static const struct http_header common_headers[] = {
	{"Connection", "close"},
	{"Cache-Control", "no-store"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
};

struct connection {
	struct connection *next;
	int fd;
	uint64_t until_ns; /* 0 if there is no limit */
};

struct http_exchange {
	struct http_server *server;
	struct MHD_Connection *connection;
	char *method, *target;
	struct MHD_Response *response; /* NULL if not answered */
	unsigned status;
	bool was_asked, is_suspended, is_over;
	/* Watches the client's end while the connection is suspended. */
	struct loop_watch *watch;
	/*
	 * The client cannot be watched; the sweeper polls whether it still
	 * exists.
	 */
	bool is_half_closed;
	struct http_exchange *next;
};

struct http_server {
	struct mhd_library mhd;
	struct http_options options;
	struct MHD_Daemon *daemon;
	struct loop *loop;
	struct loop_watch *watch;
	struct loop_timer *timer, *sweeper;
	struct connection *connections;
	struct http_exchange *exchanges;
	struct http_counts counts;
	char *complaint; /* the last error message of libmicrohttpd */
};

static struct connection *connection_of(const struct http_exchange *exchange)
{
	const struct http_server *server = exchange->server;

	return server->mhd
		.MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

static void set_time(struct connection *connection, unsigned seconds)
{
	connection->until_ns = seconds ? clock_now_ns() + seconds * NS_PER_SECOND : 0;
}

/* Lets libmicrohttpd do what is due, and sets the timer for its next action. */
static void http_server_run(void *user)
{
	struct http_server *server = user;
	MHD_UNSIGNED_LONG_LONG ms;
	size_t connections;

	/*
	 * If there were too many connections, the run after some have ended
	 * listens again.
	 */
	do {
		connections = server->counts.connections;
		server->mhd.MHD_run(server->daemon);
	} while (server->counts.connections < connections);
	if (server->mhd.MHD_get_timeout(server->daemon, &ms) == MHD_YES)
		loop_set_timer(server->timer, clock_now_ns() + ms * NS_PER_MS);
	else
		loop_set_timer(server->timer, 0);
}

static void look_at_half_closed(struct http_server *server);

/*
 * Closes connections whose time is over. libmicrohttpd's own limit starts again
 * with each byte.
 */
static void http_server_sweep(void *user)
{
	struct http_server *server = user;
	uint64_t now_ns = clock_now_ns();

	for (struct connection *connection = server->connections; connection;
	     connection = connection->next) {
		if (!connection->until_ns || connection->until_ns > now_ns)
			continue;
		connection->until_ns = 0;
		server->counts.slow++;
		shutdown(connection->fd, SHUT_RDWR);
	}
	look_at_half_closed(server);
	if (server->connections)
		loop_set_timer(server->sweeper, now_ns + NS_PER_SECOND);
}

static void add_connection(struct http_server *server, struct MHD_Connection *handle,
			   void **context)
{
	struct connection *connection = xcalloc(1, sizeof(*connection));

	connection->fd = server->mhd
				 .MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD)
				 ->connect_fd;
	set_time(connection, HTTP_REQUEST_SECONDS);
	connection->next = server->connections;
	server->connections = *context = connection;
	server->counts.connections++;
	server->counts.all_connections++;
	/*
	 * The timer runs while there are connections. A new connection must not
	 * delay it.
	 */
	if (!connection->next)
		loop_set_timer(server->sweeper, clock_now_ns() + NS_PER_SECOND);
}

static void remove_connection(struct http_server *server, struct connection *connection)
{
	struct connection **at;

	for (at = &server->connections; *at != connection;)
		at = &(*at)->next;
	*at = connection->next;
	free(connection);
	server->counts.connections--;
}

static void http_server_on_connection(void *user, struct MHD_Connection *handle, void **context,
				      enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		add_connection(user, handle, context);
	else
		remove_connection(user, *context);
}

/*
 * The first callback of a request. libmicrohttpd stores the result as the
 * request's own data.
 */
static void *on_target(void *user, const char *target, struct MHD_Connection *handle)
{
	struct http_server *server = user;
	struct http_exchange *exchange = xcalloc(1, sizeof(*exchange));

	*exchange = (struct http_exchange){
		.server = server,
		.connection = handle,
		.target = xstrdup(target),
		.next = server->exchanges,
	};
	server->exchanges = exchange;
	return exchange;
}

static void go_on(struct http_exchange *exchange)
{
	struct http_server *server = exchange->server;

	loop_unwatch(server->loop, STEAL(exchange->watch));
	exchange->is_suspended = false;
	server->mhd.MHD_resume_connection(exchange->connection);
	loop_set_timer(server->timer, clock_now_ns());
}

/*
 * Returns whether a local client has shut down only its writing side and waits
 * for the answer. This is unknown for clients on other machines.
 */
static bool is_half_closed(int fd)
{
	struct pollfd ends = {.fd = fd};
	uid_t user;
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0 && poll(&ends, 1, 0) == 0 &&
	       peer_user(fd, &user);
}

static void end_exchange(struct http_exchange *exchange)
{
	const struct http_options *options = &exchange->server->options;

	exchange->is_over = true;
	go_on(exchange);
	options->gone(options->user, exchange);
}

/*
 * The client has closed its end, or has sent more than a request: it does not
 * wait for the answer.
 */
static void on_client(void *user)
{
	struct http_exchange *exchange = user;

	if (!is_half_closed(connection_of(exchange)->fd)) {
		end_exchange(exchange);
		return;
	}
	loop_unwatch(exchange->server->loop, STEAL(exchange->watch));
	exchange->is_half_closed = true;
}

/* A half-closed connection would be readable all the time, so it is polled. */
static void look_at_half_closed(struct http_server *server)
{
	for (struct http_exchange *exchange = server->exchanges, *next; exchange; exchange = next) {
		next = exchange->next;
		if (exchange->is_suspended && exchange->is_half_closed &&
		    !is_half_closed(connection_of(exchange)->fd))
			end_exchange(exchange);
	}
}

/* libmicrohttpd does not check a suspended connection. */
static bool suspend(struct http_exchange *exchange)
{
	struct http_server *server = exchange->server;
	struct connection *connection = connection_of(exchange);
	struct error *err = loop_watch(server->loop, connection->fd, on_client, exchange,
				       &exchange->watch);

	if (err) {
		error_free(err);
		server->options.gone(server->options.user, exchange);
		return false;
	}
	set_time(connection, 0);
	exchange->is_suspended = true;
	server->mhd.MHD_suspend_connection(exchange->connection);
	return true;
}

static enum MHD_Result queue(struct http_exchange *exchange)
{
	struct http_server *server = exchange->server;

	set_time(connection_of(exchange), HTTP_ANSWER_SECONDS);
	return server->mhd.MHD_queue_response(exchange->connection, exchange->status,
					      exchange->response);
}

static enum MHD_Result http_server_on_request(void *user, struct MHD_Connection *handle,
					      const char *url, const char *method,
					      const char *version, const char *upload,
					      size_t *upload_len, void **request)
{
	struct http_server *server = user;
	struct http_exchange *exchange = *request;

	(void)handle;
	(void)url;
	(void)version;
	(void)upload;
	*upload_len = 0;
	if (!exchange->was_asked) {
		exchange->was_asked = true;
		exchange->method = xstrdup(method);
		server->options.request(server->options.user, exchange);
		if (!exchange->response)
			return suspend(exchange) ? MHD_YES : MHD_NO;
	}
	return exchange->is_over || !exchange->response ? MHD_NO : queue(exchange);
}

static void on_completed(void *user, struct MHD_Connection *handle, void **request,
			 enum MHD_RequestTerminationCode code)
{
	struct http_server *server = user;
	struct http_exchange *exchange = STEAL(*request), **at;

	(void)handle;
	(void)code;
	if (!exchange)
		return;
	for (at = &server->exchanges; *at != exchange;)
		at = &(*at)->next;
	*at = exchange->next;
	if (exchange->response)
		server->mhd.MHD_destroy_response(exchange->response);
	free(exchange->method);
	free(exchange->target);
	free(exchange);
}

__attribute__((format(printf, 2, 0))) static void on_complaint(void *user, const char *fmt,
							       va_list args)
{
	struct http_server *server = user;

	free(server->complaint);
	server->complaint = xvasprintf(fmt, args);
	server->complaint[strcspn(server->complaint, "\r\n")] = '\0';
}

static struct error *http_server_start(struct http_server *server)
{
	const struct http_options *options = &server->options;
	unsigned flags = MHD_USE_EPOLL | MHD_USE_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
			 (options->tls_cert ? MHD_USE_TLS : 0);
	/* The daemon closes its socket at the end. */
	int fd = fcntl(options->listen_fd, F_DUPFD_CLOEXEC, 0);
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)options->tls_cert},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)options->tls_key},
		{MHD_OPTION_HTTPS_PRIORITIES, 0,
		 (void *)(uintptr_t) "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"},
		{MHD_OPTION_END, 0, NULL},
	};

	server->daemon = server->mhd.MHD_start_daemon(
		flags, 0, NULL, NULL, http_server_on_request, server, MHD_OPTION_EXTERNAL_LOGGER,
		on_complaint, server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)HTTP_CONNECTIONS_MAX, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		options->is_local ? 0U : HTTP_CONNECTIONS_PER_ADDRESS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_REQUEST_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES, MHD_OPTION_URI_LOG_CALLBACK,
		on_target, server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
		MHD_OPTION_NOTIFY_CONNECTION, http_server_on_connection, server, MHD_OPTION_ARRAY,
		options->tls_cert ? tls : &tls[ARRAY_SIZE(tls) - 1], MHD_OPTION_END);
	if (server->daemon)
		return NULL;
	if (fd >= 0)
		close(fd);
	return error_new("start an HTTP server: %s",
			 server->complaint ? server->complaint : "libmicrohttpd refuses");
}

struct error *http_server_open(const struct http_options *options, struct loop *loop,
			       struct http_server **ret)
{
	struct http_server *server = xcalloc(1, sizeof(*server));
	struct error *err = mhd_library_load(options->tls_cert, &server->mhd);
	int fd;

	server->options = *options;
	server->loop = loop;
	server->timer = loop_add_timer(loop, http_server_run, server);
	server->sweeper = loop_add_timer(loop, http_server_sweep, server);
	if (!err)
		err = http_server_start(server);
	if (!err) {
		fd = server->mhd.MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)
			     ->epoll_fd;
		err = loop_watch(loop, fd, http_server_run, server, &server->watch);
	}
	if (err) {
		http_server_close(server);
		return err;
	}
	*ret = server;
	return NULL;
}

void http_server_close(struct http_server *server)
{
	if (!server)
		return;
	/* A suspended connection cannot be closed. */
	for (struct http_exchange *exchange = server->exchanges; exchange;
	     exchange = exchange->next) {
		exchange->is_over = true;
		if (exchange->is_suspended)
			go_on(exchange);
	}
	if (server->daemon) {
		server->mhd.MHD_run(server->daemon);
		loop_unwatch(server->loop, server->watch);
		server->mhd.MHD_stop_daemon(server->daemon);
	}
	loop_remove_timer(server->timer);
	loop_remove_timer(server->sweeper);
	free(server->complaint);
	free(server);
}

struct http_counts http_server_counts(const struct http_server *server)
{
	return server->counts;
}

const char *http_exchange_method(const struct http_exchange *exchange)
{
	return exchange->method;
}

const char *http_exchange_target(const struct http_exchange *exchange)
{
	return exchange->target;
}

const char *http_exchange_header(const struct http_exchange *exchange, const char *name)
{
	return exchange->server->mhd.MHD_lookup_connection_value(exchange->connection,
								 MHD_HEADER_KIND, name);
}

int http_exchange_socket(const struct http_exchange *exchange)
{
	return connection_of(exchange)->fd;
}

static struct MHD_Response *http_server_content_of(const struct mhd_library *mhd,
						   const struct http_answer *answer)
{
	void *text = (void *)(uintptr_t)answer->text;

	if (answer->fd >= 0)
		return mhd->MHD_create_response_from_fd(answer->fd_bytes, answer->fd);
	return mhd->MHD_create_response_from_buffer(answer->text_len, text, MHD_RESPMEM_MUST_COPY);
}

static void http_server_add_headers(const struct mhd_library *mhd, struct MHD_Response *response,
				    const struct http_header *headers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		mhd->MHD_add_response_header(response, headers[i].name, headers[i].value);
}

void http_exchange_answer(struct http_exchange *exchange, const struct http_answer *answer)
{
	const struct mhd_library *mhd = &exchange->server->mhd;

	exchange->status = answer->status;
	exchange->response = http_server_content_of(mhd, answer);
	if (exchange->response) {
		http_server_add_headers(mhd, exchange->response, common_headers,
					ARRAY_SIZE(common_headers));
		http_server_add_headers(mhd, exchange->response,
					&(struct http_header){"Content-Type", answer->type}, 1);
		http_server_add_headers(mhd, exchange->response, answer->headers,
					answer->header_count);
	}
	exchange->is_over |= !exchange->response;
	if (exchange->is_suspended)
		go_on(exchange);
}
