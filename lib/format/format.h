/*
 * The output formats, in one constant table, and the readers of those that prof can read.
 *
 * A writer depends on the profile and its options only and is deterministic: equal profiles give
 * equal bytes. A reader accepts files of any producer, damaged ones included.
 */
#ifndef PROF_FORMAT_FORMAT_H
#define PROF_FORMAT_FORMAT_H

#include "base/error.h"
#include "profile/profile.h"
#include "report/display_names.h"

#include <stdio.h>

/*
 * WEIGHT_USUAL: samples; nanoseconds where waiting is shown, because the number of waits says
 * nothing. WEIGHT_NS is an error if the event does not measure time.
 */
enum format_weight { WEIGHT_USUAL, WEIGHT_SAMPLES, WEIGHT_NS, WEIGHT_PERIOD };

/*
 * A difference of two events, the first (after) against the second (before): by shares of the
 * total, or by weights that are scaled so that unchanged functions have equal weights.
 */
enum format_difference { DIFFERENCE_NONE, DIFFERENCE_SHARES, DIFFERENCE_WEIGHTS };

/* A label that all samples have. */
struct format_label {
	const char *key, *text;
};
/* The key whose text replaces the profile's host. */
#define FORMAT_LABEL_HOST "host.name"

struct format_options {
	event_id event;		   /* the one to show, or to show first (default: the first) */
	bool event_only;	   /* the user has chosen it: leave the others out */
	enum format_weight weight; /* folded */
	bool show_pid;		   /* folded: the first frame is NAME-PID … */
	bool show_tid;		   /* … or NAME-PID/TID */
	bool annotate;		   /* folded: append _[k], _[i] or _[j] to names */
	bool times;		   /* pprof: include when samples were taken, to 1 ms */
	/* pprof: the segments that the profile was merged of, by the second of Unix time in which
	 * each begins, ascending (pprof/head.h). */
	const uint64_t *segments;
	size_t segment_count;
	/* perf-script: enum script_field (perf_script/fields.h), as perf prints them, with the name
	 * of the thread; 0: those that readers need, with that of the process. */
	uint32_t script_fields;
	bool no_inlines; /* perf-script: only the functions that contain the inlined ones */
	bool small;	 /* pprof: as few bytes as possible, however long that takes */
	bool source;	 /* html: include the text of sampled source lines */
	enum name_style names;
	enum format_difference difference;
	const struct format_label *labels; /* rows: where a sample has none of this key */
	size_t label_count;
};

struct format {
	const char *name;	       /* --format NAME */
	const char *const *extensions; /* with the dot, NULL-terminated; the longest match wins */
	const char *summary;	       /* for --help */
	const char *viewer;	       /* the command that shows a FILE of this format */
	bool binary;		       /* is not written to a terminal */
	bool needs_timestamps;	       /* shows when samples were taken */
	bool shows_differences;	       /* can show a difference of two events */
	bool is_rows; /* files one after the other are a file of all; has options->labels */
	/*
	 * Writes and flushes; does not close out. Returns an error if a write fails, e.g. because
	 * the disk is full. NULL for perf.data, which holds records instead of a profile and is
	 * written while recording.
	 */
	MUST_CHECK struct error *(*write)(const struct profile *profile,
					  const struct format_options *options, FILE *out);
	/*
	 * Whether a file may have this format, by its first bytes (64 are enough; fewer if the
	 * file is shorter). NULL, as is read, if prof cannot read the format.
	 */
	bool (*recognize)(const unsigned char *first, size_t len);
	/*
	 * Reads a file from its beginning into a new, empty profile. in need not be seekable.
	 * After an error the profile must not be used.
	 */
	MUST_CHECK struct error *(*read)(FILE *in, struct profile *profile);
};

/*
 * The event that a format of one event shows together with options->event: waiting beside CPU time,
 * because they add up to the time of the threads. options->event itself if there is none.
 */
event_id format_event_beside(const struct profile *profile, const struct format_options *options);

/* Folded stacks of one event, or of CPU time and waiting. */
extern const struct format format_folded;
/*
 * The values of a sample: the number of samples of the chosen event, then the weight of every
 * event. The chosen event is the default sample type.
 */
extern const struct format format_pprof;
/* A flame graph of one event, or of CPU time and waiting. */
extern const struct format format_svg;
/* Threads over time, of one event. */
extern const struct format format_firefox;
/* A track per thread and event; one of the chosen event is shown first. */
extern const struct format format_speedscope;

/* The text that `perf script` prints: one block per sample. */
extern const struct format format_perf_script;

/*
 * A self-contained HTML page with all events, and with a timeline if the profile has timed
 * samples.
 */
extern const struct format format_html;

/* Rows for databases, and the same compressed with gzip. */
extern const struct format format_ndjson, format_ndjson_gz;

/* The perf.data file: only an entry in the table, written by lib/record while recording. */
extern const struct format format_perfdata;

/* All formats, NULL-terminated. */
extern const struct format *const formats[];

/* By --format NAME or by file name extension; NULL if there is no such format. */
const struct format *format_by_name(const char *name);
const struct format *format_by_path(const char *path);
/* The readable format whose recognize() accepts these first bytes; NULL if there is none. */
const struct format *format_by_content(const unsigned char *first, size_t len);

#endif
