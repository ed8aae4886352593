#include "segments/range.h"

#include "base/affinity.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "segments/heads.h"
#include "segments/sum.h"
#include "symbol/thread_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A part of the files, read by one thread. */
struct range_part {
	size_t first, end; /* indices of the files */
	struct segment_sum sum;
	size_t unreadable;    /* number of segments that could not be read */
	struct error *reason; /* the error of the first such segment */
	bool is_changed;      /* a segment was removed or merged after it was listed */
};

struct range_reading {
	struct output_directory directory;
	const struct time_range *range;
	bool keeps_timestamps;
	const struct segment_file *files;
	size_t count;
	struct range_part *parts;
};

static void reading_deinit(struct range_reading *reading)
{
	output_directory_close(&reading->directory);
}

static void range_part_deinit(struct range_part *part)
{
	segment_sum_deinit(&part->sum);
	error_free(part->reason);
}

static void part_reset(struct range_part *part)
{
	range_part_deinit(part);
	*part = (struct range_part){.first = part->first, .end = part->end};
}

static bool range_is_gone(const struct error *err)
{
	return error_number(err) == ENOENT || error_number(err) == ESTALE;
}

static void range_fail(struct range_part *part, struct error *err)
{
	part->is_changed |= range_is_gone(err);
	if (part->unreadable++)
		error_free(err);
	else
		part->reason = err;
}

static bool is_inside(const struct segment_file *file, const struct time_range *range)
{
	return file->start_ns && file->start_ns >= range->from_ns && file->end_ns <= range->to_ns;
}

static void add_by_itself(const struct range_reading *reading, const struct segment_file *file,
			  struct range_part *part)
{
	CLEANUP(profile_cleanup) struct profile *segment = profile_new();
	struct error *err = segment_read(&reading->directory, file, segment);

	if (err)
		range_fail(part, err);
	else
		segment_sum_add(&part->sum, segment, reading->range);
}

/* Returns false if a damaged segment has made the sum unusable. */
static bool range_read_files(const struct range_reading *reading, bool is_careful,
			     struct range_part *part)
{
	for (size_t i = part->first; i < part->end; i++) {
		const struct segment_file *file = &reading->files[i];
		struct error *err;

		if (is_careful || !is_inside(file, reading->range)) {
			add_by_itself(reading, file, part);
			continue;
		}
		err = segment_sum_read(&part->sum, &reading->directory, file);
		if (!err)
			continue;
		error_free(err);
		return false;
	}
	return true;
}

static void range_read_part(void *context, size_t item, unsigned thread)
{
	const struct range_reading *reading = context;
	struct range_part *part = &reading->parts[item];

	(void)thread;
	segment_sum_init(&part->sum, reading->keeps_timestamps);
	if (range_read_files(reading, false, part))
		return;
	part_reset(part);
	segment_sum_init(&part->sum, reading->keeps_timestamps);
	range_read_files(reading, true, part);
}

static void range_add_part(struct range_part *whole, struct range_part *part)
{
	segment_sum_add_sum(&whole->sum, &part->sum);
	if (part->unreadable && !whole->unreadable)
		whole->reason = STEAL(part->reason);
	whole->unreadable += part->unreadable;
	whole->is_changed |= part->is_changed;
}

/* One thread adds up each part. The number of parts depends only on the
 * segments, so that the result is the same on every machine. */
enum { PART_BYTES = 48 << 20, PARTS_MIN = 2, PARTS_MAX = 16 };

static uint64_t range_bytes(const struct range_reading *reading)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < reading->count; i++)
		bytes += reading->files[i].bytes;
	return bytes;
}

/* Divides the files into parts of consecutive segments, of about equal total
 * size. */
static void range_divide(struct range_reading *reading, size_t parts)
{
	uint64_t whole = range_bytes(reading), bytes = 0;
	size_t file = 0;

	for (size_t i = 0; i < parts; i++) {
		reading->parts[i].first = file;
		for (; file < reading->count && bytes < whole * (i + 1) / parts; file++)
			bytes += reading->files[file].bytes;
		reading->parts[i].end = i + 1 < parts ? file : reading->count;
	}
}

static void range_read_all(struct range_reading *reading, struct range_part *whole)
{
	size_t parts = range_bytes(reading) / PART_BYTES + 1;

	parts = parts < PARTS_MIN ? PARTS_MIN : parts > PARTS_MAX ? PARTS_MAX : parts;
	reading->parts = xcalloc(parts, sizeof(*reading->parts));
	range_divide(reading, parts);
	thread_pool_run(&(struct thread_pool){.threads = affinity_cpu_count()}, parts,
			range_read_part, reading);
	*whole = reading->parts[0];
	for (size_t i = 1; i < parts; i++) {
		range_add_part(whole, &reading->parts[i]);
		range_part_deinit(&reading->parts[i]);
	}
	free(reading->parts);
}

/* ---- Ranges ---- */

/* Selects the segments that can overlap the range. A segment ends no later than
 * the next one starts. */
static void range_choose(struct range_reading *reading, const struct segment_files *files)
{
	size_t first = 0, end = files->count;

	while (first + 1 < end && files->items[first + 1].unix_ns <= reading->range->from_ns)
		first++;
	while (end > first && files->items[end - 1].unix_ns >= reading->range->to_ns)
		end--;
	reading->files = files->items + first;
	reading->count = end - first;
}

static struct error *nothing_there(const char *directory, const struct segment_files *files)
{
	char first[TIME_TEXT_BYTES], last[TIME_TEXT_BYTES];

	if (!files->count)
		return error_hint(error_new("%s has no segments", directory),
				  "prof record --every 1m -o DIRECTORY writes them; prof diff "
				  "compares directories of benchmarks; if perf record --threads "
				  "wrote it, record without --threads");
	time_text(first, files->items[0].unix_ns);
	time_text(last, files->items[files->count - 1].unix_ns);
	return error_hint(error_new("%s has no segments of that time", directory),
			  "the first segment starts at %s, the last one at %s", first, last);
}

static struct error *range_check(const struct range_part *whole, const char *directory,
				 const struct segment_files *files)
{
	if (!whole->sum.segments && whole->reason)
		return error_new("no segment can be read: %s", error_text(whole->reason));
	return whole->sum.segments ? NULL : nothing_there(directory, files);
}

static void tell_flaws(const struct range_part *whole, segment_tell *tell)
{
	size_t unreadable = whole->unreadable, uncut = whole->sum.whole;

	if (unreadable)
		tell("%zu segment%s cannot be read and %s omitted: %s", unreadable,
		     unreadable == 1 ? "" : "s", unreadable == 1 ? "is" : "are",
		     error_text(whole->reason));
	if (uncut)
		tell("%zu segment%s no timestamps: samples outside the requested time range are "
		     "included",
		     uncut, uncut == 1 ? " has" : "s have");
}

/* Lists the current segments, except those contained in merged ones. */
static struct error *range_list(struct range_reading *reading, struct segment_files *files)
{
	CLEANUP(segment_files_deinit) struct segment_files contained = {0};
	struct error *err = segment_files_read(&reading->directory, files);

	if (err)
		return err;
	segment_heads_read(&reading->directory, files);
	segment_heads_take_contained(files, &contained);
	range_choose(reading, files);
	return NULL;
}

/*
 * A recorder can merge segments while they are read. A file that was listed as
 * a minute then contains an hour, or is gone. In this case the directory is
 * listed again, this often.
 */
enum { RANGE_TRIES = 3 };

/* Unless is_last is set, *ret remains NULL if the directory has changed. */
static struct error *read_now(struct range_reading *reading, bool is_last, segment_tell *tell,
			      struct profile **ret)
{
	CLEANUP(segment_files_deinit) struct segment_files files = {0};
	CLEANUP(range_part_deinit) struct range_part whole = {0};
	struct error *err = range_list(reading, &files);

	if (err)
		return err;
	range_read_all(reading, &whole);
	if (whole.is_changed && !is_last)
		return NULL;
	err = range_check(&whole, reading->directory.path, &files);
	if (err)
		return err;
	tell_flaws(&whole, tell);
	segment_sum_finish(&whole.sum);
	*ret = STEAL(whole.sum.profile);
	return NULL;
}

struct error *segment_range_read(const char *directory, const struct time_range *range,
				 bool keeps_timestamps, segment_tell *tell, struct profile **ret)
{
	CLEANUP(reading_deinit)
	struct range_reading reading = {.range = range, .keeps_timestamps = keeps_timestamps};
	struct error *err = output_directory_open_to_read(directory, &reading.directory);

	*ret = NULL;
	for (unsigned i = 1; i <= RANGE_TRIES && !err && !*ret; i++)
		err = read_now(&reading, i == RANGE_TRIES, tell, ret);
	return err;
}

/* counts are those of all segments. */
static struct error *visit_segment(const struct range_reading *reading,
				   const struct segment_file *file, bool is_last,
				   struct range_part *counts, segment_range_visit *visit,
				   void *user)
{
	CLEANUP(profile_cleanup) struct profile *segment = profile_new();
	CLEANUP(segment_sum_deinit) struct segment_sum sum = {0};
	struct error *err = segment_read(&reading->directory, file, segment);

	if (err && range_is_gone(err) && !is_last) {
		counts->is_changed = true;
		error_free(err);
		return NULL;
	}
	if (err) {
		range_fail(counts, err);
		return NULL;
	}
	segment_sum_init(&sum, reading->keeps_timestamps);
	segment_sum_add(&sum, segment, reading->range);
	if (!sum.segments)
		return NULL;
	counts->sum.segments += sum.segments;
	counts->sum.whole += sum.whole;
	counts->sum.end_unix_ns = sum.end_unix_ns;
	segment_sum_finish(&sum);
	return visit(user, sum.profile);
}

/* Stops at the first segment that is gone. With is_last, such a segment counts
 * as unreadable instead. */
static struct error *visit_listed(const struct range_reading *reading, bool is_last,
				  struct range_part *counts, segment_range_visit *visit, void *user)
{
	struct error *err = NULL;

	counts->is_changed = false;
	for (size_t i = 0; i < reading->count && !err && !counts->is_changed; i++)
		err = visit_segment(reading, &reading->files[i], is_last, counts, visit, user);
	return err;
}

struct error *segment_range_each(const char *directory, const struct time_range *range,
				 segment_tell *tell, segment_range_visit *visit, void *user)
{
	struct time_range left =
		*range; /* if an hourly segment replaced minutes that were visited, only its rest */
	CLEANUP(reading_deinit)
	struct range_reading reading = {.range = &left, .keeps_timestamps = true};
	CLEANUP(range_part_deinit) struct range_part counts = {.is_changed = true};
	struct error *err = output_directory_open_to_read(directory, &reading.directory);

	for (unsigned i = 1; i <= RANGE_TRIES && !err && counts.is_changed; i++) {
		CLEANUP(segment_files_deinit) struct segment_files files = {0};

		if (counts.sum.end_unix_ns > left.from_ns)
			left.from_ns = counts.sum.end_unix_ns;
		err = range_list(&reading, &files);
		if (!err)
			err = visit_listed(&reading, i == RANGE_TRIES, &counts, visit, user);
		if (!err && !(counts.is_changed && i < RANGE_TRIES))
			err = range_check(&counts, directory, &files);
	}
	if (!err && tell)
		tell_flaws(&counts, tell);
	return err;
}

static bool range_is_directory(const char *path)
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
	if (range_is_directory(path)) {
		err = time_expression_between(since, until, clock_unix_ns(), ret);
		*ret_directory = err ? NULL : xstrdup(path);
		return err;
	}
	if (since || until)
		return error_hint(error_new("%s is not a directory of segments", path),
				  "--since and --until select a time range in such a directory");
	directory = at && access(path, F_OK) < 0 ? xstrndup(path, (size_t)(at - path)) : NULL;
	if (!directory || !range_is_directory(directory))
		return NULL;
	err = time_expression_range(at + 1, clock_unix_ns(), ret);
	*ret_directory = err ? NULL : STEAL(directory);
	return err;
}
