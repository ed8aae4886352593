#include "record/switch_stacks.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "perf/sampler.h"
#include "record/sampling.h"
#include "record/targets.h"
#include "record/waiting_refusal.h"

#include <stdlib.h>

enum {
	/* limit of the stack copy */
	SWITCH_STACKS_STACK_BYTES = 16 << 10,
	/* Samples are counted over this time. */
	COUNT_MS = 500,
};

struct switch_stacks {
	struct event event;
	struct sampler *sampler;
	pid_t *refused; /* processes, or threads if the target is threads */
	size_t refused_count;
	struct record pending; /* read, but newer than until_ns */
	bool has_pending;
	uint64_t noted_ns; /* all records up to this time are in the batch */
	uint64_t counted_ns, count;
};

/* Finds processes or threads among the attached ones. */
static void find_refused(struct switch_stacks *stacks, const struct record_config *config)
{
	const pid_t *ids = config->target.pid_count ? config->target.pids : config->target.tids;
	size_t count = config->target.pid_count ? config->target.pid_count
						: config->target.tid_count;

	stacks->refused = xcalloc(count ? count : 1, sizeof(*stacks->refused));
	for (size_t i = 0; i < count; i++)
		if (waiting_is_refused("/proc", process_of_thread(ids[i])))
			stacks->refused[stacks->refused_count++] = ids[i];
}

static struct error *switch_stacks_open_sampler(struct switch_stacks *stacks,
						const struct record_config *config,
						const struct pmus *pmus)
{
	const struct target target = {
		.kind = config->target.pid_count ? TARGET_PROCESSES : TARGET_THREADS,
		.ids = stacks->refused,
		.id_count = stacks->refused_count,
		.inherit = config->target.inherit,
		.found_count = stacks->refused_count, /* skip processes that have ended */
	};
	const struct sampler_options options = {0};
	struct error *err = event_parse("context-switches", pmus, &stacks->event);

	if (err)
		return err;
	stacks->event.period = 1;
	stacks->event.fields = sampling_stack_fields(config, SWITCH_STACKS_STACK_BYTES);
	return sampler_open(&stacks->event, 1, &target, &options, &stacks->sampler);
}

struct switch_stacks *switch_stacks_open(const struct record_config *config,
					 const struct pmus *pmus)
{
	CLEANUP(switch_stacks_cleanup) struct switch_stacks *stacks = xcalloc(1, sizeof(*stacks));
	CLEANUP(error_cleanup) struct error *err = NULL;

	if (config->target.command || config->events.exclude_kernel)
		return NULL;
	find_refused(stacks, config);
	if (stacks->refused_count)
		err = switch_stacks_open_sampler(stacks, config, pmus);
	return stacks->sampler && !err ? STEAL(stacks) : NULL;
}

void switch_stacks_free(struct switch_stacks *stacks)
{
	if (!stacks)
		return;
	sampler_free(stacks->sampler);
	event_deinit(&stacks->event);
	free(stacks->refused);
	free(stacks);
}

pid_t switch_stacks_refused(const struct switch_stacks *stacks)
{
	return process_of_thread(stacks->refused[0]);
}

struct error *switch_stacks_enable(struct switch_stacks *stacks)
{
	stacks->counted_ns = clock_now_ns();
	return sampler_enable(stacks->sampler);
}

void switch_stacks_pause(struct switch_stacks *stacks)
{
	sampler_pause(stacks->sampler);
}

void switch_stacks_disable(struct switch_stacks *stacks)
{
	sampler_disable(stacks->sampler);
}

int switch_stacks_fd(const struct switch_stacks *stacks)
{
	return sampler_fd(stacks->sampler);
}

/* Reads the next record if none is pending. */
static bool switch_stacks_find_pending(struct switch_stacks *stacks, uint64_t until_ns)
{
	if (!stacks->has_pending)
		stacks->has_pending = sampler_next(stacks->sampler, &stacks->pending);
	if (stacks->has_pending || until_ns <= stacks->noted_ns)
		return stacks->has_pending;
	sampler_batch(stacks->sampler);
	stacks->noted_ns = sampler_complete_ns(stacks->sampler);
	stacks->has_pending = sampler_next(stacks->sampler, &stacks->pending);
	return stacks->has_pending;
}

void switch_stacks_feed(struct switch_stacks *stacks, uint64_t until_ns, struct session *session,
			struct waits *waits)
{
	while (switch_stacks_find_pending(stacks, until_ns) &&
	       stacks->pending.time_ns <= until_ns) {
		const struct record *record = &stacks->pending;
		struct stack_extent extent;
		stack_id stack;

		stacks->has_pending = false;
		if (record->type == RECORD_LOST)
			stacks->count += record->lost.count;
		if (record->type != RECORD_SAMPLE || !waits_know(waits, record->tid))
			continue;
		stacks->count++;
		stack = session_find_stack(session, record, &extent);
		waits_feed_leaving(waits, record->tid, record->time_ns, stack, extent.lacks_script);
	}
}

bool switch_stacks_are_too_many(struct switch_stacks *stacks, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - stacks->counted_ns;
	uint64_t most = passed_ns / NS_PER_MS * SWITCH_STACKS_PER_SECOND / 1000 *
			sampler_facts(stacks->sampler)->cpus;
	bool are_too_many = stacks->count > most;

	if (passed_ns < COUNT_MS * NS_PER_MS)
		return false;
	stacks->counted_ns = now_ns;
	stacks->count = 0;
	return are_too_many;
}
