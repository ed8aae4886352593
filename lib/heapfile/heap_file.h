/*
 * Reads heap profiles that allocators write as text: those of jemalloc ("heap_v2/524288") and of
 * tcmalloc and gperftools ("heap profile: …").
 *
 * Both hold stacks with counts, then the process's /proc/PID/maps. jemalloc writes a line of pcs
 *and below it one of counts for all threads, "t*", and one per thread, which are ignored; tcmalloc
 * writes both into one line:
 *
 *	@ 0x7f30716a2630 0x5567f8789279             2: 300 [ 5: 800] @ 0x7f1280a4910b 0x5642730f9525
 *	  t*: 2: 300 [5: 800]
 *
 * That is two blocks of 300 bytes in use, of five of 800 bytes that were allocated. All pcs are
 * return addresses, the leaf's first.
 *
 * Sampling: an allocation of S bytes is sampled with probability 1 − exp(−S / R), R being the
 * period, so counts are divided by that, for the mean size S of the line. "heapprofile" of
 * gperftools counts every allocation. Files of version 1 ("heap/131072") hold twice the period.
 *
 * Nothing in the text is believed: a line that is not understood is an error with its number.
 * Source: jeprof; prof_data.c of jemalloc; legacy_profile.go of pprof; heap-profile-table.cc of
 * gperftools.
 */
#ifndef PROF_HEAPFILE_HEAP_FILE_H
#define PROF_HEAPFILE_HEAP_FILE_H

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum {
	/* The text. A server with 100,000 stacks writes 30 MB. */
	HEAP_FILE_BYTES_MAX = 256 << 20,
	/* pcs of a stack; callers beyond them are left out. jemalloc writes up to 128. */
	HEAP_FILE_DEPTH_MAX = 4096,
};

/* Blocks and their bytes. */
struct heap_file_counts {
	uint64_t objects, bytes;
	uint64_t samples; /* as in the file, objects before they were scaled */
};

struct heap_file_stack {
	const uint64_t *pcs; /* leaf first; valid until the next call */
	size_t depth;
	bool is_cut; /* it had more */
	struct heap_file_counts inuse, allocated;
};

struct heap_file {
	uint64_t period_bytes; /* 0: every allocation was counted */
	bool has_allocated;    /* else the file knows only what is in use */
	struct bytes maps;     /* the text of /proc/PID/maps; borrowed */

	struct bytes rest; /* from here on private */
	bool is_jemalloc;
	uint64_t line_number;
	uint64_t *pcs;
};

/* Whether a file begins as these do; 64 bytes are enough. */
bool heap_file_recognize(const unsigned char *first, size_t len);

/* Borrows the text. */
MUST_CHECK struct error *heap_file_open(struct bytes text, struct heap_file *ret);
void heap_file_deinit(struct heap_file *file);

/* The next stack; *got is false after the last. Each may come several times. */
MUST_CHECK struct error *heap_file_next(struct heap_file *file, struct heap_file_stack *ret,
					bool *got);
/* Back to the first stack. */
void heap_file_rewind(struct heap_file *file, struct bytes text);

#endif
