#include "cmd/record/segment_merging.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/ui/message.h"
#include "format/format.h"
#include "format/pprof/head.h"
#include "output/file.h"
#include "profile/transfer.h"
#include "push/backlog.h"
#include "segments/heads.h"
#include "segments/sum.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOUR_NS (3600 * NS_PER_SECOND)

enum { MERGED_MEMORY_BYTES = 64 << 20 };

/* Consecutive segments that become one file. */
struct segment_merging_run {
	const struct output_directory *directory;
	const struct backlog *backlog;
	const struct segment_file *files;
	size_t count;
	struct segment_sum sum;
};

/* ---- Which segments can be merged ---- */

static bool holds_more_than_a_sum(const struct profile *segment)
{
	const struct profile_info *info = profile_get_info(segment);

	return *info->remarks || info->quality.waiting.threads ||
	       stat_counts_exist(&info->quality.stat);
}

static bool is_alike(const struct segment_merging_run *run, const struct segment_file *file,
		     const struct profile *segment)
{
	const struct profile_info *sum = &run->sum.info, *info = profile_get_info(segment);

	if (!*info->command || !info->quality.is_known || holds_more_than_a_sum(segment))
		return false;
	if (!run->count)
		return true;
	return !strcmp(sum->command, info->command) && !strcmp(sum->host, info->host) &&
	       !strcmp(sum->kernel, info->kernel) && run->count < PPROF_SEGMENTS_MAX &&
	       backlog_is_done_alike(run->backlog, run->files[0].name, file->name);
}

static bool is_full(const struct segment_merging_run *run)
{
	const struct profile *profile = run->sum.profile;

	return profile_memory_bytes(profile) +
		       profile_timed_samples(profile).count * sizeof(struct profile_timed_sample) >
	       MERGED_MEMORY_BYTES;
}

/* Returns false if the run ends before this segment. */
static bool segment_merging_take(struct segment_merging_run *run, const struct segment_file *file)
{
	static const struct time_range always = {0, UINT64_MAX};
	CLEANUP(profile_cleanup) struct profile *segment = profile_new();
	CLEANUP(error_cleanup) struct error *err = NULL;

	if (file->merged_count || is_full(run))
		return false;
	err = segment_read(run->directory, file, segment);
	if (err || !is_alike(run, file, segment))
		return false;
	segment_sum_add(&run->sum, segment, &always);
	run->count++;
	return true;
}

/* ---- Writing ---- */

/* Aligns the start to a millisecond, so that no sample moves to another second. */
static void align_start(struct segment_sum *sum)
{
	uint64_t rest_ns = sum->info.start_unix_ns % NS_PER_MS;

	sum->info.start_unix_ns -= rest_ns;
}

struct place {
	frame_id frame;
	uint32_t module;
	uint64_t offset;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->module != right->module)
		return left->module < right->module ? -1 : 1;
	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	return (left->frame > right->frame) - (left->frame < right->frame);
}

/* Sorts frames by module and offset. The caller frees the result. */
static struct place *sort_frames(const struct profile *profile)
{
	uint32_t count = profile_frame_count(profile);
	struct place *places = xcalloc(count, sizeof(*places));

	for (frame_id i = 0; i < count; i++) {
		struct profile_frame frame = profile_get_frame(profile, i);

		places[i] = (struct place){i, frame.module, frame.offset};
	}
	if (count)
		qsort(places, count, sizeof(*places), compare_places);
	return places;
}

/*
 * Numbers frames by their places, and functions and names in the order in which
 * frames need them. Similar data is then adjacent, which compresses better.
 */
static void sort_sum(struct segment_sum *sum)
{
	CLEANUP(free_ptr) struct place *places = sort_frames(sum->profile);
	struct segment_sum sorted;
	struct transfer transfer;

	segment_sum_init(&sorted, true);
	transfer_init(&transfer, sum->profile, sorted.profile, &sorted.modules);
	for (frame_id i = 0; i < profile_frame_count(sum->profile); i++)
		transfer_frame(&transfer, places[i].frame);
	transfer_deinit(&transfer);
	segment_sum_add_sum(&sorted, sum);
	segment_sum_deinit(sum);
	*sum = sorted;
}

static struct error *write_sum(const struct segment_merging_run *run, FILE *out)
{
	CLEANUP(free_ptr) uint64_t *seconds = xcalloc(run->count, sizeof(*seconds));
	const struct format_options options = {.pprof = {.times = true,
							 .segments = seconds,
							 .segment_count = run->count,
							 .small = true}};

	for (size_t i = 0; i < run->count; i++)
		seconds[i] = run->files[i].unix_ns / NS_PER_SECOND;
	return format_pprof.write(run->sum.profile, &options, out);
}

static struct error *segment_merging_fill(const struct segment_merging_run *run,
					  const struct output_file *file)
{
	CLEANUP(close_file) FILE *out = fdopen(fcntl(file->fd, F_DUPFD_CLOEXEC, 3), "w");
	struct error *err = out ? write_sum(run, out) : error_errno(errno, "write");

	/* The data must be on the disk before the segments that it contains are
	 * removed. */
	if (!err && fsync(file->fd) < 0)
		err = error_errno(errno, "write");
	return err;
}

/* Renames the file over the first segment. */
static struct error *segment_merging_publish(const struct segment_merging_run *run)
{
	CLEANUP(output_place_deinit) struct output_place place = OUTPUT_PLACE_INIT;
	CLEANUP(output_file_discard) struct output_file file = OUTPUT_FILE_INIT;
	struct error *err = output_directory_place(run->directory, run->files[0].name, &place);

	if (!err)
		err = output_file_create(&place, &file);
	if (!err)
		err = segment_merging_fill(run, &file);
	return err ? err : output_file_replace(&file, &place);
}

static void remove_others(const struct segment_merging_run *run)
{
	/* The new name must be on the disk before the old ones are removed. */
	if (fsync(run->directory->fd) < 0)
		return;
	for (size_t i = 1; i < run->count; i++)
		output_directory_remove(run->directory, run->files[i].name);
}

static void segment_merging_finish(struct segment_merging_run *run)
{
	CLEANUP(error_cleanup) struct error *err = NULL;

	if (run->count < 2)
		return;
	sort_sum(&run->sum);
	align_start(&run->sum);
	segment_sum_finish(&run->sum);
	err = segment_merging_publish(run);
	if (!err)
		remove_others(run);
	else if (error_number(err) != ENOSPC)
		message("%s/%s: not merged: %s", run->directory->path, run->files[0].name,
			error_text(err));
}

/* ---- Hours ---- */

/* Returns the number of segments that are finished, at least one. */
static size_t merge_run(const struct backlog *backlog, const struct output_directory *directory,
			const struct segment_file *files, size_t count)
{
	struct segment_merging_run run = {
		.directory = directory, .backlog = backlog, .files = files};
	size_t done;

	segment_sum_init(&run.sum, true);
	while (run.count < count && segment_merging_take(&run, &files[run.count]))
		continue;
	segment_merging_finish(&run);
	done = run.count ? run.count : 1;
	segment_sum_deinit(&run.sum);
	return done;
}

static bool is_delivered(const struct push *push, const struct backlog *backlog,
			 const struct segment_file *files, size_t count)
{
	for (size_t i = 0; push && i < push->target_count; i++)
		for (size_t k = 0; k < count; k++)
			if (!backlog_is_done(backlog, push->targets[i].name, files[k].name))
				return false;
	return true;
}

static void merge_hour(const struct segment_merging *merging, const struct backlog *backlog,
		       const struct segment_file *files, size_t count)
{
	if (!is_delivered(merging->push, backlog, files, count))
		return;
	for (size_t i = 0; i < count;)
		i += merge_run(backlog, merging->directory, &files[i], count - i);
}

static uint64_t hour_of(const struct segment_file *file)
{
	return file->unix_ns / HOUR_NS;
}

static void merge_all(const struct segment_merging *merging, const struct segment_files *files)
{
	CLEANUP(backlog_close) struct backlog backlog = {0};

	backlog_look(merging->directory, &backlog);
	for (size_t i = 0, end; i < files->count; i = end) {
		for (end = i + 1; end < files->count; end++)
			if (hour_of(&files->items[end]) != hour_of(&files->items[i]))
				break;
		if (hour_of(&files->items[i]) < merging->hour)
			merge_hour(merging, &backlog, &files->items[i], end - i);
	}
}

/* ---- The child ---- */

/* The lowest priority of CPU and disk; ioprio_set(2). */
static void be_idle(void)
{
	enum { IOPRIO_WHO_PROCESS = 1, IOPRIO_CLASS_IDLE = 3, IOPRIO_CLASS_SHIFT = 13 };

	setpriority(PRIO_PROCESS, 0, 19);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_IDLE << IOPRIO_CLASS_SHIFT);
}

/*
 * The child inherits the lock of the directory and keeps it: no other prof may
 * start to write there before the child has ended.
 */
static int segment_merging_merge(void *user)
{
	struct segment_merging *merging = user;
	CLEANUP(segment_files_deinit) struct segment_files files = {0};
	struct error *err;

	be_idle();
	err = recording_fork(merging->recording);
	if (!err)
		err = segment_files_read(merging->directory, &files);
	if (err) {
		error_free(err);
		return EXIT_FAILURE;
	}
	segment_heads_read(merging->directory, &files);
	merge_all(merging, &files);
	return EXIT_SUCCESS;
}

/* Segments that could not be merged are tried again in an hour. */
static void on_merged(void *user, const struct forked_child_end *end)
{
	(void)user;
	(void)end;
}

void segment_merging_step(struct segment_merging *merging, uint64_t now_unix_ns)
{
	uint64_t hour = now_unix_ns / HOUR_NS;
	uint64_t keep_ns = merging->retention->keep_ns;
	struct error *err;

	if (hour == merging->hour || merging->writer.pid || (keep_ns && keep_ns < 2 * HOUR_NS))
		return;
	merging->hour = hour;
	err = forked_writer_start(&merging->writer, merging->recording->loop,
				  FORKED_CHILD_ENDS_WITH_THREAD, segment_merging_merge, on_merged,
				  merging);
	if (err)
		message_error(error_wrap(err, "merge segments"));
}

void segment_merging_stop(struct segment_merging *merging)
{
	forked_writer_kill(&merging->writer);
}
