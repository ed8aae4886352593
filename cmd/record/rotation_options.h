/*
 * The options of prof record that write several profiles of one recording or
 * end it by size: a struct for their values and the entries of the option
 * table. Options that perf record has mean the same here; --every and --keep
 * are prof's own.
 */
#ifndef PROF_CMD_RECORD_ROTATION_OPTIONS_H
#define PROF_CMD_RECORD_ROTATION_OPTIONS_H

#include "cmd/record/trigger.h"
#include "cmd/ui/options.h"
#include "segments/files.h"

enum rotation_how {
	ROTATION_NONE,
	ROTATION_ON_SIGNAL,
	ROTATION_BY_TIME, /* amount: ns */
	ROTATION_BY_SIZE, /* amount: bytes */
};

struct rotation_choice {
	enum rotation_how how;
	uint64_t amount;
};

struct rotation_options {
	struct rotation_choice segments; /* --switch-output */
	const char *segment_event;	 /* an event that ends a segment, or NULL */
	uint64_t max_segments;		 /* 0 if all are kept */
	bool stamps_names;		 /* --timestamp-filename */
	uint64_t max_bytes;		 /* the recording ends at this size; 0 for no limit */
	uint64_t every_ns;		 /* --every: segments in a directory */
	struct retention retention;	 /* which of these segments are kept */
	bool overwrites;		 /* flight recorder */
	uint64_t keep_ns;	   /* the time that the flight recorder keeps; 0 if it is off */
	struct triggers triggers;  /* of the flight recorder */
	const char *trigger_event; /* makes the flight recorder write, or NULL */
};

void rotation_options_deinit(struct rotation_options *options);
/* Returns an error if options exclude each other. Completes options that others
 * imply. */
MUST_CHECK struct error *rotation_options_settle(struct rotation_options *options);

option_take rotation_take_segments; /* struct rotation_choice */
option_take rotation_take_size;	    /* uint64_t bytes */
option_take rotation_take_time;	    /* uint64_t ns */

/* The entries of a table for struct `type`, which holds the rotation_options as `member`. */
#define ROTATION_ENTRIES(type, member)                                                             \
	OPTION_COMMON(CONTINUOUS, 0, "every", "TIME",                                              \
		      "record continuously, a file every TIME; into the directory of -o",          \
		      rotation_take_time, offsetof(type, member.every_ns)),                        \
		OPTION_ENTRY(CONTINUOUS, 0, "keep", "TIME",                                        \
			     "with --every, remove segments older than TIME, such as 24h or 7d "   \
			     "(default: keep all)",                                                \
			     rotation_take_time, offsetof(type, member.retention.keep_ns)),        \
		OPTION_ENTRY(CONTINUOUS, 0, "max-size", "SIZE",                                    \
			     "stop when the files reach about SIZE, such as 100M; with --every, "  \
			     "remove the "                                                         \
			     "oldest segments instead",                                            \
			     rotation_take_size, offsetof(type, member.max_bytes)),                \
		OPTION_ENTRY(CONTINUOUS, 0, "switch-output", "[signal|SIZE|TIME]",                 \
			     "start a new file on a signal, at a size or at intervals; on "        \
			     "SIGUSR2 (signal, "                                                   \
			     "default), at SIZE, such as 10M, or every TIME: 30s, 5m, 1h",         \
			     rotation_take_segments, offsetof(type, member.segments)),             \
		OPTION_ENTRY(CONTINUOUS, 0, "switch-output-event", "EVENT",                        \
			     "start a new file whenever this event occurs", option_string,         \
			     offsetof(type, member.segment_event)),                                \
		OPTION_ENTRY(CONTINUOUS, 0, "switch-max-files", "N",                               \
			     "keep only the last N files of --switch-output (default: all)",       \
			     option_count, offsetof(type, member.max_segments)),                   \
		OPTION_ENTRY(CONTINUOUS, 0, "timestamp-filename", NULL,                            \
			     "add the start time to the names of output files", option_true,       \
			     offsetof(type, member.stamps_names)),                                 \
		OPTION_ENTRY(CONTINUOUS, 0, "overwrite", NULL,                                     \
			     "keep only the last 30 seconds (flight recorder); writes them on "    \
			     "SIGUSR2, on "                                                        \
			     "--trigger and at the end",                                           \
			     option_true, offsetof(type, member.overwrites)),                      \
		OPTION_ENTRY(CONTINUOUS, 0, "keep-last", "TIME",                                   \
			     "keep only the last TIME (flight recorder); --overwrite with this "   \
			     "time, such as "                                                      \
			     "10s or 5m",                                                          \
			     rotation_take_time, offsetof(type, member.keep_ns)),                  \
		OPTION_ENTRY(CONTINUOUS, 0, "trigger", "CONDITION",                                \
			     "with --overwrite, write when this becomes true; 'cpu>90%' or "       \
			     "'rss>2G' of the "                                                    \
			     "target, or 'load>8'. Repeatable",                                    \
			     trigger_append, offsetof(type, member.triggers)),                     \
		OPTION_ENTRY(CONTINUOUS, 0, "trigger-event", "EVENT",                              \
			     "with --overwrite, write whenever this event occurs", option_string,  \
			     offsetof(type, member.trigger_event))

#endif
