#include "cmd/sampling_options.h"

#include "base/alloc.h"
#include "cmd/message.h"
#include "perf/event.h"
#include "unwind/unwind.h"

#include <ctype.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A ring that holds fewer copies of stacks loses what comes while prof waits for a CPU. */
enum { FEWEST_DUMPS = 8 };

/* Both ends of a stack are kept. */
enum { LEAST_DEPTH = 2, MOST_DEPTH = 1 << 20 };

/* The kernel's record of 65,535 bytes holds no larger one. */
enum { DEFAULT_DUMP_BYTES = 32 << 10, SMALLEST_DUMP_BYTES = 512, LARGEST_DUMP_BYTES = 65528 };

struct error *sampling_take_events(void *field, const char *argument)
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

struct error *sampling_take_rate(void *field, const char *argument)
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

struct error *sampling_take_ids(void *field, const char *argument)
{
	if (strchr(argument, '-') || !option_ranges(argument, add_id, field))
		return error_new("\"%s\" is not a list of numbers such as 12,34", argument);
	return NULL;
}

struct error *sampling_take_user(void *field, const char *argument)
{
	const struct passwd *known = getpwnam(argument);
	char *end;
	unsigned long id = strtoul(argument, &end, 10);

	if (!known && (!isdigit((unsigned char)*argument) || *end || id >= UINT32_MAX))
		return error_new("there is no user \"%s\"", argument);
	*(struct user *)field = (struct user){.is_given = true,
					      .id = known ? known->pw_uid : (uid_t)id};
	return NULL;
}

static void add_cpu(void *to, unsigned number)
{
	struct cpu_list *list = to;

	GROW(list->items, list->count, list->room);
	list->items[list->count++] = number;
}

struct error *sampling_take_cpus(void *field, const char *argument)
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

struct error *sampling_take_call_graph(void *field, const char *argument)
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

struct error *sampling_take_g(void *field, const char *argument)
{
	(void)argument;
	((struct stacks *)field)->kind = CALL_GRAPH_AUTO;
	return NULL;
}

/* A bare number counts pages, as with perf. */
struct error *sampling_take_depth(void *field, const char *argument)
{
	uint64_t frames = 0;
	struct error *err = option_count(&frames, argument);

	if (!err && (frames < LEAST_DEPTH || frames > MOST_DEPTH))
		err = error_hint(error_new("no stack of %s frames can be kept", argument),
				 "from %d to %d", LEAST_DEPTH, MOST_DEPTH);
	if (!err)
		*(uint64_t *)field = frames;
	return err;
}

struct error *sampling_take_ring(void *field, const char *argument)
{
	struct error *err = option_size(field, argument);

	if (!err && strspn(argument, "0123456789") == strlen(argument))
		*(uint64_t *)field *= (uint64_t)sysconf(_SC_PAGESIZE);
	return err;
}

void sampling_options_init(struct sampling_options *options)
{
	*options = (struct sampling_options){
		.rate.frequency_hz = SAMPLING_FREQUENCY_HZ,
		.stacks = {.kind = CALL_GRAPH_AUTO, .dump_bytes = DEFAULT_DUMP_BYTES},
		.depth = UNWIND_DEPTH_MAX,
	};
}

void sampling_options_deinit(struct sampling_options *options)
{
	option_list_deinit(&options->events);
	free(options->pids.items);
	free(options->tids.items);
	free(options->cpus.items);
}

bool sampling_is_of_command(const struct sampling_options *options)
{
	return !options->pids.count && !options->tids.count && !options->user.is_given &&
	       !options->system_wide && !options->cpus.count;
}

struct error *sampling_options_check(const struct sampling_options *options)
{
	int targets = (options->pids.count > 0) + (options->tids.count > 0) +
		      options->user.is_given + options->system_wide;

	if (targets > 1)
		return error_new("-p, -t, -u and -a exclude each other");
	if (options->all_user && options->all_kernel)
		return error_new("--all-user and --all-kernel leave nothing");
	return NULL;
}

static void cap_rate(struct sampling_options *options, bool quiet)
{
	uint64_t max_hz = event_max_frequency_hz();

	if (options->rate.max)
		options->rate.frequency_hz = max_hz ? max_hz : options->rate.frequency_hz;
	if (options->period || !max_hz || options->rate.frequency_hz <= max_hz)
		return;
	if (!quiet)
		message("%" PRIu64 " Hz is above the kernel's limit: sampling at %" PRIu64
			" Hz (kernel.perf_event_max_sample_rate)",
			options->rate.frequency_hz, max_hz);
	options->rate.frequency_hz = max_hz;
}

/* Scripts give perf rings that are smaller than one of our samples. */
static void raise_ring(struct sampling_options *options, bool quiet)
{
	bool copies = options->stacks.kind == CALL_GRAPH_AUTO ||
		      options->stacks.kind == CALL_GRAPH_DWARF;
	uint64_t least_bytes = FEWEST_DUMPS * options->stacks.dump_bytes;

	if (!copies || !options->ring_bytes || options->ring_bytes >= least_bytes)
		return;
	if (!quiet)
		message("-m: a ring buffer of %" PRIu64 " KiB is too small for copies of %" PRIu64
			" KiB of stack: taking %" PRIu64 " KiB",
			options->ring_bytes / 1024, options->stacks.dump_bytes / 1024,
			least_bytes / 1024);
	options->ring_bytes = least_bytes;
}

void sampling_options_settle(struct sampling_options *options, bool quiet)
{
	cap_rate(options, quiet);
	raise_ring(options, quiet);
}
