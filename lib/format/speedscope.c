/*
 * speedscope's own JSON: a sampled profile for each thread and event. Up to MOST_MOMENTS samples
 * stand in the order of time; beyond, and where the times are not known, each distinct stack stands
 * once: no viewer takes more.
 * Source: https://www.speedscope.app/file-format-schema.json.
 */
#include "format/format.h"

#include "base/alloc.h"
#include "base/json.h"
#include "report/labels.h"
#include "report/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MOMENTS = 500000 };

struct speedscope {
	struct json json;
	const struct profile *profile;
	struct labels labels;
	bool by_time;
	uint32_t *cells; /* of the samples, by thread and event … */
	size_t *first;	 /* … those of a track from here to first[track + 1] */
	uint32_t tracks;
	uint64_t *weights; /* by track */
	frame_id *path;	   /* of the stack that is written, leaf first */
	size_t path_room;
};

static uint32_t track_of(const struct speedscope *speedscope, const struct profile_cell *cell)
{
	return cell->event * profile_thread_count(speedscope->profile) + cell->thread;
}

static uint64_t sample_count(const struct speedscope *speedscope)
{
	return speedscope->by_time ? profile_moment_count(speedscope->profile)
				   : profile_cell_count(speedscope->profile);
}

static uint32_t cell_of_sample(const struct speedscope *speedscope, uint64_t index)
{
	return speedscope->by_time ? profile_get_moment(speedscope->profile, index)->cell
				   : (uint32_t)index;
}

static uint64_t weight_of(const struct speedscope *speedscope, const struct profile_cell *cell)
{
	return speedscope->by_time ? cell->weight / cell->samples : cell->weight;
}

/* The samples of a track keep their order. */
static void sort_into_tracks(struct speedscope *speedscope)
{
	const struct profile *profile = speedscope->profile;
	uint64_t count = sample_count(speedscope);
	size_t *end;

	speedscope->tracks = profile_event_count(profile) * profile_thread_count(profile);
	speedscope->first = xcalloc((size_t)speedscope->tracks + 2, sizeof(*speedscope->first));
	speedscope->weights = xcalloc(speedscope->tracks, sizeof(*speedscope->weights));
	speedscope->cells = xcalloc(count, sizeof(*speedscope->cells));
	/* Shifted by one, so that `end` has become first[track + 1] when all are in place. */
	end = speedscope->first + 1;
	for (uint64_t i = 0; i < count; i++) {
		const struct profile_cell *cell = profile_get_cell(profile,
								   cell_of_sample(speedscope, i));
		uint32_t track = track_of(speedscope, cell);

		end[track + 1]++;
		speedscope->weights[track] += weight_of(speedscope, cell);
	}
	for (uint32_t i = 1; i <= speedscope->tracks; i++)
		end[i] += end[i - 1];
	for (uint64_t i = 0; i < count; i++) {
		uint32_t cell = cell_of_sample(speedscope, i);

		speedscope->cells[end[track_of(speedscope, profile_get_cell(profile, cell))]++] =
			cell;
	}
}

static void put_frames(struct speedscope *speedscope)
{
	struct json *json = &speedscope->json;

	json_key(json, "frames");
	json_begin_array(json);
	for (uint32_t i = 0; i < speedscope->labels.count; i++) {
		const struct label *label = &speedscope->labels.items[i];

		json_begin_object(json);
		json_put_text(json, "name", *label->name ? label->name : "[unnamed]");
		if (label->file)
			json_put_text(json, "file",
				      profile_string(speedscope->profile, label->file));
		if (label->start_line)
			json_put_number(json, "line", label->start_line);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_stack(struct speedscope *speedscope, stack_id id)
{
	const struct labels *labels = &speedscope->labels;
	struct profile_stack stack = profile_get_stack(speedscope->profile, id);
	size_t depth = 0;

	if (speedscope->path_room < stack.depth) {
		speedscope->path_room = stack.depth * 2;
		speedscope->path = xreallocarray(speedscope->path, speedscope->path_room,
						 sizeof(*speedscope->path));
	}
	for (; stack.depth; stack = profile_get_stack(speedscope->profile, stack.parent))
		speedscope->path[depth++] = stack.frame;
	json_begin_array(&speedscope->json);
	while (depth--) {
		frame_id frame = speedscope->path[depth];

		for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++)
			json_number(&speedscope->json, labels->lines[i].label);
	}
	json_end_array(&speedscope->json);
}

/* "shop 100/101 worker 1", and the event where there are several. */
static char *name_of_track(const struct speedscope *speedscope, event_id event, thread_id id)
{
	const struct profile *profile = speedscope->profile;
	const struct profile_thread *thread = profile_get_thread(profile, id);
	const char *process = process_name(profile, thread);
	char *name = NULL;
	size_t len;
	FILE *out = open_memstream(&name, &len);

	fputs(process && *process ? process : "[unnamed]", out);
	if (thread->pid >= 0)
		fprintf(out, " %d", thread->pid);
	if (thread->tid >= 0)
		fprintf(out, "/%d", thread->tid);
	if (thread->name && thread->name != thread->process)
		fprintf(out, " %s", profile_string(profile, thread->name));
	if (profile_event_count(profile) > 1)
		fprintf(out, " (%s)",
			profile_string(profile, profile_get_event(profile, event)->name));
	fclose(out);
	return name;
}

static const char *unit_of(const struct profile *profile, event_id id)
{
	const struct profile_event *event = profile_get_event(profile, id);
	const char *unit = profile_string(profile, event->unit);

	if (event->counts_ns || !strcmp(unit, "nanoseconds"))
		return "nanoseconds";
	return strcmp(unit, "bytes") != 0 ? "none" : "bytes";
}

static void put_track(struct speedscope *speedscope, uint32_t track)
{
	struct json *json = &speedscope->json;
	uint32_t threads = profile_thread_count(speedscope->profile);
	CLEANUP(free_ptr)
	char *name = name_of_track(speedscope, track / threads, track % threads);

	json_begin_object(json);
	json_put_text(json, "type", "sampled");
	json_put_text(json, "name", name);
	json_put_text(json, "unit", unit_of(speedscope->profile, track / threads));
	json_put_number(json, "startValue", 0);
	json_put_number(json, "endValue", speedscope->weights[track]);
	json_key(json, "samples");
	json_begin_array(json);
	for (size_t i = speedscope->first[track]; i < speedscope->first[track + 1]; i++)
		put_stack(speedscope,
			  profile_get_cell(speedscope->profile, speedscope->cells[i])->stack);
	json_end_array(json);
	json_key(json, "weights");
	json_begin_array(json);
	for (size_t i = speedscope->first[track]; i < speedscope->first[track + 1]; i++)
		json_number(json, weight_of(speedscope, profile_get_cell(speedscope->profile,
									 speedscope->cells[i])));
	json_end_array(json);
	json_end_object(json);
}

/* The viewer refuses a file without a track. */
static void put_empty_track(struct json *json)
{
	json_begin_object(json);
	json_put_text(json, "type", "sampled");
	json_put_text(json, "name", "no samples");
	json_put_text(json, "unit", "none");
	json_put_number(json, "startValue", 0);
	json_put_number(json, "endValue", 0);
	json_key(json, "samples");
	json_begin_array(json);
	json_end_array(json);
	json_key(json, "weights");
	json_begin_array(json);
	json_end_array(json);
	json_end_object(json);
}

/* Those that have samples. The heaviest of the first event is shown first. */
static void put_tracks(struct speedscope *speedscope)
{
	uint32_t threads = profile_thread_count(speedscope->profile);
	uint32_t written = 0, shown = 0;
	uint64_t most = 0;

	json_key(&speedscope->json, "profiles");
	json_begin_array(&speedscope->json);
	for (uint32_t track = 0; track < speedscope->tracks; track++) {
		if (speedscope->first[track] == speedscope->first[track + 1])
			continue;
		put_track(speedscope, track);
		if (track < threads && speedscope->weights[track] > most) {
			most = speedscope->weights[track];
			shown = written;
		}
		written++;
	}
	if (!written)
		put_empty_track(&speedscope->json);
	json_end_array(&speedscope->json);
	json_put_number(&speedscope->json, "activeProfileIndex", shown);
}

static void put_file(struct speedscope *speedscope)
{
	struct json *json = &speedscope->json;
	const struct profile_info *info = profile_get_info(speedscope->profile);

	json_begin_object(json);
	json_put_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_put_text(json, "exporter", "prof");
	json_put_text(json, "name", *info->command ? info->command : "prof");
	json_key(json, "shared");
	json_begin_object(json);
	put_frames(speedscope);
	json_end_object(json);
	put_tracks(speedscope);
	json_end_object(json);
	putc_unlocked('\n', json->out);
}

static void speedscope_deinit(struct speedscope *speedscope)
{
	labels_deinit(&speedscope->labels);
	free(speedscope->cells);
	free(speedscope->first);
	free(speedscope->weights);
	free(speedscope->path);
}

static struct error *speedscope_write(const struct profile *profile,
				      const struct format_options *options, FILE *out)
{
	uint64_t moments = profile_moment_count(profile);
	CLEANUP(speedscope_deinit)
	struct speedscope speedscope = {
		.json = json_to(out),
		.profile = profile,
		.by_time = moments && moments <= MOST_MOMENTS,
	};

	(void)options;
	labels_init(&speedscope.labels, profile);
	sort_into_tracks(&speedscope);
	put_file(&speedscope);
	if (fflush(out) || ferror(out))
		return error_errno(errno, "write the speedscope file");
	return NULL;
}

const struct format format_speedscope = {
	.name = "speedscope",
	.extensions = (const char *const[]){".speedscope.json", NULL},
	.summary = "for https://www.speedscope.app: threads, in the order of time",
	.viewer = "npx speedscope FILE",
	.wants_moments = true,
	.write = speedscope_write,
};
