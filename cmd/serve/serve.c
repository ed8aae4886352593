/*
 * prof serve: serves profiles of any process over HTTP, as Go programs serve
 * their own.
 */
#include "cmd/serve/serve.h"

#include "base/alloc.h"
#include "base/trusted_user.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/options/sampling_options.h"
#include "cmd/ui/message.h"
#include "cmd/ui/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void add_user(struct user_list *users, uid_t user)
{
	GROW(users->items, users->count, users->room);
	users->items[users->count++] = user;
}

static struct error *take_user(void *field, const char *argument)
{
	struct user user;
	struct error *err = sampling_take_user(&user, argument);

	if (!err)
		add_user(field, user.id);
	return err;
}

static const struct option_entry serve_option_table[] = {
	OPTION_COMMON(ACCESS, 'l', "listen", "ADDRESS",
		      "listen on HOST:PORT or unix:PATH; default " SERVE_USUAL_ADDRESS
		      ", or systemd's socket",
		      option_string, offsetof(struct serve_options, listen)),
	OPTION_COMMON(ACCESS, 0, "allow-user", "USER",
		      "also answer local programs of this user; repeatable", take_user,
		      offsetof(struct serve_options, users)),
	OPTION_COMMON(ACCESS, 0, "token-file", "FILE",
		      "answer all clients that send the token in FILE", option_string,
		      offsetof(struct serve_options, token_file)),
	OPTION_COMMON(ACCESS, 0, "tls-cert", "FILE", "use TLS with the certificates in FILE (PEM)",
		      option_string, offsetof(struct serve_options, tls_cert)),
	OPTION_COMMON(ACCESS, 0, "tls-key", "FILE",
		      "read the certificate's private key from FILE (PEM)", option_string,
		      offsetof(struct serve_options, tls_key)),
	QUIET_ENTRY(struct serve_options, quiet),
	OPTION_COMMON(OUTPUT, 'v', "verbose", NULL, "print a line per recording", option_true,
		      offsetof(struct serve_options, verbose)),
	{0},
};

static struct error *serve_check(const struct serve_options *options, int rest, int argc)
{
	if (rest != argc)
		return error_new("prof serve takes no command: it records what runs");
	if (!options->tls_cert != !options->tls_key)
		return error_new("--tls-cert and --tls-key belong together");
	if (options->token_file && options->users.count)
		return error_hint(error_new("--allow-user and --token-file exclude each other"),
				  "every client that knows the token is answered");
	return NULL;
}

static void serve_options_deinit(struct serve_options *options)
{
	free(options->users.items);
}

static int serve_run(int argc, char **argv)
{
	CLEANUP(serve_options_deinit) struct serve_options options = {0};
	int rest = argc;
	enum option_group help;
	struct error *err = options_parse(serve_option_table, argc, argv, &options, &rest, &help);

	if (!err && help)
		return help_print(&command_serve, help);
	if (!err)
		err = serve_check(&options, rest, argc);
	if (err)
		return message_failure(error_usage(err));
	add_user(&options.users, geteuid());
	add_user(&options.users, sudo_caller());
	return serve(&options, argv);
}

const struct command command_serve = {
	.name = "serve",
	.summary = "serve profiles of running processes over HTTP",
	.usage = "[options]",
	.description = "Serves profiles of running processes over HTTP, at the paths of Go's "
		       "net/http/pprof. A browser gets a list of processes.",
	.examples = "sudo prof serve\n"
		    "curl -O 'http://" SERVE_USUAL_ADDRESS "/flame?seconds=5&comm=NAME'\n"
		    "go tool pprof 'http://" SERVE_USUAL_ADDRESS "/debug/pprof/profile?pid=PID'\n"
		    "prof serve --listen unix:/run/prof --allow-user alice",
	.options = serve_option_table,
	.operands = OPERANDS_FILES,
	.run = serve_run,
};
