/*
 * Reads the text that `perf script` prints, of any version of perf and with any
 * fields that include a tid, and an event, a time or a CPU. It also reads
 * prof's own output in this format (perf_script.c). Memory grows with distinct
 * lines and stacks, and by 16 bytes per sample for its time.
 *
 * - Each event is an event of the profile. Each sample is one sample of it and
 *   weighs the printed period. If the first sample of an event has no period,
 *   its samples are counted.
 * - The name of the process and of the thread is the comm of the sample.
 * - Functions have the names that stackcollapse-perf.pl and
 *   inferno-collapse-perf give them (perf_script/name.h), and the printed names
 *   as system names. An unknown function is named after its module,
 *   "[libc.so.6]", or "[unknown]".
 * - Lines marked "(inlined)" are lines of the frame that follows. So are the
 *   methods that Java's perf maps join by "->".
 * - Only the innermost SCRIPT_DEPTH_MAX frames of a stack are kept, called by
 *   [truncated].
 * - The recorded command, host and kernel are read from the lines of a header
 *   (--header). Records that are not samples are skipped.
 * - Other lines, and branch stacks, are skipped, counted and noted in
 *   profile_info.problems.
 */
#ifndef PROF_FORMAT_PERF_SCRIPT_READ_H
#define PROF_FORMAT_PERF_SCRIPT_READ_H

#include "format/format.h"

enum {
	/* The limit for pprof files and folded stacks is the same. */
	SCRIPT_DEPTH_MAX = 1 << 16,
	/* Functions inlined in one frame. */
	SCRIPT_INLINED_MAX = 1 << 10,
	SCRIPT_LINE_BYTES_MAX = 1 << 20,
};

bool perf_script_recognize(const unsigned char *first, size_t len);
MUST_CHECK struct error *perf_script_read(FILE *in, struct profile *profile);

#endif
