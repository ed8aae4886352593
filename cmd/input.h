/*
 * A profile from any file: pprof of any producer, folded stacks, the text of perf script, or a
 * recording of perf, which is unwound and named first. Recognized by its first bytes, whatever its
 * name, also if it is packed (unpacked_file.h). Or from a directory of
 * segments, all of it or a range of time (segment_range.h).
 */
#ifndef PROF_CMD_INPUT_H
#define PROF_CMD_INPUT_H

#include "cmd/symbol_entries.h"
#include "cmd/ui/options.h"
#include "record/import.h"

/* All but since, until, logical and the last three are for recordings alone. */
struct input_options {
	const char *symfs; /* as in recorded_files; NULL: the files are where they were */
	struct symbol_options symbols;
	/* Fields of tracepoints that samples weigh (NULL: none) and that become labels. */
	const char *weight;
	struct option_list labels;
	const char *since, *until; /* of a directory; NULL: from its first segment, to its last */
	bool logical;		   /* asks for input_make_logical() after reading */
	const char *command;	   /* in place of a command line that the file does not tell */
	bool keeps_timestamps;	   /* as profile_keep_timestamps() */
	bool shows_progress;	   /* where stderr is a terminal */
	struct signal_guard *signals; /* a signal ends the reading, a second one symbolizing; the
					 profile is what was read; NULL: they end prof */
};

/* The entries of a table for struct `type`, which holds the input_options as `member`. */
#define INPUT_ENTRIES(type, member)                                                                \
	INPUT_SYMFS_ENTRY(type, member), SYMBOL_ENTRIES(type, member.symbols),                     \
		DEBUGINFOD_ENTRIES(type, member.symbols)
#define INPUT_LOGICAL_ENTRY(type, member)                                                          \
	OPTION_ENTRY(0, "logical", NULL,                                                           \
		     "fold code of runtimes (tokio, rayon, std, Go) into the program's "           \
		     "functions that it calls",                                                    \
		     option_true, offsetof(type, member.logical))
#define INPUT_LABEL_FIELD_ENTRY(type, member)                                                      \
	OPTION_ENTRY(0, "label-field", "NAME",                                                     \
		     "label samples of tracepoints in a perf.data file with this field; "          \
		     "repeatable",                                                                 \
		     option_append, offsetof(type, member.labels))
#define INPUT_RANGE_ENTRIES(type, member)                                                          \
	OPTION_ENTRY(0, "since", "TIME",                                                           \
		     "of a directory that prof record --every writes: from this time on: 14:05, "  \
		     "-1h, yesterday, '2026-11-24 14:05'",                                         \
		     option_string, offsetof(type, member.since)),                                 \
		OPTION_ENTRY(0, "until", "TIME", "the same, up to this time", option_string,       \
			     offsetof(type, member.until))
#define INPUT_SYMFS_ENTRY(type, member)                                                            \
	OPTION_ENTRY(0, "symfs", "DIR",                                                            \
		     "look for the recorded files below DIR, by path, by name or by build-id",     \
		     option_string, offsetof(type, member.symfs))

struct input {
	struct profile *profile;
	bool is_recording; /* else nothing was to be unwound or named: */
	struct finalize_result finalized;
	uint64_t reading_cpu_ns; /* prof's own CPU time, before naming */
};

/* What is read when no file is named: prof.pb.gz where it is there, else perf.data; NULL: neither
 * is. */
const char *input_default(void);

/* path: "-" is stdin. What a recording lacks, having been cut off, is told on stderr. */
MUST_CHECK struct error *input_read(const char *path, const struct input_options *options,
				    struct input *ret);
/* The same of an open file of this name; takes fd. -1: errno says why it is not open. */
MUST_CHECK struct error *input_read_file(int fd, const char *name,
					 const struct input_options *options, struct input *ret);
/* Replaces the profile by its logical view (report/logical.h). */
void input_make_logical(struct input *input);
/* A zeroed one has nothing to free. */
void input_deinit(struct input *input);

#endif
