#include "report/idle.h"

#include "report/view.h"
#include "sample_profile.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

enum { MAIN_TID = 1, POOL_TID = 2 };

struct wait {
	const char *frames[6]; /* root first; names in brackets are notes */
	pid_t tid;
	bool is_idle;
};

static stack_id push_frames(struct profile *profile, const struct wait *wait)
{
	stack_id stack = STACK_EMPTY;

	for (size_t i = 0; i < ARRAY_SIZE(wait->frames) && wait->frames[i]; i++) {
		const char *name = wait->frames[i];
		struct profile_line line = {.function = add_function(profile, name, name, "", 0)};
		uint64_t place = profile_frame_count(profile) * 16 + 1;

		stack = profile_push(profile, stack,
				     *name == '['
					     ? profile_synthetic_frame(profile, name)
					     : profile_named_frame(profile, 0, place, &line, 1));
	}
	return stack;
}

static const struct wait waits[] = {
	{{"main", "serve", "handle", "epoll_wait", "[epoll_wait]"}, MAIN_TID, true},
	{{"main", "serve", "handle", "accept", "[accept]"}, MAIN_TID, true},
	{{"main", "serve", "handle", "read", "[read socket]"}, MAIN_TID, false},
	{{"main", "tokio::runtime::park", "std::sync::Condvar::wait", "[futex]"}, POOL_TID, true},
	{{"tokio::runtime::park", "shop::handle", "parking_lot::lock", "[futex]"}, POOL_TID, false},
	{{"tokio::runtime::park", "[read socket]"}, POOL_TID, false},
	{{"tokio::runtime::park", "[fsync]"}, POOL_TID, false},
	{{"tokio::runtime::park", "[nanosleep]"}, POOL_TID, true},
	{{"tokio::runtime::park", "[runnable]"}, POOL_TID, false},
	{{"tokio::runtime::park", "[stopped]"}, POOL_TID, false},
	{{"tokio::runtime::park", "[mutex held by worker-3 in f]"}, POOL_TID, false},
	/* The reason is unknown. */
	{{"tokio::runtime::park", "[waiting]"}, POOL_TID, true},
	{{"main", "tokio::runtime::park"}, POOL_TID, true},
	{{"[tokio runtime]"}, POOL_TID, true},
	{{"tokio::runtime::park", "shop::handle", "[waiting]"}, POOL_TID, false},
	{{"main", "serve"}, POOL_TID, false},
	{{"start_thread", "[waiting]"}, POOL_TID, false},
	{{"start_thread", "[futex]"}, POOL_TID, true},
	{{"[truncated]", "[futex]"}, POOL_TID, false},
	{{"start_thread", "take_gil", "pthread_cond_timedwait", "[futex]"}, POOL_TID, false},
	{{"main", "serve", "handle", "[ep_poll]"}, POOL_TID, true},
	{{"start_thread", "[nanosleep]"}, POOL_TID, false},
	{{"start_thread", "Pool::work", "pthread_cond_wait", "[futex]"}, POOL_TID, true},
	{{"main", "Pool::join", "pthread_cond_wait", "[futex]"}, MAIN_TID, false},
	{{"a", "b", "c", "pthread_cond_wait", "[futex]"}, POOL_TID, false},
	{{"Pool::work", "pthread_mutex_lock", "[futex]"}, POOL_TID, false},
	{{"start_thread", "[mutex held by worker-3 in f]"}, POOL_TID, false},
	{{"start_thread", "[futex]", "[woken by worker]", "Pool::add", "Pool::run", "f"},
	 POOL_TID,
	 true},
	{{"[tokio runtime]", "[futex]"}, POOL_TID, true},
	{{"Pool::work", "[runnable]"}, POOL_TID, false},
};

static struct profile *waiting_profile(event_id *event)
{
	struct profile *profile = profile_new();

	*event = add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		profile_add(profile,
			    profile_thread_labels(profile, MAIN_TID, waits[i].tid, "shop", "shop"),
			    push_frames(profile, &waits[i]), *event, 10);
	return profile;
}

TEST(waits_for_work_are_idle_time)
{
	event_id event;
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(&event);
	CLEANUP(free_ptr) bool *idle = NULL;
	struct display_labels labels;

	display_labels_init(&labels, profile);
	idle = idle_samples(&labels);
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		if (idle[i] != waits[i].is_idle)
			fail_msg("wait %zu", i);
	display_labels_deinit(&labels);
}

static struct view view_of(const struct profile *profile, event_id event)
{
	struct view view;

	assert_null(view_init_selected(&view, profile,
				       &(struct view_options){.event = event, .hides_idle = true}));
	return view;
}

TEST(a_view_can_hide_idle_time_and_keeps_its_sum)
{
	event_id event;
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(&event);
	CLEANUP(view_deinit) struct view view = view_of(profile, event);
	uint64_t idle = 0;

	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		idle += waits[i].is_idle ? 10 : 0;
	assert_int_equal(view.idle_sum.weight, idle);
	assert_int_equal(view.stacks[STACK_EMPTY].total.weight, 10 * ARRAY_SIZE(waits) - idle);
}

TEST(cpu_time_is_never_idle)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	CLEANUP(free_ptr) bool *idle = NULL;
	struct display_labels labels;

	profile_add(profile, profile_thread_labels(profile, 1, 1, "shop", "shop"),
		    push_frames(profile, &waits[0]), event, 10);
	display_labels_init(&labels, profile);
	idle = idle_samples(&labels);
	assert_false(idle[0]);
	display_labels_deinit(&labels);
}

TEST(time_that_is_nearly_all_idle_is_shown)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "shop", "shop");

	profile_add(profile, thread, push_frames(profile, &waits[0]), event, 10000);
	profile_add(profile, thread, push_frames(profile, &waits[2]), event, 10);
	{
		CLEANUP(view_deinit) struct view view = view_of(profile, event);

		assert_int_equal(view.idle_sum.weight, 0);
		assert_int_equal(view.stacks[STACK_EMPTY].total.weight, 10010);
	}
	profile_add(profile, thread, push_frames(profile, &waits[2]), event, 1);
	{
		CLEANUP(view_deinit) struct view view = view_of(profile, event);

		assert_int_equal(view.stacks[STACK_EMPTY].total.weight, 11);
	}
}
