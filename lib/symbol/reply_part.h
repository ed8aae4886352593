/* Replies made of the addresses of other replies to requests for one module. */
#ifndef PROF_SYMBOL_REPLY_PART_H
#define PROF_SYMBOL_REPLY_PART_H

#include "symbol/reply.h"

struct reply_pick {
	const struct reply *reply;
	uint32_t address; /* the index of an address in the reply */
};

/*
 * Returns the reply to a request with these addresses: the bytes that
 * reply_write() would have written for them. All but the lines, such as the
 * problem, is that of `like`.
 */
struct reply *reply_part(const struct reply *like, const struct reply_pick *picks, size_t count);

#endif
