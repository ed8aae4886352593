/*
 * One variant of an event (event.h) in a recording, or in one of its cgroups:
 * the attributes that the kernel has accepted, the ids of its descriptors, and
 * the CPUs that lack a counter for it.
 */
#ifndef PROF_PERF_OPENED_EVENT_H
#define PROF_PERF_OPENED_EVENT_H

#include "perf/attr.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opened_event {
	unsigned event; /* index of the event */
	size_t variant; /* index of the event's variant */
	struct perf_event_attr attr;
	bool may_be_less_precise;
	/* Descriptor of the directory of the sampled cgroup, or -1. */
	int cgroup;
	bool is_open; /* at least one descriptor is open */
	/* Ids of the descriptors in the order of opening. Empty if this is the
	 * only opened event. */
	uint64_t *ids;
	size_t id_count, id_room;
	/* Per CPU index: the CPU lacks a counter for the event. NULL if none
	 * does. */
	bool *lacks;
	int lack_number;   /* error number of the first refusal */
	unsigned lack_cpu; /* index of the CPU of the first refusal */
};

/* Frees what it owns and resets it to the state before the first descriptor.
 * Keeps the attributes. */
void opened_event_forget(struct opened_event *opened);

/* Opens a descriptor with attr_open_in_group(), or attr_open_cgroup() if a
 * cgroup is set. The first descriptor decides which unsupported requirements
 * are dropped (attr_relax()). */
int opened_event_open(struct opened_event *opened, pid_t tid, unsigned cpu, int leader_fd);

void opened_event_add_id(struct opened_event *opened, uint64_t id);

/* Records that the kernel refused the event with this errno on the CPU with
 * this index. cpu_count is the number of CPUs. */
void opened_event_note_lack(struct opened_event *opened, unsigned cpu, int number,
			    size_t cpu_count);
bool opened_event_lacks(const struct opened_event *opened, unsigned cpu);

#endif
