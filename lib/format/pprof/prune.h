/*
 * Applies drop_frames and keep_frames of a pprof file like `go tool pprof`.
 * Both are regular expressions for the whole name of a function. A frame whose
 * name matches drop_frames but not keep_frames is removed together with
 * everything that it calls. Frames before the first one that stays are kept, so
 * that no stack becomes empty. Source: profile.proto; prune.go of pprof.
 *
 * A name is matched without a leading '.' and without the arguments from the
 * first '(' on. "(anonymous namespace)" and "operator()" are not arguments.
 *
 * Expressions are matched as POSIX extended ones. "(?:", lazy repetition and \d
 * of Go's syntax are translated. Malicious files can contain expensive
 * expressions, so these are limited in size, in repetitions and in matching
 * time, and must not have back references. Longer names do not match.
 */
#ifndef PROF_FORMAT_PPROF_PRUNE_H
#define PROF_FORMAT_PPROF_PRUNE_H

#include "base/bytes.h"
#include "format/pprof/id_table.h"

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	PPROF_EXPRESSION_BYTES_MAX = 2048,
	/* The product of all {N} in an expression. */
	PPROF_REPETITIONS_MAX = 100,
	/* Repeated groups. Each doubles glibc's compile time. */
	PPROF_REPEATED_GROUPS_MAX = 4,
	PPROF_PRUNED_NAME_BYTES_MAX = 1024,
};

/* CPU time from pprof_prune_init() on. */
#define PPROF_PRUNE_NS (5 * UINT64_C(1000000000))

struct pprof_expression {
	char *text; /* NULL if there is no expression */
	regex_t regex;
	size_t matched_bytes; /* since it was compiled */
};

struct pprof_prune {
	struct pprof_expression drop, keep; /* without drop, nothing is pruned */
	struct id_table locations;	    /* enum pprof_pruned, by location */
	uint64_t started_ns;		    /* in CPU time of this thread */
	bool is_late;			    /* the time is used up; further names do not match */
};

enum pprof_pruned {
	PPROF_PRUNED = 1,   /* the location is removed */
	PPROF_PRUNED_BELOW, /* its callees are removed, and some functions inlined into it */
};

/*
 * An empty text ("") means no expression. count: the number of locations.
 * Returns NULL, or the reason why the expressions cannot be used; then nothing
 * is pruned.
 */
const char *pprof_prune_init(struct pprof_prune *prune, const char *drop, const char *keep,
			     uint64_t count);
void pprof_prune_deinit(struct pprof_prune *prune);

static inline bool pprof_prunes(const struct pprof_prune *prune)
{
	return prune->drop.text;
}

/* Returns whether a function with this name is dropped. */
bool pprof_prune_matches(struct pprof_prune *prune, const char *name);
/*
 * Removes dropped locations from a list of complete packed numbers, leaf first.
 */
void pprof_prune_stack(const struct pprof_prune *prune, struct bytes *locations);

#endif
