/*
 * A question to a confined process (confined.h), which is started for it, and its one answer:
 * bytes, or an error. The process is treated as hostile, and the answer as well.
 */
#ifndef PROF_SANDBOX_ANSWER_H
#define PROF_SANDBOX_ANSWER_H

#include "sandbox/confined.h"

#include <stdatomic.h>

/* The first kind of message that the two sides may use beside the answer, in either direction. */
enum { ANSWER_OTHER_KINDS = 0x100 };

/* In the confined process, the last thing it does. Without prof they do nothing. */
void answer_send(struct channel *channel, const void *bytes, size_t len);
void answer_send_error(struct channel *channel, const struct error *err);

struct answer_options {
	const char *what; /* what the process reads, for messages: "its types" */
	struct confined_limits limits;
	size_t bytes_max;
	unsigned standstill_ms;	   /* how long it may neither want a CPU nor send; 0: 10 s */
	const atomic_bool *cancel; /* ends the wait soon; may be NULL */
	/* Takes a message of another kind. False: it is nonsense. NULL: there are none. */
	bool (*take)(void *user, struct channel *channel, const struct channel_message *message);
	void *user;
};

/*
 * Runs main(argument) in a confined process of nobody, and waits for its answer: *bytes, which the
 * caller frees. Fails with the error that the process sends, or if it cannot be started, dies,
 * exceeds a limit, stands still or sends nonsense, or if it is cancelled.
 */
MUST_CHECK struct error *answer_ask(const struct answer_options *options, confined_main *main,
				    void *argument, char **bytes, size_t *len);
/* The error of an answer that the caller does not understand. */
MUST_CHECK struct error *answer_nonsense(const struct answer_options *options);

#endif
