/*
 * Imports a perf.data file as a profile. Its records take the same path through
 * session, unwinder and symbolizer as those of a live recording.
 */
#ifndef PROF_RECORD_IMPORT_H
#define PROF_RECORD_IMPORT_H

#include "base/loop.h"
#include "record/finalize.h"

/* All pointers are borrowed. */
struct import_options {
	const char *symfs; /* as in recorded_files; NULL to use the recorded paths */
	/* Fields of tracepoints, as for perfdata_choose_fields(). */
	const char *weight;
	const char *const *labels;
	size_t label_count;
	uid_t caller; /* as in symbolize_options */
	uid_t writer; /* as in recorded_files */
	struct symbol_options symbols;
	const char *command;   /* used if the file contains no command line */
	bool needs_timestamps; /* as for profile_keep_timestamps() */
	bool adds_elapsed;     /* add the event elapsed (elapsed_import.h) */
	/*
	 * Runs at intervals while the file is read and while frames are
	 * symbolized. Its callbacks may set cancel. If cancel is set while the
	 * file is read, the profile consists of the samples read so far, and
	 * cancel is reset. Later it works as for finalize().
	 */
	struct loop *loop;
	atomic_bool *cancel;
	const struct listener *listener;
};

struct import_result {
	struct profile *profile;
	struct finalize_result finalized;
	uint64_t reading_cpu_ns; /* prof's own CPU time until all samples were read */
};

/* Takes ownership of fd, also on error. */
MUST_CHECK struct error *import_perfdata(int fd, const struct import_options *options,
					 struct import_result *ret);

#endif
