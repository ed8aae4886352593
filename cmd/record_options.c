#include "cmd/record_options.h"

#include "base/alloc.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* 999 rather than 1000, so as not to beat in time with what programs do a thousand times a second.
 */
enum { DEFAULT_FREQUENCY_HZ = 999 };

/* The kernel's record of 65,535 bytes holds no larger one. */
enum { DEFAULT_DUMP_BYTES = 32 << 10, SMALLEST_DUMP_BYTES = 512, LARGEST_DUMP_BYTES = 65528 };

static struct error *take_events(void *field, const char *argument)
{
	CLEANUP(free_ptr) char *copy = xstrdup(argument);
	char *rest = copy, *spec;

	while ((spec = strsep(&rest, ","))) {
		struct error *err = *spec ? option_append(field, spec)
					  : error_new("\"%s\" holds an empty name", argument);

		if (err)
			return err;
	}
	return NULL;
}

static struct error *take_rate(void *field, const char *argument)
{
	struct rate *rate = field;

	rate->max = !strcmp(argument, "max");
	return rate->max ? NULL : option_count(&rate->frequency_hz, argument);
}

static void add_id(void *to, unsigned number)
{
	struct id_list *list = to;

	GROW(list->items, list->count, list->room);
	list->items[list->count++] = (pid_t)number;
}

static struct error *take_ids(void *field, const char *argument)
{
	if (strchr(argument, '-') || !option_ranges(argument, add_id, field))
		return error_new("\"%s\" is not a list of numbers such as 12,34", argument);
	return NULL;
}

static void add_cpu(void *to, unsigned number)
{
	struct cpu_list *list = to;

	GROW(list->items, list->count, list->room);
	list->items[list->count++] = number;
}

static struct error *take_cpus(void *field, const char *argument)
{
	return option_ranges(argument, add_cpu, field)
		       ? NULL
		       : error_new("\"%s\" is not a list of CPUs such as 0,2-4", argument);
}

/* The kernel copies words; as perf does, a size in between is rounded up. */
static struct error *take_dump_size(struct stacks *stacks, const char *argument)
{
	uint64_t bytes = 0;
	struct error *err = option_size(&bytes, argument);

	if (!err && (bytes < SMALLEST_DUMP_BYTES || bytes > LARGEST_DUMP_BYTES))
		err = error_hint(error_new("the kernel copies no stack of this size"),
				 "from %d to %d bytes", SMALLEST_DUMP_BYTES, LARGEST_DUMP_BYTES);
	if (err)
		return error_wrap(err, "dwarf,%s", argument);
	stacks->dump_bytes = (bytes + 7) & ~UINT64_C(7);
	return NULL;
}

static struct error *take_call_graph(void *field, const char *argument)
{
	static const struct {
		const char *name;
		enum call_graph kind;
	} kinds[] = {{"auto", CALL_GRAPH_AUTO},
		     {"dwarf", CALL_GRAPH_DWARF},
		     {"fp", CALL_GRAPH_FP},
		     {"no", CALL_GRAPH_NO},
		     {"none", CALL_GRAPH_NO}};
	struct stacks *stacks = field;

	if (!strcmp(argument, "lbr"))
		return error_new("lbr is not supported yet");
	if (!strncmp(argument, "dwarf,", 6)) {
		stacks->kind = CALL_GRAPH_DWARF;
		return take_dump_size(stacks, argument + 6);
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(argument, kinds[i].name)) {
			stacks->kind = kinds[i].kind;
			return NULL;
		}
	}
	return error_hint(error_new("\"%s\" is no way to get a call graph", argument),
			  "auto, dwarf, dwarf,SIZE, fp or no");
}

static struct error *take_g(void *field, const char *argument)
{
	(void)argument;
	((struct stacks *)field)->kind = CALL_GRAPH_AUTO;
	return NULL;
}

/* A bare number counts pages, as with perf. */
static struct error *take_ring(void *field, const char *argument)
{
	struct error *err = option_size(field, argument);

	if (!err && strspn(argument, "0123456789") == strlen(argument))
		*(uint64_t *)field *= (uint64_t)sysconf(_SC_PAGESIZE);
	return err;
}

#define FIELD(name) offsetof(struct record_options, name)

#define WORKS(letter, name, argument, help, take, field)                                           \
	{                                                                                          \
		letter, name, argument, help, take, FIELD(field), OPTION_WORKS                     \
	}
#define PASSED_OVER(letter, name, argument)                                                        \
	{                                                                                          \
		letter, name, argument, NULL, NULL, FIELD(without_meaning), OPTION_PASSED_OVER     \
	}
#define NOT_YET(letter, name, argument)                                                            \
	{                                                                                          \
		letter, name, argument, NULL, NULL, 0, OPTION_NOT_YET                              \
	}

const struct option_entry record_option_table[] = {
	WORKS('p', "pid", "PID[,PID]",
	      "record these running processes, their threads and what they fork", take_ids, pids),
	WORKS('t', "tid", "TID[,TID]", "record these threads alone", take_ids, tids),
	WORKS('a', "all-cpus", NULL, "record the whole machine", option_true, system_wide),
	WORKS('C', "cpu", "LIST", "record on these CPUs alone, such as 0,2-4", take_cpus, cpus),
	WORKS('i', "no-inherit", NULL, "do not follow new threads and children", option_true,
	      no_inherit),
	WORKS(0, "duration", "SECONDS", "stop after so many seconds", option_time, duration_ns),

	WORKS('F', "freq", "N|max", "samples a second of CPU time; 999 if not said", take_rate,
	      rate),
	WORKS('c', "count", "N", "a sample every N events instead", option_count, period),
	WORKS('e', "event", "EVENT[:ukp]",
	      "what to sample: cycles, cpu-clock, page-faults, sched:sched_switch, ...; if not "
	      "said, cycles, or cpu-clock where there is no hardware counter",
	      take_events, events),
	WORKS(0, "all-user", NULL, "leave the kernel out", option_true, all_user),
	WORKS(0, "all-kernel", NULL, "leave user space out", option_true, all_kernel),

	WORKS('g', NULL, NULL, "call graphs, which are recorded without it too: --call-graph auto",
	      take_g, stacks),
	WORKS(0, "call-graph", "HOW",
	      "auto (the kernel's chain, and the user stack by call frame information, frame "
	      "pointers where there is none), dwarf[,SIZE] (the same, with SIZE bytes of stack "
	      "copied; 32k if not said), fp (frame pointers alone), no",
	      take_call_graph, stacks),
	WORKS('m', "mmap-pages", "PAGES|SIZE",
	      "the ring buffer of each CPU: pages, or bytes with k or M", take_ring, ring_bytes),

	DELIVERY_ENTRIES(struct record_options, delivery),

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
	NOT_YET('D', "delay", "MS"),
	NOT_YET('u', "uid", "USER"),
	NOT_YET('G', "cgroup", "NAME"),
	NOT_YET('k', "clockid", "CLOCK"),
	NOT_YET('w', "wait", NULL),
	NOT_YET(0, "name", "PATTERN"),
	NOT_YET(0, "control", "HOW"),
	NOT_YET(0, "max-size", "SIZE"),
	NOT_YET(0, "fail-if", "CONDITION"),
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
	*options = (struct record_options){
		.rate.frequency_hz = DEFAULT_FREQUENCY_HZ,
		.stacks = {.kind = CALL_GRAPH_AUTO, .dump_bytes = DEFAULT_DUMP_BYTES},
	};
	delivery_options_init(&options->delivery);
	options->delivery.takes_records = true;
}

void record_options_deinit(struct record_options *options)
{
	option_list_deinit(&options->events);
	delivery_options_deinit(&options->delivery);
	option_list_deinit(&options->without_meaning);
	free(options->pids.items);
	free(options->tids.items);
	free(options->cpus.items);
}
