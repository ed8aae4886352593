#include "cmd/segment_range.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/segment_files.h"
#include "cmd/trusted_user.h"
#include "cmd/ui/message.h"
#include "format/format.h"
#include "profile/source_users.h"
#include "profile/transfer.h"
#include "symbol/thread_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Read one after the other and added up by one thread. */
enum { PART_SEGMENTS = 16 };

/* What has been added up. */
struct sum {
	struct profile *profile;
	struct idmap modules;
	struct profile_info info; /* but for its duration */
	uint64_t end_unix_ns;
	size_t segments;
	size_t whole;	   /* of them, that reach beyond the range and count whole */
	size_t unreadable; /* … and why the first one is */
	struct error *reason;
};

struct reading {
	const char *directory;
	const struct time_range *range;
	bool keeps_timestamps;
	const struct segment_file *files;
	size_t count;
	struct sum *parts;
};

static void sum_init(struct sum *sum, bool keeps_timestamps)
{
	*sum = (struct sum){.profile = profile_new()};
	if (keeps_timestamps)
		profile_keep_timestamps(sum->profile);
}

static void sum_deinit(struct sum *sum)
{
	profile_free(sum->profile);
	idmap_deinit(&sum->modules);
	error_free(sum->reason);
}

/* ---- Adding up ---- */

static bool is_in(uint64_t time_ns, const struct time_range *range)
{
	return time_ns >= range->from_ns && time_ns < range->to_ns;
}

/* By sample: how many of its samples are in the range. To be freed. */
static uint64_t *count_in(const struct profile *profile, const struct time_range *range)
{
	const struct profile_timed_samples timed = profile_timed_samples(profile);
	uint64_t *counts = xcalloc(profile_samples(profile).count, sizeof(*counts));

	for (uint64_t i = 0; i < timed.count; i++)
		counts[timed.items[i].sample] += is_in(timed.items[i].time_ns, range);
	return counts;
}

static void add_times(struct sum *sum, const struct profile *from, const struct time_range *range,
		      const uint32_t *added)
{
	const struct profile_timed_samples timed = profile_timed_samples(from);

	for (uint64_t i = 0; i < timed.count; i++) {
		struct profile_timed_sample sample = timed.items[i];

		sample.sample = added[sample.sample];
		if (!range || is_in(sample.time_ns, range))
			profile_add_timed_sample(sum->profile, &sample);
	}
}

/* range: NULL adds all samples. */
static void add_profile(struct sum *sum, const struct profile *from, const struct time_range *range)
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
		add_times(sum, from, range, added);
	transfer_deinit(&transfer);
}

/* The sum has command, host and kernel of the first one. start and end: of what is added. */
static void add_info(struct sum *sum, const struct profile_info *info, uint64_t start_unix_ns,
		     uint64_t end_unix_ns)
{
	if (!sum->segments) {
		/* This copies the strings. */
		profile_set_info(sum->profile, &(struct profile_info){.command = info->command,
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

/* ---- Segments ---- */

static struct error *read_segment(const struct reading *reading, const struct segment_file *file,
				  struct profile *profile)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", reading->directory, file->name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	CLEANUP(close_file) FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	struct error *err = NULL;
	struct stat st;

	if (!in || fstat(fd, &st) < 0)
		return error_errno(errno, "open %s", path);
	err = format_pprof.read(in, profile);
	if (!err && !is_trusted_user(st.st_uid))
		source_users_distrust(profile, st.st_uid);
	return error_wrap(err, "%s", path);
}

/* Of all samples it is known when they were taken. */
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

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void add_segment(struct sum *sum, const struct profile *segment,
			const struct time_range *range)
{
	const struct profile_info *info = profile_get_info(segment);
	uint64_t start_ns = info->start_unix_ns, end_ns = start_ns + info->duration_ns;
	bool is_inside = start_ns >= range->from_ns && end_ns <= range->to_ns;
	bool is_cut = !is_inside && has_all_times(segment);

	if (start_ns >= range->to_ns || end_ns <= range->from_ns)
		return;
	add_profile(sum, segment, is_cut ? range : NULL);
	if (is_cut) {
		start_ns = later(start_ns, range->from_ns);
		end_ns = earlier(end_ns, range->to_ns);
	}
	add_info(sum, info, start_ns, end_ns);
	sum->segments++;
	sum->whole += !is_inside && !is_cut;
}

static void fail(struct sum *sum, struct error *err)
{
	if (sum->unreadable++)
		error_free(err);
	else
		sum->reason = err;
}

static void read_part(void *context, size_t item, unsigned thread)
{
	const struct reading *reading = context;
	struct sum *sum = &reading->parts[item];
	size_t end = (item + 1) * PART_SEGMENTS;

	(void)thread;
	sum_init(sum, reading->keeps_timestamps);
	for (size_t i = item * PART_SEGMENTS; i < end && i < reading->count; i++) {
		CLEANUP(profile_cleanup) struct profile *segment = profile_new();
		struct error *err = read_segment(reading, &reading->files[i], segment);

		if (err)
			fail(sum, err);
		else
			add_segment(sum, segment, reading->range);
	}
}

static void add_part(struct sum *sum, struct sum *part)
{
	if (part->segments) {
		add_profile(sum, part->profile, NULL);
		add_info(sum, &part->info, part->info.start_unix_ns, part->end_unix_ns);
	}
	sum->segments += part->segments;
	sum->whole += part->whole;
	if (part->unreadable && !sum->unreadable)
		sum->reason = STEAL(part->reason);
	sum->unreadable += part->unreadable;
}

static void read_all(struct reading *reading, struct sum *sum)
{
	size_t parts = (reading->count + PART_SEGMENTS - 1) / PART_SEGMENTS;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	reading->parts = xcalloc(parts, sizeof(*reading->parts));
	thread_pool_run(&(struct thread_pool){.threads = cpus > 0 ? (unsigned)cpus : 1}, parts,
			read_part, reading);
	for (size_t i = 0; i < parts; i++) {
		add_part(sum, &reading->parts[i]);
		sum_deinit(&reading->parts[i]);
	}
	free(reading->parts);
}

/* ---- Ranges ---- */

/* Those that can have samples in the range: a segment ends where the next one begins, or before. */
static void choose(struct reading *reading, const struct segment_files *files)
{
	size_t first = 0, end = files->count;

	while (first + 1 < end && files->items[first + 1].unix_ns <= reading->range->from_ns)
		first++;
	while (end > first && files->items[end - 1].unix_ns >= reading->range->to_ns)
		end--;
	reading->files = files->items + first;
	reading->count = end - first;
}

static void put_time(char *text, size_t size, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / NS_PER_SECOND);
	struct tm local;

	localtime_r(&seconds, &local);
	strftime(text, size, "%Y-%m-%d %H:%M:%S", &local);
}

static struct error *nothing_there(const char *directory, const struct segment_files *files)
{
	char first[32], last[32];

	if (!files->count)
		return error_hint(error_new("%s has no segments", directory),
				  "prof record --every 1m -o DIRECTORY writes them; prof diff "
				  "compares directories of benchmarks; if perf record --threads "
				  "wrote it, record without --threads");
	put_time(first, sizeof(first), files->items[0].unix_ns);
	put_time(last, sizeof(last), files->items[files->count - 1].unix_ns);
	return error_hint(error_new("%s has no segments of that time", directory),
			  "the first one begins at %s, the last one at %s", first, last);
}

static struct error *check(const struct sum *sum, const char *directory,
			   const struct segment_files *files)
{
	if (!sum->segments && sum->reason)
		return error_new("no segment can be read: %s", error_text(sum->reason));
	return sum->segments ? NULL : nothing_there(directory, files);
}

static void tell(const struct sum *sum)
{
	if (sum->unreadable)
		message("%zu segment%s cannot be read and %s left out: %s", sum->unreadable,
			sum->unreadable == 1 ? "" : "s", sum->unreadable == 1 ? "is" : "are",
			error_text(sum->reason));
	if (sum->whole)
		message("%zu segment%s whole, and reach beyond the time that was asked for: they "
			"do not tell when samples were taken",
			sum->whole, sum->whole == 1 ? " counts" : "s count");
}

static void finish(struct sum *sum)
{
	sum->info.duration_ns = sum->end_unix_ns - sum->info.start_unix_ns;
	if (profile_timed_samples(sum->profile).count)
		sum->info.start_ns = sum->info.start_unix_ns;
	profile_set_info(sum->profile, &sum->info);
	profile_sort_timed_samples(sum->profile);
}

struct error *segment_range_read(const char *directory, const struct time_range *range,
				 bool keeps_timestamps, struct profile **ret)
{
	struct reading reading = {
		.directory = directory, .range = range, .keeps_timestamps = keeps_timestamps};
	CLEANUP(segment_files_deinit) struct segment_files files = {0};
	CLEANUP(sum_deinit) struct sum sum = {0};
	struct error *err = segment_files_read(directory, &files);

	if (err)
		return err;
	sum_init(&sum, keeps_timestamps);
	choose(&reading, &files);
	read_all(&reading, &sum);
	err = check(&sum, directory, &files);
	if (err)
		return err;
	tell(&sum);
	finish(&sum);
	*ret = STEAL(sum.profile);
	return NULL;
}

/* counts: of all segments. */
static struct error *visit_segment(const struct reading *reading, const struct segment_file *file,
				   struct sum *counts, segment_range_visit *visit, void *user)
{
	CLEANUP(profile_cleanup) struct profile *segment = profile_new();
	CLEANUP(sum_deinit) struct sum sum = {0};
	struct error *err = read_segment(reading, file, segment);

	if (err) {
		fail(counts, err);
		return NULL;
	}
	sum_init(&sum, reading->keeps_timestamps);
	add_segment(&sum, segment, reading->range);
	counts->segments += sum.segments;
	counts->whole += sum.whole;
	if (!sum.segments)
		return NULL;
	finish(&sum);
	return visit(user, sum.profile);
}

struct error *segment_range_each(const char *directory, const struct time_range *range, bool tells,
				 segment_range_visit *visit, void *user)
{
	struct reading reading = {.directory = directory, .range = range, .keeps_timestamps = true};
	CLEANUP(segment_files_deinit) struct segment_files files = {0};
	CLEANUP(sum_deinit) struct sum counts = {0};
	struct error *err = segment_files_read(directory, &files);

	if (!err)
		choose(&reading, &files);
	for (size_t i = 0; !err && i < reading.count; i++)
		err = visit_segment(&reading, &reading.files[i], &counts, visit, user);
	if (!err)
		err = check(&counts, directory, &files);
	if (!err && tells)
		tell(&counts);
	return err;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

struct error *segment_range_parse(const char *path, const char *since, const char *until,
				  char **ret_directory, struct time_range *ret)
{
	const char *at = strrchr(path, '@');
	CLEANUP(free_ptr) char *directory = NULL;
	struct error *err;

	*ret_directory = NULL;
	if (is_directory(path)) {
		err = time_expression_between(since, until, clock_unix_ns(), ret);
		*ret_directory = err ? NULL : xstrdup(path);
		return err;
	}
	if (since || until)
		return error_hint(error_new("%s is not a directory of segments", path),
				  "--since and --until choose a range of time of one");
	directory = at && access(path, F_OK) < 0 ? xstrndup(path, (size_t)(at - path)) : NULL;
	if (!directory || !is_directory(directory))
		return NULL;
	err = time_expression_range(at + 1, clock_unix_ns(), ret);
	*ret_directory = err ? NULL : STEAL(directory);
	return err;
}
