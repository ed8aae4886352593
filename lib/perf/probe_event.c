#include "perf/probe_event.h"

#include "base/alloc.h"
#include "perf/event_terms.h"

#include <string.h>

static struct error *find_pmu(const struct probe_event *from, const struct pmus *pmus,
			      const struct pmu **ret)
{
	*ret = pmus_find(pmus, from->is_of_kernel ? "kprobe" : "uprobe");
	if (*ret)
		return NULL;
	return from->is_of_kernel
		       ? error_hint(error_new("this kernel has no kprobes (CONFIG_KPROBES)"),
				    "most kernels have tracepoints: -e sched:sched_switch")
		       : error_new("this kernel has no uprobes (CONFIG_UPROBES)");
}

/* Stores a value in the bits of a term of the PMU. */
static struct error *probe_event_put(const struct pmu *pmu, const char *term, uint64_t value,
				     uint64_t *config)
{
	struct pmu_format format;
	struct error *err = pmu_find_format(pmu, term, &format);
	unsigned shift;

	if (err)
		return err;
	if (!format.bits || format.field)
		return error_new("the PMU %s has no term %s", pmu->name, term);
	shift = (unsigned)__builtin_ctzll(format.bits);
	if ((value << shift & format.bits) >> shift != value)
		return error_new("%s=0x%llx is too large", term, (unsigned long long)value);
	*config |= value << shift;
	return NULL;
}

static struct error *probe_event_add_place(struct event *event, bool is_return, bool is_other_end,
					   const struct pmu *pmu,
					   const struct probe_event_place *place)
{
	struct event_variant *variant = &event->variants[event->variant_count++];
	struct error *err = NULL;

	*variant = (struct event_variant){
		.type = pmu->type,
		.pmu = xstrdup(pmu->name),
		.place = xstrdup(place->name),
		.offset = place->offset,
		.is_other_end = is_other_end,
	};
	if (is_return)
		err = probe_event_put(pmu, "retprobe", 1, &variant->config);
	if (!err && place->semaphore)
		err = probe_event_put(pmu, "ref_ctr_offset", place->semaphore, &variant->config);
	return err;
}

/* Entries come first, because the kernel samples a hit in the order in which
 * probes were opened. */
static struct error *probe_event_add_places(struct event *event, const struct probe_event *from,
					    const struct pmu *pmu)
{
	bool has_entries = !from->is_return || from->follows_calls;
	bool has_returns = from->is_return || from->measures_calls;
	struct error *err = NULL;

	event->variants = xcalloc(2 * from->place_count, sizeof(*event->variants));
	for (size_t i = 0; i < from->place_count && !err && has_entries; i++)
		err = probe_event_add_place(event, false, from->follows_calls, pmu,
					    &from->places[i]);
	for (size_t i = 0; i < from->place_count && !err && has_returns; i++)
		err = probe_event_add_place(event, true, from->measures_calls, pmu,
					    &from->places[i]);
	return err;
}

static struct error *take_terms(const char *text, struct event *event)
{
	CLEANUP(event_terms_deinit) struct event_terms terms = {0};
	struct error *err = text ? event_terms_parse(text, strlen(text), &terms) : NULL;

	return err ? err : event_take_terms(&terms, event);
}

struct error *probe_event_make(const struct probe_event *from, const struct pmus *pmus,
			       struct event *ret)
{
	CLEANUP(event_deinit)
	struct event event = {
		.name = xstrdup(from->name),
		.pmu_kind = PMU_OTHER,
		.kind = from->measures_calls ? VALUE_WALL_TIME : VALUE_COUNT,
		.measures_calls = from->measures_calls,
		.follows_calls = from->follows_calls,
		.is_tracepoint = true,
		.is_probe = true,
	};
	const struct pmu *pmu = NULL;
	struct error *err = find_pmu(from, pmus, &pmu);

	if (!err)
		err = take_terms(from->terms, &event);
	if (err)
		return err;
	if (from->measures_calls && (event.period > 1 || event.frequency_hz))
		return error_new("%s measures each call", from->name);
	if (from->measures_calls)
		event.period = 1;
	event.type = pmu->type;
	err = probe_event_add_places(&event, from, pmu);
	if (err)
		return err;
	*ret = event;
	event = (struct event){0};
	return NULL;
}
