#include "base/alloc.h"
#include "base/signals.h"
#include "cmd/command.h"
#include "cmd/serve/serve.h"
#include "cmd/ui/message.h"
#include "output/secret_file.h"
#include "serve/service.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct serve_http_run {
	const struct serve_options *options;
	char *const *words;
	struct listen_socket socket;
	char *tls_cert, *tls_key;
	struct token *token;
	struct signals signals;
	struct loop *loop;
	struct loop_watch *signal_watch;
	struct service *service;
	bool is_over;
};

static void serve_http_on_signal(void *user)
{
	struct serve_http_run *run = user;
	struct received_signal signal;

	if (signal_guard_next(run->signals.guard, &signal) && signal.number != SIGUSR2)
		run->is_over = true;
}

static void say(void *user, const char *text)
{
	const struct serve_http_run *run = user;

	if (run->options->verbose)
		message("%s", text);
}

static struct error *open_socket(struct serve_http_run *run)
{
	const char *address = run->options->listen;
	bool is_inherited = false;
	struct error *err = NULL;

	if (!address)
		err = listen_socket_inherit(&run->socket, &is_inherited);
	if (err || is_inherited)
		return err;
	return listen_socket_open(address ? address : SERVE_USUAL_ADDRESS, &run->socket);
}

/* If the server can be reached from other machines, names, stacks and the token
 * itself could be read on the network. */
static struct error *check_reach(const struct serve_http_run *run)
{
	if (run->socket.is_local || (run->token && run->tls_cert))
		return NULL;
	return error_hint(error_new("%s can be reached from other machines, which takes a token "
				    "and TLS",
				    run->socket.address),
			  "add --token-file FILE --tls-cert FILE --tls-key FILE, or listen on "
			  "127.0.0.1");
}

static struct error *open_secrets(struct serve_http_run *run)
{
	const struct serve_options *options = run->options;
	struct error *err = NULL;

	if (options->token_file)
		err = token_read(options->token_file, &run->token);
	if (!err && options->tls_cert)
		err = secret_file_read_public(options->tls_cert, &run->tls_cert);
	if (!err && options->tls_key)
		err = secret_file_read(options->tls_key, &run->tls_key);
	return err;
}

static struct error *open_loop(struct serve_http_run *run)
{
	struct error *err = signals_open(&run->signals);

	if (!err)
		signal_guard_begin(run->signals.guard, SIGNAL_PHASE_LISTENING);
	if (!err)
		err = loop_new(&run->loop);
	if (!err)
		err = loop_watch(run->loop, signal_guard_fd(run->signals.guard),
				 serve_http_on_signal, run, &run->signal_watch);
	return err;
}

static struct error *open_service(struct serve_http_run *run)
{
	return service_open(
		&(struct service_options){
			.socket = &run->socket,
			.tls_cert = run->tls_cert,
			.tls_key = run->tls_key,
			.gate = {.token = run->token,
				 .users = run->options->users.items,
				 .user_count = run->options->users.count},
			.command = run->words,
			.say = say,
			.user = run,
		},
		run->loop, &run->service);
}

static void say_where(const struct serve_http_run *run)
{
	const char *scheme = run->tls_cert ? "https" : "http";

	if (run->options->quiet)
		return;
	if (run->socket.path)
		message("serving at %s", run->socket.address);
	else
		message("serving at %s://%s/debug/pprof/", scheme, run->socket.address);
}

static struct error *run_service(struct serve_http_run *run)
{
	struct error *err = open_secrets(run);

	if (!err)
		err = open_socket(run);
	if (!err)
		err = check_reach(run);
	if (!err)
		err = open_loop(run);
	if (!err)
		err = open_service(run);
	if (err)
		return err;
	say_where(run);
	while (!run->is_over)
		loop_run(run->loop, LOOP_FOREVER);
	return NULL;
}

static void serve_http_run_deinit(struct serve_http_run *run)
{
	service_close(run->service);
	if (run->loop)
		loop_unwatch(run->loop, run->signal_watch);
	loop_free(run->loop);
	signals_close(&run->signals);
	listen_socket_close(&run->socket);
	token_free(run->token);
	free(run->tls_cert);
	if (run->tls_key)
		explicit_bzero(run->tls_key, strlen(run->tls_key));
	free(run->tls_key);
}

int serve(const struct serve_options *options, char *const *words)
{
	CLEANUP(serve_http_run_deinit)
	struct serve_http_run run = {.options = options, .words = words, .socket = {.fd = -1}};
	struct error *err = run_service(&run);

	return err ? message_failure(err) : STATUS_OK;
}
