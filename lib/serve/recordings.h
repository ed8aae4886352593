/*
 * Recordings for clients: one at a time, each by a process that executes prof record and is ended
 * when its client goes.
 */
#ifndef PROF_SERVE_RECORDINGS_H
#define PROF_SERVE_RECORDINGS_H

#include "serve/metrics.h"
#include "serve/profile_job.h"
#include "serve/request_target.h"

/* A line about what was done; borrowed. */
typedef void serve_say(void *user, const char *text);

struct recordings {
	struct loop *loop;
	struct metrics *metrics; /* where recordings are counted */
	serve_say *say;
	void *user;

	struct profile_job *job;	/* NULL: there is no recording */
	struct http_exchange *exchange; /* its client's */
	struct serve_wish wish;
	uint64_t until_ns; /* when it will have been sampled */
};

/* Answers the exchange, now or when the recording has ended. */
void recordings_begin(struct recordings *recordings, struct http_exchange *exchange,
		      const struct serve_wish *wish);
/* The client has gone; the exchange may be another one. */
void recordings_end(struct recordings *recordings, const struct http_exchange *exchange);
/* Ends the recording, if any. */
void recordings_deinit(struct recordings *recordings);

/* The words of prof record for a wish, with NULL at the end; those of the wish are borrowed. */
enum { RECORDING_WORDS_MAX = 20, RECORDING_NUMBERS_BYTES = 64 };
struct recording_words {
	const char *words[RECORDING_WORDS_MAX];
	char numbers[RECORDING_NUMBERS_BYTES];
};
/* user: whose processes are "everything"; 0: the whole machine. */
void recording_words_of(const struct serve_wish *wish, uid_t user, struct recording_words *ret);

#endif
