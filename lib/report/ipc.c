#include "report/ipc.h"

#include "base/alloc.h"

#include <string.h>

/* The quantity that an event counts, its PMU and its modes. */
struct ipc_counter {
	bool counts_cycles;
	const char *pmu; /* "" for the CPU's default PMU */
	size_t pmu_len;
	unsigned modes; /* one bit for each letter that restricts the modes */
};

/* Finds "cycles" or "instructions", alone or before terms and modifiers. */
static bool find_quantity(const char *text, bool *counts_cycles)
{
	static const struct {
		const char *word;
		bool counts_cycles;
	} quantities[] = {{"cycles", true}, {"cpu-cycles", true}, {"instructions", false}};
	size_t len = strcspn(text, "/:,");

	for (size_t i = 0; i < ARRAY_SIZE(quantities); i++) {
		if (strlen(quantities[i].word) != len || memcmp(quantities[i].word, text, len) != 0)
			continue;
		*counts_cycles = quantities[i].counts_cycles;
		return true;
	}
	return false;
}

static unsigned modes_of(const char *modifiers)
{
	static const char letters[] = "ukhGH";
	unsigned modes = 0;

	for (size_t i = 0; letters[i]; i++)
		if (strchr(modifiers, letters[i]))
			modes |= 1U << i;
	return modes;
}

/*
 * Parses "cycles:u", "cycles/period=1000/u", "cpu_core/cycles,period=1000/u".
 */
static bool find_counter(const char *name, struct ipc_counter *ret)
{
	const char *slash = strchr(name, '/');
	const char *modifiers = slash ? strrchr(name, '/') : strchr(name, ':');

	*ret = (struct ipc_counter){.pmu = name, .modes = modifiers ? modes_of(modifiers) : 0};
	if (find_quantity(name, &ret->counts_cycles))
		return true;
	if (!slash || !find_quantity(slash + 1, &ret->counts_cycles))
		return false;
	ret->pmu_len = (size_t)(slash - name);
	return true;
}

static bool counter_of_event(const struct profile *profile, event_id event, struct ipc_counter *ret)
{
	return find_counter(profile_string(profile, profile_get_event(profile, event)->name), ret);
}

bool ipc_counterpart(const struct profile *profile, event_id shown, event_id *ret)
{
	struct ipc_counter one, other;

	if (!counter_of_event(profile, shown, &one))
		return false;
	for (event_id i = 0; i < profile_event_count(profile); i++) {
		if (!counter_of_event(profile, i, &other) ||
		    other.counts_cycles == one.counts_cycles || other.modes != one.modes ||
		    other.pmu_len != one.pmu_len || memcmp(other.pmu, one.pmu, one.pmu_len) != 0)
			continue;
		*ret = i;
		return true;
	}
	return false;
}

struct error *ipc_init(struct ipc *ipc, const struct view *other, const struct row_by *by)
{
	struct ipc_counter counter;

	*ipc = (struct ipc){0};
	if (counter_of_event(other->profile, other->event, &counter))
		ipc->shows_cycles = !counter.counts_cycles;
	return event_rows_init(&ipc->other, other, by);
}

void ipc_deinit(struct ipc *ipc)
{
	event_rows_deinit(&ipc->other);
}

static bool ipc_divide(const struct ipc *ipc, struct sum shown, struct sum other, double *ret)
{
	struct sum cycles = ipc->shows_cycles ? shown : other;
	struct sum instructions = ipc->shows_cycles ? other : shown;

	if (!cycles.weight || cycles.samples < IPC_LEAST_SAMPLES ||
	    instructions.samples < IPC_LEAST_SAMPLES)
		return false;
	*ret = (double)instructions.weight / (double)cycles.weight;
	return true;
}

bool ipc_of_row(const struct ipc *ipc, const struct row *shown, double *ret)
{
	const struct row *other = event_rows_find(&ipc->other, shown);

	return other && ipc_divide(ipc, shown->self, other->self, ret);
}

bool ipc_of_all(const struct ipc *ipc, const struct rows *shown, double *ret)
{
	return ipc_divide(ipc, shown->all, ipc->other.rows.all, ret);
}
