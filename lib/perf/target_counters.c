#include "perf/target_counters.h"

#include "base/alloc.h"
#include "base/descendants.h"
#include "perf/counter.h"
#include "perf/cpus.h"
#include "perf/event.h"
#include "perf/threads.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

struct target_counters {
	struct counter *items;
	size_t count;
};

/* The threads or CPUs on which a counter is opened. */
struct place {
	struct thread_list threads; /* empty if it is opened on CPUs */
	unsigned *cpus;
	size_t cpu_count;
};

static void place_deinit(struct place *place)
{
	thread_list_deinit(&place->threads);
	free(place->cpus);
}

static void target_counters_add_children(const struct target *target, struct thread_list *threads)
{
	CLEANUP(free_ptr) pid_t *children = NULL;
	size_t count;

	descendants_list(target->ids, target->id_count, &children, &count);
	for (size_t i = 0; i < count; i++)
		error_free(thread_list_add_process(threads, children[i]));
}

static void target_counters_find_place(const struct target *target, struct place *place)
{
	for (size_t i = 0; i < target->id_count; i++) {
		if (target->kind == TARGET_PROCESSES)
			error_free(thread_list_add_process(&place->threads, target->ids[i]));
		else
			thread_list_add(&place->threads, target->ids[i]);
	}
	if (target->with_children)
		target_counters_add_children(target, &place->threads);
	if (target->kind == TARGET_SYSTEM)
		error_free(cpus_choose(target->cpus, target->cpu_count, &place->cpus,
				       &place->cpu_count));
}

static int target_counters_open_cpu(struct counter *counter, const struct event *event,
				    const struct perf_event_attr *attr, unsigned cpu)
{
	for (size_t i = 0; i < event_variant_count(event); i++) {
		struct perf_event_attr of_variant = *attr;
		int fd;

		if (!event_variant_is_of(event, i, cpu))
			continue;
		attr_choose_variant(&of_variant, event, i);
		fd = attr_open(&of_variant, -1, (int)cpu);
		if (fd < 0)
			return -fd;
		GROW(counter->fds, counter->count, counter->room);
		counter->fds[counter->count++] = fd;
	}
	return 0;
}

/* Returns 0 or an errno. Ignores threads that have exited. */
static int target_counters_open_all(struct counter *counter, const struct event *event,
				    const struct perf_event_attr *attr, const struct place *place)
{
	int number = 0;

	for (size_t i = 0; !number && i < place->threads.count; i++) {
		number = counter_open(counter, event, attr, place->threads.items[i]);
		if (number == ESRCH)
			number = 0;
	}
	for (size_t i = 0; !number && i < place->cpu_count; i++)
		number = target_counters_open_cpu(counter, event, attr, place->cpus[i]);
	return number;
}

/* The kernel counts these events in kernel mode. */
static bool target_counters_is_of_kernel(const struct event *event)
{
	return event->type == PERF_TYPE_SOFTWARE &&
	       (event->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		event->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

static void target_counters_open_event(struct counter *counter, const struct event *event,
				       struct perf_event_attr *attr, const struct place *place)
{
	int number = target_counters_open_all(counter, event, attr, place);

	if ((number == EACCES || number == EPERM) && !target_counters_is_of_kernel(event)) {
		counter_close(counter);
		attr_exclude_kernel(attr);
		number = target_counters_open_all(counter, event, attr, place);
	}
	if (number)
		counter_close(counter);
}

static void open_named(struct counter *counter, const char *name, const struct target *target,
		       const struct pmus *pmus, const struct place *place, bool starts_at_exec)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.inherit = target->inherit && target->kind != TARGET_SYSTEM,
		.enable_on_exec = starts_at_exec,
	};
	struct event event;
	struct error *err = event_parse(name, pmus, &event);

	if (!err) {
		attr.type = event.type;
		attr.config = event.config;
		attr.exclude_guest = event.exclude_guest;
		target_counters_open_event(counter, &event, &attr, place);
		event_deinit(&event);
	}
	error_free(err);
}

struct target_counters *target_counters_open(const struct target *target, const struct pmus *pmus,
					     const char *const *names, size_t count,
					     bool starts_at_exec)
{
	struct target_counters *counters = xcalloc(1, sizeof(*counters));
	CLEANUP(place_deinit) struct place place = {0};

	counters->items = xcalloc(count, sizeof(*counters->items));
	counters->count = count;
	target_counters_find_place(target, &place);
	for (size_t i = 0; i < count; i++)
		open_named(&counters->items[i], names[i], target, pmus, &place, starts_at_exec);
	return counters;
}

void target_counters_free(struct target_counters *counters)
{
	if (!counters)
		return;
	for (size_t i = 0; i < counters->count; i++)
		counter_close(&counters->items[i]);
	free(counters->items);
	free(counters);
}

void target_counters_enable(const struct target_counters *counters)
{
	for (size_t i = 0; i < counters->count; i++)
		counter_enable(&counters->items[i]);
}

void target_counters_disable(const struct target_counters *counters)
{
	for (size_t i = 0; i < counters->count; i++)
		counter_disable(&counters->items[i]);
}

bool target_counters_read(const struct target_counters *counters, size_t index, uint64_t *ret)
{
	return counter_read_scaled(&counters->items[index], ret);
}
