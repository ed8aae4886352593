#include "perf/event.h"

#include "base/alloc.h"
#include "perf/attr.h"
#include "perf/sampler.h"
#include "perf/tracepoint.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};

#define HARDWARE(name, what)                                                                       \
	{                                                                                          \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##what                                     \
	}
#define SOFTWARE(name, what)                                                                       \
	{                                                                                          \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##what                                     \
	}

static const struct known_event known_events[] = {
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("idle-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("ref-cycles", REF_CPU_CYCLES),
	SOFTWARE("cpu-clock", CPU_CLOCK),
	SOFTWARE("task-clock", TASK_CLOCK),
	SOFTWARE("page-faults", PAGE_FAULTS),
	SOFTWARE("faults", PAGE_FAULTS),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
	SOFTWARE("context-switches", CONTEXT_SWITCHES),
	SOFTWARE("cs", CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS),
	SOFTWARE("migrations", CPU_MIGRATIONS),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS),
};

/* How many letters must be changed, put in or left out to make b of a, at most `limit`. */
static unsigned edit_distance(const char *a, const char *b, unsigned limit)
{
	unsigned best = limit;

	while (*a && *a == *b)
		a++, b++;
	if (*a == *b || limit == 0)
		return *a == *b ? 0 : limit;
	if (*a)
		best = 1 + edit_distance(a + 1, b, best - 1);
	if (*b)
		best = 1 + edit_distance(a, b + 1, best - 1);
	if (*a && *b)
		best = 1 + edit_distance(a + 1, b + 1, best - 1);
	return best;
}

/* NULL: none is near. */
static const char *nearest_name(const char *name)
{
	unsigned best = strlen(name) < 6 ? 2 : 3;
	const char *nearest = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(known_events); i++) {
		unsigned distance = edit_distance(name, known_events[i].name, best);

		if (distance < best) {
			best = distance;
			nearest = known_events[i].name;
		}
	}
	return nearest;
}

char *event_name_of(uint32_t type, uint64_t config)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_events); i++)
		if (known_events[i].type == type && known_events[i].config == config)
			return xstrdup(known_events[i].name);
	if (type == PERF_TYPE_RAW)
		return xasprintf("r%" PRIx64, config);
	return xasprintf("type %" PRIu32 " config 0x%" PRIx64, type, config);
}

bool event_counts_ns(uint32_t type, uint64_t config)
{
	return type == PERF_TYPE_SOFTWARE &&
	       (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK);
}

static bool find_known(const char *name, struct event *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_events); i++) {
		if (strcmp(known_events[i].name, name) != 0)
			continue;
		ret->type = known_events[i].type;
		ret->config = known_events[i].config;
		ret->counts_ns = event_counts_ns(ret->type, ret->config);
		return true;
	}
	return false;
}

/* "r1a8": the number that the manual of the processor gives. */
static bool parse_raw(const char *name, struct event *ret)
{
	size_t digits = name[0] == 'r' ? strspn(name + 1, "0123456789abcdefABCDEF") : 0;

	if (digits == 0 || digits > 16 || name[1 + digits] != '\0')
		return false;
	ret->type = PERF_TYPE_RAW;
	ret->config = strtoull(name + 1, NULL, 16);
	return true;
}

static bool is_plain_name(const char *name)
{
	struct event ignored = {0};

	return find_known(name, &ignored) || parse_raw(name, &ignored) || tracepoint_is_name(name);
}

/*
 * Cuts ":uk" and the like off the name; NULL: there is none. "sched:p" is a tracepoint and no
 * modifier, as "sched" alone is no event, nor a misspelt one.
 */
static const char *cut_modifiers(char *name)
{
	char *colon = strrchr(name, ':');

	if (!colon || colon[1] == '\0' || colon[1 + strspn(colon + 1, "ukp")] != '\0')
		return NULL;
	*colon = '\0';
	if (is_plain_name(name) || nearest_name(name))
		return colon + 1;
	*colon = ':';
	return NULL;
}

static struct error *apply_modifiers(const char *modifiers, struct event *event)
{
	bool user = strchr(modifiers, 'u');
	bool kernel = strchr(modifiers, 'k');

	event->exclude_user = kernel && !user;
	event->exclude_kernel = user && !kernel;
	for (const char *at = modifiers; *at; at++)
		event->precise += *at == 'p';
	if (event->precise > 3)
		return error_new("the modifier p of %s stands more than three times", event->name);
	return NULL;
}

static struct error *unknown_event(const char *spec, const char *name)
{
	const char *nearest = nearest_name(name);
	struct error *err = error_new("unknown event '%s'", spec);

	if (nearest)
		return error_hint(err, "did you mean %s?", nearest);
	return error_hint(err, "events are cycles, instructions, cache-misses, cpu-clock, "
			       "page-faults, context-switches, tracepoints as sched:sched_switch, "
			       "raw numbers as r1a8");
}

struct error *event_parse(const char *spec, struct event *ret)
{
	CLEANUP(free_ptr) char *name = xstrdup(spec);
	CLEANUP(event_deinit) struct event event = {.name = xstrdup(spec)};
	const char *modifiers = cut_modifiers(name);
	struct error *err = NULL;

	if (!find_known(name, &event) && !parse_raw(name, &event)) {
		if (!tracepoint_is_name(name))
			return unknown_event(spec, name);
		event.type = PERF_TYPE_TRACEPOINT;
		event.is_tracepoint = true;
		err = tracepoint_id(name, NULL, &event.config);
	}
	if (!err && modifiers)
		err = apply_modifiers(modifiers, &event);
	if (err)
		return err;
	*ret = event;
	event.name = NULL;
	return NULL;
}

void event_deinit(struct event *event)
{
	free(event->name);
}

/* What a counter of cycles on ourselves counts in half a millisecond; a negative errno. */
static int64_t count_own_cycles(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = 1,
	};
	CLEANUP(close_fd) int fd = attr_open(&attr, 0, -1);
	uint64_t until_ns = sampler_now_ns() + 500000;
	uint64_t count = 0;

	if (fd < 0)
		return fd;
	while (sampler_now_ns() < until_ns)
		continue;
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return -errno;
	return (int64_t)count;
}

void event_choose_default(int64_t cycles_counted, struct event *ret, const char **reason)
{
	switch (cycles_counted) {
	case 0:
		*reason = "no hardware counter: cycles can be opened here, but counts nothing";
		break;
	case -EBUSY:
		*reason = "no hardware counter: another program holds it";
		break;
	case -EACCES:
	case -EPERM:
		*reason = "no hardware counter: the kernel refuses it to us";
		break;
	default:
		*reason = "no hardware counter: this machine offers none, as most virtual ones";
		break;
	}
	if (cycles_counted > 0)
		*reason = NULL;
	*ret = (struct event){.name = xstrdup(*reason ? "cpu-clock" : "cycles")};
	find_known(ret->name, ret);
}

void event_default(struct event *ret, const char **reason)
{
	event_choose_default(count_own_cycles(), ret, reason);
}

uint64_t event_max_frequency_hz(void)
{
	CLEANUP(close_file) FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	uint64_t hz = 0;

	if (!file || fscanf(file, "%" SCNu64, &hz) != 1)
		return 0;
	return hz;
}
