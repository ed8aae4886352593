/*
 * Reads a profile from any file: a pprof profile of any producer, folded
 * stacks, the text of perf script, or a perf recording, which is unwound and
 * symbolized first. The format is recognized by the first bytes, not by the
 * name, even if the file is compressed (unpacked_file.h). The input can also be
 * a directory of segments, all of it or a range of time (segments/range.h).
 */
#ifndef PROF_CMD_INPUT_INPUT_H
#define PROF_CMD_INPUT_INPUT_H

#include "cmd/options/logical_option.h"
#include "cmd/options/symbol_entries.h"
#include "cmd/ui/options.h"
#include "record/import.h"

/* All options except since, until, logical and the last three are for perf
 * recordings only. */
struct input_options {
	const char *symfs; /* as in recorded_files; NULL if the files are where they were */
	struct symbol_options symbols;
	/* Tracepoint fields: one that samples are weighted by (or NULL), and
	 * those that become labels. */
	const char *weight;
	struct option_list labels;
	const char *since, *until;   /* of a directory; NULL for its first or last segment */
	enum logical_option logical; /* see input_make_logical() */
	const char *command;	     /* replaces a missing command line */
	bool keeps_timestamps;	     /* as profile_keep_timestamps() */
	bool adds_elapsed;	     /* add the event elapsed to a perf.data file */
	bool shows_progress;	     /* if stderr is a terminal */
	/* A signal ends the reading, and a second one ends symbolization; the
	 * profile then has what was read. If NULL, signals end prof. */
	struct signal_guard *signals;
};

/* The entries of a table for struct `type`, which holds the input_options as `member`. */
#define INPUT_ENTRIES(type, member)                                                                \
	INPUT_SYMFS_ENTRY(type, member), SYMBOL_ENTRIES(type, member.symbols),                     \
		DEBUGINFOD_ENTRIES(type, member.symbols)
#define INPUT_ELAPSED_ENTRY(type, member)                                                          \
	OPTION_ENTRY(INPUT, 0, "elapsed", NULL,                                                    \
		     "add the event elapsed to a perf.data file; its times add up to the run",     \
		     option_true, offsetof(type, member.adds_elapsed))
#define INPUT_LABEL_FIELD_ENTRY(type, member)                                                      \
	OPTION_ENTRY(                                                                              \
		INPUT, 0, "label-field", "NAME",                                                   \
		"label samples of tracepoints with this field; in perf.data files. Repeatable",    \
		option_append, offsetof(type, member.labels))
#define INPUT_RANGE_ENTRIES(type, member)                                                          \
	OPTION_ENTRY(                                                                              \
		INPUT, 0, "since", "TIME",                                                         \
		"read a --every directory from this time on; for example 14:05, -1h, yesterday, "  \
		"'2026-11-24 14:05'",                                                              \
		option_string, offsetof(type, member.since)),                                      \
		OPTION_ENTRY(INPUT, 0, "until", "TIME",                                            \
			     "read a --every directory up to this time", option_string,            \
			     offsetof(type, member.until))
#define INPUT_SYMFS_ENTRY(type, member)                                                            \
	OPTION_ENTRY(SYMBOLS, 0, "symfs", "DIR",                                                   \
		     "search for the recorded files below DIR; by path, by name or by build-id",   \
		     option_string, offsetof(type, member.symfs))

struct input {
	struct profile *profile;
	bool is_recording; /* false if nothing was unwound or symbolized */
	struct finalize_result finalized;
	uint64_t reading_cpu_ns; /* prof's own CPU time before symbolization */
};

/* Returns the file to read if none is named: prof.pb.gz if it exists, otherwise
 * perf.data, or NULL if neither exists. */
const char *input_default(void);

/* path: "-" is stdin. Reports on stderr what a truncated recording lacks. */
MUST_CHECK struct error *input_read(const char *path, const struct input_options *options,
				    struct input *ret);
/* Like input_read(), for an open file with this name. Takes fd. If fd is -1,
 * errno is the reason why the file is not open. */
MUST_CHECK struct error *input_read_file(int fd, const char *name,
					 const struct input_options *options, struct input *ret);
/* Replaces the profile by its logical view (report/logical.h). */
void input_make_logical(struct input *input);
/* A zeroed input has nothing to free. */
void input_deinit(struct input *input);

#endif
