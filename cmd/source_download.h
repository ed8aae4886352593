/*
 * Source files from debuginfod servers, for those that are not on this machine.
 */
#ifndef PROF_CMD_SOURCE_DOWNLOAD_H
#define PROF_CMD_SOURCE_DOWNLOAD_H

#include "symbol/symbol_options.h"

/* Of one run of prof: all downloads together have the time that the options give. */
struct source_downloads {
	const struct symbol_options *symbols;
	uint64_t until_ns; /* 0: not begun */
	bool has_failed;   /* reported; no more is downloaded */
};

/*
 * Downloads a source file of the module with this build-id, in hexadecimal; path: as debug
 * information names it. Returns a descriptor; -1: no server is named or has it. Prints why a
 * download fails. A signal ends prof.
 */
int source_download(struct source_downloads *downloads, const char *build_id, const char *path);

#endif
