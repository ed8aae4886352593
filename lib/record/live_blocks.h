/*
 * The sampled blocks that live: a set by process and address, with the blocks of each process, and
 * its mappings in the order of their addresses. It holds LIVE_BLOCKS_MAX blocks (120 MB), whatever
 * a program claims to allocate.
 */
#ifndef PROF_RECORD_LIVE_BLOCKS_H
#define PROF_RECORD_LIVE_BLOCKS_H

#include "profile/profile.h"

enum { LIVE_BLOCKS_MAX = 1 << 20 };

struct live_block {
	pid_t pid;
	uint64_t address;
	uint64_t size_bytes;	  /* of what is left of a mapping */
	uint64_t requested_bytes; /* at first */
	uint64_t objects, bytes;  /* what it stands for */
	uint64_t start_ns;
	stack_id stack;
	thread_id thread;  /* a number of the caller's */
	bool is_mapping;   /* may be given back in parts */
	bool is_allocated; /* its allocation is in a profile */

	bool is_used;		 /* of the set: else the slot is free, */
	uint32_t next, previous; /* and the blocks of the process */
};

struct live_blocks;

/* limit: at most LIVE_BLOCKS_MAX. */
struct live_blocks *live_blocks_new(uint32_t limit);
void live_blocks_free(struct live_blocks *blocks);

/*
 * Adds a block to a place where the set has none: the caller has taken what was there. A mapping is
 * not empty and does not reach the end of the addresses. False: the set is full, or has as many
 * mappings of the process as the kernel allows.
 */
bool live_blocks_add(struct live_blocks *blocks, const struct live_block *block);
/* Removes the block at the address. False: there is none. */
bool live_blocks_take(struct live_blocks *blocks, pid_t pid, uint64_t address,
		      struct live_block *ret);
/*
 * Removes what lies in the range of the first mapping that reaches into it: of a part, *ret has its
 * share of the bytes and no object. False: there is no such mapping.
 */
bool live_blocks_take_mapped(struct live_blocks *blocks, pid_t pid, uint64_t start, uint64_t end,
			     struct live_block *ret);
/* Removes any block of the process. False: it has none. */
bool live_blocks_take_any(struct live_blocks *blocks, pid_t pid, struct live_block *ret);

/*
 * The next block after *at, which is 0 at first; NULL: none. The caller may change what does not
 * say where the block is.
 */
struct live_block *live_blocks_next(struct live_blocks *blocks, uint32_t *at);

#endif
