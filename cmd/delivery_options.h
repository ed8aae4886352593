/*
 * What a command that writes profiles can be told about names and files: a struct for its options
 * and the entries for its table.
 */
#ifndef PROF_CMD_DELIVERY_OPTIONS_H
#define PROF_CMD_DELIVERY_OPTIONS_H

#include "cmd/options.h"
#include "format/format.h"

#include <stdbool.h>
#include <stdint.h>

struct delivery_options {
	struct option_list outputs;
	const struct format *format; /* NULL: by the extension */
	struct format_options format_options;
	const char *debug_dir;
	bool no_inline;
	bool quiet, verbose;
	bool opens;	    /* what was written, in a browser */
	bool takes_records; /* the command has records, which some formats hold */
};

void delivery_options_init(struct delivery_options *options);
void delivery_options_deinit(struct delivery_options *options);

option_take delivery_take_format; /* const struct format * */
option_take delivery_take_weight; /* enum format_weight */

#define DELIVERY_ENTRY(letter, name, argument, help, take, field)                                  \
	{                                                                                          \
		letter, name, argument, help, take, field, OPTION_WORKS                            \
	}

/* The entries of a table for struct `type`, which holds the delivery_options as `member`. */
#define DELIVERY_ENTRIES(type, member)                                                             \
	DELIVERY_ENTRY('o', "output", "FILE",                                                      \
		       "write there; again for more outputs of one run. - is stdout; %p, %t and "  \
		       "%n in the name are prof's pid, the time and a number",                     \
		       option_append, offsetof(type, member.outputs)),                             \
		DELIVERY_ENTRY(0, "format", "NAME",                                                \
			       "one of those below, whatever the name of the file",                \
			       delivery_take_format, offsetof(type, member.format)),               \
		DELIVERY_ENTRY(0, "open", NULL,                                                    \
			       "open the page in a browser when it is written; prof.html if no "   \
			       "-o says otherwise",                                                \
			       option_true, offsetof(type, member.opens)),                         \
		DELIVERY_ENTRY(0, "source", NULL,                                                  \
			       "the page holds the text of the lines that were sampled, where "    \
			       "their files can be read here",                                     \
			       option_true, offsetof(type, member.format_options.source)),         \
		DELIVERY_ENTRY(0, "weight", "KIND", "folded stacks count samples, ns or period",   \
			       delivery_take_weight,                                               \
			       offsetof(type, member.format_options.weight)),                      \
		DELIVERY_ENTRY(0, "show-pid", NULL, "folded stacks begin with NAME-PID",           \
			       option_true, offsetof(type, member.format_options.show_pid)),       \
		DELIVERY_ENTRY(0, "show-tid", NULL, "folded stacks begin with NAME-PID/TID",       \
			       option_true, offsetof(type, member.format_options.show_tid)),       \
		DELIVERY_ENTRY(                                                                    \
			0, "annotate", NULL,                                                       \
			"folded names of kernel, inlined and JIT frames end in _[k], _[i], _[j]",  \
			option_true, offsetof(type, member.format_options.annotate)),              \
		DELIVERY_ENTRY(                                                                    \
			0, "no-inline", NULL,                                                      \
			"name functions by the symbol tables alone: no lines, nothing inlined",    \
			option_true, offsetof(type, member.no_inline)),                            \
		DELIVERY_ENTRY(0, "debug-dir", "DIR",                                              \
			       "where separate debug files are; /usr/lib/debug if not said",       \
			       option_string, offsetof(type, member.debug_dir)),                   \
		DELIVERY_ENTRY('q', "quiet", NULL, "say nothing but errors", option_true,          \
			       offsetof(type, member.quiet)),                                      \
		DELIVERY_ENTRY('v', "verbose", NULL,                                               \
			       "say what is opened, and everything that lacks names", option_true, \
			       offsetof(type, member.verbose))

#endif
