/*
 * What the kernel counts of the sampled events in commands: each command's process and its
 * descendants, whether they live or have ended. Where whole CPUs or more than the commands are
 * sampled, no descriptor that samples can tell that.
 *
 * A counter per event and command, inherited. Those of a command that has ended are read for the
 * last time and closed when the next command is added: descendants that outlive it are not counted
 * from then on.
 */
#ifndef PROF_PERF_COMMAND_COUNTERS_H
#define PROF_PERF_COMMAND_COUNTERS_H

#include "base/cleanup.h"
#include "perf/event.h"
#include "perf/opened_event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct command_counters;

struct command_counters *command_counters_new(size_t event_count);
void command_counters_free(struct command_counters *counters);
DEFINE_CLEANUP(command_counters, command_counters_free)

/*
 * pid: a process that will execute its program. What is counted is that of `opened`, the variants
 * of all events, from the exec on, or from command_counters_enable() on. An event that cannot be
 * counted is unknown from now on.
 */
void command_counters_add(struct command_counters *counters, const struct event *events,
			  const struct opened_event *opened, size_t opened_count, pid_t pid,
			  bool starts_at_exec);

void command_counters_enable(const struct command_counters *counters);
void command_counters_disable(const struct command_counters *counters);

/* False: unknown. */
bool command_counters_read(const struct command_counters *counters, unsigned event, uint64_t *ret);

#endif
