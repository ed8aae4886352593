#include "report/harness.h"

#include "base/alloc.h"
#include "base/text.h"

#include <string.h>

/*
 * Half of the weight, because the harness itself also computes and prepares
 * input.
 */
#define HARNESS_LEAST_SHARE 0.5

struct harness {
	const char *name;
	const char *prefix; /* common start of its functions' names */
};

static const struct harness harnesses[] = {
	{"criterion", "criterion::"},	   {"divan", "divan::"},
	{"libtest", "test::bench::"},	   {"Google Benchmark", "benchmark::internal::"},
	{"Go's testing", "testing.(*B)."},
};

enum { HARNESSES = ARRAY_SIZE(harnesses) };

/* One bit per harness. */
typedef uint8_t harness_set;

/* "<criterion::Function as …>::bench" belongs to criterion, too. */
static harness_set harness_of_name(const char *name)
{
	name += strspn(name, "<&_");
	for (unsigned i = 0; i < HARNESSES; i++)
		if (text_begins(name, harnesses[i].prefix))
			return (harness_set)(1u << i);
	return 0;
}

/* Returns the harness of each function. The caller frees the result. */
static harness_set *find_functions(const struct profile *profile)
{
	uint32_t count = profile_function_count(profile);
	harness_set *sets = xcalloc(count, sizeof(*sets));

	for (function_id i = 0; i < count; i++)
		sets[i] = harness_of_name(
			profile_string(profile, profile_get_function(profile, i)->name));
	return sets;
}

static harness_set set_of_frame(const struct profile *profile, const harness_set *functions,
				frame_id id)
{
	struct profile_frame frame = profile_get_frame(profile, id);
	harness_set set = 0;

	for (unsigned i = 0; i < frame.line_count; i++)
		set |= functions[frame.lines[i].function];
	return set;
}

/*
 * Returns for each stack the harnesses that have a frame in it. The caller
 * frees the result.
 */
static harness_set *find_stacks(const struct profile *profile)
{
	CLEANUP(free_ptr) harness_set *functions = find_functions(profile);
	struct profile_stacks stacks = profile_stacks(profile);
	harness_set *sets = xcalloc(stacks.count, sizeof(*sets));

	for (stack_id i = 1; i < stacks.count; i++)
		sets[i] = sets[stacks.items[i].parent] |
			  set_of_frame(profile, functions, stacks.items[i].frame);
	return sets;
}

const char *harness_of(const struct profile *profile, event_id event)
{
	CLEANUP(free_ptr) harness_set *stacks = find_stacks(profile);
	struct profile_samples samples = profile_samples(profile);
	double whole = 0, parts[HARNESSES] = {0};

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (sample->event != event)
			continue;
		whole += (double)sample->weight;
		for (unsigned j = 0; j < HARNESSES; j++)
			if (stacks[sample->stack] & 1u << j)
				parts[j] += (double)sample->weight;
	}
	for (unsigned i = 0; i < HARNESSES; i++)
		if (whole > 0 && parts[i] >= HARNESS_LEAST_SHARE * whole)
			return harnesses[i].name;
	return NULL;
}
