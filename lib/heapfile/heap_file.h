/*
 * Reads heap profiles that allocators write as text: those of jemalloc
 * ("heap_v2/524288") and of tcmalloc and gperftools ("heap profile: …").
 *
 * Both hold stacks with counts, followed by the process's /proc/PID/maps.
 * jemalloc writes a line of pcs, then a line of counts for all threads ("t*")
 * and one line per thread, which are ignored. tcmalloc writes counts and pcs
 * into one line:
 *
 *     @ 0x7f30716a2630 0x5567f8789279
 *       t*: 2: 300 [5: 800]
 *
 *     2: 300 [ 5: 800] @ 0x7f1280a4910b 0x5642730f9525
 *
 * Both lines mean two blocks with a total of 300 bytes in use, and five blocks
 * with a total of 800 bytes allocated. All pcs are return addresses, leaf
 * first.
 *
 * Sampling: an allocation of S bytes is sampled with probability 1 − exp(−S /
 * R), where R is the period. Counts are therefore divided by this probability
 * for the mean size S of the line. "heapprofile" of gperftools counts every
 * allocation. Files of version 1 ("heap/131072") contain twice the period.
 *
 * The text is untrusted. A malformed line is an error that contains its number.
 *
 * Source: jeprof; prof_data.c of jemalloc; legacy_profile.go of pprof;
 * heap-profile-table.cc of gperftools.
 */
#ifndef PROF_HEAPFILE_HEAP_FILE_H
#define PROF_HEAPFILE_HEAP_FILE_H

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum {
	/* Maximum size of the text. A server with 100,000 stacks writes 30
	 * MB. */
	HEAP_FILE_BYTES_MAX = 256 << 20,
	/* Maximum number of pcs of a stack; further callers are dropped.
	 * jemalloc writes up to 128. */
	HEAP_FILE_DEPTH_MAX = 4096,
};

/* Number of blocks and their total size. */
struct heap_file_counts {
	uint64_t objects, bytes;
	uint64_t samples; /* as in the file: objects before scaling */
};

struct heap_file_stack {
	const uint64_t *pcs; /* leaf first; valid until the next call */
	size_t depth;
	bool is_cut; /* callers were dropped */
	struct heap_file_counts inuse, allocated;
};

struct heap_file {
	uint64_t period_bytes; /* 0 if every allocation was counted */
	/* The file contains allocated memory, not only memory in use. */
	bool has_allocated;
	struct bytes maps; /* text of /proc/PID/maps; borrowed */

	struct bytes rest; /* all members from here on are private */
	bool is_jemalloc;
	uint64_t line_number;
	uint64_t *pcs;
};

/* Returns whether the file starts like a heap profile; 64 bytes suffice. */
bool heap_file_recognize(const unsigned char *first, size_t len);

/* Borrows the text. */
MUST_CHECK struct error *heap_file_open(struct bytes text, struct heap_file *ret);
void heap_file_deinit(struct heap_file *file);

/* Returns the next stack, or sets *got to false after the last. A stack may
 * occur several times. */
MUST_CHECK struct error *heap_file_next(struct heap_file *file, struct heap_file_stack *ret,
					bool *got);
/* Returns to the first stack. */
void heap_file_rewind(struct heap_file *file, struct bytes text);

#endif
