/*
 * Recordings for clients: one at a time, each in a process that executes prof
 * record and is killed if its client disconnects.
 */
#ifndef PROF_SERVE_RECORDINGS_H
#define PROF_SERVE_RECORDINGS_H

#include "serve/metrics.h"
#include "serve/profile_job.h"
#include "serve/request_target.h"

/* Receives a line for the log; borrowed. */
typedef void serve_say(void *user, const char *text);

struct recordings {
	struct loop *loop;
	struct metrics *metrics; /* counts recordings */
	serve_say *say;
	void *user;

	struct profile_job *job;	/* NULL if no recording is running */
	struct http_exchange *exchange; /* of the client */
	struct serve_wish wish;
	uint64_t until_ns; /* when sampling ends */
};

/* Answers the exchange, at once or when the recording has ended. */
void recordings_begin(struct recordings *recordings, struct http_exchange *exchange,
		      const struct serve_wish *wish);
/*
 * To be called when a client has disconnected. The exchange may be another one.
 */
void recordings_end(struct recordings *recordings, const struct http_exchange *exchange);
/* Ends the recording, if there is one. */
void recordings_deinit(struct recordings *recordings);

/*
 * The arguments of prof record for a request, NULL-terminated. Those that come
 * from the request are borrowed.
 */
enum { RECORDING_WORDS_MAX = 20, RECORDING_NUMBERS_BYTES = 64 };
struct recording_words {
	const char *words[RECORDING_WORDS_MAX];
	char numbers[RECORDING_NUMBERS_BYTES];
};
/* user: whose processes "everything" means; 0 means the whole machine. */
void recording_words_of(const struct serve_wish *wish, uid_t user, struct recording_words *ret);

#endif
