/*
 * One variant of an event (event.h) in a recording, or in one of its cgroups: the attributes that
 * the kernel has taken, the ids of its descriptors, and the CPUs where it has no counter.
 */
#ifndef PROF_PERF_OPENED_EVENT_H
#define PROF_PERF_OPENED_EVENT_H

#include "perf/attr.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opened_event {
	unsigned event; /* index of the event … */
	size_t variant; /* … and of its variant */
	struct perf_event_attr attr;
	bool may_be_less_precise;
	int cgroup;    /* a descriptor of the directory of the cgroup that is sampled; -1: none */
	bool is_open;  /* there is a descriptor */
	uint64_t *ids; /* of the descriptors, in order of opening; none if it is the only one */
	size_t id_count, id_room;
	bool *lacks;	   /* per index of a CPU: it has no counter for the event; NULL: all have */
	int lack_number;   /* errno of the first … */
	unsigned lack_cpu; /* … and its index */
};

/* Frees what it owns; it is then as before the first descriptor, with the attributes as they are.
 */
void opened_event_forget(struct opened_event *opened);

/* Opens a descriptor as attr_open_in_group(), or of the cgroup instead of the thread; what the
 * kernel lacks is given up with the first one (attr_relax()). */
int opened_event_open(struct opened_event *opened, pid_t tid, unsigned cpu, int leader_fd);

void opened_event_add_id(struct opened_event *opened, uint64_t id);

/* The kernel has refused it with this errno on the CPU with that index, of cpu_count. */
void opened_event_note_lack(struct opened_event *opened, unsigned cpu, int number,
			    size_t cpu_count);
bool opened_event_lacks(const struct opened_event *opened, unsigned cpu);

#endif
