/* The logical view of any folded stacks: its weight is that of the stacks, and none is deeper. */
#include "format/format.h"
#include "report/logical.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t greatest_depth(const struct profile *profile)
{
	const struct profile_stacks stacks = profile_stacks(profile);
	uint32_t depth = 0;

	for (stack_id i = 0; i < stacks.count; i++)
		if (stacks.items[i].depth > depth)
			depth = stacks.items[i].depth;
	return depth;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(profile_cleanup) struct profile *logical = NULL;
	CLEANUP(close_file) FILE *in = NULL;
	CLEANUP(error_cleanup) struct error *err = NULL;

	if (!size)
		return 0;
	in = fmemopen((void *)(uintptr_t)data, size, "r");
	err = format_folded.read(in, profile);
	if (err)
		return 0;
	logical = logical_profile(profile);
	if (view_event_sum(profile, 0).weight != view_event_sum(logical, 0).weight)
		abort();
	if (greatest_depth(logical) > greatest_depth(profile))
		abort();
	return 0;
}
