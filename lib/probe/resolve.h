/*
 * Resolves a probe: from what the user writes to the places that the kernel takes.
 *
 * Files are opened here and read by a confined process each (sandbox/answer.h), as they may be of
 * anybody. They stay open, and the kernel is given the descriptor's name in /proc, so that it arms
 * the file that was read, whatever its name leads to by then.
 */
#ifndef PROF_PROBE_RESOLVE_H
#define PROF_PROBE_RESOLVE_H

#include "base/error.h"
#include "probe/places.h"
#include "probe/target_files.h"

struct probe_file {
	struct target_file file;
	struct probe_places places;
};

struct probe {
	struct probe_spec spec;
	struct probe_file *files; /* with places; none: of the kernel, by the spec */
	size_t file_count;
};

MUST_CHECK struct error *probe_resolve(const char *text, const struct probe_context *context,
				       struct probe *ret);
void probe_deinit(struct probe *probe);

#endif
