#include "record/sampling.h"

#include "base/alloc.h"
#include "perf/branch.h"
#include "perf/default_event.h"
#include "perf/field_reader.h"
#include "proc/memory.h"
#include "record/script_hint.h"
#include "unwind/arch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	/* If each occurrence of an event is sampled, its rate is not bounded.
	 * Larger rings and smaller stack copies hold the samples of a burst. */
	EACH_RING_BYTES = 16 << 20,
	EACH_STACK_BYTES = 8 << 10,
};

static bool samples_each(const struct event *event)
{
	return event->is_tracepoint && event->period == 1;
}

/* Sets the rate of an event: its own, else that of the recording. Returns the
 * requested frequency if the kernel's limit has lowered it, else 0. */
static uint64_t sampling_set_rate(const struct record_config *config, struct event *event,
				  uint64_t max_hz)
{
	uint64_t asked_hz = event->frequency_hz;

	if (asked_hz && max_hz && asked_hz > max_hz) {
		event->frequency_hz = max_hz;
		return asked_hz;
	}
	if (asked_hz || event->period || event->role == EVENT_COUNTED)
		return 0;
	if (config->events.period)
		event->period = config->events.period;
	else if (event->is_tracepoint)
		event->period = 1;
	else
		event->frequency_hz = config->events.frequency_hz;
	return 0;
}

/* filter and weight are "" for none. */
static struct error *sampling_add_event(struct sampling *sampling,
					const struct record_config *config, const char *spec,
					const char *filter, const char *weight)
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

/* Adds the event with this number, as config describes it. */
static struct error *add_described(struct sampling *sampling, const struct record_config *config,
				   size_t number)
{
	struct error *err = sampling_add_event(
		sampling, config, config->events.names[number],
		number < config->events.filter_count ? config->events.filters[number] : "",
		number < config->events.weight_count ? config->events.weights[number] : "");

	if (!err && number < config->events.role_count)
		sampling->events[sampling->event_count - 1].role = config->events.roles[number];
	return err;
}

static const struct script_memory script_memory = {
	.read = memory_read,
	.read_parts = memory_read_parts,
};

struct error *sampling_choose(struct sampling *sampling, const struct record_config *config)
{
	struct error *err = NULL;

	*sampling = (struct sampling){0};
	if (!config->stacks.low_overhead)
		sampling->scripts = scripts_new(&script_memory);
	sampling->expects_script = sampling->scripts && script_is_expected(config);
	pmus_read(NULL, &sampling->pmus);
	sampling->events = xcalloc(config->events.count + 2, sizeof(*sampling->events));
	if (!config->events.count && !config->events.samples_nothing)
		event_default(&sampling->pmus, &sampling->events[sampling->event_count++],
			      &sampling->reason);
	for (size_t i = 0; i < config->events.count && !err; i++)
		err = add_described(sampling, config, i);
	if (!err && config->events.trigger)
		err = sampling_add_event(sampling, config, config->events.trigger, "", "");
	if (err)
		return err;
	sampling->max_hz = event_max_frequency_hz();
	for (size_t i = 0; i < sampling->event_count; i++) {
		struct event *event = &sampling->events[i];
		uint64_t asked_hz = sampling_set_rate(config, event, sampling->max_hz);

		if (asked_hz)
			sampling->lowered_hz = asked_hz;
		event->exclude_kernel |= config->events.exclude_kernel;
		event->exclude_user |= config->events.exclude_user;
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
	scripts_free(sampling->scripts);
	*sampling = (struct sampling){0};
}

/* Whether the other events of its group are counted with its samples. */
static bool leads_counted(const struct sampling *sampling, const struct event *event)
{
	const struct event *next = event + 1;

	return event->role == EVENT_LEADS && next < sampling->events + sampling->event_count &&
	       next->role == EVENT_COUNTED;
}

/*
 * Branch registers belong to the CPU's counters, so other events are sampled
 * without branches. An event that supports them fails to open if the machine
 * has no branch registers.
 */
static uint64_t branch_filter_of(const struct record_config *config, const struct event *event,
				 enum call_graph kind)
{
	if (event->is_tracepoint || event->is_probe || event->role == EVENT_COUNTED)
		return 0;
	return kind == CALL_GRAPH_LBR ? branch_filter_call_stack : config->events.branch_filter;
}

static struct sample_fields sampling_fields_of(const struct sampling *sampling,
					       const struct record_config *config,
					       const struct event *event)
{
	enum call_graph kind = event->has_call_graph ? event->call_graph
						     : config->stacks.call_graph;
	struct sample_fields fields = {
		.kernel_chain = kind != CALL_GRAPH_NO,
		.user_chain = kind == CALL_GRAPH_FP || kind == CALL_GRAPH_LBR,
		/* perf before 6.19 drops the whole stack of a sample with a
		 * deferred chain. */
		.may_defer_chain = kind == CALL_GRAPH_FP && !config->output.writes_raw &&
				   !leads_counted(sampling, event),
		.group_values = leads_counted(sampling, event),
		.running_time = sampling->expects_script && !config->output.writes_raw,
		.raw = event->is_tracepoint &&
		       (config->output.writes_raw ||
			(event->reader && field_reader_is_needed(event->reader))),
	};

	fields.regs_mask = event->weight_argument.register_bit;
	fields.branch_filter = branch_filter_of(config, event, kind);
	fields.data_source = config->events.reads_data_sources || event_is_of_memory(event);
	if (!call_graph_dumps(kind))
		return fields;
	/*
	 * perf appends its unwound frames to those of the chain, so a raw file
	 * must not have a user chain. For a probe's hit, the chain would cost
	 * more than the rest of the sample.
	 */
	fields.user_chain = !config->output.writes_raw && !event->is_probe;
	fields.regs_mask = arch_native()->perf_mask;
	fields.stack_bytes = event->stack_bytes ? event->stack_bytes : config->stacks.dump_bytes;
	if (!event->stack_bytes && kind == CALL_GRAPH_AUTO && samples_each(event) &&
	    fields.stack_bytes > EACH_STACK_BYTES)
		fields.stack_bytes = EACH_STACK_BYTES;
	return fields;
}

void sampling_set_fields(struct sampling *sampling, const struct record_config *config)
{
	for (size_t i = 0; i < sampling->event_count; i++) {
		struct event *event = &sampling->events[i];

		event->fields = sampling_fields_of(sampling, config, event);
		/* The stack pointer distinguishes recursive calls. */
		if (event->measures_calls || event->follows_calls)
			event->fields.regs_mask = arch_native()->perf_mask;
	}
}

struct sample_fields sampling_stack_fields(const struct record_config *config, uint32_t most_bytes)
{
	struct sample_fields fields = {
		.kernel_chain = config->stacks.call_graph != CALL_GRAPH_NO,
		.user_chain = config->stacks.call_graph != CALL_GRAPH_NO,
	};

	if (!record_config_dumps(config))
		return fields;
	fields.regs_mask = arch_native()->perf_mask;
	fields.stack_bytes = config->stacks.dump_bytes < most_bytes ? config->stacks.dump_bytes
								    : most_bytes;
	return fields;
}

static size_t ring_bytes_of(const struct sampling *sampling, const struct record_config *config)
{
	for (size_t i = 0; !config->events.ring_bytes && i < sampling->event_count; i++)
		if (samples_each(&sampling->events[i]))
			return EACH_RING_BYTES;
	return config->events.ring_bytes;
}

static struct sampler_options sampling_options_of(const struct sampling *sampling,
						  const struct record_config *config)
{
	const struct arch *arch = arch_native();

	return (struct sampler_options){
		.ring_bytes = ring_bytes_of(sampling, config),
		.data_mappings = config->output.writes_raw,
		.switches = true,
		.waits = config->waiting.is_recorded,
		.starts_late = record_config_starts_late(config),
		.read_memory = config->stacks.low_overhead ? NULL : memory_read,
		/*
		 * Captures deep stacks from the start, until samples show how
		 * deep stacks are. Records then arrive 2 ms late, which is too
		 * late for snapshots of shorter waits.
		 */
		.captures_from_start = !config->waiting.is_recorded,
		.copies_in_kernel = true,
		.copies_whole_stacks = config->output.writes_raw,
		.sp_bit = arch->perf_sp,
		.pc_bit = arch->perf_pc,
		.g_bit = arch->perf_g,
		.scripts = sampling->scripts,
	};
}

struct target sampling_target(const struct record_config *config)
{
	struct target target = {
		.kind = TARGET_SYSTEM,
		.cpus = config->target.cpus,
		.cpu_count = config->target.cpu_count,
		.inherit = config->target.inherit,
	};

	if (config->target.command) {
		target.kind = TARGET_COMMAND;
		target.prefers_cpus = true;
		target.commands_later = config->target.commands_later;
		target.ids = &config->target.command;
		target.id_count = 1;
	} else if (config->target.pid_count || config->target.choice) {
		target.kind = TARGET_PROCESSES;
		target.ids = config->target.pids;
		target.id_count = config->target.pid_count;
		target.found_count = config->target.found_count;
		target.with_children = config->target.with_children;
		target.rule = config->target.choice ? &config->target.choice->rule : NULL;
	} else if (config->target.tid_count) {
		target.kind = TARGET_THREADS;
		target.ids = config->target.tids;
		target.id_count = config->target.tid_count;
	}
	return target;
}

/* Counts of a whole package cannot be attributed to processes. */
static struct error *check_target(const struct record_config *config, const struct event *event)
{
	if (event->pmu_kind != PMU_PACKAGE ||
	    !(config->target.command || config->target.pid_count || config->target.choice ||
	      config->target.tid_count))
		return NULL;
	return error_hint(error_new("%s is counted per package, not per process", event->name),
			  "sample the whole machine with -a");
}

struct error *sampling_open(struct sampling *sampling, const struct record_config *config,
			    struct sampler **ret)
{
	struct sampler_options options = sampling_options_of(sampling, config);
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

/* Uses the name of perf's timer event, because it counts the same. */
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
				"ignored %zu of the kernel's PMUs: their description in sysfs is "
				"invalid or missing (%s)",
				pmus->ignored, pmus->ignored_name);
	for (unsigned i = 0; i < sampling->event_count; i++) {
		const char *cpus = sampler_lacking_cpus(sampler, i);

		if (cpus)
			listener_notice(
				listener,
				"CPUs %s have no counter for %s: the profile does not contain "
				"what they run",
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
				"%" PRIu64 " Hz for an event is above the kernel's limit: sampling "
				"it at %" PRIu64 " Hz (kernel.perf_event_max_sample_rate)",
				sampling->lowered_hz, sampling->max_hz);
	if (sampling->reason)
		listener_notice(listener, "sampling %s: %s", sampling->events[0].name,
				sampling->reason);
	if (facts->kernel_excluded && !config->events.exclude_kernel)
		listener_notice(listener,
				"user space only: no permission to sample the kernel (to allow it, "
				"run sudo sysctl kernel.perf_event_paranoid=%d)",
				/* For a command, 0 also permits sampling whole
				 * CPUs. */
				config->target.command ? 0 : 1);
	if (config->target.with_children && facts->denied_threads)
		listener_notice(listener,
				"%zu threads of child processes are not sampled: the kernel "
				"denies it; run prof as root (sudo)",
				facts->denied_threads);
	if (config->target.choice && !facts->follows_rule)
		listener_notice(listener, "new processes are detected twice per second%s",
				config->waiting.is_recorded || geteuid() == 0
					? ""
					: " (as root, prof samples them from their start)");
	if (facts->is_joint)
		listener_notice(listener,
				"the open-file limit (ulimit -n) leaves no separate ring for mmap "
				"records; losing %s may lose symbols",
				config->waiting.is_recorded ? "context switches" : "samples");
	if (facts->ring_shrunk)
		listener_notice(listener,
				"using ring buffers of %zu KiB per CPU: the limit of locked memory "
				"allows no more (ulimit -l, kernel.perf_event_mlock_kb)",
				facts->ring_bytes / 1024);
	if (facts->copies_bytes)
		listener_notice(listener,
				"using stack copies of %zu KiB, so that the ring buffers hold more "
				"samples",
				facts->copies_bytes / 1024);
}
