#include "cmd/record/record_options.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "proc/executed_file.h"
#include "record/quality.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define FIELD(name) offsetof(struct record_options, name)

#define IGNORED(letter, name, argument)                                                            \
	OPTION_UNLISTED(letter, name, argument, FIELD(without_meaning), OPTION_IGNORED)
#define NOT_YET(letter, name, argument)                                                            \
	OPTION_UNLISTED(letter, name, argument, 0, OPTION_UNSUPPORTED)

/* The maximum loss if prof is killed. */
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
	return error_hint(error_new("the clock \"%s\" is not supported", argument),
			  "prof uses CLOCK_MONOTONIC (mono), which orders samples with mappings, "
			  "waits and logs of other programs");
}

struct error *record_take_java(void *field, const char *argument)
{
	static const struct option_choice choices[] = {
		{"auto", JAVA_OWN}, {"all", JAVA_ALL}, {"no", JAVA_NONE}, {0}};
	enum java_choice *java = field;
	int chosen = JAVA_ALL;
	struct error *err = argument ? option_choice("choice of JVMs", choices, argument, &chosen)
				     : NULL;

	*java = (enum java_choice)chosen;
	return err;
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

struct error *record_take_latency(void *field, const char *argument)
{
	struct record_options *options = field;

	if (!argument)
		return waiting_take_elapsed(&options->sampling.waiting, NULL);
	options->has_old_latency = true;
	return sampling_take_calls(&options->sampling.events, argument);
}

struct error *record_take_weight(void *field, const char *argument)
{
	struct record_options *options = field;
	const char *name = NULL;
	struct error *err = output_take_weight(&options->output.format_options.folded.weight, &name,
					       argument);

	return err || !name ? err : sampling_weigh_by(&options->sampling, name);
}

const struct option_entry record_option_table[] = {
	SAMPLING_TARGET_ENTRIES(struct record_options, sampling),
	RECORD_ENTRIES(struct record_options, ),
	OPTION_ENTRY(
		EVENTS, 0, "via", "auto|perf|inside",
		"choose what samples CPU time (default auto); perf: perf events. inside: a library "
		"in the command. auto: the library if perf events are refused",
		sampling_take_via, FIELD(sampling.via)),
	OPTION_ENTRY(
		EVENTS, 0, "stat", NULL,
		"also count events, as perf stat does; task-clock, context-switches, "
		"cpu-migrations, page-faults, and if available cycles, instructions, branches and "
		"branch-misses",
		option_true, FIELD(counts_stat)),
	OPTION_ENTRY(EVENTS, 'b', "branch-any", NULL,
		     "record the branches before each sample; if the CPU supports it. prof report "
		     "--branches shows them",
		     sampling_take_branches, FIELD(sampling.branch_filter)),
	OPTION_ENTRY(
		EVENTS, 'j', "branch-filter", "FILTER[,FILTER]",
		"record only branches of these kinds; any, any_call, any_ret, ind_call, ind_jmp, "
		"call, cond, and in user space (u) or the kernel (k)",
		sampling_take_branches, FIELD(sampling.branch_filter)),
	OPTION_ENTRY(EVENTS, 0, "branch", "[FILTER[,FILTER]]",
		     "record all branches, or those of these kinds; as -b and -j do",
		     sampling_take_branches, FIELD(sampling.branch_filter)),
	OPTION_ENTRY(
		EVENTS, 0, "calls", "FUNCTION",
		"measure each call of a function (root); adds its duration to the stack of the "
		"caller. [PROGRAM:]FUNCTION, repeatable",
		sampling_take_calls, FIELD(sampling.events)),
	OPTION_ENTRY(EVENTS, 0, "slower", "MIN",
		     "with --calls, keep only calls of MIN or longer, such as 10ms",
		     option_short_time, FIELD(sampling.least_call_ns)),
	OPTION_ENTRY(EVENTS, 0, "strict-freq", NULL,
		     "fail if -F exceeds the kernel's limit; otherwise prof lowers the rate",
		     option_true, FIELD(strict_rate)),
	OPTION_ENTRY(EVENTS, 'k', "clockid", "CLOCK",
		     "accept mono or monotonic, the only clock of prof", record_take_clock, 0),
	OPTION_ENTRY(WAITING, 0, "latency", "[FUNCTION]",
		     "same as --elapsed, as in perf; with FUNCTION, the old name of --calls",
		     record_take_latency, 0),
	MEMORY_ENTRIES(struct record_options, sampling.memory, sampling.events),
	OPTION_ENTRY(MEMORY, 'd', "data", NULL,
		     "label memory accesses with their data source and latency; events called "
		     "mem-loads or mem-stores have these labels without it",
		     option_true, FIELD(sampling.data_sources)),
	OPTION_ENTRY(MEMORY, 'W', NULL, NULL,
		     "record the latency of memory accesses; same as --data", option_true,
		     FIELD(sampling.data_sources)),
	OPTION_ENTRY(
		SYMBOLS, 0, "java", "[auto|all|no]",
		"get the names of compiled code from running JVMs (default your own JVMs); JDK "
		"17 and later. Without a value, root asks those of all users",
		record_take_java, FIELD(java)),
	OPTION_ENTRY(CONTROL, 0, "dry-run", NULL,
		     "open the events, print what would be recorded, and exit", option_true,
		     FIELD(dry_run)),
	ROTATION_ENTRIES(struct record_options, rotation),
	PUSH_ENTRIES(struct record_options, push),

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
	IGNORED(0, "aio", "[N]"),
	IGNORED(0, "all-cgroups", NULL),
	IGNORED(0, "group", NULL),
	IGNORED(0, "kcore", NULL),
	IGNORED(0, "namespaces", NULL),
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
	IGNORED(0, "off-cpu-thresh", "MS"), /* all long waits are recorded anyway */

	/* Options of other profilers: samply, py-spy. */
	OPTION_ENTRY(NONE, 0, "rate", "N", NULL, sampling_take_rate, FIELD(sampling.frequency_hz)),
	OPTION_ENTRY(NONE, 'f', NULL, "FORMAT", NULL, output_take_format, FIELD(output.format)),
	IGNORED(0, "save-only", NULL),
	IGNORED(0, "no-open", NULL),
	IGNORED(0, "native", NULL),
	IGNORED(0, "nonblocking", NULL),
	IGNORED(0, "function", NULL),

	/* Options without an equivalent: the error states the reason. */
	OPTION_ENTRY(NONE, 'S', "snapshot", "[SIZE]", NULL, refuse_snapshot, 0),
	OPTION_ENTRY(NONE, 'n', "no-samples", NULL, NULL, refuse_no_samples, 0),

	/* Options that would change the profile. */
	NOT_YET(0, "kernel-callchains", NULL),
	NOT_YET(0, "user-callchains", NULL),
	NOT_YET(0, "switch-events", NULL),
	{0},
};
#undef FIELD
#undef IGNORED

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

/* argv: a word of the command line and those after it. */
static bool record_is_program(char *const *argv)
{
	CLEANUP(free_ptr) char *path = NULL;
	int fd = executed_file_open(argv, &path);

	if (fd >= 0)
		close(fd);
	return path;
}

/*
 * The word after --latency used to be a function. Returns whether it
 * is one: it is not a program, and an option or a program follows. rest: of
 * options_parse(), which takes this word for the command.
 */
static bool record_has_function(int argc, char *const *argv, int rest)
{
	return rest > 1 && rest + 1 < argc && !strcmp(argv[rest - 1], "--latency") &&
	       !record_is_program(argv + rest) &&
	       (*argv[rest + 1] == '-' || record_is_program(argv + rest + 1));
}

struct error *record_options_parse(struct record_options *options, int argc, char **argv, int *rest,
				   enum option_group *help)
{
	static char calls[] = "--calls";
	bool has_old_latency = false;

	for (;;) {
		struct error *err;

		record_options_init(options);
		err = options_parse(record_option_table, argc, argv, options, rest, help);
		options->has_old_latency |= has_old_latency;
		if (err || *help || !record_has_function(argc, argv, *rest))
			return err;
		argv[*rest - 1] = calls;
		has_old_latency = true;
		record_options_deinit(options);
	}
}
