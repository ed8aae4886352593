/*
 * Resolves a probe: converts the user's text into the file offsets that the
 * kernel expects.
 *
 * Files are opened here, but each is read by a confined process
 * (sandbox/answer.h), because it may belong to any user. Files stay open, and
 * the kernel gets the path of the descriptor in /proc. So the kernel arms the
 * file that was read, even if another file has its name by then.
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
	struct probe_file *files; /* files with places; none for a kernel probe */
	size_t file_count;
};

MUST_CHECK struct error *probe_resolve(const char *text, const struct probe_context *context,
				       struct probe *ret);
void probe_deinit(struct probe *probe);

#endif
