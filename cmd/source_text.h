/*
 * The text of a source file that a profile speaks of.
 */
#ifndef PROF_CMD_SOURCE_TEXT_H
#define PROF_CMD_SOURCE_TEXT_H

#include "base/error.h"

#include <stdint.h>

struct source_text {
	char *path; /* where it was found */
	uint64_t changed_unix_ns;
	char **lines; /* without their ends */
	uint32_t count;
};

/*
 * path: as compilers write it. Looked for in `folder` (below it by the whole path, then by ever
 * less of its end); where that is NULL under its own name, then so in the folder we are in. Fails
 * where there is none, or what is there is no text.
 */
MUST_CHECK struct error *source_text_read(const char *path, const char *folder,
					  struct source_text *ret);
/* A zeroed one has nothing to free. */
void source_text_deinit(struct source_text *text);

/* NULL beyond the end, and of a zeroed text. Counted from 1. */
const char *source_text_line(const struct source_text *text, uint32_t number);

#endif
