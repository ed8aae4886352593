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

static struct error *take_dump_size(struct stacks *stacks, const char *argument)
{
	struct error *err = option_size(&stacks->dump_bytes, argument);

	if (err)
		return err;
	if (stacks->dump_bytes < SMALLEST_DUMP_BYTES || stacks->dump_bytes > LARGEST_DUMP_BYTES)
		return error_hint(
			error_new("dwarf,%s: the kernel copies no stack of this size", argument),
			"from %d to %d bytes", SMALLEST_DUMP_BYTES, LARGEST_DUMP_BYTES);
	stacks->dump_bytes &= ~UINT64_C(7);
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

static struct error *take_format(void *field, const char *argument)
{
	const struct format *format = format_by_name(argument);
	const char *names[32];
	const char *nearest;
	size_t count = 0;

	if (format) {
		*(const struct format **)field = format;
		return NULL;
	}
	for (; formats[count]; count++)
		names[count] = formats[count]->name;
	names[count] = NULL;
	nearest = option_nearest(argument, names);
	return error_hint(error_new("there is no format \"%s\"", argument),
			  "did you mean %s? The formats are pprof and folded",
			  nearest ? nearest : names[0]);
}

static struct error *take_weight(void *field, const char *argument)
{
	enum format_weight *weight = field;

	if (!strcmp(argument, "samples"))
		*weight = WEIGHT_SAMPLES;
	else if (!strcmp(argument, "ns"))
		*weight = WEIGHT_NS;
	else if (!strcmp(argument, "period"))
		*weight = WEIGHT_PERIOD;
	else
		return error_new("\"%s\" is none of samples, ns and period", argument);
	return NULL;
}

#define FIELD(name) offsetof(struct record_options, name)

/* Each entry appends its own name: an option_take is not told which option it is. */
#define WITHOUT_MEANING(function, text)                                                            \
	static struct error *function(void *field, const char *argument)                           \
	{                                                                                          \
		(void)argument;                                                                    \
		return option_append(field, text);                                                 \
	}

WITHOUT_MEANING(take_no_buildid, "--no-buildid")
WITHOUT_MEANING(take_no_buildid_cache, "--no-buildid-cache")
WITHOUT_MEANING(take_no_buffering, "--no-buffering")
WITHOUT_MEANING(take_stat, "--stat")
WITHOUT_MEANING(take_data, "--data")
WITHOUT_MEANING(take_timestamp, "--timestamp")
WITHOUT_MEANING(take_period, "--period")
WITHOUT_MEANING(take_raw_samples, "--raw-samples")
WITHOUT_MEANING(take_sample_cpu, "--sample-cpu")
WITHOUT_MEANING(take_compression, "--compression-level")

#define IGNORED(letter, name, function)                                                            \
	{                                                                                          \
		letter, name, NULL, NULL, function, FIELD(without_meaning)                         \
	}

const struct option_entry record_option_table[] = {
	{'p', "pid", "PID[,PID]",
	 "record these running processes, their threads and what they fork", take_ids, FIELD(pids)},
	{'t', "tid", "TID[,TID]", "record these threads alone", take_ids, FIELD(tids)},
	{'a', "all-cpus", NULL, "record the whole machine", option_true, FIELD(system_wide)},
	{'C', "cpu", "LIST", "record on these CPUs alone, such as 0,2-4", take_cpus, FIELD(cpus)},
	{'i', "no-inherit", NULL, "do not follow new threads and children", option_true,
	 FIELD(no_inherit)},
	{0, "duration", "SECONDS", "stop after so many seconds", option_time, FIELD(duration_ns)},

	{'F', "freq", "N|max", "samples a second of CPU time; 999 if not said", take_rate,
	 FIELD(rate)},
	{'c', "count", "N", "a sample every N events instead", option_count, FIELD(period)},
	{'e', "event", "EVENT[:ukp]",
	 "what to sample: cycles, cpu-clock, page-faults, sched:sched_switch, ...; cycles if not "
	 "said, "
	 "cpu-clock where there is no hardware counter",
	 take_events, FIELD(events)},
	{0, "all-user", NULL, "leave the kernel out", option_true, FIELD(all_user)},
	{0, "all-kernel", NULL, "leave user space out", option_true, FIELD(all_kernel)},

	{'g', NULL, NULL, "record call graphs, as without it: --call-graph auto", take_g,
	 FIELD(stacks)},
	{0, "call-graph", "HOW",
	 "auto (the kernel's chain, the user stack by its call frame information, frame pointers "
	 "where there is none), dwarf[,SIZE] (the same, with SIZE bytes of stack copied; 32k if "
	 "not "
	 "said), fp (frame pointers alone), no",
	 take_call_graph, FIELD(stacks)},
	{'m', "mmap-pages", "PAGES|SIZE",
	 "the ring buffer of each CPU: pages, or bytes with k or M", take_ring, FIELD(ring_bytes)},

	{'o', "output", "FILE",
	 "write there; again for more outputs of one run. - is stdout; %p, %t and %n in the name "
	 "are the "
	 "pid, the time and a number",
	 option_append, FIELD(outputs)},
	{0, "format", "NAME", "pprof or folded, whatever the name of the file", take_format,
	 FIELD(format)},
	{0, "weight", "KIND", "folded stacks count samples, ns or period", take_weight,
	 FIELD(format_options.weight)},
	{0, "show-pid", NULL, "folded stacks begin with NAME-PID", option_true,
	 FIELD(format_options.show_pid)},
	{0, "show-tid", NULL, "folded stacks begin with NAME-PID/TID", option_true,
	 FIELD(format_options.show_tid)},
	{0, "annotate", NULL,
	 "folded names of kernel, inlined and JIT frames end in _[k], _[i], _[j]", option_true,
	 FIELD(format_options.annotate)},

	{0, "no-inline", NULL,
	 "name functions by the symbol tables alone: no lines, nothing inlined", option_true,
	 FIELD(no_inline)},
	{0, "debug-dir", "DIR", "where separate debug files are; /usr/lib/debug if not said",
	 option_string, FIELD(debug_dir)},
	{'q', "quiet", NULL, "say nothing but errors", option_true, FIELD(quiet)},
	{'v', "verbose", NULL, "say what is opened, and everything that lacks names", option_true,
	 FIELD(verbose)},

	IGNORED('B', "no-buildid", take_no_buildid),
	IGNORED('N', "no-buildid-cache", take_no_buildid_cache),
	IGNORED(0, "no-buffering", take_no_buffering),
	IGNORED('s', "stat", take_stat),
	IGNORED('d', "data", take_data),
	IGNORED('T', "timestamp", take_timestamp),
	IGNORED('P', "period", take_period),
	IGNORED('R', "raw-samples", take_raw_samples),
	IGNORED(0, "sample-cpu", take_sample_cpu),
	IGNORED('z', "compression-level", take_compression),
	{0},
};

void record_options_init(struct record_options *options)
{
	*options = (struct record_options){
		.rate.frequency_hz = DEFAULT_FREQUENCY_HZ,
		.stacks = {.kind = CALL_GRAPH_AUTO, .dump_bytes = DEFAULT_DUMP_BYTES},
		.debug_dir = "/usr/lib/debug",
	};
}

void record_options_deinit(struct record_options *options)
{
	option_list_deinit(&options->events);
	option_list_deinit(&options->outputs);
	option_list_deinit(&options->without_meaning);
	free(options->pids.items);
	free(options->tids.items);
	free(options->cpus.items);
}
