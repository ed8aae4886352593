/*
 * The source lines of a profile's frames, and their text if the file is
 * readable on this machine under the path in the debug information.
 */
#ifndef PROF_FORMAT_PAGE_SOURCE_H
#define PROF_FORMAT_PAGE_SOURCE_H

#include "base/timed_open.h"
#include "report/display_labels.h"

struct source_line {
	string_id file;
	uint32_t line;
};

/*
 * Returns the distinct lines, sorted by file and line. The caller frees the
 * result.
 */
struct source_line *source_lines(const struct display_labels *labels, size_t *ret_count);

/*
 * Returns the texts of lines of one file, as valid UTF-8 in the arena; "" past
 * the end of the file. Returns NULL if the file is empty, cannot be read by
 * this user (profile/source_users.h), or does not have the name of a source
 * file.
 */
const char **source_texts(struct timed_caller *caller, const char *path, uid_t user,
			  const struct source_line *lines, size_t count, struct arena *arena);

#endif
