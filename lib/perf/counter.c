#include "perf/counter.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int counter_add(struct counter *counter, const struct perf_event_attr *attr, pid_t pid,
		       int cpu)
{
	int fd = attr_open(attr, pid, cpu);

	if (fd < 0)
		return -fd;
	GROW(counter->fds, counter->count, counter->room);
	counter->fds[counter->count++] = fd;
	return 0;
}

/* Returns 0 or an errno. */
static int counter_add_variant(struct counter *counter, const struct perf_event_attr *attr,
			       pid_t pid, const struct event_variant *variant)
{
	struct perf_event_attr of_cpu = *attr;
	int number = counter_add(counter, attr, pid, -1);

	if (!number || !variant || !attr_relax(&of_cpu, false, number))
		return number;
	for (size_t i = 0; i < variant->cpu_count; i++)
		number = counter_add(counter, &of_cpu, pid, (int)variant->cpus[i]);
	return number;
}

int counter_open(struct counter *counter, const struct event *event,
		 const struct perf_event_attr *attr, pid_t pid)
{
	int number = 0;

	for (size_t i = 0; i < event_variant_count(event); i++) {
		struct perf_event_attr of_variant = *attr;

		attr_choose_variant(&of_variant, event, i);
		number = counter_add_variant(counter, &of_variant, pid,
					     event->variant_count ? &event->variants[i] : NULL);
	}
	return counter->count ? 0 : number;
}

void counter_close(struct counter *counter)
{
	for (size_t i = 0; i < counter->count; i++)
		close(counter->fds[i]);
	free(counter->fds);
	*counter = (struct counter){0};
}

void counter_enable(const struct counter *counter)
{
	for (size_t i = 0; i < counter->count; i++)
		ioctl(counter->fds[i], PERF_EVENT_IOC_ENABLE, 0);
}

void counter_disable(const struct counter *counter)
{
	for (size_t i = 0; i < counter->count; i++)
		ioctl(counter->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

bool counter_read(const struct counter *counter, uint64_t *ret)
{
	/* Room for the largest read_format without PERF_FORMAT_GROUP. */
	uint64_t values[8];

	*ret = 0;
	for (size_t i = 0; i < counter->count; i++) {
		if (read(counter->fds[i], values, sizeof(values)) < (ssize_t)sizeof(*values))
			return false;
		*ret += values[0];
	}
	return counter->count;
}

bool counter_read_scaled(const struct counter *counter, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < counter->count; i++) {
		struct {
			uint64_t value, enabled_ns, running_ns;
		} counted;

		if (read(counter->fds[i], &counted, sizeof(counted)) < (ssize_t)sizeof(counted) ||
		    (counted.enabled_ns && !counted.running_ns))
			return false;
		*ret += counted.running_ns < counted.enabled_ns
				? (uint64_t)((double)counted.value * (double)counted.enabled_ns /
					     (double)counted.running_ns)
				: counted.value;
	}
	return counter->count;
}
