/*
 * Everything between records and a profile: the session and what it uses, made and freed together.
 */
#ifndef PROF_RECORD_PIPELINE_H
#define PROF_RECORD_PIPELINE_H

#include "record/session.h"

/* All owned. */
struct pipeline {
	struct address_spaces *spaces;
	struct names *names;
	struct unwinder *unwinder;
	struct profile *profile;
	struct session *session;
	bool needs_timestamps, counts_polls;
};

struct pipeline_options {
	const struct arch *arch;	    /* whose stacks are unwound */
	const struct recorded_files *files; /* of a recording; NULL: of this machine, now */
	const char *debug_dir;		    /* of this machine: where separate debug files are;
						NULL: /usr/lib/debug */
	unsigned depth;			    /* frames of a stack, at most */
	unsigned fold_count;		    /* as session_fold_ended(); 0: never */
	unsigned threads;		    /* as session_set_threads(); 0: 1 */
	bool needs_timestamps;		    /* the profile keeps when samples were taken */
	bool counts_polls;		    /* of tasks: profile_keep_turns() */
};

void pipeline_open(struct pipeline *pipeline, const struct pipeline_options *options);
/*
 * Begins a new profile under the running session. Address spaces, names and rules stay, and with
 * them the numbers of modules, so a symbolizer can go on (symbolizer_set_profile()). Returns the
 * former profile, which lacks only symbols and info; the caller frees it.
 */
struct profile *pipeline_rotate(struct pipeline *pipeline);
/* A zeroed one has nothing to free. */
void pipeline_close(struct pipeline *pipeline);

#endif
