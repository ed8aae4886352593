/*
 * The pipeline of a profile that is read without records: its frames are symbolized with the files
 * of this machine, at the addresses that the profile gives them.
 */
#ifndef PROF_RECORD_LOCAL_PIPELINE_H
#define PROF_RECORD_LOCAL_PIPELINE_H

#include "record/import.h"

/* Borrows options->symfs and the directories of debug files. To be closed by pipeline_close(). */
void local_pipeline_open(struct pipeline *pipeline, const struct import_options *options);
/* Ends its session and symbolizes all frames, as finalize_symbols(). */
void local_pipeline_symbolize(struct pipeline *pipeline, const struct import_options *options,
			      struct symbolize_outcome *ret);

#endif
