#include "perf/command_counters.h"

#include "base/alloc.h"
#include "perf/counter.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

struct command {
	pid_t pid;
	struct counter *counters; /* one per event */
};

struct command_counters {
	size_t event_count;
	/* Per event: final counts of the commands whose counters are closed. */
	uint64_t *ended;
	bool *is_unknown; /* one per event */
	struct command *commands;
	size_t count, room;
};

struct command_counters *command_counters_new(size_t event_count)
{
	struct command_counters *all = xcalloc(1, sizeof(*all));

	all->event_count = event_count;
	all->ended = xcalloc(event_count, sizeof(*all->ended));
	all->is_unknown = xcalloc(event_count, sizeof(*all->is_unknown));
	return all;
}

static void command_deinit(struct command_counters *all, struct command *command)
{
	for (size_t i = 0; i < all->event_count; i++)
		counter_close(&command->counters[i]);
	free(command->counters);
}

void command_counters_free(struct command_counters *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < all->count; i++)
		command_deinit(all, &all->commands[i]);
	free(all->commands);
	free(all->ended);
	free(all->is_unknown);
	free(all);
}

static bool command_counters_has_ended(const struct command *command)
{
	return kill(command->pid, 0) < 0 && errno == ESRCH;
}

static void end_command(struct command_counters *all, struct command *command)
{
	for (size_t i = 0; i < all->event_count; i++) {
		uint64_t value = 0;

		all->is_unknown[i] |= !counter_read(&command->counters[i], &value);
		all->ended[i] += value;
	}
	command_deinit(all, command);
}

static void end_commands(struct command_counters *all)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->count; i++) {
		if (command_counters_has_ended(&all->commands[i]))
			end_command(all, &all->commands[i]);
		else
			all->commands[kept++] = all->commands[i];
	}
	all->count = kept;
}

void command_counters_add(struct command_counters *all, const struct event *events,
			  const struct opened_event *opened, size_t opened_count, pid_t pid,
			  bool starts_at_exec)
{
	struct command command = {
		.pid = pid,
		.counters = xcalloc(all->event_count, sizeof(*command.counters)),
	};

	end_commands(all);
	for (size_t i = 0; i < opened_count; i++) {
		unsigned event = opened[i].event;
		struct counter *counter = &command.counters[event];
		struct perf_event_attr attr = opened[i].attr;

		/* The counter of the first variant includes all others. Probes
		 * cannot be inherited. */
		all->is_unknown[event] |= events[event].is_probe;
		if (events[event].is_probe || !opened[i].is_open || counter->count)
			continue;
		attr_counts_only(&attr);
		attr.inherit = 1;
		attr.enable_on_exec = starts_at_exec;
		all->is_unknown[event] |= counter_open(counter, &events[event], &attr, pid) != 0;
	}
	GROW(all->commands, all->count, all->room);
	all->commands[all->count++] = command;
}

void command_counters_enable(const struct command_counters *all)
{
	for (size_t i = 0; i < all->count; i++)
		for (size_t event = 0; event < all->event_count; event++)
			counter_enable(&all->commands[i].counters[event]);
}

void command_counters_disable(const struct command_counters *all)
{
	for (size_t i = 0; i < all->count; i++)
		for (size_t event = 0; event < all->event_count; event++)
			counter_disable(&all->commands[i].counters[event]);
}

bool command_counters_read(const struct command_counters *all, unsigned event, uint64_t *ret)
{
	*ret = all->ended[event];
	for (size_t i = 0; i < all->count; i++) {
		uint64_t value;

		if (!counter_read(&all->commands[i].counters[event], &value))
			return false;
		*ret += value;
	}
	return !all->is_unknown[event];
}
