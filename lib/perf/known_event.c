#include "perf/known_event.h"

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/value.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

#define HARDWARE(name, what, description)                                                          \
	{                                                                                          \
		name, description, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##what                        \
	}
#define SOFTWARE(name, what, description)                                                          \
	{                                                                                          \
		name, description, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##what                        \
	}

static const struct known_event known_events[] = {
	HARDWARE("cycles", CPU_CYCLES, "CPU cycles, without those of a halted CPU"),
	HARDWARE("cpu-cycles", CPU_CYCLES, "as cycles"),
	HARDWARE("instructions", INSTRUCTIONS, "instructions that were retired"),
	HARDWARE("cache-references", CACHE_REFERENCES, "accesses to the last-level cache"),
	HARDWARE("cache-misses", CACHE_MISSES, "misses of the last-level cache"),
	HARDWARE("branches", BRANCH_INSTRUCTIONS, "branch instructions that were retired"),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS, "as branches"),
	HARDWARE("branch-misses", BRANCH_MISSES, "branches that were mispredicted"),
	HARDWARE("bus-cycles", BUS_CYCLES, "cycles of the bus"),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND,
		 "cycles in which nothing is issued"),
	HARDWARE("idle-cycles-frontend", STALLED_CYCLES_FRONTEND, "as stalled-cycles-frontend"),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND,
		 "cycles in which nothing retires"),
	HARDWARE("idle-cycles-backend", STALLED_CYCLES_BACKEND, "as stalled-cycles-backend"),
	HARDWARE("ref-cycles", REF_CPU_CYCLES, "cycles at a constant rate"),
	SOFTWARE("cpu-clock", CPU_CLOCK, "CPU time, by a timer of each CPU"),
	SOFTWARE("task-clock", TASK_CLOCK, "CPU time, by a timer of each task"),
	SOFTWARE("page-faults", PAGE_FAULTS, "page faults"),
	SOFTWARE("faults", PAGE_FAULTS, "as page-faults"),
	SOFTWARE(VALUE_GROWTH_EVENT, PAGE_FAULTS, "bytes by which resident memory grows"),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN, "page faults that needed no disk"),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ, "page faults that read from a disk"),
	SOFTWARE("context-switches", CONTEXT_SWITCHES, "context switches"),
	SOFTWARE("cs", CONTEXT_SWITCHES, "as context-switches"),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS, "migrations of a task to another CPU"),
	SOFTWARE("migrations", CPU_MIGRATIONS, "as cpu-migrations"),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS,
		 "unaligned accesses that the kernel emulated"),
	SOFTWARE("emulation-faults", EMULATION_FAULTS, "instructions that the kernel emulated"),
};

/* Indexed by PERF_COUNT_HW_CACHE_*. */
static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
				     "iTLB",	  "branch",    "node"};
/* Indexed by PERF_COUNT_HW_CACHE_OP_*. */
static const struct {
	const char *accesses, *misses;
} cache_operations[] = {
	{"loads", "load-misses"},
	{"stores", "store-misses"},
	{"prefetches", "prefetch-misses"},
};

static uint64_t cache_config(size_t cache, size_t operation, bool misses)
{
	return cache | operation << 8 |
	       (uint64_t)(misses ? PERF_COUNT_HW_CACHE_RESULT_MISS
				 : PERF_COUNT_HW_CACHE_RESULT_ACCESS)
		       << 16;
}

/* Parses names such as "LLC-load-misses". */
static bool find_cache_event(const char *name, uint64_t *config)
{
	for (size_t cache = 0; cache < ARRAY_SIZE(caches); cache++) {
		size_t len = strlen(caches[cache]);

		if (strncmp(name, caches[cache], len) != 0 || name[len] != '-')
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(cache_operations); i++) {
			bool misses = strcmp(name + len + 1, cache_operations[i].misses) == 0;

			if (!misses && strcmp(name + len + 1, cache_operations[i].accesses) != 0)
				continue;
			*config = cache_config(cache, i, misses);
			return true;
		}
	}
	return false;
}

static char *cache_event_name(uint64_t config)
{
	size_t cache = config & 0xff, operation = config >> 8 & 0xff;

	if (cache >= ARRAY_SIZE(caches) || operation >= ARRAY_SIZE(cache_operations) ||
	    config >> 16 > PERF_COUNT_HW_CACHE_RESULT_MISS)
		return NULL;
	return xasprintf("%s-%s", caches[cache],
			 config >> 16 ? cache_operations[operation].misses
				      : cache_operations[operation].accesses);
}

bool known_event_find(const char *name, uint32_t *type, uint64_t *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_events); i++) {
		if (strcmp(known_events[i].name, name) != 0)
			continue;
		*type = known_events[i].type;
		*config = known_events[i].config;
		return true;
	}
	*type = PERF_TYPE_HW_CACHE;
	return find_cache_event(name, config);
}

char *known_event_name(uint32_t type, uint64_t config)
{
	if (type == PERF_TYPE_HW_CACHE)
		return cache_event_name(config);
	for (size_t i = 0; i < ARRAY_SIZE(known_events); i++)
		if (known_events[i].type == type && known_events[i].config == config)
			return xstrdup(known_events[i].name);
	return NULL;
}

static void each_of_cache(known_event_taker *take, void *user, size_t cache)
{
	for (size_t i = 0; i < ARRAY_SIZE(cache_operations); i++) {
		for (unsigned misses = 0; misses < 2; misses++) {
			uint64_t config = cache_config(cache, i, misses);
			CLEANUP(free_ptr) char *name = cache_event_name(config);

			take(user, &(struct known_event){.name = name,
							 .type = PERF_TYPE_HW_CACHE,
							 .config = config});
		}
	}
}

void known_event_each(known_event_taker *take, void *user)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_events); i++)
		take(user, &known_events[i]);
	for (size_t cache = 0; cache < ARRAY_SIZE(caches); cache++)
		each_of_cache(take, user, cache);
}

const char *known_event_nearest(const char *name)
{
	const char *names[ARRAY_SIZE(known_events) + 1] = {NULL};

	for (size_t i = 0; i < ARRAY_SIZE(known_events); i++)
		names[i] = known_events[i].name;
	return nearest(name, names);
}
