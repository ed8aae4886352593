/*
 * Completes a profile after its last sample: symbolizes its frames, labels its samples with their
 * tasks, computes its quality and sets its info.
 */
#ifndef PROF_RECORD_FINALIZE_H
#define PROF_RECORD_FINALIZE_H

#include "base/loop.h"
#include "record/listener.h"
#include "record/pipeline.h"
#include "record/quality.h"
#include "symbol/symbolizer.h"

/* All borrowed. */
struct finalize_options {
	const struct pipeline *pipeline;
	/* Runs while frames are symbolized: a callback in it may set cancel. */
	struct loop *loop;
	/* Once set, the remaining frames keep their addresses; while debug files are downloaded, it
	 * ends that alone and is reset. */
	atomic_bool *cancel;
	const struct listener *listener;
	const char *proc; /* this and `caller` as in symbolize_options */
	uid_t caller;
	struct symbol_options symbols;
	/* Has symbolized frames of the profile before, and symbolizes the rest. NULL: a new one. */
	struct symbolizer *symbolizer;
	const struct balance *balance; /* as in quality_init() */
	/* Counts of earlier profiles of the session whose samples were added to this one; NULL:
	 * there are none. */
	const struct session_counts *earlier;
	bool keeps_addresses;	  /* frames that have no lines yet stay as they are */
	struct profile_info info; /* of its quality only own_cpu_ns, waiting and stat are used; the
				     rest is computed */
};

struct finalize_result {
	struct symbolize_outcome symbolized;
	struct quality quality;
};

/* Symbolizes on threads of its own; the calling thread runs the loop and calls the listener. */
void finalize(const struct finalize_options *options, struct finalize_result *ret);
/* Symbolizes the frames of the profile and no more: for a profile that gets its stacks after that.
 * Of the options, session and info are not used. */
void finalize_symbols(const struct finalize_options *options, struct symbolize_outcome *ret);
/* A zeroed one has nothing to free. */
void finalize_result_deinit(struct finalize_result *result);

#endif
