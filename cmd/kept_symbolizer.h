/*
 * A symbolizer that is kept while a recording goes on: what it has read of files serves the next
 * checkpoint, segment or end. It works in prof itself, which reads the rings in between, because
 * what a forked child reads is lost with it.
 */
#ifndef PROF_CMD_KEPT_SYMBOLIZER_H
#define PROF_CMD_KEPT_SYMBOLIZER_H

#include "cmd/recording.h"
#include "symbol/symbolizer.h"

struct kept_symbolizer {
	/* Set before the first run, borrowed. */
	struct recording *recording;
	struct symbol_options symbols;

	struct symbolizer *symbolizer; /* NULL: it has read nothing */
	bool is_draining;	       /* the rings are read while it works */
};

/*
 * Symbolizes the frames that the profile of the recorder has. Frames without a symbol are looked up
 * again: a map of JIT code may have grown. False: the recording ends first, and the symbolizer was
 * freed.
 */
bool kept_symbolizer_run(struct kept_symbolizer *kept);
/* Forgets what was read: modules get other numbers, or it is not needed any more. */
void kept_symbolizer_forget(struct kept_symbolizer *kept);
/* CPU time of its workers so far. */
uint64_t kept_symbolizer_cpu_ns(const struct kept_symbolizer *kept);

#endif
