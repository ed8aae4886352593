/*
 * The options of commands that write profiles: a struct for their values and the entries of the
 * option table.
 */
#ifndef PROF_CMD_OUTPUT_OPTIONS_H
#define PROF_CMD_OUTPUT_OPTIONS_H

#include "cmd/names_option.h"
#include "cmd/symbol_entries.h"
#include "cmd/ui/options.h"
#include "format/format.h"
#include "output/directory.h"

#include <stdbool.h>
#include <stdint.h>

struct output_options {
	struct option_list outputs;
	/* That all of them are in, borrowed; NULL: each is where its path leads. Set by a command.
	 */
	const struct output_directory *directory;
	const struct format *format; /* NULL: chosen by the extension */
	struct format_options format_options;
	struct names_option names; /* for format_options.names */
	const char *event;	   /* for format_options.event; NULL: the first */
	struct symbol_options symbols;
	bool quiet, verbose;
	bool opens;	    /* the page in a browser, after writing it */
	bool takes_records; /* the command has records, for perf.data */
	bool keeps_stdout;  /* is not written into by default, also if it is a pipe */
};

void output_options_init(struct output_options *options);
void output_options_deinit(struct output_options *options);

/* Finds the event of --event in the profile. An error lists the profile's events. */
MUST_CHECK struct error *output_choose_event(struct output_options *options,
					     const struct profile *profile, const char *path);

option_take output_take_format; /* const struct format * */
/* "samples", "ns", "period", of folded stacks; or "field:NAME", which is also their weight then. */
MUST_CHECK struct error *output_take_weight(enum format_weight *weight, const char **name,
					    const char *argument);

#define OUTPUT_ENTRY(letter, name, argument, help, take, field)                                    \
	{                                                                                          \
		letter, name, argument, help, take, field, OPTION_WORKS                            \
	}

/* The entries of a table for struct `type`, which holds the output_options as `member`. */
#define OUTPUT_ENTRIES(type, member)                                                               \
	OUTPUT_ENTRY('o', "output", "FILE",                                                        \
		     "write the profile to FILE; repeatable. - is stdout; %p, %t and %n in the "   \
		     "name are prof's pid, the time and a number",                                 \
		     option_append, offsetof(type, member.outputs)),                               \
		OUTPUT_ENTRY(0, "format", "FORMAT",                                                \
			     "write this format, whatever the extension (see below)",              \
			     output_take_format, offsetof(type, member.format)),                   \
		OUTPUT_ENTRY(0, "open", NULL,                                                      \
			     "open the page in a browser after writing it (without -o: "           \
			     "prof.html)",                                                         \
			     option_true, offsetof(type, member.opens)),                           \
		OUTPUT_ENTRY(0, "source", NULL,                                                    \
			     "include the text of sampled source lines in the page, if their "     \
			     "files can be read here",                                             \
			     option_true, offsetof(type, member.format_options.source)),           \
		OUTPUT_ENTRY(0, "show-pid", NULL, "begin folded stacks with NAME-PID",             \
			     option_true, offsetof(type, member.format_options.show_pid)),         \
		OUTPUT_ENTRY(0, "show-tid", NULL, "begin folded stacks with NAME-PID/TID",         \
			     option_true, offsetof(type, member.format_options.show_tid)),         \
		OUTPUT_ENTRY(                                                                      \
			0, "annotate", NULL,                                                       \
			"end folded names of kernel, inlined and JIT frames in _[k], _[i], _[j]",  \
			option_true, offsetof(type, member.format_options.annotate)),              \
		NAMES_ENTRY(type, member.names, NAMES_OF_FILES),                                   \
		SYMBOL_ENTRIES(type, member.symbols), DEBUGINFOD_ENTRIES(type, member.symbols),    \
		OUTPUT_ENTRY('q', "quiet", NULL, "print only errors", option_true,                 \
			     offsetof(type, member.quiet)),                                        \
		OUTPUT_ENTRY('v', "verbose", NULL,                                                 \
			     "print what is opened, and everything without symbols", option_true,  \
			     offsetof(type, member.verbose))

#endif
