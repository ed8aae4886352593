/*
 * Everything between records and a profile: the session and the objects that it
 * uses, created and freed together.
 */
#ifndef PROF_RECORD_PIPELINE_H
#define PROF_RECORD_PIPELINE_H

#include "record/session.h"

/* All members are owned. */
struct pipeline {
	struct address_spaces *spaces;
	struct names *names;
	struct unwinder *unwinder;
	struct profile *profile;
	struct session *session;
	bool needs_timestamps, counts_polls;
};

struct pipeline_options {
	const struct arch *arch;	    /* of the recorded machine */
	const struct recorded_files *files; /* NULL for this machine's current state */
	const char *debug_dir;	 /* directory of separate debug files on this machine; NULL for
				    /usr/lib/debug */
	unsigned depth;		 /* maximum number of frames in a stack */
	unsigned fold_count;	 /* as for session_fold_ended(); 0 for never */
	bool needs_timestamps;	 /* the profile keeps the time of each sample */
	struct scripts *scripts; /* borrowed; NULL to read no interpreter's frames */
	bool counts_polls;	 /* count polls of tasks: see profile_keep_sample_order() */
};

void pipeline_open(struct pipeline *pipeline, const struct pipeline_options *options);
/*
 * Starts a new profile in the running session. Address spaces, names and unwind
 * rules are kept. Module ids do not change, so a symbolizer can be reused
 * (symbolizer_set_profile()). Returns the previous profile, which lacks only
 * symbols and info. The caller frees it.
 */
struct profile *pipeline_rotate(struct pipeline *pipeline);
/* A zeroed pipeline needs no close. */
void pipeline_close(struct pipeline *pipeline);

#endif
