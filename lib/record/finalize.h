/*
 * Completes a profile after its last sample: symbolizes its frames, labels
 * samples with their tasks, computes the quality and sets the info.
 */
#ifndef PROF_RECORD_FINALIZE_H
#define PROF_RECORD_FINALIZE_H

#include "base/loop.h"
#include "record/listener.h"
#include "record/pipeline.h"
#include "record/quality.h"
#include "symbol/symbolizer.h"

/* All pointers are borrowed. */
struct finalize_options {
	const struct pipeline *pipeline;
	/* Runs while frames are symbolized. Its callbacks may set cancel. */
	struct loop *loop;
	/*
	 * Setting it stops symbolization; the remaining frames keep their
	 * addresses. During a download it cancels only the download and is
	 * reset.
	 */
	atomic_bool *cancel;
	const struct listener *listener;
	const char *proc; /* this and `caller` are as in symbolize_options */
	uid_t caller;
	struct symbol_options symbols;
	/* A symbolizer that has already symbolized a part of the profile. NULL
	 * to create one. */
	struct symbolizer *symbolizer;
	const struct unsampled *unsampled; /* as for quality_init() */
	/* Counts of earlier profiles of the session whose samples were added to
	 * this one. NULL if there are none. */
	const struct session_counts *earlier;
	bool keeps_addresses;	  /* do not symbolize; frames without lines keep their addresses */
	struct profile_info info; /* only own_cpu_ns, waiting and stat of its quality are used; the
				     rest is computed */
};

struct finalize_result {
	struct symbolize_outcome symbolized;
	struct quality quality;
};

/* Symbolizes on separate threads. The calling thread runs the loop and calls
 * the listener. */
void finalize(const struct finalize_options *options, struct finalize_result *ret);
/* Only symbolizes the frames of the profile, for a profile whose stacks are
 * added afterwards. Does not use the session and options->info. */
void finalize_symbols(const struct finalize_options *options, struct symbolize_outcome *ret);
/* A zeroed result needs no deinit. */
void finalize_result_deinit(struct finalize_result *result);

#endif
