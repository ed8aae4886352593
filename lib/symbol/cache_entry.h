/*
 * An entry of the symbol cache (symbol_cache.h): the names of some addresses of
 * a file, and the debug files that they came from.
 *
 * An entry is the magic number, the CRC-32 of all that follows (u32), and:
 * - the key, as length (u32) and bytes;
 * - the number of questions about debug files (u32), and for each its encoding
 *   (remote_opener.h) as length (u32) and bytes, whether there was a file (u8),
 *   the file's version, and its path as length (u32) and bytes;
 * - the number of addresses (u32) and the addresses (u64 each), ascending;
 * - the reply (reply.h).
 *
 * Numbers have the byte order of the machine.
 */
#ifndef PROF_SYMBOL_CACHE_ENTRY_H
#define PROF_SYMBOL_CACHE_ENTRY_H

#include "base/bytes.h"
#include "elf/file_version.h"
#include "symbol/reply.h"

#include <stdbool.h>

/* The answer to a question about a debug file. */
struct cache_answer {
	struct bytes question; /* encoded */
	bool found;
	struct file_version version; /* zero if there is no file */
	struct bytes path;
};

struct cache_entry {
	struct cache_answer *answers;
	size_t answer_count, answer_room;
	const uint64_t *addresses; /* ascending, without duplicates */
	size_t count;
	struct bytes reply;
	unsigned char *data; /* what the above points into, after reading */
};

/* Entries with more are neither written nor read. */
enum { CACHE_ENTRY_BYTES_MAX = 1 << 20 };

/* Returns the bytes, which the caller frees. */
void *cache_entry_write(const struct cache_entry *entry, struct bytes key, size_t *len);
/*
 * Takes ownership of data, which must come from malloc(), even on failure.
 * Returns false unless it is an entry with this key. The reply is not
 * validated. Free the entry with cache_entry_deinit().
 */
bool cache_entry_read(void *data, size_t len, struct bytes key, struct cache_entry *ret);
void cache_entry_deinit(struct cache_entry *entry);

#endif
