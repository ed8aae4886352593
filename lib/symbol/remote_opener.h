/*
 * Debug files for a confined process: it asks for them through its channel, and prof, which may
 * open files, answers with a descriptor.
 */
#ifndef PROF_SYMBOL_REMOTE_OPENER_H
#define PROF_SYMBOL_REMOTE_OPENER_H

#include "elf/debugfile.h"
#include "sandbox/channel.h"

#include <stdbool.h>

/* Kinds of messages, which the protocol of the channel must leave free. */
enum { REMOTE_OPENER_QUESTION = 0x100, REMOTE_OPENER_ANSWER };

/* Room for any question as bytes. */
enum { REMOTE_QUESTION_BYTES_MAX = 1 + 4 + PATH_MAX };

/* Returns the number of bytes. */
size_t remote_question_write(const struct debugfile_question *question, uint32_t attempt,
			     unsigned char into[REMOTE_QUESTION_BYTES_MAX]);
/* False if it is not a valid question. *name: what ret points to; the caller frees it. */
bool remote_question_read(struct bytes from, struct debugfile_question *ret, uint32_t *attempt,
			  char **name);

/* In the confined process; borrows the channel. One thread asks at a time. */
struct debugfile_opener remote_opener(struct channel *channel);

/*
 * In prof: answers a question, which is treated as hostile. False if it is not a question, or
 * nobody waits for its answer.
 */
MUST_CHECK bool remote_opener_answer(struct channel *channel,
				     const struct channel_message *question,
				     const struct debugfile_opener *opener);

#endif
