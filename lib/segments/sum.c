#include "segments/sum.h"

#include "base/alloc.h"
#include "base/trusted_user.h"
#include "format/format.h"
#include "format/pprof/read.h"
#include "profile/source_users.h"
#include "profile/transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void segment_sum_init(struct segment_sum *sum, bool keeps_timestamps)
{
	*sum = (struct segment_sum){.profile = profile_new()};
	if (keeps_timestamps)
		profile_keep_timestamps(sum->profile);
	/* pprof_add() expects it as the first module. */
	transfer_merge_module(sum->profile, &sum->modules,
			      &(struct profile_module){.kind = PROFILE_MODULE_NONE});
}

void segment_sum_deinit(struct segment_sum *sum)
{
	profile_free(sum->profile);
	idmap_deinit(&sum->modules);
	for (size_t i = 0; i < sum->event_count; i++)
		free((char *)(uintptr_t)sum->events[i].event);
	free(sum->events);
}

static struct error *open_segment(const struct output_directory *directory,
				  const struct segment_file *file, FILE **ret, uid_t *ret_owner)
{
	struct stat st;
	int fd = output_directory_open_file(directory, file->name, &st);
	CLEANUP(close_file) FILE *in = fd < 0 ? NULL : fdopen(fd, "r");

	if (!in)
		return error_errno(errno, "open");
	if (st.st_ino != file->inode)
		return error_errno(ESTALE, "open");
	*ret = STEAL(in);
	*ret_owner = st.st_uid;
	return NULL;
}

struct error *segment_read(const struct output_directory *directory,
			   const struct segment_file *file, struct profile *profile)
{
	CLEANUP(close_file) FILE *in = NULL;
	uid_t owner = 0;
	struct error *err = open_segment(directory, file, &in, &owner);

	if (!err)
		err = format_pprof.read(in, profile);
	if (!err && !is_trusted_user(owner))
		source_users_distrust(profile, owner);
	return error_wrap(err, "%s/%s", directory->path, file->name);
}

static bool sum_is_in(uint64_t time_ns, const struct time_range *range)
{
	return time_ns >= range->from_ns && time_ns < range->to_ns;
}

/* Returns for each sample of the profile how many of its occurrences are in the
 * range. The caller frees the array. */
static uint64_t *count_in(const struct profile *profile, const struct time_range *range)
{
	const struct profile_timed_samples timed = profile_timed_samples(profile);
	uint64_t *counts = xcalloc(profile_samples(profile).count, sizeof(*counts));

	for (uint64_t i = 0; i < timed.count; i++)
		counts[timed.items[i].sample] += sum_is_in(timed.items[i].time_ns, range);
	return counts;
}

static void sum_add_times(struct segment_sum *sum, const struct profile *from,
			  const struct time_range *range, const uint32_t *added)
{
	const struct profile_timed_samples timed = profile_timed_samples(from);

	for (uint64_t i = 0; i < timed.count; i++) {
		struct profile_timed_sample sample = timed.items[i];

		sample.sample = added[sample.sample];
		if (!range || sum_is_in(sample.time_ns, range))
			profile_add_timed_sample(sum->profile, &sample);
	}
}

static void sum_add_polls(struct segment_sum *sum, const struct profile *from)
{
	for (uint32_t i = 0; i < profile_polls_count(from); i++) {
		const struct profile_polls *polls = profile_get_polls(from, i);

		profile_add_polls(sum->profile, profile_string(from, polls->task), polls->polls);
	}
}

/* With NULL for range, adds all samples. */
static void sum_add_profile(struct segment_sum *sum, const struct profile *from,
			    const struct time_range *range)
{
	const struct profile_samples samples = profile_samples(from);
	CLEANUP(free_ptr) uint64_t *counts = range ? count_in(from, range) : NULL;
	CLEANUP(free_ptr) uint32_t *added = xcalloc(samples.count, sizeof(*added));
	struct transfer transfer;

	transfer_init(&transfer, from, sum->profile, &sum->modules);
	for (event_id i = 0; i < profile_event_count(from); i++)
		transfer_event(&transfer, i);
	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		uint64_t count = counts ? counts[i] : sample->samples;
		uint64_t weight = sample->weight;

		if (counts && !count)
			continue;
		if (counts)
			weight = (uint64_t)((double)weight * (double)count /
					    (double)sample->samples);
		added[i] = transfer_add(&transfer, sample, count, weight);
	}
	if (profile_keeps_timestamps(sum->profile))
		sum_add_times(sum, from, range, added);
	transfer_deinit(&transfer);
	sum_add_polls(sum, from);
}

static struct event_quality *quality_of(struct segment_sum *sum, const char *event)
{
	for (size_t i = 0; i < sum->event_count; i++)
		if (!strcmp(sum->events[i].event, event))
			return &sum->events[i];
	GROW(sum->events, sum->event_count, sum->event_room);
	sum->events[sum->event_count] = (struct event_quality){.event = xstrdup(event)};
	return &sum->events[sum->event_count++];
}

static void add_event_qualities(struct segment_sum *sum, const struct event_quality *events,
				size_t count)
{
	for (size_t i = 0; i < count; i++)
		event_quality_add(quality_of(sum, events[i].event), &events[i]);
}

/* start_unix_ns and end_unix_ns delimit the added time. */
static void sum_add_info(struct segment_sum *sum, const struct profile_info *info,
			 uint64_t start_unix_ns, uint64_t end_unix_ns)
{
	if (!sum->segments) {
		/* Copies the strings. */
		profile_set_info(sum->profile, &(struct profile_info){.title = info->title,
								      .command = info->command,
								      .host = info->host,
								      .kernel = info->kernel});
		sum->info = *profile_get_info(sum->profile);
		sum->info.start_unix_ns = start_unix_ns;
		sum->info.quality.is_known = true;
	}
	quality_add(&sum->info.quality, &info->quality);
	if (start_unix_ns < sum->info.start_unix_ns)
		sum->info.start_unix_ns = start_unix_ns;
	if (end_unix_ns > sum->end_unix_ns)
		sum->end_unix_ns = end_unix_ns;
}

/* Whether the profile contains the times of all of its samples. */
static bool has_all_times(const struct profile *profile)
{
	const struct profile_samples samples = profile_samples(profile);
	uint64_t count = 0;

	for (uint64_t i = 0; i < samples.count; i++) {
		if (samples.items[i].event)
			return false;
		count += samples.items[i].samples;
	}
	return count == profile_timed_samples(profile).count;
}

static uint64_t sum_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t sum_earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void segment_sum_add(struct segment_sum *sum, const struct profile *segment,
		     const struct time_range *range)
{
	const struct profile_info *info = profile_get_info(segment);
	uint64_t start_ns = info->start_unix_ns, end_ns = start_ns + info->duration_ns;
	bool is_inside = start_ns >= range->from_ns && end_ns <= range->to_ns;
	bool is_cut = !is_inside && has_all_times(segment);

	if (start_ns >= range->to_ns || end_ns <= range->from_ns)
		return;
	sum_add_profile(sum, segment, is_cut ? range : NULL);
	if (is_cut) {
		start_ns = sum_later(start_ns, range->from_ns);
		end_ns = sum_earlier(end_ns, range->to_ns);
	}
	sum_add_info(sum, info, start_ns, end_ns);
	add_event_qualities(sum, info->quality.events, info->quality.event_count);
	sum->is_cut |= is_cut;
	sum->segments++;
	sum->whole += !is_inside && !is_cut;
}

static void add_whole(void *user, const struct profile_info *info)
{
	struct segment_sum *sum = user;

	sum_add_info(sum, info, info->start_unix_ns, info->start_unix_ns + info->duration_ns);
	add_event_qualities(sum, info->quality.events, info->quality.event_count);
	sum->segments++;
}

struct error *segment_sum_read(struct segment_sum *sum, const struct output_directory *directory,
			       const struct segment_file *file)
{
	CLEANUP(close_file) FILE *in = NULL;
	uid_t owner = 0;
	struct error *err = open_segment(directory, file, &in, &owner);

	if (!err && !is_trusted_user(owner))
		err = error_new("it belongs to an untrusted user");
	if (!err)
		err = pprof_add(in, &(struct pprof_sum){.profile = sum->profile,
							.modules = &sum->modules,
							.add_info = add_whole,
							.user = sum});
	return error_wrap(err, "%s/%s", directory->path, file->name);
}

void segment_sum_add_sum(struct segment_sum *sum, const struct segment_sum *more)
{
	if (!more->segments)
		return;
	sum_add_profile(sum, more->profile, NULL);
	sum_add_info(sum, &more->info, more->info.start_unix_ns, more->end_unix_ns);
	add_event_qualities(sum, more->events, more->event_count);
	sum->is_cut |= more->is_cut;
	sum->segments += more->segments;
	sum->whole += more->whole;
}

void segment_sum_finish(struct segment_sum *sum)
{
	sum->info.duration_ns = sum->end_unix_ns - sum->info.start_unix_ns;
	if (profile_timed_samples(sum->profile).count)
		sum->info.start_ns = sum->info.start_unix_ns;
	/* The kernel's counts are not known for a part of a segment. */
	sum->info.quality.events = sum->events;
	sum->info.quality.event_count = sum->is_cut ? 0 : sum->event_count;
	profile_set_info(sum->profile, &sum->info);
	profile_sort_timed_samples(sum->profile);
}
