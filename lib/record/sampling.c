#include "record/sampling.h"

#include "base/alloc.h"
#include "perf/branch.h"
#include "perf/default_event.h"
#include "perf/field_reader.h"
#include "proc/memory.h"
#include "unwind/arch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	/* Where each occurrence of an event is sampled, nothing bounds their rate: larger rings and
	 * smaller copies of stacks hold the samples of a burst. */
	EACH_RING_BYTES = 16 << 20,
	EACH_STACK_BYTES = 8 << 10,
};

static bool samples_each(const struct event *event)
{
	return event->is_tracepoint && event->period == 1;
}

/* The rate of an event is its own, else that of the recording. Returns what the kernel's limit
 * lowered it from; 0: it did not. */
static uint64_t set_rate(const struct record_config *config, struct event *event, uint64_t max_hz)
{
	uint64_t asked_hz = event->frequency_hz;

	if (asked_hz && max_hz && asked_hz > max_hz) {
		event->frequency_hz = max_hz;
		return asked_hz;
	}
	if (asked_hz || event->period || event->role == EVENT_COUNTED)
		return 0;
	if (config->period)
		event->period = config->period;
	else if (event->is_tracepoint)
		event->period = 1;
	else
		event->frequency_hz = config->frequency_hz;
	return 0;
}

/* filter and weight: "" for none. */
static struct error *add_event(struct sampling *sampling, const struct record_config *config,
			       const char *spec, const char *filter, const char *weight)
{
	CLEANUP(event_deinit) struct event event = {0};
	struct error *err = probe_is_spec(spec) ? probes_add(&sampling->probes, spec, config,
							     &sampling->pmus, &event)
						: event_parse(spec, &sampling->pmus, &event);

	if (!err && *filter)
		err = event_set_filter(&event, filter);
	if (!err && *weight)
		err = event_set_weight(&event, weight);
	if (err)
		return err;
	sampling->events[sampling->event_count++] = event;
	event = (struct event){0};
	return NULL;
}

/* The event of that number, as config describes it. */
static struct error *add_described(struct sampling *sampling, const struct record_config *config,
				   size_t number)
{
	struct error *err = add_event(sampling, config, config->events[number],
				      number < config->filter_count ? config->filters[number] : "",
				      number < config->weight_count ? config->weights[number] : "");

	if (!err && number < config->role_count)
		sampling->events[sampling->event_count - 1].role = config->roles[number];
	return err;
}

struct error *sampling_choose(struct sampling *sampling, const struct record_config *config)
{
	struct error *err = NULL;

	*sampling = (struct sampling){0};
	pmus_read(NULL, &sampling->pmus);
	sampling->events = xcalloc(config->event_count + 2, sizeof(*sampling->events));
	if (!config->event_count && !config->samples_nothing)
		event_default(&sampling->pmus, &sampling->events[sampling->event_count++],
			      &sampling->reason);
	for (size_t i = 0; i < config->event_count && !err; i++)
		err = add_described(sampling, config, i);
	if (!err && config->trigger_event)
		err = add_event(sampling, config, config->trigger_event, "", "");
	if (err)
		return err;
	sampling->max_hz = event_max_frequency_hz();
	for (size_t i = 0; i < sampling->event_count; i++) {
		struct event *event = &sampling->events[i];
		uint64_t asked_hz = set_rate(config, event, sampling->max_hz);

		if (asked_hz)
			sampling->lowered_hz = asked_hz;
		event->exclude_kernel |= config->exclude_kernel;
		event->exclude_user |= config->exclude_user;
	}
	return NULL;
}

void sampling_deinit(struct sampling *sampling)
{
	for (size_t i = 0; i < sampling->event_count; i++)
		event_deinit(&sampling->events[i]);
	free(sampling->events);
	probes_deinit(&sampling->probes);
	pmus_deinit(&sampling->pmus);
	*sampling = (struct sampling){0};
}

/* Whether the events of its group are counted by its samples. */
static bool leads_counted(const struct sampling *sampling, const struct event *event)
{
	const struct event *next = event + 1;

	return event->role == EVENT_LEADS && next < sampling->events + sampling->event_count &&
	       next->role == EVENT_COUNTED;
}

/* Registers of branches are of the CPU's counters: those of other events are left out, and an event
 * that may have them is refused where the machine has none. */
static uint64_t branch_filter_of(const struct record_config *config, const struct event *event,
				 enum call_graph kind)
{
	if (event->is_tracepoint || event->is_probe || event->role == EVENT_COUNTED)
		return 0;
	return kind == CALL_GRAPH_LBR ? branch_filter_call_stack : config->branch_filter;
}

static struct sample_fields fields_of(const struct sampling *sampling,
				      const struct record_config *config, const struct event *event)
{
	enum call_graph kind = event->has_call_graph ? event->call_graph : config->call_graph;
	struct sample_fields fields = {
		.kernel_chain = kind != CALL_GRAPH_NO,
		.user_chain = kind == CALL_GRAPH_FP || kind == CALL_GRAPH_LBR,
		/* perf before 6.19 drops the whole stack of such a sample. */
		.may_defer_chain = kind == CALL_GRAPH_FP && !config->writes_raw &&
				   !leads_counted(sampling, event),
		.group_values = leads_counted(sampling, event),
		.raw = event->is_tracepoint &&
		       (config->writes_raw ||
			(event->reader && field_reader_is_needed(event->reader))),
	};

	fields.regs_mask = event->weight_argument.register_bit;
	fields.branch_filter = branch_filter_of(config, event, kind);
	fields.data_source = config->reads_data_sources || event_is_of_memory(event);
	if (!call_graph_dumps(kind))
		return fields;
	/* perf puts the frames that it unwinds after those of the chain. Of a hit it would cost
	 * more than the rest of the sample. */
	fields.user_chain = !config->writes_raw && !event->is_probe;
	fields.regs_mask = arch_native()->perf_mask;
	fields.stack_bytes = event->stack_bytes ? event->stack_bytes : config->dump_bytes;
	if (!event->stack_bytes && kind == CALL_GRAPH_AUTO && samples_each(event) &&
	    fields.stack_bytes > EACH_STACK_BYTES)
		fields.stack_bytes = EACH_STACK_BYTES;
	return fields;
}

void sampling_set_fields(struct sampling *sampling, const struct record_config *config)
{
	for (size_t i = 0; i < sampling->event_count; i++) {
		struct event *event = &sampling->events[i];

		event->fields = fields_of(sampling, config, event);
		/* The stack pointer tells recursive calls apart. */
		if (event->measures_calls || event->follows_calls)
			event->fields.regs_mask = arch_native()->perf_mask;
	}
}

struct sample_fields sampling_stack_fields(const struct record_config *config, uint32_t most_bytes)
{
	struct sample_fields fields = {
		.kernel_chain = config->call_graph != CALL_GRAPH_NO,
		.user_chain = config->call_graph != CALL_GRAPH_NO,
	};

	if (!record_config_dumps(config))
		return fields;
	fields.regs_mask = arch_native()->perf_mask;
	fields.stack_bytes = config->dump_bytes < most_bytes ? config->dump_bytes : most_bytes;
	return fields;
}

static size_t ring_bytes_of(const struct sampling *sampling, const struct record_config *config)
{
	for (size_t i = 0; !config->ring_bytes && i < sampling->event_count; i++)
		if (samples_each(&sampling->events[i]))
			return EACH_RING_BYTES;
	return config->ring_bytes;
}

static struct sampler_options options_of(const struct sampling *sampling,
					 const struct record_config *config)
{
	const struct arch *arch = arch_native();

	return (struct sampler_options){
		.ring_bytes = ring_bytes_of(sampling, config),
		.data_mappings = config->writes_raw,
		.switches = config->adds_unsampled,
		.waits = config->records_waiting,
		.starts_late = record_config_starts_late(config),
		.read_memory = config->low_overhead ? NULL : memory_read,
		/* Until samples have shown how deep stacks are. Records then come 2 ms late, and
		 * shorter waits are over before one can look. */
		.captures_from_start = !config->records_waiting,
		.copies_in_kernel = true,
		.copies_whole_stacks = config->writes_raw,
		.sp_bit = arch->perf_sp,
		.pc_bit = arch->perf_pc,
		.g_bit = arch->perf_g,
	};
}

struct target sampling_target(const struct record_config *config)
{
	struct target target = {
		.kind = TARGET_SYSTEM,
		.cpus = config->cpus,
		.cpu_count = config->cpu_count,
		.inherit = config->inherit,
	};

	if (config->command) {
		target.kind = TARGET_COMMAND;
		target.prefers_cpus = true;
		target.commands_later = config->commands_later;
		target.ids = &config->command;
		target.id_count = 1;
	} else if (config->pid_count || config->choice) {
		target.kind = TARGET_PROCESSES;
		target.ids = config->pids;
		target.id_count = config->pid_count;
		target.found_count = config->found_count;
		target.with_children = config->with_children;
		target.rule = config->choice ? &config->choice->rule : NULL;
	} else if (config->tid_count) {
		target.kind = TARGET_THREADS;
		target.ids = config->tids;
		target.id_count = config->tid_count;
	}
	return target;
}

/* What a whole package does is no process's. */
static struct error *check_target(const struct record_config *config, const struct event *event)
{
	if (event->pmu_kind != PMU_PACKAGE ||
	    !(config->command || config->pid_count || config->choice || config->tid_count))
		return NULL;
	return error_hint(error_new("%s is counted per package, not per process", event->name),
			  "sample the whole machine with -a");
}

struct error *sampling_open(struct sampling *sampling, const struct record_config *config,
			    struct sampler **ret)
{
	struct sampler_options options = options_of(sampling, config);
	struct target target = sampling_target(config);

	for (size_t i = 0; i < sampling->event_count; i++) {
		struct error *err = check_target(config, &sampling->events[i]);

		if (err)
			return err;
		options.keeps_order |= sampling->events[i].measures_calls ||
				       sampling->events[i].follows_calls;
	}
	sampling_set_fields(sampling, config);
	return sampler_open(sampling->events, sampling->event_count, &target, &options, ret);
}

/* It has the timer's name in perf: what it counts is the same. */
void sampling_of_library(struct sampling *sampling, uint32_t cpu_hz)
{
	struct event *event = &sampling->events[0];

	free(event->name);
	event->name = xstrdup("cpu-clock");
	event->kind = VALUE_CPU_TIME;
	event->period = 0;
	event->frequency_hz = cpu_hz;
	sampling->reason = NULL;
}

static void notice_uncounted(const struct sampling *sampling, const struct sampler *sampler,
			     const struct listener *listener)
{
	const struct pmus *pmus = &sampling->pmus;

	if (pmus->ignored)
		listener_notice(listener,
				"ignored %zu of the kernel's PMUs: their description is damaged or "
				"has vanished (%s)",
				pmus->ignored, pmus->ignored_name);
	for (unsigned i = 0; i < sampling->event_count; i++) {
		const char *cpus = sampler_lacking_cpus(sampler, i);

		if (cpus)
			listener_notice(listener,
					"CPUs %s have no counter for %s: what they run is not in "
					"the profile",
					cpus, sampling->events[i].name);
	}
}

void sampling_notice(const struct sampling *sampling, const struct record_config *config,
		     const struct sampler *sampler, const struct listener *listener)
{
	const struct sampler_facts *facts = sampler_facts(sampler);

	probes_notice(&sampling->probes, listener);
	notice_uncounted(sampling, sampler, listener);
	if (sampling->lowered_hz)
		listener_notice(listener,
				"%" PRIu64 " Hz of an event is above the kernel's limit: sampling "
				"it at %" PRIu64 " Hz (kernel.perf_event_max_sample_rate)",
				sampling->lowered_hz, sampling->max_hz);
	if (sampling->reason)
		listener_notice(listener, "sampling %s: %s", sampling->events[0].name,
				sampling->reason);
	if (facts->kernel_excluded && !config->exclude_kernel)
		listener_notice(listener,
				"user space only: no permission to sample the kernel (sudo sysctl "
				"kernel.perf_event_paranoid=%d gives it)",
				/* Of a command, 0 lets whole CPUs be sampled, too. */
				config->command ? 0 : 1);
	if (config->with_children && facts->denied_threads)
		listener_notice(listener,
				"%zu threads of child processes are not sampled: the kernel "
				"denies it; run prof as root (sudo)",
				facts->denied_threads);
	if (config->choice && !facts->follows_rule)
		listener_notice(listener,
				"processes that begin later are looked for twice per second%s",
				config->records_waiting || geteuid() == 0
					? ""
					: " (root misses none of their time)");
	if (facts->is_joint)
		listener_notice(listener,
				"the limit of open files (ulimit -n) leaves no rings to mappings "
				"alone: lost %s can cost names, too",
				config->records_waiting ? "context switches" : "samples");
	if (facts->ring_shrunk)
		listener_notice(listener,
				"ring buffers of %zu KiB per CPU: more memory may not be locked "
				"(ulimit -l, kernel.perf_event_mlock_kb)",
				facts->ring_bytes / 1024);
	if (facts->copies_bytes)
		listener_notice(listener,
				"copies of %zu KiB of stack, so that the ring buffers hold more",
				facts->copies_bytes / 1024);
}
