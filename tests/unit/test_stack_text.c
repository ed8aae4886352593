#include "format/stack_text.h"

#include "base/cleanup.h"
#include "sample_profile.h"
#include "unit_test.h"

#include <inttypes.h>
#include <string.h>

static void put_number(FILE *out, const void *context, frame_id frame)
{
	fprintf(out, "%s%" PRIu32, (const char *)context, frame);
}

/* Returns the text of a stack, frame by frame, independent of other stacks. */
static char *expected_text(const struct profile *profile, stack_id id, enum stack_order order)
{
	char *text = xstrdup("");

	while (id != STACK_EMPTY) {
		struct profile_stack stack = profile_stacks(profile).items[id];
		char *longer = order == LEAF_FIRST ? xasprintf("%s;%" PRIu32, text, stack.frame)
						   : xasprintf(";%" PRIu32 "%s", stack.frame, text);

		free(text);
		text = longer;
		id = stack.parent;
	}
	return text;
}

static void assert_stacks(const struct profile *profile, enum stack_order order, int picks)
{
	CLEANUP(stack_text_deinit) struct stack_text stacks;
	uint64_t seed = 7;

	stack_text_init(&stacks, profile, order, put_number, ";");
	for (int i = 0; i < picks; i++) {
		stack_id id = next_random(&seed, profile_stacks(profile).count);
		CLEANUP(free_ptr) char *expected = expected_text(profile, id, order);
		size_t len;
		const char *text = stack_text_of(&stacks, id, &len);

		assert_int_equal(len, strlen(expected));
		assert_memory_equal(text, expected, len);
	}
}

TEST(a_stack_is_written_whole_whatever_it_shares_with_the_one_before)
{
	CLEANUP(profile_cleanup) struct profile *profile = random_profile(1);

	assert_stacks(profile, ROOT_FIRST, 2000);
	assert_stacks(profile, LEAF_FIRST, 2000);
}

TEST(stacks_of_thousands_of_frames_have_room)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	stack_id stack = STACK_EMPTY;

	for (uint32_t i = 0; i < 3000; i++)
		stack = profile_push(profile, stack, profile_frame(profile, 0, i, false));
	assert_stacks(profile, ROOT_FIRST, 10);
	assert_stacks(profile, LEAF_FIRST, 10);
}
