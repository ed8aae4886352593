#include "record/config.h"

#include <inttypes.h>

/* A ring that holds fewer stack copies loses samples while the reader waits for
 * a CPU. */
enum { LEAST_DUMPS = 8 };

static void cap_rate(struct record_config *config, const struct listener *listener)
{
	bool max = config->events.frequency_hz == RECORD_FREQUENCY_MAX;
	uint64_t max_hz = event_max_frequency_hz();

	if (max)
		config->events.frequency_hz = max_hz ? max_hz : RECORD_FREQUENCY_HZ;
	if (config->events.period || !max_hz || config->events.frequency_hz <= max_hz)
		return;
	listener_notice(listener,
			"%" PRIu64 " Hz is above the kernel's limit: sampling at %" PRIu64
			" Hz (kernel.perf_event_max_sample_rate)",
			config->events.frequency_hz, max_hz);
	config->events.frequency_hz = max_hz;
}

/* Scripts pass ring sizes to perf that are smaller than one sample with a stack
 * copy. */
static void raise_ring(struct record_config *config, const struct listener *listener)
{
	size_t least_bytes = (size_t)LEAST_DUMPS * config->stacks.dump_bytes;

	if (!record_config_dumps(config) || !config->events.ring_bytes ||
	    config->events.ring_bytes >= least_bytes)
		return;
	listener_notice(listener,
			"-m: a ring buffer of %zu KiB is too small for copies of %" PRIu32
			" KiB of stack: using %zu KiB",
			config->events.ring_bytes / 1024, config->stacks.dump_bytes / 1024,
			least_bytes / 1024);
	config->events.ring_bytes = least_bytes;
}

bool record_config_is_system(const struct record_config *config)
{
	return !config->target.command && !config->target.pid_count && !config->target.choice &&
	       !config->target.tid_count;
}

bool record_config_starts_late(const struct record_config *config)
{
	return config->control.delay_ns || config->control.starts_paused ||
	       config->target.commands_later;
}

bool record_config_dumps(const struct record_config *config)
{
	return call_graph_dumps(config->stacks.call_graph);
}

void record_config_settle(struct record_config *config, const struct listener *listener)
{
	cap_rate(config, listener);
	raise_ring(config, listener);
}
