/*
 * Writes the processed profile format of the Firefox Profiler, version 66:
 * threads with their samples in time order, and markers. Newer viewers upgrade
 * older versions. The file shows one event, or CPU time and off-CPU time, and
 * each wait as a marker. So are the time in which no thread ran and the critical
 * path.
 *
 * If the profile has no timed samples, each stack of a thread becomes one
 * sample with its total weight, and times are synthesized: evenly spaced over
 * the recorded time range. The file contains a note about it. Source: see
 * firefox/tables.h; src/types/markers.ts.
 */
#include "format/format.h"

#include "base/alloc.h"
#include "base/counting_sort.h"
#include "base/gzip.h"
#include "format/firefox/meta.h"
#include "format/firefox/spans.h"
#include "format/firefox/tables.h"
#include "format/firefox/waits.h"
#include "format/tracks.h"
#include "report/process_names.h"
#include "report/waiting.h"
#include "report/waiting_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX
#define NS_PER_US 1000

struct firefox {
	struct json json;
	const struct profile *profile;
	const struct profile_timed_sample *timed_samples; /* of the profile */
	struct firefox_tables tables;
	struct tracks tracks;
	event_id event, beside; /* the shown events: see format_event_beside() */
	bool shows_waits;
	/* With shows_waits, its rows are the samples of a thread. */
	struct firefox_waits waits;
	struct firefox_spans critical, silent;
	enum value_kind kind;
	const char *unit;
	bool shows_weights;	   /* else numbers of samples */
	uint32_t *sample_rows;	   /* by sample: the row of its stack */
	uint64_t *sample_weights;  /* by sample: its average weight */
	uint64_t start_ns, end_ns; /* on the clock of timed samples; time 0 is the start */
	uint32_t *markers;	   /* sorted by the thread whose table contains them */
	/*
	 * Thread i's markers are from first_marker[i] to first_marker[i + 1].
	 */
	uint32_t *first_marker;
};

static void firefox_put_ms(struct firefox *firefox, uint64_t ns)
{
	json_decimal(&firefox->json, ns, FIREFOX_MS_DIGITS);
}

static const struct profile_timed_sample *timed_sample_of(const struct firefox *firefox, size_t at)
{
	return &firefox->timed_samples[firefox->tracks.timed_samples[at]];
}

static uint64_t time_of_sample(const struct firefox *firefox, size_t at, size_t first, size_t end)
{
	if (firefox->shows_waits)
		return firefox->waits.rows[at].time_ns;
	if (!firefox->tracks.by_time)
		return (firefox->end_ns - firefox->start_ns) / (end - first) * (at - first);
	__builtin_prefetch(timed_sample_of(firefox, tracks_ahead(&firefox->tracks, at)));
	return timed_sample_of(firefox, at)->time_ns - firefox->start_ns;
}

/*
 * Writes differences from the previous sample, in milliseconds with a precision
 * of 1 µs. Times can go back slightly when a thread migrates to another CPU;
 * the difference is then 0.
 */
static void put_time_deltas(struct firefox *firefox, size_t first, size_t end)
{
	uint64_t last_us = 0;

	json_key(&firefox->json, "timeDeltas");
	json_begin_array(&firefox->json);
	for (size_t i = first; i < end; i++) {
		uint64_t time_us = time_of_sample(firefox, i, first, end) / NS_PER_US;

		json_decimal(&firefox->json, time_us > last_us ? time_us - last_us : 0, 3);
		last_us = time_us > last_us ? time_us : last_us;
	}
	json_end_array(&firefox->json);
}

static uint32_t stack_of_sample(const struct firefox *firefox, size_t at)
{
	const struct tracks *tracks = &firefox->tracks;

	if (firefox->shows_waits)
		return firefox->waits.rows[at].is_empty
			       ? NO_ROW
			       : firefox->sample_rows[firefox->waits.rows[at].sample];
	__builtin_prefetch(&firefox->sample_rows[tracks->samples[tracks_ahead(tracks, at)]]);
	return firefox->sample_rows[tracks->samples[at]];
}

static void firefox_put_stacks(struct firefox *firefox, size_t first, size_t end)
{
	json_key(&firefox->json, "stack");
	json_begin_array(&firefox->json);
	for (size_t i = first; i < end; i++) {
		uint32_t row = stack_of_sample(firefox, i);

		if (row == NO_ROW)
			json_null(&firefox->json);
		else
			json_number(&firefox->json, row);
	}
	json_end_array(&firefox->json);
}

/* The viewer formats weights as numbers of samples, bytes or times. */
static void put_weight_type(struct firefox *firefox)
{
	const char *type = "samples";

	if (firefox->shows_weights)
		type = firefox->kind == VALUE_BYTES ? "bytes" : "tracing-ms";
	json_put_text(&firefox->json, "weightType", type);
}

static void firefox_put_weight(struct firefox *firefox, const struct profile_sample *sample)
{
	uint64_t weight = value_scaled(firefox->kind, firefox->unit, sample->weight);

	if (!firefox->shows_weights)
		json_number(&firefox->json, sample->samples);
	else if (firefox->kind == VALUE_BYTES)
		json_number(&firefox->json, weight);
	else
		firefox_put_ms(firefox, weight);
}

/*
 * A timed sample counts as one. An aggregated sample has its number of samples,
 * or its weight if the event does not count samples.
 */
static void firefox_put_weights(struct firefox *firefox, size_t first, size_t end)
{
	const struct tracks *tracks = &firefox->tracks;

	put_weight_type(firefox);
	json_key(&firefox->json, "weight");
	if (tracks->by_time && !firefox->shows_waits) {
		json_null(&firefox->json);
		return;
	}
	json_begin_array(&firefox->json);
	for (size_t i = first; i < end; i++)
		if (firefox->shows_waits)
			firefox_put_ms(firefox, firefox->waits.rows[i].weight_ns);
		else
			firefox_put_weight(firefox, tracks_sample(tracks, i));
	json_end_array(&firefox->json);
}

/*
 * Returns nanoseconds. The period of a CPU clock is the CPU time since the
 * previous sample.
 */
static uint64_t cpu_delta(const struct firefox *firefox, size_t at)
{
	const struct tracks *tracks = &firefox->tracks;

	if (firefox->shows_waits)
		return firefox->waits.rows[at].cpu_ns;
	__builtin_prefetch(&firefox->sample_weights[tracks->samples[tracks_ahead(tracks, at)]]);
	return firefox->sample_weights[tracks->samples[at]];
}

static void put_cpu_deltas(struct firefox *firefox, size_t first, size_t end)
{
	if (!firefox->tracks.by_time || firefox->kind != VALUE_CPU_TIME)
		return;
	json_key(&firefox->json, "threadCPUDelta");
	json_begin_array(&firefox->json);
	for (size_t i = first; i < end; i++)
		json_number(&firefox->json, (cpu_delta(firefox, i) + NS_PER_US / 2) / NS_PER_US);
	json_end_array(&firefox->json);
}

static void firefox_put_samples(struct firefox *firefox, thread_id thread)
{
	uint32_t track = firefox->event * profile_thread_count(firefox->profile) + thread;
	bool is_there = track < firefox->tracks.count;
	size_t first = is_there ? firefox->tracks.first[track] : 0;
	size_t end = is_there ? firefox->tracks.first[track + 1] : 0;

	if (firefox->shows_waits) {
		firefox_waits_collect(&firefox->waits, thread);
		first = 0;
		end = firefox->waits.count;
	}
	json_key(&firefox->json, "samples");
	json_begin_object(&firefox->json);
	json_put_number(&firefox->json, "length", end - first);
	firefox_put_weights(firefox, first, end);
	firefox_put_stacks(firefox, first, end);
	put_time_deltas(firefox, first, end);
	if (end > first)
		put_cpu_deltas(firefox, first, end);
	json_end_object(&firefox->json);
}

/* A marker of the profile, a wait, or a span without data. The times of the last
 * two are a range. */
struct cell_of {
	const struct profile_marker *marker;
	const struct profile_interval *wait;
	unsigned kind;
	uint64_t start_ns, end_ns;
};

typedef void put_marker_cell(struct firefox *firefox, struct cell_of of);

/* Returns the leaf of the wait's stack: "[futex]". */
static const char *reason_of(const struct firefox *firefox, const struct profile_interval *wait)
{
	const struct display_labels *labels = &firefox->tables.labels;
	stack_id stack = profile_samples(firefox->profile).items[wait->sample].stack;

	stack = waiting_reason(firefox->profile, stack);
	if (stack == STACK_EMPTY)
		return firefox_markers[FIREFOX_WAIT].name;
	return labels
		->items[labels->lines[labels->first_line
					      [profile_stacks(firefox->profile).items[stack].frame]]
				.label]
		.name;
}

static void put_wait_data(struct firefox *firefox, const struct profile_interval *wait)
{
	json_put_text(&firefox->json, "type", firefox_markers[FIREFOX_WAIT].name);
	json_put_text(&firefox->json, firefox_markers[FIREFOX_WAIT].field,
		      reason_of(firefox, wait));
}

static void put_event_data(struct firefox *firefox, const struct profile_marker *marker)
{
	struct json *json = &firefox->json;
	const char *field = firefox_markers[marker->kind].field;

	json_put_text(json, "type", firefox_markers[marker->kind].name);
	if (field && marker->kind == PROFILE_MARKER_LOST)
		json_put_number(json, field, marker->count);
	else if (field)
		json_put_text(json, field, profile_string(firefox->profile, marker->text));
}

static void put_marker_data(struct firefox *firefox, struct cell_of of)
{
	json_begin_object(&firefox->json);
	if (of.wait)
		put_wait_data(firefox, of.wait);
	else if (of.marker)
		put_event_data(firefox, of.marker);
	else
		json_put_text(&firefox->json, "type", firefox_markers[of.kind].name);
	json_end_object(&firefox->json);
}

static void put_marker_name(struct firefox *firefox, struct cell_of of)
{
	json_number(&firefox->json,
		    firefox_string(&firefox->tables, of.wait ? reason_of(firefox, of.wait)
							     : firefox_markers[of.kind].name));
}

static void put_marker_start(struct firefox *firefox, struct cell_of of)
{
	firefox_put_ms(firefox, of.start_ns - firefox->start_ns);
}

static void put_marker_end(struct firefox *firefox, struct cell_of of)
{
	if (of.marker)
		json_null(&firefox->json);
	else
		firefox_put_ms(firefox, of.end_ns - firefox->start_ns);
}

enum { PHASE_INSTANT, PHASE_INTERVAL };

static void put_marker_phase(struct firefox *firefox, struct cell_of of)
{
	json_number(&firefox->json, of.marker ? PHASE_INSTANT : PHASE_INTERVAL);
}

static void put_marker_category(struct firefox *firefox, struct cell_of of)
{
	json_number(&firefox->json, of.wait ? FIREFOX_WAITING : FIREFOX_OTHER);
}

static uint64_t firefox_put_span_cells(struct firefox *firefox, const struct firefox_spans *spans,
				       unsigned kind, thread_id thread, put_marker_cell *cell)
{
	for (uint32_t i = spans->first[thread]; i < spans->first[thread + 1]; i++)
		cell(firefox, (struct cell_of){.kind = kind,
					       .start_ns = spans->items[i].start_ns,
					       .end_ns = spans->items[i].end_ns});
	return spans->first[thread + 1] - spans->first[thread];
}

static uint64_t put_marker_cells(struct firefox *firefox, thread_id thread, put_marker_cell *cell)
{
	uint64_t first = firefox->first_marker[thread], end = firefox->first_marker[thread + 1];
	uint64_t count = end - first;
	const struct profile_interval *wait;
	uint32_t at = 0;

	for (uint64_t i = first; i < end; i++) {
		const struct profile_marker *marker = profile_get_marker(firefox->profile,
									 firefox->markers[i]);

		cell(firefox, (struct cell_of){.marker = marker,
					       .kind = marker->kind,
					       .start_ns = marker->time_ns});
	}
	count += firefox_put_span_cells(firefox, &firefox->silent, FIREFOX_SILENT, thread, cell);
	count += firefox_put_span_cells(firefox, &firefox->critical, FIREFOX_CRITICAL, thread,
					cell);
	if (!firefox->shows_waits)
		return count;
	for (; (wait = firefox_waits_marker(&firefox->waits, thread, &at)); count++)
		cell(firefox, (struct cell_of){.wait = wait,
					       .kind = FIREFOX_WAIT,
					       .start_ns = wait->start_ns,
					       .end_ns = wait->end_ns});
	return count;
}

/* Returns the number of cells. */
static uint64_t put_marker_column(struct firefox *firefox, thread_id thread, const char *name,
				  put_marker_cell *cell)
{
	uint64_t count;

	json_key(&firefox->json, name);
	json_begin_array(&firefox->json);
	count = put_marker_cells(firefox, thread, cell);
	json_end_array(&firefox->json);
	return count;
}

/* Waits and spans are intervals. Other markers are instants without an end. */
static void firefox_put_markers(struct firefox *firefox, thread_id thread)
{
	uint64_t count;

	json_key(&firefox->json, "markers");
	json_begin_object(&firefox->json);
	put_marker_column(firefox, thread, "name", put_marker_name);
	put_marker_column(firefox, thread, "startTime", put_marker_start);
	put_marker_column(firefox, thread, "endTime", put_marker_end);
	put_marker_column(firefox, thread, "phase", put_marker_phase);
	put_marker_column(firefox, thread, "category", put_marker_category);
	count = put_marker_column(firefox, thread, "data", put_marker_data);
	json_put_number(&firefox->json, "length", count);
	json_end_object(&firefox->json);
}

static void firefox_put_thread(struct firefox *firefox, thread_id id)
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
	firefox_put_samples(firefox, id);
	firefox_put_markers(firefox, id);
	json_end_object(json);
}

static uint32_t thread_of_marker(const void *thread_of, uint32_t marker)
{
	return ((const uint32_t *)thread_of)[marker];
}

/*
 * A marker without a thread belongs to the first thread; one of a thread
 * without samples to its process.
 */
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
	/*
	 * At least one key is needed, for markers in a profile without threads.
	 */
	firefox->markers = counting_sort((uint32_t)count, threads + 1, thread_of_marker, thread_of,
					 &firefox->first_marker);
	idmap_deinit(&by_tid);
	idmap_deinit(&by_pid);
}

static bool has_times(const struct firefox *firefox)
{
	return firefox->shows_waits ? firefox->waits.has_times : firefox->tracks.by_time;
}

static void firefox_put_file(struct firefox *firefox)
{
	struct json *json = &firefox->json;

	json_begin_object(json);
	firefox_put_meta(&(struct firefox_meta){.profile = firefox->profile,
						.event = firefox->event,
						.beside = firefox->beside,
						.window_ns = firefox->end_ns - firefox->start_ns,
						.has_times = has_times(firefox)},
			 json);
	firefox_put_libs(&firefox->tables, json);
	json_key(json, "threads");
	json_begin_array(json);
	for (thread_id i = 0; i < profile_thread_count(firefox->profile); i++)
		firefox_put_thread(firefox, i);
	json_end_array(json);
	firefox_put_shared(&firefox->tables, json);
	json_end_object(json);
}

/*
 * Timed samples refer to samples in random order, so the data for each lookup
 * is kept together.
 */
static void describe_samples(struct firefox *firefox)
{
	const struct profile_samples all_samples = profile_samples(firefox->profile);
	uint64_t count = all_samples.count;

	firefox->sample_rows = xcalloc(count, sizeof(*firefox->sample_rows));
	firefox->sample_weights = xcalloc(count, sizeof(*firefox->sample_weights));
	for (uint64_t i = 0; i < count; i++) {
		const struct profile_sample *sample = &all_samples.items[i];

		firefox->sample_rows[i] = firefox->tables.stack_rows[sample->stack];
		/* A file can contain a weight without samples. */
		firefox->sample_weights[i] = sample->samples ? sample->weight / sample->samples : 0;
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
 * Finds the time range of the file: the recorded range, extended to all
 * samples, waits and markers. Without times it is the recorded duration, or the
 * time that this many samples would have taken.
 */
static void find_window(struct firefox *firefox)
{
	const struct profile *profile = firefox->profile;
	const struct profile_timed_samples all_timed_samples = profile_timed_samples(profile);
	const struct profile_info *info = profile_get_info(profile);
	const struct profile_intervals intervals = profile_intervals(profile);
	uint64_t timed_samples = all_timed_samples.count,
		 marker_count = profile_marker_count(profile);

	if (info->start_ns || !(timed_samples + marker_count + intervals.count)) {
		firefox->start_ns = info->start_ns;
		firefox->end_ns = info->start_ns + info->duration_ns;
	} else {
		firefox->start_ns = UINT64_MAX;
	}
	for (uint64_t i = 0; i < timed_samples; i++)
		widen(firefox, all_timed_samples.items[i].time_ns);
	for (uint64_t i = 0; i < intervals.count; i++) {
		widen(firefox, intervals.items[i].start_ns);
		widen(firefox, intervals.items[i].end_ns);
	}
	for (uint64_t i = 0; i < marker_count; i++)
		widen(firefox, profile_get_marker(profile, i)->time_ns);
	if (firefox->end_ns == firefox->start_ns)
		firefox->end_ns += profile_samples(profile).count *
				   firefox_interval_ns(profile, firefox->event);
}

static void firefox_deinit(struct firefox *firefox)
{
	firefox_tables_deinit(&firefox->tables);
	tracks_deinit(&firefox->tracks);
	firefox_waits_deinit(&firefox->waits);
	firefox_spans_deinit(&firefox->critical);
	firefox_spans_deinit(&firefox->silent);
	free(firefox->sample_rows);
	free(firefox->sample_weights);
	free(firefox->markers);
	free(firefox->first_marker);
}

static void choose_weights(struct firefox *firefox)
{
	const struct profile_event *event;

	if (!profile_event_count(firefox->profile))
		return;
	event = profile_get_event(firefox->profile, firefox->event);
	firefox->kind = event->kind;
	firefox->unit = profile_event_unit(firefox->profile, firefox->event);
	firefox->shows_weights = firefox->shows_waits ||
				 (event->one_value &&
				  (value_is_time(event->kind) || event->kind == VALUE_BYTES));
}

static void choose_waits(struct firefox *firefox)
{
	event_id waiting;

	firefox->shows_waits = waiting_event(firefox->profile, &waiting) &&
			       firefox->beside == waiting;
}

static struct error *write_json(const struct profile *profile, const struct format_options *options,
				FILE *out)
{
	CLEANUP(firefox_deinit)
	struct firefox firefox = {
		.json = json_to(out),
		.profile = profile,
		.timed_samples = profile_timed_samples(profile).items,
		.event = options->event,
		.beside = format_event_beside(profile, options),
	};
	struct error *err = tracks_init(&firefox.tracks, profile, options->event, UINT32_MAX);

	if (err)
		return err;
	choose_waits(&firefox);
	choose_weights(&firefox);
	firefox_tables_init(&firefox.tables, profile, options->names);
	describe_samples(&firefox);
	find_window(&firefox);
	if (firefox.shows_waits)
		firefox_waits_init(&firefox.waits, profile, &firefox.tracks, firefox.event,
				   firefox.beside, firefox.start_ns, firefox.end_ns);
	firefox_spans_init_critical(&firefox.critical, profile);
	firefox_spans_init_silent(&firefox.silent, profile);
	place_markers(&firefox);
	firefox_put_file(&firefox);
	return NULL;
}

static struct error *firefox_write(const struct profile *profile,
				   const struct format_options *options, FILE *out)
{
	FILE *gzip = gzip_quick_writer(out);
	struct error *err;
	int error;

	if (!gzip)
		return error_errno(errno, "compress the profile");
	err = write_json(profile, options, gzip);
	error = ferror(gzip) ? errno : 0;
	if (fclose(gzip) && !error)
		error = errno;
	if (err)
		return err;
	if (fflush(out) && !error)
		error = errno;
	return error ? error_errno(error, "write the profile for the Firefox Profiler") : NULL;
}

const struct format format_firefox = {
	.name = "firefox",
	.extensions = (const char *const[]){".firefox.json.gz", NULL},
	.summary = "for https://profiler.firefox.com",
	.viewer = "samply load FILE",
	.binary = true,
	.needs_timestamps = true,
	.write = firefox_write,
	.media_type = "application/gzip",
	.download = "profile.json.gz",
};
