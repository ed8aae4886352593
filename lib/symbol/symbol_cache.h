/*
 * Remembers the names of a file's addresses between runs of prof, so that a
 * short recording does not decompress all of libc's debug information.
 *
 * An entry (cache_entry.h) is valid for one version of the file (build-id,
 * inode, size and times), of the options and of prof, and as long as all
 * questions about debug files have the same answers as when it was written. So
 * debug files that are installed, changed or removed later make it invalid.
 * Only complete answers about files that no other user can write to are kept.
 *
 * Workers answer for the addresses that an entry lacks, and these are added to
 * it. The result is what workers would have sent for all of them (reply_part.h).
 *
 * prof itself reads and writes the entries (cache_directory.h), because workers
 * cannot open files. Nothing in them is trusted more than a worker's reply.
 */
#ifndef PROF_SYMBOL_SYMBOL_CACHE_H
#define PROF_SYMBOL_SYMBOL_CACHE_H

#include "symbol/cache_entry.h"
#include "symbol/worker_pools.h"

#include <pthread.h>

struct symbol_cache;

/* Returns NULL if there is no cache. */
struct symbol_cache *symbol_cache_new(const struct source_options *options);
void symbol_cache_free(struct symbol_cache *cache);
DEFINE_CLEANUP(symbol_cache, symbol_cache_free)

/* A request to the cache, and then to workers. */
struct symbol_cache_request {
	struct symbol_cache *cache; /* NULL if the request is not for the cache */
	char *name;		    /* of the entry */
	void *key;
	size_t key_bytes;
	const uint64_t *addresses; /* the caller's; borrowed */
	size_t count;
	struct cache_entry entry; /* empty if there is none to add to */
	struct reply *known;	  /* the reply of the entry, or NULL */
	uint64_t *missing;	  /* the addresses that the entry lacks */
	size_t missing_count;

	/* The answers of this run. */
	struct debugfile_opener opener;
	pthread_mutex_t lock;
	struct cache_answer *answers;
	size_t answer_count, answer_room;
	/* libdw could not be used, a debug file is not trusted, or there are too many. */
	bool is_unusable;
};

/*
 * Returns the reply to a request, or NULL if it is not in the cache. Then it
 * changes the request to workers: their reply must be passed to
 * symbol_cache_keep(). `ret` must not move, and is freed with
 * symbol_cache_request_deinit(). `cache` may be NULL.
 */
struct reply *symbol_cache_find(struct symbol_cache *cache, struct engine_request *workers,
				bool is_untrusted, struct symbol_cache_request *ret);
/*
 * Writes the reply of a worker to the cache. Takes ownership of it, and returns
 * the reply to the caller's request.
 */
struct reply *symbol_cache_keep(struct symbol_cache_request *request, struct reply *reply);
void symbol_cache_request_deinit(struct symbol_cache_request *request);

#endif
