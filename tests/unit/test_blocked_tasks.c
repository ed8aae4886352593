#include "report/blocked_tasks.h"

#include "unit_test.h"
#include "waiting/reason.h"
#include "waiting_profile.h"

#include <string.h>

#define POLL "tokio::runtime::task::raw::poll"
#define CART "shop::cart::{async_fn#0}"
#define BLOCKS "shop::pay blocks the executor: "
#define PAY "shop::pay::{async_fn#0}"

/* names: as for STACK(). The last one is the reason of the wait. */
static void wait_in(struct profile *profile, uint64_t us, const char *const *names)
{
	label_set_id thread = profile_thread_labels(profile, 1, 1, "shop", "shop");
	stack_id stack = STACK_EMPTY;

	for (; names[1]; names++)
		stack = profile_push(profile, stack,
				     add_frame(profile, (const char *const[]){*names, NULL}));
	profile_add(profile, thread, reason_at(profile, stack, *names), 0, us * 1000);
}
#define WAIT(profile, us, ...) wait_in(profile, us, (const char *const[]){__VA_ARGS__, NULL})

static struct profile *new_profile(uint64_t duration_ms)
{
	struct profile *profile = profile_new();

	add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	profile_set_info(profile, &(struct profile_info){.duration_ns = duration_ms * MS});
	profile_describe_module(profile, 0,
				&(struct profile_module){.path = text_of(profile, "/bin/shop")});
	return profile;
}

TEST(the_longest_wait_of_a_future_is_told)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile(1000);
	struct blocked_tasks blocked;
	struct view view;

	WAIT(profile, 200000, POLL, CART, "shop::nap", "std::thread::functions::sleep",
	     "[nanosleep]");
	WAIT(profile, 150000, POLL, PAY, "[page fault]");
	WAIT(profile, 50000, POLL, CART, "std::sync::poison::mutex::Mutex<T>::lock", "[futex]");
	WAIT(profile, 250000, POLL, CART, "shop::dig", "std::net::tcp::TcpStream::connect",
	     "[connect]");
	WAIT(profile, 100000, POLL, CART, "shop::nap", "std::thread::functions::sleep",
	     "[nanosleep]");
	view_init(&view, profile, 0);
	blocked_tasks_init(&blocked, &view);
	assert_int_equal(blocked.count, 2);
	assert_string_equal(blocked.items[0].name, "shop::cart");
	assert_int_equal(blocked.items[0].blocked_ns, 600 * MS);
	assert_int_equal(blocked.items[0].place_ns, 300 * MS);
	assert_string_equal(blocked.items[0].reason, "[nanosleep]");
	assert_string_equal(blocked.items[0].call, "std::thread::sleep");
	assert_string_equal(blocked.items[0].text,
			    "shop::cart blocks the executor: 300 ms in [nanosleep] of "
			    "std::thread::sleep, called by shop::nap");
	assert_string_equal(blocked.items[1].name, "shop::pay");
	assert_null(blocked.items[1].call);
	assert_string_equal(blocked.items[1].text,
			    "shop::pay blocks the executor: 150 ms in [page fault]");
	assert_ptr_equal(blocked_tasks_find(&blocked, "shop::pay"), &blocked.items[1]);
	assert_null(blocked_tasks_find(&blocked, "shop::nap"));
	blocked_tasks_deinit(&blocked);
	blocked_tasks_deinit(&blocked);
	view_deinit(&view);
}

/* text is NULL if the wait is not counted. */
TEST(what_counts_is_waiting_that_keeps_others_from_running)
{
	static const struct {
		const char *names[6];
		uint64_t us, duration_ms;
		const char *text;
	} cases[] = {
		{{POLL, PAY, "[futex]"}, 1000, 1000, "1 ms in [futex]"},
		{{POLL, PAY, "[futex]"}, 999, 500, "(none)"},
		{{POLL, PAY, "[futex]"}, 2000, 2001, "(none)"},
		{{POLL, PAY, "std::thread::join_handle::JoinHandle<T>::join", "[futex]"},
		 3000,
		 1000,
		 "3 ms in [futex] of std::thread::JoinHandle::join"},
		{{POLL, PAY, "tokio::fs::read", "std::net::udp::recv", "[recv]"},
		 3000,
		 1000,
		 "3 ms in [recv] of tokio::fs::read"},
		{{POLL, PAY, REASON_RUNNABLE}, 9000, 1000, NULL},
		{{POLL, PAY, "tokio::task::blocking::block_in_place", "[f]"}, 9000, 1000, NULL},
		{{POLL, "tokio::runtime::blocking::task::BlockingTask<T>::poll", "shop::f", "[f]"},
		 9000,
		 1000,
		 NULL},
		{{"main", "shop::f", "[f]"}, 9000, 1000, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(profile_cleanup)
		struct profile *profile = new_profile(cases[i].duration_ms);
		struct blocked_tasks blocked;
		const char *text;
		struct view view;

		wait_in(profile, cases[i].us, cases[i].names);
		view_init(&view, profile, 0);
		blocked_tasks_init(&blocked, &view);
		assert_int_equal(blocked.count, cases[i].text != NULL);
		if (cases[i].text) {
			text = blocked.items[0].text;
			assert_string_equal(text ? text + strlen(BLOCKS) : "(none)", cases[i].text);
		}
		blocked_tasks_deinit(&blocked);
		view_deinit(&view);
	}
}
