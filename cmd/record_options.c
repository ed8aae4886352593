#include "cmd/record_options.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "record/quality.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define FIELD(name) offsetof(struct record_options, name)

#define IGNORED(letter, name, argument)                                                            \
	{                                                                                          \
		letter, name, argument, NULL, NULL, FIELD(without_meaning), OPTION_IGNORED         \
	}
#define NOT_YET(letter, name, argument)                                                            \
	{                                                                                          \
		letter, name, argument, NULL, NULL, 0, OPTION_UNSUPPORTED                          \
	}

/* What a prof that is killed loses at most. */
static const struct checkpoint_interval usual_checkpoint = {.ns = 10 * NS_PER_SECOND,
							    .is_shortest = true};

struct error *record_take_checkpoint(void *field, const char *argument)
{
	struct checkpoint_interval *interval = field;

	*interval = argument ? (struct checkpoint_interval){0} : usual_checkpoint;
	if (!argument || !strcmp(argument, "off"))
		return NULL;
	return option_time(&interval->ns, argument);
}

struct error *record_take_condition(void *field, const char *argument)
{
	struct fail_conditions *list = field;
	struct error *err = fail_condition_append(list, argument);
	double share;

	if (err || quality_share(&(struct quality){0}, list->items[list->count - 1].what, &share))
		return err;
	return error_hint(error_new("unknown condition \"%s\"", argument),
			  "use lost>1%%, truncated>1%%, unknown>1%%, unsampled>5%% or "
			  "placeless>5%%");
}

struct error *record_take_delay(void *field, const char *argument)
{
	struct record_delay *delay = field;
	uint64_t ms = 0;
	struct error *err = NULL;

	*delay = (struct record_delay){.is_endless = !strcmp(argument, "-1")};
	if (!delay->is_endless && strcmp(argument, "0") != 0)
		err = option_count(&ms, argument);
	if (!err && ms > UINT32_MAX)
		err = error_new("\"%s\" is too large", argument);
	delay->ns = ms * NS_PER_MS;
	return err;
}

struct error *record_take_clock(void *field, const char *argument)
{
	static const char *const names[] = {"mono", "monotonic", "CLOCK_MONOTONIC"};

	(void)field;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcasecmp(argument, names[i]))
			return NULL;
	return error_hint(error_new("\"%s\" is not the clock of prof", argument),
			  "all times are of CLOCK_MONOTONIC (mono): it orders samples with "
			  "mappings, waits and other programs' logs");
}

static struct error *refuse_snapshot(void *field, const char *argument)
{
	(void)field;
	(void)argument;
	return error_hint(error_new("hardware traces (AUX area) are not recorded"),
			  "--overwrite keeps the last seconds of samples, and writes them on "
			  "SIGUSR2");
}

static struct error *refuse_no_samples(void *field, const char *argument)
{
	(void)field;
	(void)argument;
	return error_hint(error_new("a profile consists of samples"),
			  "prof record --dry-run shows what would be recorded; perf record -n "
			  "writes mappings alone");
}

struct error *record_take_weight(void *field, const char *argument)
{
	struct record_options *options = field;
	const char *name = NULL;
	struct error *err = output_take_weight(&options->output.format_options.weight, &name,
					       argument);

	return err || !name ? err : sampling_weigh_by(&options->sampling, name);
}

const struct option_entry record_option_table[] = {
	SAMPLING_TARGET_ENTRIES(struct record_options, sampling),
	RECORD_ENTRIES(struct record_options, ),
	OPTION_ENTRY(0, "via", "auto|perf|inside",
		     "sample CPU time by perf events, by a library in the command (inside), or by "
		     "the library if perf events are refused (auto, the default)",
		     sampling_take_via, FIELD(sampling.via)),
	OPTION_ENTRY(0, "latency", "FUNCTION",
		     "measure each call of [PROGRAM:]FUNCTION (by probes, as root): its time is "
		     "added to "
		     "the stack that calls it",
		     sampling_take_latency, FIELD(sampling.events)),
	OPTION_ENTRY(0, "slower", "MIN", "of --latency, keep calls that take MIN or longer: 10ms",
		     option_short_time, FIELD(sampling.least_call_ns)),
	MEMORY_ENTRIES(struct record_options, sampling.memory, sampling.events),
	OPTION_ENTRY('b', "branch-any", NULL,
		     "record the branches that the CPU took before each sample, where it has "
		     "registers for them: prof report --branches shows them",
		     sampling_take_branches, FIELD(sampling.branch_filter)),
	OPTION_ENTRY('j', "branch-filter", "FILTER[,FILTER]",
		     "the same of these branches: any, any_call, any_ret, ind_call, ind_jmp, call, "
		     "cond, and in user space (u) or the kernel (k)",
		     sampling_take_branches, FIELD(sampling.branch_filter)),
	OPTION_ENTRY(0, "branch", "[FILTER[,FILTER]]",
		     "record all branches or these, as -b and -j do", sampling_take_branches,
		     FIELD(sampling.branch_filter)),
	OPTION_ENTRY('d', "data", NULL,
		     "label accesses to memory with where their data was, and record how long they "
		     "took; events called mem-loads or mem-stores have it anyway",
		     option_true, FIELD(sampling.data_sources)),
	OPTION_ENTRY('W', NULL, NULL, "record how long accesses to memory took: -d", option_true,
		     FIELD(sampling.data_sources)),
	OPTION_ENTRY(0, "stat", NULL,
		     "count beside the samples, as perf stat: task-clock, context-switches, "
		     "cpu-migrations, page-faults, and cycles, instructions, branches and "
		     "branch-misses where there are counters",
		     option_true, FIELD(counts_stat)),
	PUSH_ENTRIES(struct record_options, push),
	OPTION_ENTRY(0, "java", NULL,
		     "ask running Java virtual machines (JDK 17 and later) for the names of the "
		     "code that they have compiled",
		     option_true, FIELD(asks_java)),

	ROTATION_ENTRIES(struct record_options, rotation),
	OPTION_ENTRY(0, "strict-freq", NULL,
		     "fail if the kernel's limit is below -F, which is lowered otherwise",
		     option_true, FIELD(strict_rate)),
	OPTION_ENTRY(0, "dry-run", NULL, "open the events, say what would be recorded, and exit",
		     option_true, FIELD(dry_run)),
	OPTION_ENTRY('k', "clockid", "CLOCK",
		     "accept the clock of all times, mono or monotonic; there is no other",
		     record_take_clock, 0),

	/* Options of perf record that concern its file or implementation. */
	IGNORED('B', "no-buildid", NULL),
	IGNORED('N', "no-buildid-cache", NULL),
	IGNORED(0, "buildid-all", NULL),
	IGNORED(0, "buildid-mmap", NULL),
	IGNORED(0, "no-buffering", NULL),
	IGNORED(0, "no-bpf-event", NULL),
	IGNORED('s', NULL, NULL),
	IGNORED(0, "phys-addr", NULL),
	IGNORED(0, "data-page-size", NULL),
	IGNORED(0, "code-page-size", NULL),
	IGNORED('T', "timestamp", NULL),
	IGNORED('P', "period", NULL),
	IGNORED('R', "raw-samples", NULL),
	IGNORED(0, "sample-cpu", NULL),
	IGNORED(0, "sample-identifier", NULL),
	IGNORED(0, "transaction", NULL),
	IGNORED(0, "running-time", NULL),
	IGNORED(0, "per-thread", NULL),
	IGNORED(0, "exclude-perf", NULL),
	IGNORED(0, "tail-synthesize", NULL),
	IGNORED(0, "timestamp-boundary", NULL),
	IGNORED('I', "intr-regs", "[REGS]"),
	IGNORED(0, "user-regs", "[REGS]"),
	IGNORED('r', "realtime", "PRIORITY"),
	IGNORED(0, "synth", "KIND"),
	IGNORED(0, "proc-map-timeout", "MS"),
	IGNORED(0, "num-thread-synthesize", "N"),
	IGNORED(0, "affinity", "HOW"),
	IGNORED(0, "mmap-flush", "N"),
	IGNORED('z', "compression-level", "[N]"),
	IGNORED(0, "threads", "[SPEC]"),
	IGNORED(0, "vmlinux", "FILE"),
	IGNORED(0, "off-cpu-thresh", "MS"), /* long waits are exact in any case */

	/* What a profile cannot have. */
	OPTION_ENTRY('S', "snapshot", "[SIZE]", NULL, refuse_snapshot, 0),
	OPTION_ENTRY('n', "no-samples", NULL, NULL, refuse_no_samples, 0),

	/* What would change the profile. */
	NOT_YET(0, "kernel-callchains", NULL),
	NOT_YET(0, "user-callchains", NULL),
	NOT_YET(0, "switch-events", NULL),
	{0, NULL, NULL, NULL, NULL, 0, OPTION_WORKS},
};

void record_options_init(struct record_options *options)
{
	*options = (struct record_options){.checkpoint = usual_checkpoint};
	sampling_options_init(&options->sampling);
	output_options_init(&options->output);
	push_options_init(&options->push);
	options->output.takes_records = true;
}

void record_options_deinit(struct record_options *options)
{
	sampling_options_deinit(&options->sampling);
	output_options_deinit(&options->output);
	push_options_deinit(&options->push);
	option_list_deinit(&options->without_meaning);
	fail_conditions_deinit(&options->conditions);
	rotation_options_deinit(&options->rotation);
}
