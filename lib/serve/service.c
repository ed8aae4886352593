#include "serve/service.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "serve/answers.h"
#include "serve/index_page.h"
#include "serve/peer.h"

#include <stdio.h>
#include <string.h>

/* How long the index measures the CPU usage of processes. */
#define INDEX_NS (400 * NS_PER_MS)

/* A client that waits for the index. */
struct index_wait {
	struct index_wait *next;
	struct service *service;
	struct http_exchange *exchange;
	struct processes before;
	struct loop_timer *timer;
};

struct service {
	struct service_options options;
	struct loop *loop;
	struct http_server *http;
	struct metrics metrics;
	struct recordings recordings;
	struct index_wait *waits;
};

static void index_wait_free(struct index_wait *wait)
{
	struct index_wait **at;

	for (at = &wait->service->waits; *at != wait;)
		at = &(*at)->next;
	*at = wait->next;
	processes_deinit(&wait->before);
	loop_remove_timer(wait->timer);
	free(wait);
}

static void answer_index(void *user)
{
	struct index_wait *wait = user;
	struct processes now;
	CLEANUP(free_ptr) char *page = NULL;

	processes_read(&now);
	processes_compare(&now, &wait->before);
	page = index_page(&now, geteuid());
	answer_page(wait->exchange, page);
	processes_deinit(&now);
	index_wait_free(wait);
}

static void wait_for_index(struct service *service, struct http_exchange *exchange)
{
	struct index_wait *wait = xcalloc(1, sizeof(*wait));

	*wait = (struct index_wait){
		.next = service->waits,
		.service = service,
		.exchange = exchange,
		.timer = loop_add_timer(service->loop, answer_index, wait),
	};
	service->waits = wait;
	processes_read(&wait->before);
	loop_set_timer(wait->timer, clock_now_ns() + INDEX_NS);
}

static void answer_cmdline(const struct service *service, struct http_exchange *exchange)
{
	CLEANUP(free_ptr) char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs("prof", out);
	for (char *const *word = service->options.command; *word; word++)
		fprintf(out, "%c%s", '\0', *word);
	fclose(out);
	answer_text(exchange, ANSWER_TEXT, text, len);
}

/*
 * Profiles already contain all symbols, so the answer for a client that asks is
 * that there are no others.
 */
static void answer_symbol(struct http_exchange *exchange)
{
	static const char none[] = "num_symbols: 0\n";

	answer_text(exchange, ANSWER_TEXT, none, strlen(none));
}

static void answer_metrics(struct service *service, struct http_exchange *exchange)
{
	CLEANUP(free_ptr) char *text = NULL;

	service->metrics.http = http_server_counts(service->http);
	text = metrics_text(&service->metrics);
	answer_text(exchange, METRICS_TYPE, text, strlen(text));
}

static void service_record(struct service *service, struct http_exchange *exchange)
{
	struct serve_wish wish;
	struct error *err = serve_wish_of(http_exchange_target(exchange), &wish);

	if (err) {
		service->metrics.wrong++;
		answer_error(exchange, 400, error_text(err), NULL);
		error_free(err);
	} else if (!strcmp(http_exchange_method(exchange), "HEAD")) {
		answer_profile(exchange, wish.format, -1, 0);
	} else {
		recordings_begin(&service->recordings, exchange, &wish);
	}
}

/*
 * A browser requests the index; the standalone pprof requests its profile here.
 */
static void answer_root(struct service *service, struct http_exchange *exchange)
{
	const char *accepts = http_exchange_header(exchange, "Accept");

	if (accepts && strstr(accepts, "text/html"))
		http_exchange_answer(
			exchange,
			&(struct http_answer){
				.status = 302,
				.type = ANSWER_TEXT,
				.headers = &(struct http_header){"Location", "/debug/pprof/"},
				.header_count = 1,
				.fd = -1,
				.text = "",
			});
	else
		service_record(service, exchange);
}

static void service_answer(struct service *service, struct http_exchange *exchange,
			   enum serve_route route)
{
	switch (route) {
	case SERVE_ROOT:
		answer_root(service, exchange);
		return;
	case SERVE_INDEX:
		wait_for_index(service, exchange);
		return;
	case SERVE_PROFILE:
	case SERVE_FLAME:
		service_record(service, exchange);
		return;
	case SERVE_CMDLINE:
		answer_cmdline(service, exchange);
		return;
	case SERVE_SYMBOL:
		answer_symbol(exchange);
		return;
	case SERVE_METRICS:
		answer_metrics(service, exchange);
		return;
	case SERVE_HEALTH:
		answer_text(exchange, ANSWER_TEXT, "ok\n", strlen("ok\n"));
		return;
	case SERVE_UNKNOWN_PROFILE:
	case SERVE_UNKNOWN:
		service->metrics.wrong++;
		answer_error(exchange, 404,
			     route == SERVE_UNKNOWN ? "404 page not found" : "Unknown profile",
			     NULL);
		return;
	}
}

static void service_refuse(struct service *service, struct http_exchange *exchange,
			   enum gate_verdict verdict)
{
	static const struct {
		unsigned status;
		const char *text;
		struct http_header header;
	} refusals[] = {
		[GATE_METHOD] = {405, "only GET and HEAD are supported", {"Allow", "GET, HEAD"}},
		[GATE_BODY] = {413, "requests with a body are refused", {NULL, NULL}},
		[GATE_HOST] = {421,
			       "the Host header does not name this server; use localhost or "
			       "its address",
			       {NULL, NULL}},
		[GATE_ORIGIN] = {403,
				 "requests from pages of other sites are refused",
				 {NULL, NULL}},
		[GATE_TOKEN] = {401,
				"the token is missing or wrong",
				{"WWW-Authenticate", "Basic realm=\"prof\", charset=\"UTF-8\""}},
		[GATE_USER] = {403,
			       "this user has no access: start prof serve with --allow-user or "
			       "--token-file",
			       {NULL, NULL}},
	};

	service->metrics.refused[verdict]++;
	answer_error(exchange, refusals[verdict].status, refusals[verdict].text,
		     refusals[verdict].header.name ? &refusals[verdict].header : NULL);
}

static bool has_body(const struct http_exchange *exchange)
{
	const char *length = http_exchange_header(exchange, "Content-Length");

	return http_exchange_header(exchange, "Transfer-Encoding") ||
	       (length && strcmp(length, "0") != 0);
}

static enum gate_verdict service_judge(const struct service *service,
				       const struct http_exchange *exchange, enum serve_route route)
{
	const struct gate *gate = &service->options.gate;
	struct gate_request request = {
		.method = http_exchange_method(exchange),
		.host = http_exchange_header(exchange, "Host"),
		.origin = http_exchange_header(exchange, "Origin"),
		.fetch_site = http_exchange_header(exchange, "Sec-Fetch-Site"),
		.authorization = http_exchange_header(exchange, "Authorization"),
		.has_body = has_body(exchange),
		.is_public = route == SERVE_HEALTH,
	};

	if (!gate->token && !request.is_public)
		request.has_user = peer_user(http_exchange_socket(exchange), &request.user);
	return gate_judge(gate, &request);
}

static void service_on_request(void *user, struct http_exchange *exchange)
{
	struct service *service = user;
	enum serve_route route = serve_route_of(http_exchange_target(exchange));
	enum gate_verdict verdict = service_judge(service, exchange, route);

	service->metrics.requests++;
	if (verdict == GATE_OPEN)
		service_answer(service, exchange, route);
	else
		service_refuse(service, exchange, verdict);
}

static void on_gone(void *user, struct http_exchange *exchange)
{
	struct service *service = user;
	struct index_wait *wait = service->waits;

	while (wait && wait->exchange != exchange)
		wait = wait->next;
	if (wait)
		index_wait_free(wait);
	recordings_end(&service->recordings, exchange);
}

struct error *service_open(const struct service_options *options, struct loop *loop,
			   struct service **ret)
{
	struct service *service = xcalloc(1, sizeof(*service));
	struct error *err;

	service->options = *options;
	service->options.gate.is_tls = options->tls_cert;
	service->options.gate.host = options->tls_cert ? NULL : options->socket->host;
	service->loop = loop;
	service->recordings = (struct recordings){
		.loop = loop,
		.metrics = &service->metrics,
		.say = options->say,
		.user = options->user,
	};
	err = http_server_open(
		&(struct http_options){
			.listen_fd = options->socket->fd,
			.is_local = options->socket->is_local,
			.tls_cert = options->tls_cert,
			.tls_key = options->tls_key,
			.request = service_on_request,
			.gone = on_gone,
			.user = service,
		},
		loop, &service->http);
	if (err) {
		free(service);
		return err;
	}
	*ret = service;
	return NULL;
}

void service_close(struct service *service)
{
	if (!service)
		return;
	while (service->waits)
		index_wait_free(service->waits);
	recordings_deinit(&service->recordings);
	http_server_close(service->http);
	free(service);
}
