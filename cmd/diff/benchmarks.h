/*
 * Finds the benchmarks whose profiles are below the directories of two sides.
 *
 * The name of a benchmark is the path of its profile below the directory,
 * without the extension, without a number before the extension, and without a
 * last component that is a default file name:
 *
 *	json/parse.pb.gz  json/parse.2.pb.gz  json/parse/profile.pb.gz
 *	json/parse/profile/profile.pb.gz
 *
 * are all profiles of json/parse. Several profiles of one name on one side, in
 * one or several directories, are repetitions. If files differ only in their
 * extension, one of them is used. Hidden files and directories and links to
 * directories are ignored.
 */
#ifndef PROF_CMD_DIFF_BENCHMARKS_H
#define PROF_CMD_DIFF_BENCHMARKS_H

#include "cmd/ui/options.h"

struct benchmark {
	char *name;
	struct option_list old, new; /* paths of profiles; one of them may be empty */
};

/* Ordered by name. Numbers within names are ordered by value. */
struct benchmarks {
	struct benchmark *items;
	size_t count;
};

/* Finds the benchmarks in the directories of each side. Fails if a directory
 * cannot be read or has no profiles. */
MUST_CHECK struct error *benchmarks_find(struct benchmarks *benchmarks,
					 const struct option_list *old,
					 const struct option_list *new);
void benchmarks_deinit(struct benchmarks *benchmarks);

#endif
