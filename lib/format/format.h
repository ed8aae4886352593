/*
 * The formats prof writes, and those of them that it reads: one const table, one file a format. A
 * writer sees the profile and a stream, nothing else, and is deterministic: the same samples give
 * the same bytes. A reader takes files of any producer, damaged ones too.
 */
#ifndef PROF_FORMAT_FORMAT_H
#define PROF_FORMAT_FORMAT_H

#include "base/error.h"
#include "profile/profile.h"

#include <stdio.h>

/* WEIGHT_NS is an error where the event does not count nanoseconds. */
enum format_weight { WEIGHT_SAMPLES, WEIGHT_NS, WEIGHT_PERIOD };

/* What the first of two events has become of the second one: of its shares, or of its weights,
 * which are scaled so that what is equal is as much. */
enum format_difference { DIFFERENCE_NONE, DIFFERENCE_SHARES, DIFFERENCE_WEIGHTS };

struct format_options {
	enum format_weight weight; /* folded */
	bool show_pid;		   /* folded: the first frame is NAME-PID … */
	bool show_tid;		   /* … or NAME-PID/TID */
	bool annotate;		   /* folded: _[k] _[i] _[j] behind names */
	bool source;		   /* html: with the text of sampled lines, read from their files */
	enum format_difference difference;
};

struct format {
	const char *name;	       /* --format NAME */
	const char *const *extensions; /* with the dot, NULL at the end; the longest match wins */
	const char *summary;	       /* for --help */
	const char *viewer;	       /* the command that shows it, of a FILE */
	bool binary;		       /* refuses a terminal */
	bool wants_moments;	       /* shows when samples were taken */
	bool shows_differences;	       /* of two events */
	/* Flushes out and does not close it. What out cannot take, a full disk, is an error. NULL:
	 * it holds no profile but the records themselves, which somebody else writes. */
	MUST_CHECK struct error *(*write)(const struct profile *profile,
					  const struct format_options *options, FILE *out);
	/* Both NULL where prof only writes. Whether a file that begins with these bytes (64 are
	 * enough; fewer: the whole file) may be one. */
	bool (*recognize)(const unsigned char *first, size_t len);
	/* Into a new profile, which is of no use after an error. in stands at the beginning and
	 * need not be seekable. */
	MUST_CHECK struct error *(*read)(FILE *in, struct profile *profile);
};

/* Of several events the first. */
extern const struct format format_folded;
/* Each sample has the number of samples of the first event, then the weight of every event. */
extern const struct format format_pprof;
/* A picture: of several events the first. */
extern const struct format format_svg;
/* Threads over time, of the first event. */
extern const struct format format_firefox;
/* A track a thread and event, with the functions of all. */
extern const struct format format_speedscope;

/* Text, a block a sample. */
extern const struct format format_perf_script;

/* A page of its own, for any browser: all events, and time where moments are known. */
extern const struct format format_html;

/* Records (perf/perfdata_writer.h): neither written nor read here. */
extern const struct format format_perfdata;

/* All formats, NULL at the end. */
extern const struct format *const formats[];

/* NULL when no format is called so, or ends so. */
const struct format *format_by_name(const char *name);
const struct format *format_by_path(const char *path);
/* The one that reads a file that begins so. */
const struct format *format_by_content(const unsigned char *first, size_t len);

#endif
