/*
 * Parses the command line of cargo as far as prof needs it: the toolchain, the
 * command, and the arguments that choose units and their build profile. Source:
 * `cargo help run`, `cargo help config`, the manual of cargo-nextest.
 */
#ifndef PROF_CMD_CARGO_LINE_H
#define PROF_CMD_CARGO_LINE_H

#include "base/json_value.h"
#include "cmd/string_list.h"

enum cargo_verb {
	CARGO_RUN,
	CARGO_TEST,
	CARGO_BENCH,
	CARGO_NEXTEST_RUN,
	CARGO_OTHER, /* another command, or no command */
};

struct cargo_line {
	const char *toolchain;	    /* "+nightly", borrowed; or NULL */
	struct string_list globals; /* options before the command */
	enum cargo_verb verb;
	char *name;		 /* the command as given, or NULL */
	struct string_list rest; /* the arguments after the command */
};

/* words: the arguments after "cargo"; they must outlive the line. */
void cargo_line_parse(char *const *words, struct cargo_line *ret);
/* Replaces an alias by its definition. config: the output of `cargo config
 * get`. */
void cargo_line_expand(struct cargo_line *line, const struct json_value *config);
void cargo_line_deinit(struct cargo_line *line);

/* Adds the options that choose the configuration, such as --config. They belong
 * to cargo itself. */
void cargo_line_add_configuration(const struct cargo_line *line, struct string_list *to);
/*
 * Adds the arguments with which cargo reports what it would build. Returns
 * false if they are unknown. They are arguments of `cargo run`, `test` or
 * `bench`; of nextest's arguments only those that `cargo test` has, too, are
 * added.
 */
bool cargo_line_add_question(const struct cargo_line *line, struct string_list *to);

#endif
