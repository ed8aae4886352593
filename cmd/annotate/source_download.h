/*
 * Downloads source files that this machine does not have from debuginfod
 * servers.
 */
#ifndef PROF_CMD_ANNOTATE_SOURCE_DOWNLOAD_H
#define PROF_CMD_ANNOTATE_SOURCE_DOWNLOAD_H

#include "symbol/symbol_options.h"

/* State of the downloads of one run of prof, which share one time limit
 * (--debuginfod-time). */
struct source_downloads {
	const struct symbol_options *symbols;
	uint64_t until_ns; /* 0 before the first download */
	bool has_failed;   /* a failure was reported; nothing more is downloaded */
};

/*
 * Downloads a source file of the module with this build-id (in hexadecimal).
 * path is the name in the debug information. Returns a descriptor, or -1 if no
 * server is configured or none has the file. Prints the reason if a download
 * fails. A signal ends prof.
 */
int source_download(struct source_downloads *downloads, const char *build_id, const char *path);

#endif
