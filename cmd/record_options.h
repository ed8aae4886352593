/*
 * The options of `prof record`: their table, and their values.
 */
#ifndef PROF_CMD_RECORD_OPTIONS_H
#define PROF_CMD_RECORD_OPTIONS_H

#include "cmd/checkpoint.h"
#include "cmd/fail_condition.h"
#include "cmd/output_options.h"
#include "cmd/push.h"
#include "cmd/rotation_options.h"
#include "cmd/sampling_options.h"

#include <stdint.h>

/* Before sampling begins. */
struct record_delay {
	uint64_t ns;
	bool is_endless; /* until the word "enable" comes */
};

struct record_options {
	struct sampling_options sampling; /* the first: see record_take_weight */
	uint64_t duration_ns;		  /* 0: until the command or the target ends */
	struct record_delay delay;
	const char *control; /* as control_open(); NULL: none */
	struct checkpoint_interval checkpoint;
	struct rotation_options rotation;
	struct output_options output;
	struct fail_conditions conditions; /* of quality_share(), that make prof fail */
	bool strict_rate;		   /* a rate above the kernel's limit is an error */
	bool dry_run;			   /* opens everything and samples nothing */
	bool counts_stat;		   /* beside the samples */
	struct push_options push;
	bool asks_java;			    /* running JVMs for the names of their code */
	struct option_list without_meaning; /* options of perf that were taken and do nothing */
};

extern const struct option_entry record_option_table[];

option_take record_take_delay;	    /* struct record_delay */
option_take record_take_checkpoint; /* struct checkpoint_interval */
option_take record_take_condition;  /* struct fail_conditions */
option_take record_take_clock;	    /* no field: only the clock that prof has is taken */
option_take record_take_weight;	    /* struct record_options */

/* The entries of a table for struct `type`: those of prof record that do not choose the target.
 * prefix: what precedes the fields of struct record_options in it, such as `record.`. */
#define RECORD_ENTRIES(type, prefix)                                                               \
	OPTION_ENTRY(0, "duration", "SECONDS", "stop after this many seconds", option_time,        \
		     offsetof(type, prefix duration_ns)),                                          \
		OPTION_ENTRY('D', "delay", "MS",                                                   \
			     "start sampling this many milliseconds after the command; -1: when "  \
			     "--control asks for it",                                              \
			     record_take_delay, offsetof(type, prefix delay)),                     \
		OPTION_ENTRY(0, "control", "HOW",                                                  \
			     "take commands (enable, disable, snapshot FILE, stop, ping) from "    \
			     "fifo:CTL[,ACK], fd:N[,M] or, for what prof starts, auto",            \
			     option_string, offsetof(type, prefix control)),                       \
		OPTION_ENTRY(0, "checkpoint", "[SECONDS|off]",                                     \
			     "write the output files every SECONDS while recording (default 10, "  \
			     "or more where that would cost more than 0.5 % of a CPU)",            \
			     record_take_checkpoint, offsetof(type, prefix checkpoint)),           \
		SAMPLING_EVENT_ENTRIES(type, prefix sampling,                                      \
				       "sample N times per second of CPU time (default 999)"),     \
		OPTION_ENTRY(0, "filter", "EXPRESSION",                                            \
			     "sample the tracepoint of the preceding -e only where this holds, "   \
			     "such as 'prev_state == 1'",                                          \
			     sampling_take_filter, offsetof(type, prefix sampling)),               \
		OPTION_ENTRY(0, "weight", "samples|ns|period|field:NAME",                          \
			     "let folded stacks count samples, ns or period; field:NAME: weigh "   \
			     "samples of the preceding tracepoint by this field, such as bytes",   \
			     record_take_weight, offsetof(type, prefix sampling)),                 \
		OUTPUT_ENTRIES(type, prefix output),                                               \
		OPTION_ENTRY(0, "fail-if", "CONDITION",                                            \
			     "exit with status 1 if more than this share is lost, truncated, "     \
			     "unknown, unsampled or, of waiting, placeless (without a stack), "    \
			     "such as 'lost>1%'; repeatable",                                      \
			     record_take_condition, offsetof(type, prefix conditions))

void record_options_init(struct record_options *options);
void record_options_deinit(struct record_options *options);

#endif
