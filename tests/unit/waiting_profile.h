/*
 * A synthetic profile with CPU time and waiting: one second of a program with
 * two threads.
 */
#ifndef PROF_TESTS_WAITING_PROFILE_H
#define PROF_TESTS_WAITING_PROFILE_H

#include "sample_profile.h"

#define MS UINT64_C(1000000)

/* Makes a stack whose leaf is the reason of a wait. */
static inline stack_id reason_at(struct profile *profile, stack_id stack, const char *reason)
{
	return profile_push(profile, stack, profile_synthetic_frame(profile, reason));
}

static inline void add_run(struct profile *profile, label_set_id thread, stack_id stack,
			   uint64_t from_ms, uint64_t to_ms)
{
	for (uint64_t ms = from_ms + 1; ms <= to_ms; ms++)
		profile_add_timed_sample(
			profile, &(struct profile_timed_sample){
					 .time_ns = (1000 + ms) * MS,
					 .sample = profile_add(profile, thread, stack, 0, 1 * MS)});
}

static inline void add_wait(struct profile *profile, label_set_id thread, stack_id stack,
			    uint64_t from_ms, uint64_t to_ms, uint64_t weight_ms)
{
	profile_add_interval(
		profile, &(struct profile_interval){
				 .start_ns = (1000 + from_ms) * MS,
				 .end_ns = (1000 + to_ms) * MS,
				 .weight = weight_ms * MS,
				 .sample = profile_add(profile, thread, stack, 1, weight_ms * MS)});
}

/*
 * main (tid 7) works for 300 ms and joins the worker for 700 ms. The worker
 * (tid 8) waits 400 ms for a lock in holds_lock() and spends 350 ms in naps(),
 * 50 ms of which it works. It is runnable without a CPU for 100 ms, and works
 * for 150 ms.
 */
static inline struct profile *waiting_profile(bool has_times)
{
	struct profile *profile = profile_new();
	event_id cpu = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	event_id off = profile_add_event(
		profile, &(struct profile_event){.name = text_of(profile, "off-cpu"),
						 .kind = VALUE_OFF_CPU_TIME});
	label_set_id main = profile_thread_labels(profile, 7, 7, "shop", "shop");
	label_set_id worker = profile_thread_labels(profile, 7, 8, "shop", "worker");
	stack_id run, lock, nap;

	(void)cpu;
	(void)off;
	if (has_times)
		profile_keep_timestamps(profile);
	profile_describe_module(profile, 0,
				&(struct profile_module){.kind = PROFILE_MODULE_FILE,
							 .path = text_of(profile, "/bin/shop")});
	run = STACK(profile, "main", "crunch");
	lock = STACK(profile, "worker", "holds_lock", "pthread_mutex_lock", "__lll_lock_wait");
	nap = STACK(profile, "worker", "naps", "std::this_thread::sleep_for");
	add_run(profile, main, run, 0, 300);
	add_wait(profile, worker, reason_at(profile, lock, "[mutex held by shop in crunch]"), 0,
		 400, 400);
	add_wait(profile, worker, reason_at(profile, nap, "[nanosleep]"), 400, 750, 300);
	add_run(profile, worker, nap, 700, 750);
	add_wait(profile, worker, reason_at(profile, lock, "[runnable]"), 750, 850, 100);
	add_run(profile, worker, STACK(profile, "worker", "holds_lock"), 850, 1000);
	add_wait(profile, main,
		 reason_at(profile, STACK(profile, "main", "pthread_join"), "[futex]"), 300, 1000,
		 700);
	profile_set_info(profile, &(struct profile_info){.start_unix_ns = 5000 * MS,
							 .start_ns = has_times ? 1000 * MS : 0,
							 .duration_ns = 1000 * MS});
	return profile;
}

/* Sets the quality that the recorder would report. */
static inline void set_waiting_quality(struct profile *profile)
{
	struct profile_info info = *profile_get_info(profile);

	info.quality = (struct profile_quality){.is_known = true,
						.samples = 500,
						.waiting = {
							.threads = 2,
							.thread_ns = 2000 * MS,
							.running_ns = 500 * MS,
							.wanted_ns = 100 * MS,
							.waiting_ns = 1400 * MS,
							.proved_ns = 1300 * MS,
							.spread_ns = 60 * MS,
							.placeless_ns = 40 * MS,
						}};
	profile_set_info(profile, &info);
}

#endif
