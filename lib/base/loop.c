#include "base/loop.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/epoll.h>

/* The maximum number of descriptors handled per epoll_wait(). */
enum { BATCH = 16 };

struct loop_watch {
	struct loop_watch *next;
	int fd;
	uint64_t throttled_until_ns; /* 0 if it is not paused and epoll watches it */
	loop_callback *callback;     /* NULL if removed, to be freed after the batch */
	void *user;
};

struct loop_timer {
	struct loop_timer *next;
	uint64_t at_ns; /* 0 if not set */
	/*
	 * NULL if the timer was removed; it is freed after the timers have been
	 * served.
	 */
	loop_callback *callback;
	void *user;
};

struct loop {
	int epoll_fd;
	struct loop_watch *watches, *removed_watches;
	struct loop_timer *timers;
};

struct error *loop_new(struct loop **ret)
{
	struct loop *loop;
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return error_errno(errno, "open an event loop");
	loop = xcalloc(1, sizeof(*loop));
	loop->epoll_fd = fd;
	*ret = loop;
	return NULL;
}

static void free_watches(struct loop_watch *watch)
{
	while (watch) {
		struct loop_watch *next = watch->next;

		free(watch);
		watch = next;
	}
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	close(loop->epoll_fd);
	free_watches(loop->watches);
	free_watches(loop->removed_watches);
	while (loop->timers) {
		struct loop_timer *next = loop->timers->next;

		free(loop->timers);
		loop->timers = next;
	}
	free(loop);
}

struct error *loop_watch(struct loop *loop, int fd, loop_callback *callback, void *user,
			 struct loop_watch **ret)
{
	struct loop_watch *watch = xcalloc(1, sizeof(*watch));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};

	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		struct error *err = error_errno(errno, "watch a descriptor");

		free(watch);
		return err;
	}
	*watch = (struct loop_watch){
		.next = loop->watches, .fd = fd, .callback = callback, .user = user};
	loop->watches = watch;
	*ret = watch;
	return NULL;
}

static void set_interest(struct loop *loop, struct loop_watch *watch, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};

	epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);
}

void loop_rest(struct loop *loop, struct loop_watch *watch, uint64_t until_ns)
{
	bool rests = until_ns > clock_now_ns();

	if (rests != (watch->throttled_until_ns != 0))
		set_interest(loop, watch, rests ? 0 : EPOLLIN);
	watch->throttled_until_ns = rests ? until_ns : 0;
}

void loop_unwatch(struct loop *loop, struct loop_watch *watch)
{
	struct loop_watch **at;

	if (!watch)
		return;
	for (at = &loop->watches; *at != watch;)
		at = &(*at)->next;
	*at = watch->next;
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
	/* The current batch may still refer to it. */
	watch->callback = NULL;
	watch->next = loop->removed_watches;
	loop->removed_watches = watch;
}

struct loop_timer *loop_add_timer(struct loop *loop, loop_callback *callback, void *user)
{
	struct loop_timer *timer = xcalloc(1, sizeof(*timer));

	*timer = (struct loop_timer){.next = loop->timers, .callback = callback, .user = user};
	loop->timers = timer;
	return timer;
}

void loop_set_timer(struct loop_timer *timer, uint64_t at_ns)
{
	timer->at_ns = at_ns;
}

void loop_remove_timer(struct loop_timer *timer)
{
	if (!timer)
		return;
	timer->at_ns = 0;
	timer->callback = NULL;
}

static void loop_sweep(struct loop *loop)
{
	struct loop_timer **at = &loop->timers;

	free_watches(STEAL(loop->removed_watches));
	while (*at) {
		struct loop_timer *timer = *at;

		if (timer->callback) {
			at = &timer->next;
			continue;
		}
		*at = timer->next;
		free(timer);
	}
}

/*
 * Rounds up to milliseconds, so that the timer is due when epoll_wait()
 * returns.
 */
static int timeout_ms(const struct loop *loop, uint64_t until_ns)
{
	uint64_t now_ns = clock_now_ns(), ms;

	for (const struct loop_timer *timer = loop->timers; timer; timer = timer->next)
		if (timer->at_ns && timer->at_ns < until_ns)
			until_ns = timer->at_ns;
	for (const struct loop_watch *watch = loop->watches; watch; watch = watch->next)
		if (watch->throttled_until_ns && watch->throttled_until_ns < until_ns)
			until_ns = watch->throttled_until_ns;
	if (until_ns == LOOP_FOREVER)
		return -1;
	if (until_ns <= now_ns)
		return 0;
	ms = (until_ns - now_ns) / NS_PER_MS + 1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void serve_timers(struct loop *loop)
{
	uint64_t now_ns = clock_now_ns();

	for (struct loop_timer *timer = loop->timers; timer; timer = timer->next) {
		if (!timer->at_ns || timer->at_ns > now_ns)
			continue;
		timer->at_ns = 0;
		timer->callback(timer->user);
	}
}

/* Returns false for a removed watch. */
static bool is_rested(const struct loop_watch *watch, uint64_t now_ns)
{
	return watch->callback && watch->throttled_until_ns && watch->throttled_until_ns <= now_ns;
}

/* A watch that pauses again at once is not watched in between. */
static void end_throttling(struct loop *loop)
{
	uint64_t now_ns = clock_now_ns();

	for (struct loop_watch *watch = loop->watches, *next; watch; watch = next) {
		next = watch->next;
		if (!is_rested(watch, now_ns))
			continue;
		watch->callback(watch->user);
		if (is_rested(watch, now_ns))
			loop_rest(loop, watch, 0);
	}
}

void loop_run(struct loop *loop, uint64_t until_ns)
{
	struct epoll_event events[BATCH];
	int count = epoll_wait(loop->epoll_fd, events, BATCH, timeout_ms(loop, until_ns));

	for (int i = 0; i < count; i++) {
		struct loop_watch *watch = events[i].data.ptr;

		if (watch->callback)
			watch->callback(watch->user);
	}
	serve_timers(loop);
	end_throttling(loop);
	loop_sweep(loop);
}
