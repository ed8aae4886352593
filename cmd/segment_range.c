#include "cmd/segment_range.h"

#include "base/affinity.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/segment_heads.h"
#include "cmd/segment_sum.h"
#include "cmd/ui/message.h"
#include "symbol/thread_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What has been read. */
struct part {
	size_t first, end; /* of the files */
	struct segment_sum sum;
	size_t unreadable;    /* segments … */
	struct error *reason; /* … and why the first one is */
	bool is_changed;      /* one is not there any more: removed, or merged */
};

struct reading {
	struct output_directory directory;
	const struct time_range *range;
	bool keeps_timestamps;
	const struct segment_file *files;
	size_t count;
	struct part *parts;
};

static void reading_deinit(struct reading *reading)
{
	output_directory_close(&reading->directory);
}

static void part_deinit(struct part *part)
{
	segment_sum_deinit(&part->sum);
	error_free(part->reason);
}

static void part_reset(struct part *part)
{
	part_deinit(part);
	*part = (struct part){.first = part->first, .end = part->end};
}

static bool is_gone(const struct error *err)
{
	return error_number(err) == ENOENT || error_number(err) == ESTALE;
}

static void fail(struct part *part, struct error *err)
{
	part->is_changed |= is_gone(err);
	if (part->unreadable++)
		error_free(err);
	else
		part->reason = err;
}

static bool is_inside(const struct segment_file *file, const struct time_range *range)
{
	return file->start_ns && file->start_ns >= range->from_ns && file->end_ns <= range->to_ns;
}

static void add_by_itself(const struct reading *reading, const struct segment_file *file,
			  struct part *part)
{
	CLEANUP(profile_cleanup) struct profile *segment = profile_new();
	struct error *err = segment_read(&reading->directory, file, segment);

	if (err)
		fail(part, err);
	else
		segment_sum_add(&part->sum, segment, reading->range);
}

/* False: one of the segments has spoilt the sum. */
static bool read_files(const struct reading *reading, bool is_careful, struct part *part)
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

static void read_part(void *context, size_t item, unsigned thread)
{
	const struct reading *reading = context;
	struct part *part = &reading->parts[item];

	(void)thread;
	segment_sum_init(&part->sum, reading->keeps_timestamps);
	if (read_files(reading, false, part))
		return;
	part_reset(part);
	segment_sum_init(&part->sum, reading->keeps_timestamps);
	read_files(reading, true, part);
}

static void add_part(struct part *whole, struct part *part)
{
	segment_sum_add_sum(&whole->sum, &part->sum);
	if (part->unreadable && !whole->unreadable)
		whole->reason = STEAL(part->reason);
	whole->unreadable += part->unreadable;
	whole->is_changed |= part->is_changed;
}

/*
 * Each part is added up by one thread. Their number depends on the segments alone, so that the
 * result does not depend on the machine.
 */
enum { PART_BYTES = 48 << 20, PARTS_MIN = 2, PARTS_MAX = 16 };

static uint64_t bytes_of(const struct reading *reading)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < reading->count; i++)
		bytes += reading->files[i].bytes;
	return bytes;
}

/* Consecutive segments of about equal size in all. */
static void divide(struct reading *reading, size_t parts)
{
	uint64_t whole = bytes_of(reading), bytes = 0;
	size_t file = 0;

	for (size_t i = 0; i < parts; i++) {
		reading->parts[i].first = file;
		for (; file < reading->count && bytes < whole * (i + 1) / parts; file++)
			bytes += reading->files[file].bytes;
		reading->parts[i].end = i + 1 < parts ? file : reading->count;
	}
}

static void read_all(struct reading *reading, struct part *whole)
{
	size_t parts = bytes_of(reading) / PART_BYTES + 1;

	parts = parts < PARTS_MIN ? PARTS_MIN : parts > PARTS_MAX ? PARTS_MAX : parts;
	reading->parts = xcalloc(parts, sizeof(*reading->parts));
	divide(reading, parts);
	thread_pool_run(&(struct thread_pool){.threads = affinity_cpu_count()}, parts, read_part,
			reading);
	*whole = reading->parts[0];
	for (size_t i = 1; i < parts; i++) {
		add_part(whole, &reading->parts[i]);
		part_deinit(&reading->parts[i]);
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
			  "the first one begins at %s, the last one at %s", first, last);
}

static struct error *check(const struct part *whole, const char *directory,
			   const struct segment_files *files)
{
	if (!whole->sum.segments && whole->reason)
		return error_new("no segment can be read: %s", error_text(whole->reason));
	return whole->sum.segments ? NULL : nothing_there(directory, files);
}

static void tell(const struct part *whole)
{
	size_t unreadable = whole->unreadable, uncut = whole->sum.whole;

	if (unreadable)
		message("%zu segment%s cannot be read and %s left out: %s", unreadable,
			unreadable == 1 ? "" : "s", unreadable == 1 ? "is" : "are",
			error_text(whole->reason));
	if (uncut)
		message("%zu segment%s whole, and reach beyond the time that was asked for: they "
			"do not tell when samples were taken",
			uncut, uncut == 1 ? " counts" : "s count");
}

/* The segments as they are now, without those that merged ones contain. */
static struct error *list(struct reading *reading, struct segment_files *files)
{
	CLEANUP(segment_files_deinit) struct segment_files contained = {0};
	struct error *err = segment_files_read(&reading->directory, files);

	if (err)
		return err;
	segment_heads_read(&reading->directory, files);
	segment_heads_take_contained(files, &contained);
	choose(reading, files);
	return NULL;
}

/*
 * A recorder can merge an hour meanwhile: what was listed as a minute is an hour then, or gone. The
 * directory is listed again then, this often.
 */
enum { TRIES = 3 };

/* is_last: otherwise *ret stays NULL if the directory has changed. */
static struct error *read_now(struct reading *reading, bool is_last, struct profile **ret)
{
	CLEANUP(segment_files_deinit) struct segment_files files = {0};
	CLEANUP(part_deinit) struct part whole = {0};
	struct error *err = list(reading, &files);

	if (err)
		return err;
	read_all(reading, &whole);
	if (whole.is_changed && !is_last)
		return NULL;
	err = check(&whole, reading->directory.path, &files);
	if (err)
		return err;
	tell(&whole);
	segment_sum_finish(&whole.sum);
	*ret = STEAL(whole.sum.profile);
	return NULL;
}

struct error *segment_range_read(const char *directory, const struct time_range *range,
				 bool keeps_timestamps, struct profile **ret)
{
	CLEANUP(reading_deinit)
	struct reading reading = {.range = range, .keeps_timestamps = keeps_timestamps};
	struct error *err = output_directory_open_to_read(directory, &reading.directory);

	*ret = NULL;
	for (unsigned i = 1; i <= TRIES && !err && !*ret; i++)
		err = read_now(&reading, i == TRIES, ret);
	return err;
}

/* counts: of all segments. */
static struct error *visit_segment(const struct reading *reading, const struct segment_file *file,
				   bool is_last, struct part *counts, segment_range_visit *visit,
				   void *user)
{
	CLEANUP(profile_cleanup) struct profile *segment = profile_new();
	CLEANUP(segment_sum_deinit) struct segment_sum sum = {0};
	struct error *err = segment_read(&reading->directory, file, segment);

	if (err && is_gone(err) && !is_last) {
		counts->is_changed = true;
		error_free(err);
		return NULL;
	}
	if (err) {
		fail(counts, err);
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

/* Up to the first one that is not there any more; is_last: it counts as unreadable then. */
static struct error *visit_listed(const struct reading *reading, bool is_last, struct part *counts,
				  segment_range_visit *visit, void *user)
{
	struct error *err = NULL;

	counts->is_changed = false;
	for (size_t i = 0; i < reading->count && !err && !counts->is_changed; i++)
		err = visit_segment(reading, &reading->files[i], is_last, counts, visit, user);
	return err;
}

struct error *segment_range_each(const char *directory, const struct time_range *range, bool tells,
				 segment_range_visit *visit, void *user)
{
	struct time_range left = *range; /* of an hour whose first minutes were visited the rest */
	CLEANUP(reading_deinit) struct reading reading = {.range = &left, .keeps_timestamps = true};
	CLEANUP(part_deinit) struct part counts = {.is_changed = true};
	struct error *err = output_directory_open_to_read(directory, &reading.directory);

	for (unsigned i = 1; i <= TRIES && !err && counts.is_changed; i++) {
		CLEANUP(segment_files_deinit) struct segment_files files = {0};

		if (counts.sum.end_unix_ns > left.from_ns)
			left.from_ns = counts.sum.end_unix_ns;
		err = list(&reading, &files);
		if (!err)
			err = visit_listed(&reading, i == TRIES, &counts, visit, user);
		if (!err && !(counts.is_changed && i < TRIES))
			err = check(&counts, directory, &files);
	}
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
