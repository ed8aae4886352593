/*
 * The command line of cargo, as far as prof must understand it: the toolchain, the command, and
 * what tells cargo which units it builds with which profile. Source: `cargo help run`, `cargo help
 * config`, the manual of cargo-nextest.
 */
#ifndef PROF_CMD_CARGO_LINE_H
#define PROF_CMD_CARGO_LINE_H

#include "base/json_value.h"
#include "cmd/words.h"

enum cargo_verb {
	CARGO_RUN,
	CARGO_TEST,
	CARGO_BENCH,
	CARGO_NEXTEST_RUN,
	CARGO_OTHER, /* another command, or none */
};

struct cargo_line {
	const char *toolchain; /* "+nightly", borrowed; NULL: none */
	struct words globals;  /* options before the command */
	enum cargo_verb verb;
	char *name;	   /* the command as it is given; NULL: none */
	struct words rest; /* what follows the command */
};

/* words: what follows "cargo"; they must outlive the line. */
void cargo_line_parse(char *const *words, struct cargo_line *ret);
/* Replaces an alias by its meaning: config is what `cargo config get` says. */
void cargo_line_expand(struct cargo_line *line, const struct json_value *config);
void cargo_line_deinit(struct cargo_line *line);

/* Adds the options that choose the configuration, such as --config; they are of cargo itself. */
void cargo_line_add_configuration(const struct cargo_line *line, struct words *to);
/*
 * Adds the words that let cargo say what it would build. False: unknown. Its arguments are those
 * of `cargo run`, `test` or `bench`: those of nextest that `cargo test` has too.
 */
bool cargo_line_add_question(const struct cargo_line *line, struct words *to);

#endif
