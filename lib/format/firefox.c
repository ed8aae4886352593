/*
 * The processed profile of the Firefox Profiler, version 66: threads with their samples in the
 * order of time, and markers. Newer viewers know how to read older versions. Of several events the
 * first.
 *
 * Where no times are known, each stack of a thread is one sample with the weight of all, and the
 * times are made up: evenly over the recorded window. The file says so.
 * Source: as firefox_tables.h; src/types/markers.ts.
 */
#include "format/format.h"

#include "base/alloc.h"
#include "base/gzip.h"
#include "format/firefox_meta.h"
#include "format/firefox_tables.h"
#include "format/tracks.h"
#include "report/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

struct firefox {
	struct json json;
	const struct profile *profile;
	struct firefox_tables tables;
	struct tracks tracks;
	uint32_t *cell_rows;	   /* by cell: of its stack; NO_ROW: the empty one */
	uint64_t *cell_weights;	   /* by cell: of one sample */
	uint64_t start_ns, end_ns; /* on the clock of moments; time 0 is the start */
	uint64_t *markers;	   /* sorted by the thread in whose table they stand … */
	uint64_t *first_marker;	   /* … those of thread i from here to first_marker[i + 1] */
};

static void put_ms(struct firefox *firefox, uint64_t ns)
{
	json_decimal(&firefox->json, ns, FIREFOX_MS_DIGITS);
}

static const struct profile_moment *moment_of(const struct firefox *firefox, size_t at)
{
	return profile_get_moment(firefox->profile, firefox->tracks.moments[at]);
}

static uint64_t time_of_sample(const struct firefox *firefox, size_t at, size_t first, size_t end)
{
	if (!firefox->tracks.by_time)
		return (firefox->end_ns - firefox->start_ns) / (end - first) * (at - first);
	__builtin_prefetch(moment_of(firefox, tracks_ahead(&firefox->tracks, at)));
	return moment_of(firefox, at)->time_ns - firefox->start_ns;
}

/*
 * Each since the one before, to the microsecond. A thread that changes its CPU may seem to go back
 * by some.
 */
static void put_time_deltas(struct firefox *firefox, size_t first, size_t end)
{
	uint64_t last_us = 0;

	json_key(&firefox->json, "timeDeltas");
	json_begin_array(&firefox->json);
	for (size_t i = first; i < end; i++) {
		uint64_t time_us = time_of_sample(firefox, i, first, end) / 1000;

		json_decimal(&firefox->json, time_us > last_us ? time_us - last_us : 0, 3);
		last_us = time_us > last_us ? time_us : last_us;
	}
	json_end_array(&firefox->json);
}

static void put_stacks(struct firefox *firefox, size_t first, size_t end)
{
	const struct tracks *tracks = &firefox->tracks;

	json_key(&firefox->json, "stack");
	json_begin_array(&firefox->json);
	for (size_t i = first; i < end; i++) {
		uint32_t row = firefox->cell_rows[tracks->cells[i]];

		__builtin_prefetch(&firefox->cell_rows[tracks->cells[tracks_ahead(tracks, i)]]);
		if (row == NO_ROW)
			json_null(&firefox->json);
		else
			json_number(&firefox->json, row);
	}
	json_end_array(&firefox->json);
}

/* A moment is one sample, a cell as many as it has. */
static void put_weights(struct firefox *firefox, size_t first, size_t end)
{
	const struct tracks *tracks = &firefox->tracks;

	json_put_text(&firefox->json, "weightType", "samples");
	json_key(&firefox->json, "weight");
	if (tracks->by_time) {
		json_null(&firefox->json);
		return;
	}
	json_begin_array(&firefox->json);
	for (size_t i = first; i < end; i++)
		json_number(&firefox->json, tracks_cell(tracks, i)->samples);
	json_end_array(&firefox->json);
}

/* A clock's period is the CPU time since the sample before. */
static void put_cpu_deltas(struct firefox *firefox, size_t first, size_t end)
{
	const struct tracks *tracks = &firefox->tracks;

	if (!tracks->by_time || !profile_get_event(firefox->profile, 0)->counts_ns)
		return;
	json_key(&firefox->json, "threadCPUDelta");
	json_begin_array(&firefox->json);
	for (size_t i = first; i < end; i++) {
		__builtin_prefetch(&firefox->cell_weights[tracks->cells[tracks_ahead(tracks, i)]]);
		json_number(&firefox->json, firefox->cell_weights[tracks->cells[i]]);
	}
	json_end_array(&firefox->json);
}

static void put_samples(struct firefox *firefox, thread_id thread)
{
	/* Tracks begin with those of event 0. */
	bool is_there = thread < firefox->tracks.count;
	size_t first = is_there ? firefox->tracks.first[thread] : 0;
	size_t end = is_there ? firefox->tracks.first[thread + 1] : 0;

	json_key(&firefox->json, "samples");
	json_begin_object(&firefox->json);
	json_put_number(&firefox->json, "length", end - first);
	put_weights(firefox, first, end);
	put_stacks(firefox, first, end);
	put_time_deltas(firefox, first, end);
	if (end > first)
		put_cpu_deltas(firefox, first, end);
	json_end_object(&firefox->json);
}

static void put_marker_data(struct firefox *firefox, const struct profile_marker *marker)
{
	struct json *json = &firefox->json;
	const char *field = firefox_markers[marker->kind].field;

	json_begin_object(json);
	json_put_text(json, "type", firefox_markers[marker->kind].name);
	if (field && marker->kind == PROFILE_MARKER_LOST)
		json_put_number(json, field, marker->count);
	else if (field)
		json_put_text(json, field, profile_string(firefox->profile, marker->text));
	json_end_object(json);
}

typedef void put_marker_cell(struct firefox *firefox, const struct profile_marker *marker);

static void put_marker_name(struct firefox *firefox, const struct profile_marker *marker)
{
	json_number(&firefox->json,
		    firefox_string(&firefox->tables, firefox_markers[marker->kind].name));
}

static void put_marker_time(struct firefox *firefox, const struct profile_marker *marker)
{
	put_ms(firefox, marker->time_ns - firefox->start_ns);
}

static void put_marker_null(struct firefox *firefox, const struct profile_marker *marker)
{
	(void)marker;
	json_null(&firefox->json);
}

static void put_marker_zero(struct firefox *firefox, const struct profile_marker *marker)
{
	(void)marker;
	json_number(&firefox->json, 0);
}

static void put_marker_column(struct firefox *firefox, thread_id thread, const char *name,
			      put_marker_cell *cell)
{
	json_key(&firefox->json, name);
	json_begin_array(&firefox->json);
	for (uint64_t i = firefox->first_marker[thread]; i < firefox->first_marker[thread + 1]; i++)
		cell(firefox, profile_get_marker(firefox->profile, firefox->markers[i]));
	json_end_array(&firefox->json);
}

/* All are instants: phase 0, without an end. */
static void put_markers(struct firefox *firefox, thread_id thread)
{
	json_key(&firefox->json, "markers");
	json_begin_object(&firefox->json);
	put_marker_column(firefox, thread, "name", put_marker_name);
	put_marker_column(firefox, thread, "startTime", put_marker_time);
	put_marker_column(firefox, thread, "endTime", put_marker_null);
	put_marker_column(firefox, thread, "phase", put_marker_zero);
	put_marker_column(firefox, thread, "category", put_marker_zero);
	put_marker_column(firefox, thread, "data", put_marker_data);
	json_put_number(&firefox->json, "length",
			firefox->first_marker[thread + 1] - firefox->first_marker[thread]);
	json_end_object(&firefox->json);
}

static void put_thread(struct firefox *firefox, thread_id id)
{
	const struct profile_thread *thread = profile_get_thread(firefox->profile, id);
	const char *process = process_name(firefox->profile, thread);
	const char *name = profile_string(firefox->profile, thread->name);
	struct json *json = &firefox->json;
	char pid[16];

	if (!process || !*process)
		process = "[unnamed]";
	snprintf(pid, sizeof(pid), "%d", thread->pid < 0 ? 0 : thread->pid);
	json_begin_object(json);
	json_put_text(json, "processType", "default");
	json_put_text(json, "processName", process);
	json_put_number(json, "processStartupTime", 0);
	json_key(json, "processShutdownTime");
	json_null(json);
	json_put_number(json, "registerTime", 0);
	json_key(json, "unregisterTime");
	json_null(json);
	json_key(json, "pausedRanges");
	json_begin_array(json);
	json_end_array(json);
	json_put_bool(json, "showMarkersInTimeline", true);
	json_put_text(json, "name", *name ? name : process);
	json_put_bool(json, "isMainThread", thread->pid == thread->tid);
	json_put_text(json, "pid", pid);
	json_put_number(json, "tid", (uint64_t)(thread->tid < 0 ? 0 : thread->tid));
	put_samples(firefox, id);
	put_markers(firefox, id);
	json_end_object(json);
}

static void sort_markers(struct firefox *firefox, const uint32_t *thread_of)
{
	uint32_t threads = profile_thread_count(firefox->profile);
	uint64_t count = profile_marker_count(firefox->profile), *end;

	firefox->markers = xcalloc(count, sizeof(*firefox->markers));
	firefox->first_marker = xcalloc((size_t)threads + 3, sizeof(*firefox->first_marker));
	/* Shifted by one, so that `end` has become first_marker[thread + 1] when all are in place.
	 */
	end = firefox->first_marker + 1;
	for (uint64_t i = 0; i < count; i++)
		end[thread_of[i] + 1]++;
	for (uint32_t i = 1; i <= threads; i++)
		end[i] += end[i - 1];
	for (uint64_t i = 0; i < count; i++)
		firefox->markers[end[thread_of[i]]++] = i;
}

/* A marker of no thread stands with the first; one of a thread without samples with its process. */
static void place_markers(struct firefox *firefox)
{
	uint32_t threads = profile_thread_count(firefox->profile);
	uint64_t count = profile_marker_count(firefox->profile);
	CLEANUP(free_ptr) uint32_t *thread_of = xcalloc(count, sizeof(*thread_of));
	struct idmap by_tid = {0}, by_pid = {0};

	for (thread_id i = threads; i-- > 0;) {
		const struct profile_thread *thread = profile_get_thread(firefox->profile, i);

		*idmap_put(&by_tid, (uint32_t)thread->tid, 0) = i;
		*idmap_put(&by_pid, (uint32_t)thread->pid, 0) = i;
	}
	for (uint64_t i = 0; i < count; i++) {
		const struct profile_marker *marker = profile_get_marker(firefox->profile, i);
		uint32_t thread = idmap_get(&by_tid, (uint32_t)marker->tid, 0);

		if (thread == IDMAP_NONE)
			thread = idmap_get(&by_pid, (uint32_t)marker->pid, 0);
		thread_of[i] = thread == IDMAP_NONE ? 0 : thread;
	}
	sort_markers(firefox, thread_of);
	idmap_deinit(&by_tid);
	idmap_deinit(&by_pid);
}

static void put_file(struct firefox *firefox)
{
	struct json *json = &firefox->json;

	json_begin_object(json);
	firefox_put_meta(&(struct firefox_meta){.profile = firefox->profile,
						.window_ns = firefox->end_ns - firefox->start_ns,
						.has_times = firefox->tracks.by_time},
			 json);
	firefox_put_libs(&firefox->tables, json);
	json_key(json, "threads");
	json_begin_array(json);
	for (thread_id i = 0; i < profile_thread_count(firefox->profile); i++)
		put_thread(firefox, i);
	json_end_array(json);
	firefox_put_shared(&firefox->tables, json);
	json_end_object(json);
}

/* Moments lead to cells in no order: what is asked for of each stands close together. */
static void describe_cells(struct firefox *firefox)
{
	uint64_t count = profile_cell_count(firefox->profile);

	firefox->cell_rows = xcalloc(count, sizeof(*firefox->cell_rows));
	firefox->cell_weights = xcalloc(count, sizeof(*firefox->cell_weights));
	for (uint64_t i = 0; i < count; i++) {
		const struct profile_cell *cell = profile_get_cell(firefox->profile, i);

		firefox->cell_rows[i] = cell->stack == STACK_EMPTY
						? NO_ROW
						: firefox->tables.stack_rows[cell->stack];
		/* A file may tell a weight of no samples. */
		firefox->cell_weights[i] = cell->samples ? cell->weight / cell->samples : 0;
	}
}

static void widen(struct firefox *firefox, uint64_t time_ns)
{
	if (time_ns < firefox->start_ns)
		firefox->start_ns = time_ns;
	if (time_ns > firefox->end_ns)
		firefox->end_ns = time_ns;
}

/*
 * The recorded window, and what happened beside it; without times, as long as the samples would
 * have taken where the file does not say.
 */
static void find_window(struct firefox *firefox)
{
	const struct profile *profile = firefox->profile;
	const struct profile_info *info = profile_get_info(profile);
	uint64_t moments = profile_moment_count(profile),
		 marker_count = profile_marker_count(profile);

	if (info->start_ns || !(moments + marker_count)) {
		firefox->start_ns = info->start_ns;
		firefox->end_ns = info->start_ns + info->duration_ns;
	} else {
		firefox->start_ns = UINT64_MAX;
	}
	for (uint64_t i = 0; i < moments; i++)
		widen(firefox, profile_get_moment(profile, i)->time_ns);
	for (uint64_t i = 0; i < marker_count; i++)
		widen(firefox, profile_get_marker(profile, i)->time_ns);
	if (firefox->end_ns == firefox->start_ns)
		firefox->end_ns += profile_cell_count(profile) * firefox_interval_ns(profile);
}

static void firefox_deinit(struct firefox *firefox)
{
	firefox_tables_deinit(&firefox->tables);
	tracks_deinit(&firefox->tracks);
	free(firefox->cell_rows);
	free(firefox->cell_weights);
	free(firefox->markers);
	free(firefox->first_marker);
}

static void write_json(const struct profile *profile, FILE *out)
{
	CLEANUP(firefox_deinit)
	struct firefox firefox = {
		.json = json_to(out),
		.profile = profile,
	};

	firefox_tables_init(&firefox.tables, profile);
	tracks_init(&firefox.tracks, profile, UINT32_MAX);
	describe_cells(&firefox);
	find_window(&firefox);
	place_markers(&firefox);
	put_file(&firefox);
}

static struct error *firefox_write(const struct profile *profile,
				   const struct format_options *options, FILE *out)
{
	FILE *gzip = gzip_writer(out);
	int error;

	(void)options;
	if (!gzip)
		return error_errno(errno, "compress the profile");
	write_json(profile, gzip);
	error = ferror(gzip) ? errno : 0;
	if (fclose(gzip) && !error)
		error = errno;
	if (fflush(out) && !error)
		error = errno;
	return error ? error_errno(error, "write the profile for the Firefox Profiler") : NULL;
}

const struct format format_firefox = {
	.name = "firefox",
	.extensions = (const char *const[]){".firefox.json.gz", NULL},
	.summary = "for https://profiler.firefox.com: threads, times, markers",
	.viewer = "samply load FILE",
	.binary = true,
	.wants_moments = true,
	.write = firefox_write,
};
