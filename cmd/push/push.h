/*
 * Pushes profiles to servers (lib/push): the options, and the messages.
 *
 *	prof record -a --push otlp:http://localhost:4318 --label env=prod
 *	prof convert prof.pb.gz --push pyroscope:https://user:password@host
 *	prof convert DIRECTORY --push parca:http://localhost:7070     pushes what was not delivered
 */
#ifndef PROF_CMD_PUSH_PUSH_H
#define PROF_CMD_PUSH_PUSH_H

#include "base/signal_guard.h"
#include "cmd/ui/options.h"
#include "output/directory.h"
#include "push/delivery.h"

struct push_options {
	struct option_list targets, headers, labels;
	const char *token_file;
	uint64_t timeout_ns;
};

/* The entries of a table for struct `type`, which holds the push_options as `member`. */
#define PUSH_ENTRIES(type, member)                                                                 \
	OPTION_ENTRY(PUSH, 0, "push", "PROTOCOL:URL",                                              \
		     "push the profile to a server; otlp:http://HOST:4318, "                       \
		     "pyroscope:http://HOST:4040 or parca:http://HOST:7070. Repeatable",           \
		     option_append, offsetof(type, member.targets)),                               \
		OPTION_ENTRY(PUSH, 0, "label", "KEY=VALUE",                                        \
			     "label pushed profiles and .ndjson rows, such as service.name=shop; " \
			     "repeatable",                                                         \
			     option_append, offsetof(type, member.labels)),                        \
		OPTION_ENTRY(PUSH, 0, "push-token-file", "FILE",                                   \
			     "send the token in FILE to the servers (Authorization: Bearer)",      \
			     option_string, offsetof(type, member.token_file)),                    \
		OPTION_ENTRY(                                                                      \
			PUSH, 0, "push-header", "NAME:VALUE",                                      \
			"send this header to the servers, such as X-Scope-OrgID:team; repeatable", \
			option_append, offsetof(type, member.headers)),                            \
		OPTION_ENTRY(                                                                      \
			PUSH, 0, "push-timeout", "SECONDS",                                        \
			"retry for SECONDS if a server is busy or does not answer (default 30)",   \
			option_time, offsetof(type, member.timeout_ns))

void push_options_init(struct push_options *options);
void push_options_deinit(struct push_options *options);

/* A zeroed push has no target. */
struct push {
	struct push_target *targets;
	size_t target_count;
	char **headers; /* NULL-terminated */
	size_t header_count;
	struct push_labels labels;
	uint64_t timeout_ns;
	bool quiet;
	bool repeats;	    /* do not repeat a failure that was reported */
	bool is_background; /* do not report a signal that ends the push */
	bool has_lock;	    /* prof holds the lock of the directory (segments/store.h) */
	/* Set by the caller. A signal ends the waits; `guard` must then defer
	 * signals. May be NULL. */
	struct push_wait wait;
	struct signal_guard *guard;
};

/*
 * Checks everything that can be known before there is a profile.
 */
MUST_CHECK struct error *push_open(const struct push_options *options, bool quiet,
				   struct push *ret);
void push_close(struct push *push);

/* Prints what was pushed and what was not. Returns false if a target did not
 * get the profile. */
bool push_profile(const struct push *push, const struct profile *profile);
/* Pushes the profiles of a directory that were not delivered yet. prefix: the
 * start of their names (push/backlog.h). */
bool push_directory(const struct push *push, const struct output_directory *directory,
		    const char *prefix);

/* Returns a word of a command line without the secrets in --push options.
 * previous: the word before it, or "". The caller frees it. */
char *push_word_without_secrets(const char *previous, const char *word);

#endif
