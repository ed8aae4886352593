/*
 * The set of sampled blocks that are in use. It is indexed by process and
 * address, lists the blocks of each process, and has its mappings in the order
 * of their addresses.
 *
 * The set holds at most LIVE_BLOCKS_MAX blocks (120 MB), which bounds memory
 * for any program.
 */
#ifndef PROF_RECORD_LIVE_BLOCKS_H
#define PROF_RECORD_LIVE_BLOCKS_H

#include "profile/profile.h"

enum { LIVE_BLOCKS_MAX = 1 << 20 };

struct live_block {
	pid_t pid;
	uint64_t address;
	uint64_t size_bytes;	  /* remaining size of a mapping */
	uint64_t requested_bytes; /* original size */
	uint64_t objects, bytes;  /* what the sample stands for */
	uint64_t start_ns;
	stack_id stack;
	thread_id thread;  /* a number of the caller's */
	bool is_mapping;   /* may be freed in parts */
	bool is_allocated; /* its allocation is in a profile */

	bool is_used;		 /* private: false if the slot is free */
	uint32_t next, previous; /* private: the list of the process's blocks */
};

struct live_blocks;

/* limit must not exceed LIVE_BLOCKS_MAX. */
struct live_blocks *live_blocks_new(uint32_t limit);
void live_blocks_free(struct live_blocks *blocks);

/*
 * Adds a block. The caller must have removed blocks that overlap with it. A
 * mapping must not be empty or reach the end of the address space. Returns
 * false if the set is full, or if the process has as many mappings as the
 * kernel allows.
 */
bool live_blocks_add(struct live_blocks *blocks, const struct live_block *block);
/* Removes the block at the address. Returns false if there is none. */
bool live_blocks_take(struct live_blocks *blocks, pid_t pid, uint64_t address,
		      struct live_block *ret);
/*
 * Removes the part of the range that belongs to the first mapping in it. If
 * that is only a part of the mapping, *ret has its share of the bytes and 0
 * objects. Returns false if the range has no mapping.
 */
bool live_blocks_take_mapped(struct live_blocks *blocks, pid_t pid, uint64_t start, uint64_t end,
			     struct live_block *ret);
/* Removes any block of the process. Returns false if it has none. */
bool live_blocks_take_any(struct live_blocks *blocks, pid_t pid, struct live_block *ret);

/*
 * Iterates: returns the block after *at, which must be 0 at first, or NULL at
 * the end. The caller may change members that do not affect the position of the
 * block.
 */
struct live_block *live_blocks_next(struct live_blocks *blocks, uint32_t *at);

#endif
