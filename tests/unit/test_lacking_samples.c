#include "symbol/lacking_samples.h"

#include "unit_test.h"

/* Adds samples whose frames each have a different module. */
static void add_samples(struct profile *profile, const uint32_t *modules, size_t count,
			uint64_t samples)
{
	stack_id stack = STACK_EMPTY;

	for (size_t i = 0; i < count; i++)
		stack = profile_push(profile, stack, profile_frame(profile, modules[i], i, false));
	profile_add_samples(profile, profile_thread_labels(profile, 1, 1, "p", "t"), stack,
			    profile_add_event(profile, &(struct profile_event){0}), samples, 1);
}

TEST(a_sample_counts_once_for_each_group_of_its_stack)
{
	struct profile *profile = profile_new();
	uint64_t samples[100];
	uint32_t group_of[16];

	add_samples(profile, (const uint32_t[]){0, 99, 99}, 3, 10);
	add_samples(profile, (const uint32_t[]){0, 1}, 2, 5);
	add_samples(profile, (const uint32_t[]){2}, 1, 1);
	for (frame_id id = 0; id < profile_frame_count(profile); id++) {
		uint32_t module = profile_get_frame(profile, id).module;

		group_of[id] = module == 2 ? LACKING_NOTHING : module;
	}
	assert_int_equal(
		lacking_samples(profile, group_of, profile_frame_count(profile), 100, samples), 16);
	assert_int_equal(samples[0], 15);
	assert_int_equal(samples[1], 5);
	assert_int_equal(samples[2], 0);
	assert_int_equal(samples[99], 10);
	assert_int_equal(lacking_samples(profile, group_of, 1, 100, samples), 16);
	assert_int_equal(samples[99], 0);
	profile_free(profile);
}

TEST(a_profile_without_samples_or_groups_lacks_nothing)
{
	struct profile *profile = profile_new();
	uint64_t samples[1] = {7};

	assert_int_equal(lacking_samples(profile, NULL, 0, 0, NULL), 0);
	assert_int_equal(lacking_samples(profile, NULL, 0, 1, samples), 0);
	assert_int_equal(samples[0], 0);
	profile_free(profile);
}
