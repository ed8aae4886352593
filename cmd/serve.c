/*
 * prof serve: profiles over HTTP, of any process, as Go programs serve their own.
 */
#include "cmd/serve.h"

#include "base/alloc.h"
#include "base/trusted_user.h"
#include "cmd/command.h"
#include "cmd/sampling_options.h"
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

static const struct option_entry table[] = {
	OPTION_ENTRY('l', "listen", "ADDRESS",
		     "listen on HOST:PORT or unix:PATH (default " SERVE_USUAL_ADDRESS
		     ", or systemd's socket)",
		     option_string, offsetof(struct serve_options, listen)),
	OPTION_ENTRY(0, "allow-user", "USER",
		     "also answer programs of this user on this machine; repeatable", take_user,
		     offsetof(struct serve_options, users)),
	OPTION_ENTRY(0, "token-file", "FILE",
		     "answer clients that know the token in FILE, whoever they are", option_string,
		     offsetof(struct serve_options, token_file)),
	OPTION_ENTRY(0, "tls-cert", "FILE", "speak TLS with the certificates in FILE (PEM)",
		     option_string, offsetof(struct serve_options, tls_cert)),
	OPTION_ENTRY(0, "tls-key", "FILE", "the certificate's private key (PEM)", option_string,
		     offsetof(struct serve_options, tls_key)),
	OPTION_ENTRY('q', "quiet", NULL, "print only errors", option_true,
		     offsetof(struct serve_options, quiet)),
	OPTION_ENTRY('v', "verbose", NULL, "print a line per recording", option_true,
		     offsetof(struct serve_options, verbose)),
	{0},
};

static int print_help(void)
{
	printf("Usage: prof serve [options]\n\n"
	       "Serves profiles of running processes over HTTP, as Go programs serve their own:\n"
	       "  go tool pprof 'http://" SERVE_USUAL_ADDRESS
	       "/debug/pprof/profile?seconds=5&pid=PID'\n"
	       "  curl -O 'http://" SERVE_USUAL_ADDRESS "/flame?seconds=5&comm=NAME'\n"
	       "A browser gets a list of processes.\n\n");
	options_help(table, stdout);
	return STATUS_OK;
}

static struct error *check(const struct serve_options *options, int rest, int argc)
{
	if (rest != argc)
		return error_new("prof serve takes no command: it records what runs");
	if (!options->tls_cert != !options->tls_key)
		return error_new("--tls-cert and --tls-key belong together");
	if (options->token_file && options->users.count)
		return error_hint(error_new("--allow-user and --token-file exclude each other"),
				  "whoever knows the token is answered");
	return NULL;
}

static void options_deinit(struct serve_options *options)
{
	free(options->users.items);
}

static int serve_run(int argc, char **argv)
{
	CLEANUP(options_deinit) struct serve_options options = {0};
	int rest = argc;
	bool help;
	struct error *err = options_parse(table, argc, argv, &options, &rest, &help);

	if (!err && help)
		return print_help();
	if (!err)
		err = check(&options, rest, argc);
	if (err)
		return message_failure(err, STATUS_USAGE);
	add_user(&options.users, geteuid());
	add_user(&options.users, sudo_caller());
	return serve(&options, argv);
}

const struct command command_serve = {
	.name = "serve",
	.summary = "serve profiles of running processes over HTTP",
	.options = table,
	.operands = OPERANDS_FILES,
	.run = serve_run,
};
