/*
 * Limits for reading a pprof file. A compressed file of 20 kB can contain a
 * stack of 20 million frames, so the limits depend on the size of the file.
 */
#ifndef PROF_FORMAT_PPROF_LIMITS_H
#define PROF_FORMAT_PPROF_LIMITS_H

enum {
	/*
	 * The message: this many bytes, and this many for each byte of the
	 * file. Recursive programs have long lists of equal locations, which
	 * compress 200 times.
	 */
	PPROF_MESSAGE_BYTES = 128 << 20,
	PPROF_MESSAGE_BYTES_PER_BYTE = 256,
	/*
	 * The profile and the reader's tables: this many bytes, and this many
	 * for each byte of the file. prof's own files need 10.
	 */
	PPROF_MEMORY_BYTES = 96 << 20,
	PPROF_MEMORY_BYTES_PER_BYTE = 32,
	/*
	 * Frames of a stack. Outer callers beyond this limit are dropped. The
	 * JVM's default stack has 20,000 frames.
	 */
	PPROF_DEPTH_MAX = 1 << 16,
	/*
	 * Sample types, and values of a sample. No machine has this many
	 * counters.
	 */
	PPROF_TYPES_MAX = 1024,
	/* Labels of a sample. */
	PPROF_LABELS_MAX = 1024,
	/* Lines of a location: functions inlined into each other. */
	PPROF_LINES_MAX = 4096,
	PPROF_COMMENTS_MAX = 1 << 16,
	/* Tasks whose polls are written. */
	PPROF_POLLS_MAX = 1 << 12,
	/*
	 * The total text of all comments, of which several can refer to one
	 * string.
	 */
	PPROF_REMARKS_BYTES_MAX = 1 << 20,
};

/* From one sample of a stack to the next: one year. */
#define PPROF_TIME_MS_MAX UINT64_C(31622400000)

#endif
