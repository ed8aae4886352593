#include "perf/event_list.h"

#include "base/alloc.h"
#include "perf/attr.h"
#include "perf/event.h"
#include "perf/known_event.h"
#include "perf/tracepoint.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct event_list_reading {
	const struct pmus *pmus;
	event_list_filter *wants;
	void *user;
	struct event_list *list;
};

static void event_list_add(struct event_list_reading *reading, enum event_group group,
			   const char *name, const char *description, enum event_standing standing)
{
	struct event_list *list = reading->list;

	GROW(list->items, list->count, list->room);
	list->items[list->count++] = (struct listed_event){
		.group = group,
		.name = xstrdup(name),
		.description = description ? xstrdup(description) : NULL,
		.standing = standing,
	};
}

static enum event_standing standing_of(int number)
{
	if (!number)
		return EVENT_AVAILABLE;
	return number == EACCES || number == EPERM ? EVENT_NEEDS_ROOT : EVENT_ABSENT;
}

/* Returns 0 or an errno. */
static int event_list_try_to_open(const struct event *event, bool in_kernel)
{
	const struct attr_features features = {0};
	bool is_of_package = event->pmu_kind == PMU_PACKAGE;
	struct perf_event_attr attr;
	CLEANUP(close_fd) int fd = -1;

	attr_samples(&attr, event, &features);
	attr_choose_variant(&attr, event, 0);
	if (!in_kernel)
		attr_exclude_kernel(&attr);
	fd = attr_open(&attr, is_of_package ? -1 : 0,
		       is_of_package && event->variant_count && event->variants[0].cpus
			       ? (int)event->variants[0].cpus[0]
			       : -1);
	return fd < 0 ? -fd : 0;
}

enum event_standing event_list_try(const char *spec, const struct pmus *pmus)
{
	struct event event;
	struct error *err = event_parse(spec, pmus, &event);
	int number;

	/* A PMU event may require a value that only the user knows. */
	if (err) {
		number = error_number(err);
		error_free(err);
		return standing_of(number ? number : ENOENT);
	}
	if (!event.frequency_hz && !event.period)
		event.frequency_hz = 1;
	number = event_list_try_to_open(&event, true);
	if (number == EACCES || number == EPERM)
		number = event_list_try_to_open(&event, false);
	event_deinit(&event);
	return standing_of(number);
}

static enum event_group event_list_group_of(uint32_t type)
{
	switch (type) {
	case PERF_TYPE_HARDWARE:
		return EVENTS_HARDWARE;
	case PERF_TYPE_SOFTWARE:
		return EVENTS_SOFTWARE;
	default:
		return EVENTS_CACHE;
	}
}

static void event_list_take_known(void *user, const struct known_event *event)
{
	struct event_list_reading *reading = user;
	enum event_group group = event_list_group_of(event->type);

	if (reading->wants(reading->user, group, event->name))
		event_list_add(reading, group, event->name, event->description,
			       event_list_try(event->name, reading->pmus));
}

/* Uses the event's terms in sysfs as its description. */
static void take_pmu_event(struct event_list_reading *reading, const struct pmu *pmu,
			   const char *event)
{
	CLEANUP(free_ptr) char *name = xasprintf("%s/%s/", pmu->name, event);
	CLEANUP(free_ptr) char *terms = NULL;

	if (!reading->wants(reading->user, EVENTS_PMU, name))
		return;
	error_free(pmu_find_event(pmu, event, &terms));
	event_list_add(reading, EVENTS_PMU, name, terms, event_list_try(name, reading->pmus));
}

static void take_pmu(struct event_list_reading *reading, const struct pmu *pmu)
{
	size_t count;
	CLEANUP(free_ptr) char **events = pmu_events(pmu, &count);

	for (size_t i = 0; i < count; i++) {
		take_pmu_event(reading, pmu, events[i]);
		free(events[i]);
	}
}

static void take_tracepoints(struct event_list_reading *reading)
{
	CLEANUP(tracepoint_names_deinit) struct tracepoint_names names = {0};
	enum event_standing standing = EVENT_ABSENT;
	bool is_tried = false;

	reading->list->tracepoints = tracepoint_list("*:*", NULL, &names);
	for (size_t i = 0; i < names.count; i++) {
		if (!reading->wants(reading->user, EVENTS_TRACEPOINT, names.items[i]))
			continue;
		/* Tries only one tracepoint, because closing one takes the
		 * kernel many milliseconds. */
		if (!is_tried)
			standing = event_list_try(names.items[i], reading->pmus);
		is_tried = true;
		event_list_add(reading, EVENTS_TRACEPOINT, names.items[i], NULL, standing);
	}
}

/* Adds templates that the user completes with a file or a function. Only root
 * may open probes. */
static void take_probes(struct event_list_reading *reading)
{
	static const struct {
		const char *pmu, *form, *description;
	} forms[] = {
		{"uprobe", "uprobe:FILE:FUNCTION", "calls of a function of a program or library"},
		{"uprobe", "uretprobe:FILE:FUNCTION", "returns from it"},
		{"uprobe", "usdt:PROVIDER:NAME",
		 "a static probe that a program has (SystemTap, "
		 "DTrace)"},
		{"kprobe", "kprobe:FUNCTION", "calls of a function of the kernel"},
		{"kprobe", "kretprobe:FUNCTION", "returns from it"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		bool is_there = pmus_find(reading->pmus, forms[i].pmu);

		if (reading->wants(reading->user, EVENTS_PROBE, forms[i].form))
			event_list_add(reading, EVENTS_PROBE, forms[i].form, forms[i].description,
				       !is_there	? EVENT_ABSENT
				       : geteuid() == 0 ? EVENT_AVAILABLE
							: EVENT_NEEDS_ROOT);
	}
}

void event_list_read(const struct pmus *pmus, event_list_filter *wants, void *user,
		     struct event_list *ret)
{
	struct event_list_reading reading = {
		.pmus = pmus, .wants = wants, .user = user, .list = ret};

	*ret = (struct event_list){0};
	known_event_each(event_list_take_known, &reading);
	for (size_t i = 0; i < pmus->count; i++)
		take_pmu(&reading, &pmus->items[i]);
	take_tracepoints(&reading);
	take_probes(&reading);
}

void event_list_deinit(struct event_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].name);
		free(list->items[i].description);
	}
	free(list->items);
	error_free(list->tracepoints);
}
