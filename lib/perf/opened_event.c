#include "perf/opened_event.h"

#include "base/alloc.h"

#include <stdlib.h>

void opened_event_forget(struct opened_event *opened)
{
	free(STEAL(opened->ids));
	free(STEAL(opened->lacks));
	opened->id_count = opened->id_room = 0;
	opened->is_open = false;
}

static int opened_event_open_as(const struct opened_event *opened,
				const struct perf_event_attr *attr, pid_t tid, unsigned cpu,
				int leader_fd)
{
	return opened->cgroup >= 0 ? attr_open_cgroup(attr, opened->cgroup, (int)cpu, leader_fd)
				   : attr_open_in_group(attr, tid, (int)cpu, leader_fd);
}

int opened_event_open(struct opened_event *opened, pid_t tid, unsigned cpu, int leader_fd)
{
	struct perf_event_attr attr = opened->attr;
	int fd = opened_event_open_as(opened, &attr, tid, cpu, leader_fd);

	while (fd < 0 && !opened->is_open && attr_relax(&attr, opened->may_be_less_precise, -fd))
		fd = opened_event_open_as(opened, &attr, tid, cpu, leader_fd);
	if (fd < 0)
		return fd;
	opened->attr = attr;
	opened->is_open = true;
	return fd;
}

void opened_event_add_id(struct opened_event *opened, uint64_t id)
{
	GROW(opened->ids, opened->id_count, opened->id_room);
	opened->ids[opened->id_count++] = id;
}

void opened_event_note_lack(struct opened_event *opened, unsigned cpu, int number, size_t cpu_count)
{
	if (!opened->lacks) {
		opened->lacks = xcalloc(cpu_count, sizeof(*opened->lacks));
		opened->lack_number = number;
		opened->lack_cpu = cpu;
	}
	opened->lacks[cpu] = true;
}

bool opened_event_lacks(const struct opened_event *opened, unsigned cpu)
{
	return opened->lacks && opened->lacks[cpu];
}
