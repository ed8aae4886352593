/*
 * The options of prof cargo: those of prof record that concern how and what is sampled, not which
 * process; `record` is what they come to. Options that are cargo's and come before its command are
 * passed on.
 */
#ifndef PROF_CMD_CARGO_OPTIONS_H
#define PROF_CMD_CARGO_OPTIONS_H

#include "cmd/record_options.h"
#include "cmd/words.h"

struct cargo_options {
	struct record_options record;
	bool each;	      /* a profile per process */
	struct words globals; /* cargo's own options before its command */
};

extern const struct option_entry cargo_option_table[];

void cargo_options_init(struct cargo_options *options);
void cargo_options_deinit(struct cargo_options *options);

#endif
