/*
 * Prints the first lines of a report: what was recorded and when, the quality
 * of the recording, its events, and which part of the samples is selected.
 */
#ifndef PROF_CMD_REPORT_PROFILE_HEADER_H
#define PROF_CMD_REPORT_PROFILE_HEADER_H

#include "cmd/options/selection.h"
#include "cmd/ui/table.h"

void profile_header(const struct table_writer *writer, const char *path,
		    const struct selection_options *selection);

#endif
