/*
 * The options of `prof record`: their table, and their values.
 */
#ifndef PROF_CMD_RECORD_RECORD_OPTIONS_H
#define PROF_CMD_RECORD_RECORD_OPTIONS_H

#include "cmd/options/fail_condition.h"
#include "cmd/options/output_options.h"
#include "cmd/options/sampling_options.h"
#include "cmd/push/push.h"
#include "cmd/record/checkpoint.h"
#include "cmd/record/rotation_options.h"
#include "record/java_maps.h"

#include <stdint.h>

/* The time before sampling starts. */
struct record_delay {
	uint64_t ns;
	bool is_endless; /* until the command "enable" arrives */
};

struct record_options {
	/* must be the first member: see record_take_weight */
	struct sampling_options sampling;
	uint64_t duration_ns; /* 0 to record until the command or the target ends */
	struct record_delay delay;
	const char *control; /* as in control_open(); or NULL */
	struct checkpoint_interval checkpoint;
	struct rotation_options rotation;
	struct output_options output;
	/* conditions on quality_share() that make prof fail */
	struct fail_conditions conditions;
	bool strict_rate;     /* a rate above the kernel's limit is an error */
	bool dry_run;	      /* open everything but do not sample */
	bool counts_stat;     /* count events in addition to sampling */
	bool has_old_latency; /* --latency has a function, which is now that of --calls */
	struct push_options push;
	enum java_choice java; /* which JVMs are asked for the symbols of their code */
	/* accepted options of perf that have no effect */
	struct option_list without_meaning;
};

extern const struct option_entry record_option_table[];

option_take record_take_delay;	    /* struct record_delay */
option_take record_take_checkpoint; /* struct checkpoint_interval */
option_take record_take_condition;  /* struct fail_conditions */
option_take record_take_clock;	    /* no field: only prof's own clock is accepted */
option_take record_take_java;	    /* enum java_choice */
option_take record_take_latency;    /* struct record_options */
option_take record_take_weight;	    /* struct record_options */

/*
 * Table entries of struct `type` for the options of prof record that do not
 * choose the target. prefix: the path to the fields of struct record_options in
 * it, such as `record.`.
 */
#define RECORD_ENTRIES(type, prefix)                                                               \
	SAMPLING_EVENT_ENTRIES(type, prefix sampling,                                              \
			       "sample N times per second of CPU time (default 999)"),             \
		OPTION_ENTRY(EVENTS, 0, "filter", "EXPRESSION",                                    \
			     "record the preceding tracepoint only if this holds; for example "    \
			     "'prev_state == 1'",                                                  \
			     sampling_take_filter, offsetof(type, prefix sampling)),               \
		OUTPUT_ENTRIES(type, prefix output),                                               \
		OPTION_ENTRY(OUTPUT, 0, "weight", "samples|ns|period|field:NAME",                  \
			     "count samples, ns or period in folded stacks; field:NAME weighs "    \
			     "samples of the "                                                     \
			     "preceding tracepoint by this field, such as bytes",                  \
			     record_take_weight, offsetof(type, prefix sampling)),                 \
		OPTION_ENTRY(OUTPUT, 0, "fail-if", "CONDITION",                                    \
			     "exit with status 1 if this is true, such as 'lost>1%'; a share of "  \
			     "samples that "                                                       \
			     "are lost, truncated, unknown (without a symbol) or unsampled, or "   \
			     "of off-CPU time "                                                    \
			     "that is placeless (without a stack). Repeatable",                    \
			     record_take_condition, offsetof(type, prefix conditions)),            \
		OPTION_COMMON(CONTROL, 0, "duration", "SECONDS", "stop after this many seconds",   \
			      option_time, offsetof(type, prefix duration_ns)),                    \
		OPTION_ENTRY(CONTROL, 'D', "delay", "MS",                                          \
			     "start sampling after MS milliseconds; -1: on the command enable of " \
			     "--control",                                                          \
			     record_take_delay, offsetof(type, prefix delay)),                     \
		OPTION_ENTRY(CONTROL, 0, "control", "HOW",                                         \
			     "accept commands that start and stop sampling; enable, disable, "     \
			     "snapshot FILE, "                                                     \
			     "stop and ping, from fifo:CTL[,ACK], fd:N[,M], or auto for a "        \
			     "command that prof "                                                  \
			     "starts",                                                             \
			     option_string, offsetof(type, prefix control)),                       \
		OPTION_ENTRY(CONTROL, 0, "checkpoint", "[SECONDS|off]",                            \
			     "write the output files every SECONDS while recording; default 10, "  \
			     "or more if that "                                                    \
			     "would cost more than 0.1 % of a CPU",                                \
			     record_take_checkpoint, offsetof(type, prefix checkpoint))

/*
 * Initializes and parses the options of `prof record`, as options_parse() does.
 * Replaces "--latency FUNCTION", the old name of "--calls FUNCTION", in
 * argv.
 */
MUST_CHECK struct error *record_options_parse(struct record_options *options, int argc, char **argv,
					      int *rest, enum option_group *help);
void record_options_init(struct record_options *options);
void record_options_deinit(struct record_options *options);

#endif
