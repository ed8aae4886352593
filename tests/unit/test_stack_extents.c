#include "perf/stack_extents.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "unit_test.h"

#include <stdlib.h>

enum { TID = 42, DUMPED = 8192 };

static const uint64_t sp = 0x7ffd00000000;

static struct stack_extent whole(uint64_t bytes, bool is_deep)
{
	return (struct stack_extent){.end = sp + bytes, .is_whole = true, .is_deep = is_deep};
}

static size_t wanted(const struct stack_extents *extents)
{
	return stack_extents_wanted(extents, TID, sp, DUMPED);
}

TEST(of_an_unknown_thread_a_quarter_of_a_mebibyte_is_copied)
{
	CLEANUP(free_ptr) struct stack_extents *extents = xcalloc(1, sizeof(*extents));

	assert_int_equal(wanted(extents), 256 << 10);
	assert_int_equal(stack_extents_wanted(extents, TID, 0, DUMPED), 0);
	/* Another thread replaces it. */
	stack_extents_note(extents, TID + STACK_EXTENTS, whole(100, false));
	assert_int_equal(wanted(extents), 256 << 10);
	extents->skips_unknown = true;
	assert_int_equal(wanted(extents), 0);
}

TEST(a_stack_is_copied_up_to_its_end_if_the_dump_is_smaller)
{
	CLEANUP(free_ptr) struct stack_extents *extents = xcalloc(1, sizeof(*extents));

	stack_extents_note(extents, TID, whole(100000, true));
	assert_int_equal(wanted(extents), 100000);
	stack_extents_note(extents, TID, whole(DUMPED, false));
	assert_int_equal(wanted(extents), 0);
	/* On another stack, far from the known one. */
	assert_int_equal(stack_extents_wanted(extents, TID, sp + (1 << 30), DUMPED), 256 << 10);
}

TEST(of_a_thread_that_switches_stacks_nothing_is_copied_until_one_is_deep)
{
	CLEANUP(free_ptr) struct stack_extents *extents = xcalloc(1, sizeof(*extents));

	for (uint64_t i = 1; i <= 4; i++)
		stack_extents_note(extents, TID, whole(i * 10000, false));
	assert_int_equal(wanted(extents), 0);
	stack_extents_note(extents, TID, whole(50000, true));
	assert_int_equal(wanted(extents), 256 << 10);
	/* The thread stays on one stack for a long time. */
	for (unsigned i = 0; i < 100; i++)
		stack_extents_note(extents, TID, whole(50000, true));
	assert_int_equal(wanted(extents), 50000);
}

TEST(in_a_handler_with_a_stack_of_its_own_the_interrupted_stack_is_copied_up_to_its_end)
{
	CLEANUP(free_ptr) struct stack_extents *extents = xcalloc(1, sizeof(*extents));
	struct stack_extent in_handler = {.saved_sp_at = sp + 9000};

	assert_int_equal(stack_extents_saved_sp_at(extents, TID, sp), 0);
	stack_extents_note(extents, TID, in_handler);
	assert_int_equal(stack_extents_saved_sp_at(extents, TID, sp), sp + 9000);
	/* On the handler's stack, up to the saved registers. */
	assert_in_range(wanted(extents), 9000, 9500);
	assert_int_equal(stack_extents_wanted(extents, TID, sp + 8000, DUMPED), 0);
	assert_int_equal(stack_extents_interrupted(extents, TID, sp << 1), 256 << 10);
	in_handler.interrupted_end = (sp << 1) + 50000;
	stack_extents_note(extents, TID, in_handler);
	assert_int_equal(stack_extents_interrupted(extents, TID, sp << 1), 50000);
	/* Other handlers interrupt the stack at a greater depth. */
	assert_int_equal(stack_extents_interrupted(extents, TID, (sp << 1) - (10 << 20)), 8 << 20);
	/* Outside of handlers, nothing is known about that stack, but the value
	 * is kept for the next handler. */
	stack_extents_note(extents, TID, (struct stack_extent){.end = (sp << 1) + 50000});
	assert_int_equal(stack_extents_saved_sp_at(extents, TID, sp << 1), 0);
	assert_int_equal(stack_extents_saved_sp_at(extents, TID, sp), sp + 9000);
	assert_int_equal(stack_extents_saved_sp_at(extents, TID + STACK_EXTENTS, sp), 0);
	stack_extents_note(extents, TID + STACK_EXTENTS, whole(100, false));
	assert_int_equal(stack_extents_saved_sp_at(extents, TID + STACK_EXTENTS, sp), 0);
}

TEST(a_thread_that_has_run_go_on_its_system_stack_is_known_and_where_its_g_was)
{
	CLEANUP(free_ptr) struct stack_extents *extents = xcalloc(1, sizeof(*extents));
	static const struct {
		/* distance from a pointer to the thread's g to the stack
		 * pointer of a sample */
		int64_t below;
		bool may_be_there;
	} cases[] = {{0, true}, {-1, false}, {(8 << 20) - 1, true}, {8 << 20, false}};
	uint64_t g_at;

	assert_false(stack_extents_need_go(extents, TID, sp, &g_at));
	stack_extents_note(extents, TID, (struct stack_extent){.needs_go = true});
	assert_true(stack_extents_need_go(extents, TID, sp, &g_at));
	assert_int_equal(g_at, 0);
	/* Samples at other addresses do not change it. */
	stack_extents_note(extents, TID, (struct stack_extent){.needs_go = true, .g_at = sp});
	stack_extents_note(extents, TID, (struct stack_extent){.needs_go = true});
	stack_extents_note(extents, TID, whole(100000, true));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(stack_extents_need_go(extents, TID, sp - cases[i].below, &g_at));
		assert_int_equal(g_at, cases[i].may_be_there ? sp : 0);
	}
	/* Another thread replaces it. */
	assert_false(stack_extents_need_go(extents, TID + STACK_EXTENTS, sp, &g_at));
	stack_extents_note(extents, TID + STACK_EXTENTS, whole(100, false));
	assert_false(stack_extents_need_go(extents, TID + STACK_EXTENTS, sp, &g_at));
	assert_int_equal(g_at, 0);
}
