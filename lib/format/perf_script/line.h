/*
 * Parses lines of the text that `perf script` prints. A sample is a line about
 * the sample itself, then one line per frame, leaf first, then an empty line:
 *
 *	V8 WorkerThread 24636/25607 [000] 94564.109216:     10000 cycles:u:
 *	ffffffff8103ce3b native_safe_halt+0xb ([kernel.kallsyms])
 *	          408ebb main+0x8b (/usr/bin/node)
 *
 * Without call chains the only frame follows the event on the same line. perf
 * aligns words with spaces, and -F omits any of them. Source: perf-script(1);
 * tools/perf/builtin-script.c.
 */
#ifndef PROF_FORMAT_PERF_SCRIPT_LINE_H
#define PROF_FORMAT_PERF_SCRIPT_LINE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The line about a sample. Texts are parts of the line. */
struct script_head {
	struct bytes comm; /* may contain spaces and numbers */
	pid_t pid, tid;	   /* -1 if unknown; a single number is the tid */
	bool has_cpu, has_time, has_period;
	uint32_t cpu;
	uint64_t time_ns;
	uint64_t period;
	struct bytes event; /* empty: not printed */
	struct bytes rest;  /* a frame, or the text of a tracepoint */
	bool is_record;	    /* a record that is not a sample, such as PERF_RECORD_MMAP2 */
};

/* Returns false if the line is not about a sample. */
bool script_head_parse(struct bytes line, struct script_head *ret);
/*
 * Returns whether a line, which may be truncated, starts with comm, ids, and a
 * CPU or time.
 */
bool script_head_begins(struct bytes line);

struct script_frame {
	uint64_t pc;
	/*
	 * The name without the offset in the function. It may be empty or
	 * "[unknown]".
	 */
	struct bytes name;
	struct bytes module; /* its path; empty: not printed */
};

/* Returns false if the line is not a frame. */
bool script_frame_parse(struct bytes line, struct script_frame *ret);
/*
 * Finds the frame at the end of a line about a sample, which may follow a
 * tracepoint's text.
 */
bool script_frame_find(struct bytes rest, struct script_frame *ret);

/*
 * Finds the file and line that perf script -F +srcline prints on a separate
 * line after a frame: " main.c:12". *line is 0, and the file empty, if perf
 * knows neither: " libc.so.6[27b25]".
 */
bool script_source_parse(struct bytes text, struct bytes *file, uint32_t *line);

/*
 * Returns whether a line lists branches: " 0x40/0x58/P/-/-/0", "
 * main+0x4/f+0x0/M/-/-/1".
 */
bool script_is_branches(struct bytes line);

/* Removes spaces, tabs and carriage returns at both ends. */
struct bytes script_trimmed(struct bytes text);

#endif
