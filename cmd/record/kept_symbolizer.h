/*
 * A symbolizer that is kept while a recording runs. Files that it has read need
 * not be read again for the next checkpoint, for the next segment or at the
 * end. It works in prof itself, which reads the rings in between; a forked
 * child would lose what it has read.
 */
#ifndef PROF_CMD_RECORD_KEPT_SYMBOLIZER_H
#define PROF_CMD_RECORD_KEPT_SYMBOLIZER_H

#include "cmd/record/recording.h"
#include "symbol/symbolizer.h"

struct kept_symbolizer {
	/* Set before the first run. Borrowed. */
	struct recording *recording;
	struct symbol_options symbols;

	struct symbolizer *symbolizer; /* NULL if it has read nothing */
	bool is_draining;	       /* the rings are read while it works */
};

/*
 * Symbolizes the frames in the recorder's profile. Frames without a symbol are
 * looked up again, because a map of JIT code may have grown. Returns false if
 * the recording ends first; the symbolizer is then freed.
 */
bool kept_symbolizer_run(struct kept_symbolizer *kept);
/* Frees the symbolizer, because modules get other numbers or it is not needed
 * any more. */
void kept_symbolizer_forget(struct kept_symbolizer *kept);
/* Returns the CPU time of its workers so far. */
uint64_t kept_symbolizer_cpu_ns(const struct kept_symbolizer *kept);

#endif
