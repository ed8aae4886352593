/*
 * The options of commands that write profiles: a struct for their values and the entries of the
 * option table.
 */
#ifndef PROF_CMD_OPTIONS_OUTPUT_OPTIONS_H
#define PROF_CMD_OPTIONS_OUTPUT_OPTIONS_H

#include "cmd/options/names_option.h"
#include "cmd/options/symbol_entries.h"
#include "cmd/ui/options.h"
#include "format/format.h"
#include "output/directory.h"

#include <stdbool.h>
#include <stdint.h>

struct output_options {
	struct option_list outputs;
	/* The directory of all outputs, borrowed. NULL if each output is where
	 * its path leads. Set by a command. */
	const struct output_directory *directory;
	const struct format *format; /* NULL if the extension chooses it */
	struct format_options format_options;
	struct names_option names; /* for format_options.names */
	const char *event;	   /* for format_options.event; NULL for the first event */
	struct symbol_options symbols;
	bool quiet, verbose;
	bool opens;	    /* open the page in a browser after writing it */
	bool takes_records; /* the command has records, for perf.data */
	bool keeps_stdout;  /* do not write to stdout by default, even if it is a pipe */
};

void output_options_init(struct output_options *options);
void output_options_deinit(struct output_options *options);

/* Finds the event of --event in the profile. The error for an unknown event
 * lists the profile's events. */
MUST_CHECK struct error *output_choose_event(struct output_options *options,
					     const struct profile *profile, const char *path);

option_take output_take_format; /* const struct format * */
/* Takes the weight of folded stacks: "samples", "ns", "period" or "field:NAME". */
MUST_CHECK struct error *output_take_weight(enum format_weight *weight, const char **name,
					    const char *argument);

/* The entries of a table for struct `type`, which holds the output_options as `member`. */
#define OUTPUT_ENTRIES(type, member)                                                               \
	OPTION_COMMON(OUTPUT, 'o', "output", "FILE",                                               \
		      "write the profile to FILE (default prof.pb.gz); repeatable. The extension " \
		      "selects "                                                                   \
		      "the format. - is stdout. %p, %t and %n in the name are prof's pid, the "    \
		      "time and a "                                                                \
		      "number",                                                                    \
		      option_append, offsetof(type, member.outputs)),                              \
		OPTION_ENTRY(OUTPUT, 0, "format", "FORMAT",                                        \
			     "write this format, regardless of the extension", output_take_format, \
			     offsetof(type, member.format)),                                       \
		OPTION_COMMON(OUTPUT, 0, "open", NULL,                                             \
			      "open the HTML report in a browser; without -o, it is prof.html",    \
			      option_true, offsetof(type, member.opens)),                          \
		OPTION_ENTRY(OUTPUT, 0, "source", NULL,                                            \
			     "include sampled source lines in the HTML report; if their files "    \
			     "are readable",                                                       \
			     option_true, offsetof(type, member.format_options.page.source)),      \
		OPTION_ENTRY(OUTPUT, 0, "show-pid", NULL, "start folded stacks with NAME-PID",     \
			     option_true, offsetof(type, member.format_options.folded.show_pid)),  \
		OPTION_ENTRY(OUTPUT, 0, "show-tid", NULL, "start folded stacks with NAME-PID/TID", \
			     option_true, offsetof(type, member.format_options.folded.show_tid)),  \
		OPTION_ENTRY(OUTPUT, 0, "annotate", NULL,                                          \
			     "mark kernel, inlined and JIT frames in folded stacks; names end in " \
			     "_[k], _[i] or "                                                      \
			     "_[j]",                                                               \
			     option_true, offsetof(type, member.format_options.folded.annotate)),  \
		NAMES_ENTRY(type, member.names, NAMES_OF_FILES),                                   \
		SYMBOL_ENTRIES(type, member.symbols), DEBUGINFOD_ENTRIES(type, member.symbols),    \
		QUIET_ENTRY(type, member.quiet),                                                   \
		OPTION_ENTRY(OUTPUT, 'v', "verbose", NULL,                                         \
			     "print what is opened, and all modules without symbols", option_true, \
			     offsetof(type, member.verbose))

#endif
