#include "cmd/record_options.h"

#include "cmd/quality.h"

#include <stddef.h>
#include <string.h>

#define FIELD(name) offsetof(struct record_options, name)

#define PASSED_OVER(letter, name, argument)                                                        \
	{                                                                                          \
		letter, name, argument, NULL, NULL, FIELD(without_meaning), OPTION_PASSED_OVER     \
	}
#define NOT_YET(letter, name, argument)                                                            \
	{                                                                                          \
		letter, name, argument, NULL, NULL, 0, OPTION_NOT_YET                              \
	}

static struct error *take_condition(void *field, const char *argument)
{
	struct condition_list *list = field;
	struct error *err = condition_append(list, argument);
	double share;

	if (err || quality_share(&(struct quality){0}, list->items[list->count - 1].what, &share))
		return err;
	return error_hint(error_new("\"%s\" is nothing that a recording is judged by", argument),
			  "lost>1%%, truncated>1%% or unknown>1%%");
}

/* perf's -1 waits for a word from --control. */
static struct error *take_milliseconds(void *field, const char *argument)
{
	uint64_t ms = 0;
	struct error *err = strcmp(argument, "0") != 0 ? option_count(&ms, argument) : NULL;

	if (!err && ms > UINT32_MAX)
		err = error_new("\"%s\" is too large", argument);
	if (!err)
		*(uint64_t *)field = ms * 1000000;
	return err;
}

const struct option_entry record_option_table[] = {
	SAMPLING_TARGET_ENTRIES(struct record_options, sampling),
	{0, "duration", "SECONDS", "stop after so many seconds", option_time, FIELD(duration_ns),
	 OPTION_WORKS},
	{'D', "delay", "MS", "begin to sample so many milliseconds after the command",
	 take_milliseconds, FIELD(delay_ns), OPTION_WORKS},
	SAMPLING_EVENT_ENTRIES(struct record_options, sampling,
			       "samples a second of CPU time; 999 if not said"),
	DELIVERY_ENTRIES(struct record_options, delivery),
	OPTION_ENTRY(0, "fail-if", "CONDITION",
		     "end with status 1, if the command has not failed, where 'lost>1%', "
		     "'truncated>1%' or 'unknown>1%' of the samples; again for more",
		     take_condition, FIELD(conditions)),

	/* Of perf record: about its file and its own way to work. */
	PASSED_OVER('B', "no-buildid", NULL),
	PASSED_OVER('N', "no-buildid-cache", NULL),
	PASSED_OVER(0, "buildid-all", NULL),
	PASSED_OVER(0, "buildid-mmap", NULL),
	PASSED_OVER(0, "no-buffering", NULL),
	PASSED_OVER(0, "no-bpf-event", NULL),
	PASSED_OVER('s', "stat", NULL),
	PASSED_OVER('d', "data", NULL),
	PASSED_OVER(0, "phys-addr", NULL),
	PASSED_OVER(0, "data-page-size", NULL),
	PASSED_OVER(0, "code-page-size", NULL),
	PASSED_OVER('T', "timestamp", NULL),
	PASSED_OVER('P', "period", NULL),
	PASSED_OVER('R', "raw-samples", NULL),
	PASSED_OVER(0, "sample-cpu", NULL),
	PASSED_OVER(0, "sample-identifier", NULL),
	PASSED_OVER(0, "transaction", NULL),
	PASSED_OVER(0, "running-time", NULL),
	PASSED_OVER(0, "per-thread", NULL),
	PASSED_OVER(0, "exclude-perf", NULL),
	PASSED_OVER(0, "tail-synthesize", NULL),
	PASSED_OVER(0, "timestamp-boundary", NULL),
	PASSED_OVER(0, "timestamp-filename", NULL),
	PASSED_OVER('I', "intr-regs", "[REGS]"),
	PASSED_OVER(0, "user-regs", "[REGS]"),
	PASSED_OVER('r', "realtime", "PRIORITY"),
	PASSED_OVER(0, "synth", "KIND"),
	PASSED_OVER(0, "proc-map-timeout", "MS"),
	PASSED_OVER(0, "num-thread-synthesize", "N"),
	PASSED_OVER(0, "affinity", "HOW"),
	PASSED_OVER(0, "mmap-flush", "N"),
	PASSED_OVER('z', "compression-level", "[N]"),
	PASSED_OVER(0, "switch-output", "[HOW]"),
	PASSED_OVER(0, "switch-max-files", "N"),
	PASSED_OVER(0, "debuginfod", "[URLS]"),
	PASSED_OVER(0, "threads", "[SPEC]"),
	PASSED_OVER(0, "vmlinux", "FILE"),

	/* What would change the profile. */
	NOT_YET('G', "cgroup", "NAME"),
	NOT_YET('k', "clockid", "CLOCK"),
	NOT_YET('w', "wait", NULL),
	NOT_YET(0, "name", "PATTERN"),
	NOT_YET(0, "control", "HOW"),
	NOT_YET(0, "max-size", "SIZE"),
	NOT_YET(0, "dry-run", NULL),
	NOT_YET(0, "filter", "FILTER"),
	NOT_YET(0, "strict-freq", NULL),
	NOT_YET(0, "kernel-callchains", NULL),
	NOT_YET(0, "user-callchains", NULL),
	NOT_YET(0, "off-cpu", NULL),
	NOT_YET(0, "switch-events", NULL),
	NOT_YET(0, "overwrite", NULL),
	NOT_YET('S', "snapshot", "[SIZE]"),
	NOT_YET('n', "no-samples", NULL),
	NOT_YET('b', "branch-any", NULL),
	NOT_YET('j', "branch-filter", "FILTER"),
	{0, NULL, NULL, NULL, NULL, 0, OPTION_WORKS},
};

void record_options_init(struct record_options *options)
{
	*options = (struct record_options){0};
	sampling_options_init(&options->sampling);
	delivery_options_init(&options->delivery);
	options->delivery.takes_records = true;
}

void record_options_deinit(struct record_options *options)
{
	sampling_options_deinit(&options->sampling);
	delivery_options_deinit(&options->delivery);
	option_list_deinit(&options->without_meaning);
	condition_list_deinit(&options->conditions);
}
