/*
 * Starts a confined process (confined.h) for one request and returns its single
 * answer: bytes or an error. The process and its answer are untrusted.
 */
#ifndef PROF_SANDBOX_ANSWER_H
#define PROF_SANDBOX_ANSWER_H

#include "sandbox/confined.h"

#include <stdatomic.h>

/* First message kind that the two sides may use in addition to the answer, in
 * either direction. */
enum { ANSWER_OTHER_KINDS = 0x100 };

/* Sends the answer; called last in the confined process. Does nothing if prof
 * has exited. */
void answer_send(struct channel *channel, const void *bytes, size_t len);
void answer_send_error(struct channel *channel, const struct error *err);

struct answer_options {
	const char *what; /* what the process reads, for messages: "its types" */
	struct confined_limits limits;
	size_t bytes_max;
	/* Maximum time in which the process neither is runnable nor sends; 0
	 * for 10 s. */
	unsigned standstill_ms;
	const atomic_bool *cancel; /* ends the wait soon; may be NULL */
	/* Handles a message of another kind. Returns false if it is invalid.
	 * NULL if only the answer may come. */
	bool (*take)(void *user, struct channel *channel, const struct channel_message *message);
	void *user;
};

/*
 * Runs main(argument) in a confined process as CONFINED_NOBODY, and waits for
 * its answer in *bytes, which the caller frees. Fails with the error that the
 * process sends. Fails as well if the process cannot be started, dies, exceeds
 * a limit, makes no progress or sends an invalid message, or if the wait is
 * cancelled.
 */
MUST_CHECK struct error *answer_ask(const struct answer_options *options, confined_main *main,
				    void *argument, char **bytes, size_t *len);
/* Returns the error for an answer that the caller finds invalid. */
MUST_CHECK struct error *answer_nonsense(const struct answer_options *options);

#endif
