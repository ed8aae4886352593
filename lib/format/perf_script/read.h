/*
 * Reads the text that `perf script` prints, of any version of perf and with any fields that have a
 * tid, and an event, a time or a CPU; or prof itself (perf_script.c). Memory grows with distinct
 * lines and stacks, and by 16 bytes per sample for its time.
 *
 *  - Each event is an event, and each sample one sample of it that weighs the printed period. If
 *    the first sample of an event has no period, its samples are counted.
 *  - The name of the process and of the thread is the comm of the sample.
 *  - Functions have the names that stackcollapse-perf.pl and inferno-collapse-perf give them
 *    (perf_script/name.h), and the printed ones as system names. An unknown function is called
 *    after its module, "[libc.so.6]", or "[unknown]".
 *  - Lines marked "(inlined)" are lines of the frame that follows, as are the methods that Java's
 *    perf maps join by "->".
 *  - A sample without frames counts for its process. Of a stack of more than SCRIPT_DEPTH_MAX
 *    frames the innermost are taken, called by [truncated].
 *  - The lines of a header (--header) give the recorded command, host and kernel. Records that are
 *    not samples are skipped.
 *  - Other lines, and branch stacks, are skipped, counted and noted in profile_info.problems.
 */
#ifndef PROF_FORMAT_PERF_SCRIPT_READ_H
#define PROF_FORMAT_PERF_SCRIPT_READ_H

#include "format/format.h"

enum {
	/* As deep as what prof takes from pprof files and folded stacks. */
	SCRIPT_DEPTH_MAX = 1 << 16,
	/* Functions inlined in one frame. */
	SCRIPT_INLINED_MAX = 1 << 10,
	SCRIPT_LINE_BYTES_MAX = 1 << 20,
};

bool perf_script_recognize(const unsigned char *first, size_t len);
MUST_CHECK struct error *perf_script_read(FILE *in, struct profile *profile);

#endif
