/* Tests when push_deliver() tries again. The test's clock advances only while
 * prof waits. */
#include "base/clock.h"
#include "push/delivery.h"

#include <poll.h>
#include <string.h>

#include "sample_profile.h"
#include "unit_test.h"

/* The interval at which the wait checks whether it is over. */
#define TICK_NS (50 * NS_PER_MS)
#define TIMEOUT_NS (100 * NS_PER_SECOND)

struct answer {
	unsigned status;
	uint64_t retry_after_seconds;
};

static struct server {
	const struct answer *answers; /* the last one is repeated */
	size_t answer_count;
	uint64_t times_ns[64], timeouts_ns[64]; /* by attempt */
	unsigned attempts;
	/* number of attempts until the wait is interrupted; 0 for never */
	unsigned stops_after;
} server;

static uint64_t clock_ns;

uint64_t __wrap_clock_now_ns(void); /* NOLINT: the name that the linker wants */
uint64_t __wrap_clock_now_ns(void)  /* NOLINT */
{
	return clock_ns;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms); /* NOLINT */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)  /* NOLINT */
{
	(void)fds;
	assert_int_equal(count, 0);
	clock_ns += (uint64_t)timeout_ms * NS_PER_MS;
	return 0;
}

struct error *__wrap_push_send(const struct push_post *post, /* NOLINT */
			       const struct push_wait *wait, struct push_reply *ret);
struct error *__wrap_push_send(const struct push_post *post, /* NOLINT */
			       const struct push_wait *wait, struct push_reply *ret)
{
	unsigned at = server.attempts++;
	struct answer answer =
		server.answers[at < server.answer_count ? at : server.answer_count - 1];

	(void)wait;
	assert_in_range(at, 0, ARRAY_SIZE(server.times_ns) - 1);
	server.times_ns[at] = clock_ns;
	server.timeouts_ns[at] = post->timeout_ns;
	memset(ret, 0, sizeof(*ret));
	ret->status = answer.status;
	ret->retry_after_seconds = answer.retry_after_seconds;
	return NULL;
}

static bool is_over(void *user)
{
	(void)user;
	return server.stops_after && server.attempts >= server.stops_after;
}

/* Delivers a profile with two samples to a server with these answers. */
static enum push_outcome deliver(const struct answer *answers, size_t count, unsigned stops_after)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	static const char *const headers[] = {NULL};
	static const struct push_labels labels;
	const struct push_delivery delivery = {.labels = &labels,
					       .headers = headers,
					       .timeout_ns = TIMEOUT_NS,
					       .wait.is_over = is_over};
	const struct push_target target = {.protocol = &push_otlp, .url = (char[]){"http://h"}};
	struct push_result result;
	enum push_outcome outcome;

	profile_add(profile, thread, STACK(profile, "a"), event, 1);
	profile_add(profile, thread, STACK(profile, "b"), event, 1);
	server = (struct server){
		.answers = answers, .answer_count = count, .stops_after = stops_after};
	clock_ns = NS_PER_SECOND;
	push_deliver(&delivery, &target, profile, &result);
	assert_int_equal(result.attempts, server.attempts);
	outcome = result.outcome;
	push_result_deinit(&result);
	return outcome;
}

static uint64_t pause_before(unsigned attempt)
{
	return server.times_ns[attempt - 1] - server.times_ns[attempt - 2];
}

/* Checks the length of a pause with jitter, which ends at a tick. */
static void assert_pause(unsigned attempt, uint64_t longest_ns)
{
	assert_in_range(pause_before(attempt), longest_ns / 2, longest_ns + TICK_NS);
}

TEST(pauses_double_until_patience_ends)
{
	static const struct answer busy[] = {{503, 0}};
	uint64_t longest_ns = 500 * NS_PER_MS, end_ns = NS_PER_SECOND + TIMEOUT_NS;

	assert_int_equal(deliver(busy, ARRAY_SIZE(busy), 0), PUSH_LATER);
	assert_in_range(server.attempts, 8, 14);
	for (unsigned attempt = 2; attempt <= server.attempts; attempt++) {
		uint64_t left_ns = end_ns - server.times_ns[attempt - 1];

		assert_pause(attempt, longest_ns);
		assert_true(server.times_ns[attempt - 1] < end_ns);
		assert_int_equal(server.timeouts_ns[attempt - 1],
				 left_ns < 30 * NS_PER_SECOND ? left_ns : 30 * NS_PER_SECOND);
		longest_ns = longest_ns * 2 < 30 * NS_PER_SECOND ? longest_ns * 2
								 : 30 * NS_PER_SECOND;
	}
	/* There is no pause after the last attempt. */
	assert_int_equal(clock_ns, server.times_ns[server.attempts - 1]);
}

TEST(a_server_can_ask_for_a_longer_pause)
{
	static const struct answer asks[] = {{429, 7}, {503, 0}, {200, 0}};

	assert_int_equal(deliver(asks, ARRAY_SIZE(asks), 0), PUSH_DELIVERED);
	assert_int_equal(server.attempts, 3);
	assert_in_range(pause_before(2), 7 * NS_PER_SECOND, 7 * NS_PER_SECOND + TICK_NS);
	assert_pause(3, NS_PER_SECOND);
}

TEST(no_pause_is_shorter_than_without_the_server_s_wish)
{
	static const struct answer asks[] = {{503, 0}, {503, 0}, {503, 0}, {503, 1}, {200, 0}};

	assert_int_equal(deliver(asks, ARRAY_SIZE(asks), 0), PUSH_DELIVERED);
	assert_int_equal(server.attempts, 5);
	assert_pause(5, 4 * NS_PER_SECOND);
}

TEST(a_pause_beyond_patience_is_not_waited_for)
{
	static const struct answer cases[] = {
		{503, 100}, {429, 3600}, {503, UINT64_MAX}, {503, UINT64_C(1) << 55}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(deliver(&cases[i], 1, 0), PUSH_LATER);
		assert_int_equal(server.attempts, 1);
		assert_int_equal(clock_ns, NS_PER_SECOND);
	}
}

TEST(a_final_answer_ends_the_delivery_at_once)
{
	static const struct answer cases[] = {{200, 0}, {400, 0}, {401, 0}};
	static const enum push_outcome outcomes[] = {PUSH_DELIVERED, PUSH_REJECTED, PUSH_REFUSED};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(deliver(&cases[i], 1, 0), outcomes[i]);
		assert_int_equal(server.attempts, 1);
		assert_int_equal(clock_ns, NS_PER_SECOND);
	}
}

TEST(a_pause_ends_with_the_wait)
{
	static const struct answer busy[] = {{503, 50}};

	assert_int_equal(deliver(busy, ARRAY_SIZE(busy), 1), PUSH_STOPPED);
	assert_int_equal(server.attempts, 1);
	assert_int_equal(clock_ns, NS_PER_SECOND);
}

TEST(each_part_has_pauses_and_patience_of_its_own)
{
	/* The answers to the whole profile, its first half, and its second
	 * half. */
	static const struct answer answers[] = {{413, 0}, {503, 0}, {503, 0},  {503, 80}, {200, 0},
						{503, 0}, {503, 0}, {503, 80}, {200, 0}};

	assert_int_equal(deliver(answers, ARRAY_SIZE(answers), 0), PUSH_DELIVERED);
	assert_int_equal(server.attempts, 9);
	assert_int_equal(pause_before(2), 0);
	assert_int_equal(pause_before(6), 0);
	for (unsigned first = 2; first <= 6; first += 4) {
		assert_pause(first + 1, 500 * NS_PER_MS);
		assert_pause(first + 2, NS_PER_SECOND);
		assert_in_range(pause_before(first + 3), 80 * NS_PER_SECOND,
				80 * NS_PER_SECOND + TICK_NS);
	}
	assert_true(clock_ns > NS_PER_SECOND + TIMEOUT_NS);
}
