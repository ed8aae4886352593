/*
 * The options of prof record that write several profiles of one recording, or end it by size: a
 * struct for their values and the entries of the option table. Those of perf record mean the same
 * here; --every and --keep are ours.
 */
#ifndef PROF_CMD_ROTATION_OPTIONS_H
#define PROF_CMD_ROTATION_OPTIONS_H

#include "cmd/segment_files.h"
#include "cmd/trigger.h"
#include "cmd/ui/options.h"

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
	const char *segment_event;	 /* ends a segment; NULL: none */
	uint64_t max_segments;		 /* 0: all are kept */
	bool stamps_names;		 /* --timestamp-filename */
	uint64_t max_bytes;		 /* the recording ends at this size; 0: at none */
	uint64_t every_ns;		 /* segments in a directory … */
	struct retention retention;	 /* … of which these stay */
	bool overwrites;		 /* the flight recorder … */
	uint64_t keep_ns;		 /* … keeps this time; 0: it is off */
	struct triggers triggers;	 /* of the flight recorder */
	const char *trigger_event;	 /* the same; NULL: none */
};

void rotation_options_deinit(struct rotation_options *options);
/* Returns an error if options exclude each other, and completes them: one may imply another. */
MUST_CHECK struct error *rotation_options_settle(struct rotation_options *options);

option_take rotation_take_segments; /* struct rotation_choice */
option_take rotation_take_size;	    /* uint64_t bytes */
option_take rotation_take_time;	    /* uint64_t ns */

/* The entries of a table for struct `type`, which holds the rotation_options as `member`. */
#define ROTATION_ENTRIES(type, member)                                                             \
	OPTION_ENTRY(                                                                              \
		0, "switch-output", "[signal|SIZE|TIME]",                                          \
		"write a profile and begin the next one on SIGUSR2 (signal, default), whenever "   \
		"its files would have SIZE, such as 10M, or every TIME: 30s, 5m, 1h",              \
		rotation_take_segments, offsetof(type, member.segments)),                          \
		OPTION_ENTRY(0, "switch-output-event", "EVENT",                                    \
			     "the same whenever this event occurs", option_string,                 \
			     offsetof(type, member.segment_event)),                                \
		OPTION_ENTRY(0, "switch-max-files", "N",                                           \
			     "keep the last N of these profiles (default: all)", option_count,     \
			     offsetof(type, member.max_segments)),                                 \
		OPTION_ENTRY(0, "timestamp-filename", NULL,                                        \
			     "put the time into the names of files", option_true,                  \
			     offsetof(type, member.stamps_names)),                                 \
		OPTION_ENTRY(0, "max-size", "SIZE",                                                \
			     "stop when the files have about this size, such as 100M; with "       \
			     "--every: remove the oldest segments above it",                       \
			     rotation_take_size, offsetof(type, member.max_bytes)),                \
		OPTION_ENTRY(0, "every", "TIME",                                                   \
			     "record continuously: a segment every TIME into the directory of -o", \
			     rotation_take_time, offsetof(type, member.every_ns)),                 \
		OPTION_ENTRY(0, "keep", "TIME",                                                    \
			     "with --every, remove segments that are older: 24h, 7d (default: "    \
			     "keep all)",                                                          \
			     rotation_take_time, offsetof(type, member.retention.keep_ns)),        \
		OPTION_ENTRY(0, "overwrite", NULL,                                                 \
			     "keep only the last seconds, and write them on SIGUSR2, by "          \
			     "--trigger, and at the end",                                          \
			     option_true, offsetof(type, member.overwrites)),                      \
		OPTION_ENTRY(0, "keep-last", "TIME",                                               \
			     "--overwrite with this time: 10s, 5m (default 30s)",                  \
			     rotation_take_time, offsetof(type, member.keep_ns)),                  \
		OPTION_ENTRY(0, "trigger", "CONDITION",                                            \
			     "with --overwrite, write when this becomes true: 'cpu>90%' or "       \
			     "'rss>2G' (of the target), 'load>8'; repeatable",                     \
			     trigger_append, offsetof(type, member.triggers)),                     \
		OPTION_ENTRY(0, "trigger-event", "EVENT",                                          \
			     "with --overwrite, write whenever this event occurs", option_string,  \
			     offsetof(type, member.trigger_event))

#endif
