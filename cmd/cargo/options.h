/*
 * The options of prof cargo: the options of prof record that concern how and
 * what is sampled, without those that choose a process. `record` holds their
 * values. Options of cargo before its command are passed on.
 */
#ifndef PROF_CMD_CARGO_OPTIONS_H
#define PROF_CMD_CARGO_OPTIONS_H

#include "cmd/record/record_options.h"
#include "cmd/string_list.h"

struct cargo_options {
	struct record_options record;
	bool each;		    /* write a profile per process */
	struct string_list globals; /* cargo's own options before its command */
};

extern const struct option_entry cargo_option_table[];

void cargo_options_init(struct cargo_options *options);
void cargo_options_deinit(struct cargo_options *options);

#endif
