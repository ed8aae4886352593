#include "perf/sampling_plan.h"

#include "base/clock.h"
#include "perf/attr.h"

#include <linux/perf_event.h>

enum {
	/* Usual maximum size of a sample without its stack. */
	SAMPLE_BYTES = 1 << 10,
	/* While stacks are captured, the reader waits for this many samples, if
	 * the resulting poll interval is within these bounds. */
	CAPTURED_SAMPLES = 5,
	POLL_MS_MIN = 2,
	POLL_MS_MAX = 100,
	/* Like CAPTURED_SAMPLES, for stacks that the kernel copies. */
	PROGRAM_SAMPLES = 16,
};

/* The request: what to sample. */
struct wish {
	const struct event *events;
	size_t event_count;
	const struct target *target;
	const struct sampler_options *options;
	unsigned cpu;
};

/* Returns whether the sample rate is known in advance. */
static bool has_known_rate(const struct wish *wish)
{
	for (size_t i = 0; i < wish->event_count; i++)
		if (!wish->events[i].frequency_hz && wish->events[i].role != EVENT_COUNTED)
			return false;
	return true;
}

static void expect_samples(const struct wish *wish, struct sampling_plan *plan)
{
	if (!has_known_rate(wish))
		return;
	for (size_t i = 0; i < wish->event_count; i++) {
		const struct event *event = &wish->events[i];

		plan->samples_per_second += event->frequency_hz;
		plan->bytes_per_second += event->frequency_hz *
					  (event->fields.stack_bytes + SAMPLE_BYTES);
	}
}

/* Returns whether a busy CPU yields the requested sample rate. */
static bool is_of_time(const struct event *event)
{
	return event->kind == VALUE_CPU_TIME ||
	       (event->type == PERF_TYPE_HARDWARE && event->config == PERF_COUNT_HW_CPU_CYCLES);
}

static uint64_t interval_ns(const struct wish *wish, uint64_t samples_per_second)
{
	for (size_t i = 0; i < wish->event_count; i++)
		if (!is_of_time(&wish->events[i]))
			return 0;
	return samples_per_second ? NS_PER_SECOND / samples_per_second : 0;
}

/*
 * Returns whether the event is a clock or a hardware counter. If each
 * occurrence of an event is of interest, whole CPUs would flood the rings, and
 * an inherited event with a period of 1 loses nothing when a child restarts it.
 * The frequency of page faults would apply to the whole machine, and leave few
 * samples to a program with few faults.
 */
static bool suits_whole_cpus(const struct event *event)
{
	bool is_counter = event->type != PERF_TYPE_SOFTWARE && event->type != PERF_TYPE_TRACEPOINT;

	return event->period != 1 && event->pmu_kind == PMU_CORE &&
	       (event->kind == VALUE_CPU_TIME || is_counter);
}

/* Without options.waits: context switches of cgroups, or of more than a
 * command's tree, are recorded per thread. */
static bool has_rule_of(const struct wish *wish, bool of_names)
{
	const struct target_rule *rule = wish->target->rule;

	return rule && !wish->options->waits &&
	       (of_names ? rule->name_count > 0 : rule->cgroup_count > 0);
}

static bool samples_cgroups(const struct wish *wish)
{
	const struct target_rule *rule = wish->target->rule;

	if (!has_rule_of(wish, false) || !wish->event_count || !attr_may_sample_cpu(wish->cpu))
		return false;
	for (size_t i = 0; i < rule->cgroup_count; i++)
		if (!attr_may_sample_cgroup(rule->cgroups[i], wish->cpu))
			return false;
	return true;
}

/*
 * Probes are opened on CPUs and their hits are filtered. For an inherited probe
 * the kernel would copy the place from the memory of the forking process, where
 * it does not exist, and fork() would fail in the target (perf_uprobe_init() in
 * kernel/trace/trace_event_perf.c).
 */
static bool has_probes(const struct wish *wish)
{
	for (size_t i = 0; i < wish->event_count; i++)
		if (wish->events[i].is_probe)
			return true;
	return false;
}

/* Used if cgroups are not sampled. */
static bool samples_tree(const struct wish *wish)
{
	const struct target *target = wish->target;
	bool is_command = target->kind == TARGET_COMMAND && target->prefers_cpus;

	if (has_probes(wish))
		return target->inherit &&
		       (target->kind == TARGET_COMMAND || target->kind == TARGET_PROCESSES);
	if (!(is_command || has_rule_of(wish, true)) || !target->inherit || !wish->event_count)
		return false;
	for (size_t i = 0; i < wish->event_count; i++)
		/* A group that counts on a CPU includes other threads than the
		 * sampled one. */
		if (!suits_whole_cpus(&wish->events[i]) || wish->events[i].fields.group_values)
			return false;
	return attr_may_sample_cpu(wish->cpu);
}

/*
 * Returns whether samples outside the tree may be filtered. If only the tree's
 * samples wake copiers, threads that lose their CPU to a copier are sampled too
 * often. For a clock, the weights are corrected by the kernel's count; a
 * hardware counter may have been multiplexed. Hits of probes wake no copiers.
 */
static bool may_filter(const struct wish *wish)
{
	for (size_t i = 0; i < wish->event_count; i++)
		if (wish->events[i].kind != VALUE_CPU_TIME && !wish->events[i].is_probe)
			return false;
	return true;
}

/* Returns whether the switch to a copier would count as such an event. */
static bool is_scheduler_event(const struct event *event)
{
	return event->type == PERF_TYPE_SOFTWARE &&
	       (event->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		event->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

static bool has_scheduler_event(const struct wish *wish)
{
	for (size_t i = 0; i < wish->event_count; i++)
		if (is_scheduler_event(&wish->events[i]))
			return true;
	return false;
}

/* Returns whether ids of later descriptors would be added while copiers read
 * them. */
static bool may_note_ids_later(const struct wish *wish, const struct sampling_plan *plan)
{
	return wish->target->rule && !plan->follows_rule &&
	       (wish->event_count > 1 || event_variant_count(&wish->events[0]) > 1);
}

static bool can_capture(const struct wish *wish, const struct sampling_plan *plan)
{
	bool has_stacks = false;

	if (wish->event_count && may_note_ids_later(wish, plan))
		return false;
	for (size_t i = 0; i < wish->event_count; i++) {
		has_stacks |= wish->events[i].fields.stack_bytes > 0;
		/* These can fire anywhere in the kernel, and at any rate. */
		if (wish->events[i].type == PERF_TYPE_TRACEPOINT || wish->events[i].is_probe)
			return false;
	}
	/* System-wide, the switch to a copier would be sampled and wake the
	 * copier again. */
	return has_stacks && wish->options->read_memory &&
	       !(plan->has_scheduler_event && wish->target->kind == TARGET_SYSTEM);
}

static int poll_ms(uint64_t samples_per_second, uint64_t samples_at_once)
{
	uint64_t ms = POLL_MS_MIN;

	if (samples_per_second)
		ms = samples_at_once * 1000 / samples_per_second;
	if (ms > POLL_MS_MAX)
		return POLL_MS_MAX;
	return ms < POLL_MS_MIN ? POLL_MS_MIN : (int)ms;
}

static struct error *refuse_cgroups(void)
{
	return error_hint(error_new("cannot sample each event in a different cgroup"),
			  "it needs root, cgroup v2 or the perf_event controller, and no --wall; "
			  "give all events the same cgroups: -G A -G B");
}

struct error *sampling_plan_choose(const struct event *events, size_t event_count,
				   const struct target *target,
				   const struct sampler_options *options, unsigned cpu,
				   struct sampling_plan *ret)
{
	const struct wish wish = {events, event_count, target, options, cpu};
	struct sampling_plan plan = {
		.samples_cgroups = samples_cgroups(&wish),
		.has_probes = has_probes(&wish),
		.may_filter = may_filter(&wish),
		.has_scheduler_event = has_scheduler_event(&wish),
	};

	expect_samples(&wish, &plan);
	plan.is_tree = !plan.samples_cgroups && samples_tree(&wish);
	plan.follows_rule = target->rule && (plan.is_tree || plan.samples_cgroups);
	plan.whole_cpus = target->kind == TARGET_SYSTEM || plan.is_tree || plan.samples_cgroups;
	/* A copier is not in the cgroup. */
	if (plan.whole_cpus && !plan.samples_cgroups)
		plan.interval_ns = interval_ns(&wish, plan.samples_per_second);
	plan.can_capture = can_capture(&wish, &plan);
	plan.capture_poll_ms = poll_ms(plan.samples_per_second, CAPTURED_SAMPLES);
	plan.program_poll_ms = poll_ms(plan.samples_per_second, PROGRAM_SAMPLES);
	*ret = plan;
	return target->rule && target->rule->has_cgroup_per_event && !plan.samples_cgroups
		       ? refuse_cgroups()
		       : NULL;
}
