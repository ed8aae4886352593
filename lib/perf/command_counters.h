/*
 * Counts the sampled events in each command and its descendants. It is needed
 * when prof samples whole CPUs or more processes than the commands, because the
 * sampling descriptors then count other processes as well.
 *
 * There is one inherited counter per event and command. The counters of a
 * command that has exited are read a last time and closed when the next command
 * is added. From then on, descendants that outlive it are not counted.
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
 * Counts a process that is about to exec its program. Opens counters for the
 * variants of all events, `opened`. They count from the exec on if
 * starts_at_exec is set, otherwise from command_counters_enable() on. If an
 * event cannot be counted, its count is unknown from then on.
 */
void command_counters_add(struct command_counters *counters, const struct event *events,
			  const struct opened_event *opened, size_t opened_count, pid_t pid,
			  bool starts_at_exec);

void command_counters_enable(const struct command_counters *counters);
void command_counters_disable(const struct command_counters *counters);

/* Returns false if the count is unknown. */
bool command_counters_read(const struct command_counters *counters, unsigned event, uint64_t *ret);

#endif
