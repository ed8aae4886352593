/*
 * The table of output formats, and the readers of those formats that prof can
 * read.
 *
 * A writer depends only on the profile and its options and is deterministic:
 * equal profiles give equal bytes. A reader accepts files of any producer,
 * including damaged ones.
 */
#ifndef PROF_FORMAT_FORMAT_H
#define PROF_FORMAT_FORMAT_H

#include "base/error.h"
#include "format/folded/options.h"
#include "format/ndjson/labels.h"
#include "format/page/options.h"
#include "format/perf_script/fields.h"
#include "format/pprof/options.h"
#include "format/summary/options.h"
#include "profile/profile.h"
#include "report/display_names.h"

#include <stdio.h>

/*
 * A difference of two events, the first (after) compared with the second
 * (before): by shares of the total, or by weights that are scaled so that
 * unchanged functions have equal weights.
 */
enum format_difference { DIFFERENCE_NONE, DIFFERENCE_SHARES, DIFFERENCE_WEIGHTS };

struct format_options {
	event_id event;	 /* the event to show, or to show first (default: the first) */
	bool event_only; /* the user has chosen the event: omit the others */
	enum name_style names;
	enum format_difference difference;
	/* Options of individual formats. */
	struct folded_options folded;
	struct page_options page;
	struct perf_script_options script;
	struct pprof_options pprof;
	struct ndjson_options rows;
	struct summary_options summary;
};

struct format {
	const char *name; /* --format NAME */
	/*
	 * File name extensions with the dot, NULL-terminated. The longest match
	 * wins.
	 */
	const char *const *extensions;
	const char *summary;	/* for --help */
	const char *viewer;	/* the command that shows a FILE of this format */
	bool binary;		/* not written to a terminal */
	bool needs_timestamps;	/* shows when samples were taken */
	bool shows_differences; /* can show a difference of two events */
	/*
	 * Content-Type for prof serve; NULL means prof serve does not send it.
	 */
	const char *media_type;
	/*
	 * The file name under which browsers save it; NULL means they show it.
	 */
	const char *download;
	bool is_rows; /* concatenated files are a valid file; supports options->rows */
	/*
	 * Writes and flushes the profile; does not close out. Returns an error
	 * if a write fails, for example because the disk is full. NULL for
	 * perf.data, which contains records instead of a profile and is written
	 * while recording.
	 */
	MUST_CHECK struct error *(*write)(const struct profile *profile,
					  const struct format_options *options, FILE *out);
	/*
	 * Returns whether a file may have this format, judging by its first
	 * bytes (64 are enough; fewer if the file is shorter). NULL, like read,
	 * if prof cannot read the format.
	 */
	bool (*recognize)(const unsigned char *first, size_t len);
	/*
	 * Reads a file from its start into a new, empty profile. in need not be
	 * seekable. After an error the profile must not be used.
	 */
	MUST_CHECK struct error *(*read)(FILE *in, struct profile *profile);
};

/*
 * Returns the event that a format of one event shows together with
 * options->event: off-CPU time with CPU time, because they add up to the time
 * of the threads. Returns options->event itself if there is none.
 */
event_id format_event_beside(const struct profile *profile, const struct format_options *options);

/* Folded stacks of one event, or of CPU time and off-CPU time. */
extern const struct format format_folded;
/*
 * pprof. The values of a sample are the number of samples of the chosen event,
 * then the weight of every event. The chosen event is the default sample type.
 */
extern const struct format format_pprof;
/* A flame graph of one event, or of CPU time and off-CPU time. */
extern const struct format format_svg;
/* Firefox Profiler: threads over time, of one event. */
extern const struct format format_firefox;
/*
 * speedscope: a track per thread and event. A track of the chosen event is
 * shown first.
 */
extern const struct format format_speedscope;

/* The text that `perf script` prints: one block per sample. */
extern const struct format format_perf_script;

/*
 * The HTML report: a self-contained page with all events, and with a timeline
 * if the profile has timed samples.
 */
extern const struct format format_html;

/* A bounded text in Markdown: what was recorded, and where the time goes. */
extern const struct format format_summary;

/* Rows for databases, plain or compressed with gzip. */
extern const struct format format_ndjson, format_ndjson_gz;

/*
 * perf.data: only an entry in the table, because lib/record writes the file
 * while recording.
 */
extern const struct format format_perfdata;

/* All formats, NULL-terminated. */
extern const struct format *const formats[];

/*
 * Finds a format by --format NAME, or by file name extension. Returns NULL if
 * there is none.
 */
const struct format *format_by_name(const char *name);
const struct format *format_by_path(const char *path);
/*
 * Returns the readable format whose recognize() accepts these first bytes, or
 * NULL.
 */
const struct format *format_by_content(const unsigned char *first, size_t len);

#endif
