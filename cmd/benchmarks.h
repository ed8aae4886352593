/*
 * The benchmarks whose profiles are below the directories of two sides.
 *
 * A benchmark's name is the path of its profile below the directory, without the extension, without
 * a number that precedes the extension, and without a last part that is a default name of a file:
 *
 *	json/parse.pb.gz  json/parse.2.pb.gz  json/parse/profile.pb.gz
 *json/parse/profile/profile.pb.gz
 *
 * are all profiles of json/parse. Several profiles of one name on one side, in one directory or
 * several, are repetitions. Of files that differ in the extension alone only one is taken.
 * Hidden files and directories and links to directories are ignored.
 */
#ifndef PROF_CMD_BENCHMARKS_H
#define PROF_CMD_BENCHMARKS_H

#include "cmd/ui/options.h"

struct benchmark {
	char *name;
	struct option_list old, new; /* paths of profiles; one of them may be empty */
};

/* Ordered by name; numbers within names by their value. */
struct benchmarks {
	struct benchmark *items;
	size_t count;
};

/* The directories of each side. Fails if one cannot be read or holds no profile. */
MUST_CHECK struct error *benchmarks_find(struct benchmarks *benchmarks,
					 const struct option_list *old,
					 const struct option_list *new);
void benchmarks_deinit(struct benchmarks *benchmarks);

#endif
