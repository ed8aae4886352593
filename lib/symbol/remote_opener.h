/*
 * Opens debug files for a confined process. The process asks for them through
 * its channel. prof, which may open files, answers with a descriptor.
 */
#ifndef PROF_SYMBOL_REMOTE_OPENER_H
#define PROF_SYMBOL_REMOTE_OPENER_H

#include "elf/debugfile.h"
#include "sandbox/channel.h"

#include <stdbool.h>

/* Kinds of messages. The protocol of the channel must not use these numbers. */
enum { REMOTE_OPENER_QUESTION = 0x100, REMOTE_OPENER_ANSWER };

/* Size of the largest encoded question. */
enum { REMOTE_QUESTION_BYTES_MAX = 1 + 4 + PATH_MAX };

/* Encodes a question. Returns the number of bytes. */
size_t remote_question_write(const struct debugfile_question *question, uint32_t attempt,
			     unsigned char into[REMOTE_QUESTION_BYTES_MAX]);
/*
 * Decodes a question. Returns false if it is invalid. `ret` points into *name,
 * which the caller frees.
 */
bool remote_question_read(struct bytes from, struct debugfile_question *ret, uint32_t *attempt,
			  char **name);

/*
 * Returns an opener for the confined process. Borrows the channel. Only one
 * thread may use it at a time.
 */
struct debugfile_opener remote_opener(struct channel *channel);

/*
 * In prof: answers a question, which is untrusted. Returns false if the
 * question is invalid or the process does not receive the answer.
 */
MUST_CHECK bool remote_opener_answer(struct channel *channel,
				     const struct channel_message *question,
				     const struct debugfile_opener *opener);

#endif
