#include "record/history.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "profile/transfer.h"

#include <stdlib.h>
#include <string.h>

/* The time is divided into this many parts. */
enum { PARTS = 8 };

struct history_part {
	struct profile *profile;
	struct recorder_window window;
	struct session_counts counts;
};

struct history {
	struct recorder *recorder;
	uint64_t keep_ns;
	size_t modules_max;
	struct history_part *parts; /* oldest first */
	size_t count, room;
};

struct history *history_new(struct recorder *recorder, uint64_t keep_ns, size_t modules_max)
{
	struct history *history = xcalloc(1, sizeof(*history));

	history->recorder = recorder;
	history->keep_ns = keep_ns;
	history->modules_max = modules_max;
	return history;
}

static void history_forget_oldest(struct history *history, size_t count)
{
	if (!count) /* there may be no parts yet */
		return;
	for (size_t i = 0; i < count; i++)
		profile_free(history->parts[i].profile);
	history->count -= count;
	memmove(history->parts, history->parts + count, history->count * sizeof(*history->parts));
}

void history_free(struct history *history)
{
	if (!history)
		return;
	history_forget_oldest(history, history->count);
	free(history->parts);
	free(history);
}

uint64_t history_next_ns(const struct history *history)
{
	if (recorder_is_paused(history->recorder))
		return LOOP_FOREVER;
	return recorder_profile_window(history->recorder).start_ns + history->keep_ns / PARTS;
}

/* Returns the sampled time of all parts from this one on. */
static uint64_t covered_ns(const struct history *history, size_t first)
{
	uint64_t sum_ns = 0;

	for (size_t i = first; i < history->count; i++)
		sum_ns += history->parts[i].window.end_ns - history->parts[i].window.start_ns;
	return sum_ns;
}

static void forget_old(struct history *history)
{
	size_t old = 0;

	while (old + 1 < history->count && covered_ns(history, old + 1) >= history->keep_ns)
		old++;
	history_forget_oldest(history, old);
}

void history_cut(struct history *history)
{
	struct history_part part = {
		.counts = *session_counts(recorder_pipeline(history->recorder)->session),
	};

	part.profile = recorder_rotate(history->recorder, &part.window);
	profile_sort_intervals(part.profile);
	GROW(history->parts, history->count, history->room);
	history->parts[history->count++] = part;
	forget_old(history);
}

void history_forget(struct history *history)
{
	struct recorder_window window;

	profile_free(recorder_rotate(history->recorder, &window));
	history_forget_oldest(history, history->count);
}

bool history_step(struct history *history)
{
	const struct pipeline *pipeline = recorder_pipeline(history->recorder);

	if (clock_now_ns() < history_next_ns(history))
		return false;
	recorder_drain(history->recorder);
	if (address_spaces_module_count(pipeline->spaces) <= history->modules_max) {
		history_cut(history);
		return false;
	}
	recorder_renew(history->recorder);
	history_forget(history);
	return true;
}

static void history_add_times(const struct profile *from, struct profile *to,
			      const uint32_t *samples)
{
	const struct profile_timed_samples timed = profile_timed_samples(from);
	const struct profile_intervals intervals = profile_intervals(from);
	const struct sample_order order = profile_sample_order(from);

	for (uint64_t i = 0; i < timed.count; i++) {
		struct profile_timed_sample sample = timed.items[i];

		sample.sample = samples[sample.sample];
		profile_add_timed_sample(to, &sample);
	}
	for (uint64_t i = 0; i < intervals.count; i++) {
		struct profile_interval interval = intervals.items[i];

		interval.sample = samples[interval.sample];
		profile_add_interval(to, &interval);
	}
	for (uint64_t i = 0; i < profile_marker_count(from); i++) {
		struct profile_marker marker = *profile_get_marker(from, i);

		marker.text = strtab_add(profile_strings(to), profile_string(from, marker.text));
		profile_add_marker(to, &marker);
	}
	for (uint32_t i = 0; i < order.count; i++)
		profile_add_to_sample_order(to, order.items[i].tid, samples[order.items[i].sample]);
}

static void history_add_profile(const struct profile *from, struct profile *to)
{
	const struct profile_samples samples = profile_samples(from);
	CLEANUP(free_ptr) uint32_t *added = xcalloc(samples.count, sizeof(*added));
	struct transfer transfer;

	transfer_init(&transfer, from, to, NULL);
	for (uint64_t i = 0; i < samples.count; i++)
		added[i] = transfer_add(&transfer, &samples.items[i], samples.items[i].samples,
					samples.items[i].weight);
	history_add_times(from, to, added);
	transfer_deinit(&transfer);
}

void history_gather(const struct history *history)
{
	struct profile *to = recorder_pipeline(history->recorder)->profile;

	for (size_t i = 0; i < history->count; i++)
		history_add_profile(history->parts[i].profile, to);
}

struct recorder_window history_window(const struct history *history)
{
	struct recorder_window window = {0};

	if (history->count) {
		window = history->parts[0].window;
		window.end_ns = history->parts[history->count - 1].window.end_ns;
	}
	return window;
}

struct session_counts history_counts(const struct history *history)
{
	struct session_counts counts = {0};

	for (size_t i = 0; i < history->count; i++)
		session_counts_add(&counts, &history->parts[i].counts);
	return counts;
}
