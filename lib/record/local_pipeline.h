/*
 * A pipeline for a profile that is read without records. Frames are symbolized
 * with the files of this machine, at the addresses in the profile.
 */
#ifndef PROF_RECORD_LOCAL_PIPELINE_H
#define PROF_RECORD_LOCAL_PIPELINE_H

#include "record/import.h"

/* Borrows options->symfs and the directories of debug files. Close it with
 * pipeline_close(). */
void local_pipeline_open(struct pipeline *pipeline, const struct import_options *options);
/* Ends the session and symbolizes all frames: see finalize_symbols(). */
void local_pipeline_symbolize(struct pipeline *pipeline, const struct import_options *options,
			      struct symbolize_outcome *ret);

#endif
