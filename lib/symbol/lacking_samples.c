#include "symbol/lacking_samples.h"

#include "base/alloc.h"

#include <string.h>

/* One pass handles this many groups, one per bit. */
enum { GROUPS_AT_ONCE = 64 };

struct lacking_samples_pass {
	const uint32_t *group_of;
	frame_id frames;
	uint32_t first; /* number of the first group */
};

static uint64_t group_bit(const struct lacking_samples_pass *pass, frame_id frame)
{
	uint32_t group = frame < pass->frames ? pass->group_of[frame] : LACKING_NOTHING;

	if (group == LACKING_NOTHING || group < pass->first ||
	    group - pass->first >= GROUPS_AT_ONCE)
		return 0;
	return UINT64_C(1) << (group - pass->first);
}

/* Sets the groups of each stack. Parents have lower ids than their children. */
static void find_groups(const struct profile *profile, const struct lacking_samples_pass *pass,
			uint64_t *groups)
{
	const struct profile_stacks stacks = profile_stacks(profile);

	for (stack_id id = STACK_EMPTY + 1; id < stacks.count; id++) {
		const struct profile_stack *stack = &stacks.items[id];

		groups[id] = groups[stack->parent] | group_bit(pass, stack->frame);
	}
}

static void count_samples(const struct profile *profile, const uint64_t *groups, uint64_t *samples)
{
	const struct profile_samples all = profile_samples(profile);

	for (uint64_t i = 0; i < all.count; i++)
		for (uint64_t left = groups[all.items[i].stack]; left; left &= left - 1)
			samples[__builtin_ctzll(left)] += all.items[i].samples;
}

static uint64_t count_all(const struct profile *profile)
{
	const struct profile_samples all = profile_samples(profile);
	uint64_t count = 0;

	for (uint64_t i = 0; i < all.count; i++)
		count += all.items[i].samples;
	return count;
}

uint64_t lacking_samples(const struct profile *profile, const uint32_t *group_of, frame_id frames,
			 uint32_t groups, uint64_t *samples)
{
	CLEANUP(free_ptr)
	uint64_t *of_stacks = xcalloc(profile_stacks(profile).count + 1UL, sizeof(*of_stacks));

	if (groups)
		memset(samples, 0, groups * sizeof(*samples));
	for (uint32_t first = 0; first < groups; first += GROUPS_AT_ONCE) {
		const struct lacking_samples_pass pass = {
			.group_of = group_of, .frames = frames, .first = first};

		find_groups(profile, &pass, of_stacks);
		count_samples(profile, of_stacks, samples + first);
	}
	return count_all(profile);
}
