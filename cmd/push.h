/*
 * Pushes profiles to servers (lib/push): the options, and what is printed.
 *
 *	prof record -a --push otlp:http://localhost:4318 --label env=prod
 *	prof convert prof.pb.gz --push pyroscope:https://user:password@host
 *	prof convert DIRECTORY --push parca:http://localhost:7070     what is not delivered yet
 */
#ifndef PROF_CMD_PUSH_H
#define PROF_CMD_PUSH_H

#include "base/signal_guard.h"
#include "cmd/ui/options.h"
#include "output/directory.h"
#include "push/delivery.h"

struct push_options {
	struct option_list targets, headers, labels;
	const char *token_file;
	uint64_t patience_ns;
};

/* The entries of a table for struct `type`, which holds the push_options as `member`. */
#define PUSH_ENTRIES(type, member)                                                                 \
	OPTION_ENTRY(0, "push", "PROTOCOL:URL",                                                    \
		     "push the profile to a server: otlp:http://HOST:4318, "                       \
		     "pyroscope:http://HOST:4040 or parca:http://HOST:7070; repeatable",           \
		     option_append, offsetof(type, member.targets)),                               \
		OPTION_ENTRY(0, "label", "KEY=VALUE",                                              \
			     "label what is pushed, and rows (.ndjson), for instance "             \
			     "service.name=shop; repeatable",                                      \
			     option_append, offsetof(type, member.labels)),                        \
		OPTION_ENTRY(0, "push-token-file", "FILE",                                         \
			     "send the token in FILE to the servers (Authorization: Bearer)",      \
			     option_string, offsetof(type, member.token_file)),                    \
		OPTION_ENTRY(0, "push-header", "NAME:VALUE",                                       \
			     "send this header to the servers, for instance X-Scope-OrgID:team; "  \
			     "repeatable",                                                         \
			     option_append, offsetof(type, member.headers)),                       \
		OPTION_ENTRY(0, "push-timeout", "SECONDS",                                         \
			     "try for this long if a server does not answer or is busy "           \
			     "(default 30)",                                                       \
			     option_time, offsetof(type, member.patience_ns))

void push_options_init(struct push_options *options);
void push_options_deinit(struct push_options *options);

/* Zeroed: no target. */
struct push {
	struct push_target *targets;
	size_t target_count;
	char **headers; /* NULL-terminated */
	size_t header_count;
	struct push_labels labels;
	uint64_t patience_ns;
	bool quiet;
	bool repeats;	    /* what fails was said before */
	bool is_background; /* a signal that ends it need not be said */
	bool has_lock;	    /* prof holds that of the directory (segment_store.h) */
	/* Set by the caller: a signal ends the waits, which its guard must let stand still; may be
	 * NULL. */
	struct push_wait wait;
	struct signal_guard *guard;
};

/*
 * Checks everything that can be known before there is a profile. *is_usage: the error is about the
 * command line.
 */
MUST_CHECK struct error *push_open(const struct push_options *options, bool quiet, struct push *ret,
				   bool *is_usage);
void push_close(struct push *push);

/* Prints what was pushed and what was not. False: a target did not get it. */
bool push_profile(const struct push *push, const struct profile *profile);
/* Pushes the profiles of a directory that were not delivered yet; prefix: of their names
 * (push/backlog.h). */
bool push_directory(const struct push *push, const struct output_directory *directory,
		    const char *prefix);

/* A word of a command line without the secrets that options of pushing hold; previous: the word
 * before it, or "". To be freed. */
char *push_word_without_secrets(const char *previous, const char *word);

#endif
