/*
 * Makes a profile of a perf.data file. Its records take the same path through session, unwinder and
 * symbolizer as live ones.
 */
#ifndef PROF_RECORD_IMPORT_H
#define PROF_RECORD_IMPORT_H

#include "base/loop.h"
#include "record/finalize.h"

/* All borrowed. */
struct import_options {
	const char *symfs; /* as in recorded_files; NULL: the files are where they were */
	/* Fields of tracepoints, as perfdata_choose_fields(). */
	const char *weight;
	const char *const *labels;
	size_t label_count;
	uid_t caller; /* as in symbolize_options */
	uid_t writer; /* as in recorded_files */
	struct symbol_options symbols;
	const char *command;   /* used if the file holds no command line */
	bool needs_timestamps; /* as profile_keep_timestamps() */
	/* Runs at intervals while the file is read, and while frames are symbolized. A callback in
	 * it may set cancel: while the file is read, what was read so far becomes the profile, and
	 * cancel is reset; after that it is as for finalize(). */
	struct loop *loop;
	atomic_bool *cancel;
	const struct listener *listener;
};

struct import_result {
	struct profile *profile;
	struct finalize_result finalized;
	uint64_t reading_cpu_ns; /* own CPU time until all samples were read */
};

/* Takes fd in every case. */
MUST_CHECK struct error *import_perfdata(int fd, const struct import_options *options,
					 struct import_result *ret);

#endif
