/*
 * Writes speedscope's own JSON format: one sampled profile per thread and
 * event. Up to MOST_TIMED_SAMPLES timed samples and waits are in time order.
 * With more, or without times, each distinct stack is one sample, because the
 * viewer cannot load more. Source:
 * https://www.speedscope.app/file-format-schema.json.
 */
#include "format/format.h"

#include "base/alloc.h"
#include "base/json.h"
#include "format/stack_text.h"
#include "format/tracks.h"
#include "report/display_labels.h"
#include "report/process_names.h"
#include "report/title.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TIMED_SAMPLES = 500000 };

struct speedscope {
	struct json json;
	const struct profile *profile;
	event_id event; /* shown first */
	struct display_labels labels;
	struct tracks tracks;
	struct stack_text stacks;
};

static void speedscope_put_frames(struct speedscope *speedscope)
{
	struct json *json = &speedscope->json;

	json_key(json, "frames");
	json_begin_array(json);
	for (uint32_t i = 0; i < speedscope->labels.count; i++) {
		const struct label *label = &speedscope->labels.items[i];

		json_begin_object(json);
		json_put_text(json, "name", *label->shown ? label->shown : "[unnamed]");
		if (label->file)
			json_put_text(json, "file",
				      profile_string(speedscope->profile, label->file));
		if (label->start_line)
			json_put_number(json, "line", label->start_line);
		json_end_object(json);
	}
	json_end_array(json);
}

/* Writes the text of a frame in a stack: ",12,13". */
static void put_frame_text(FILE *out, const void *context, frame_id frame)
{
	const struct display_labels *labels = context;

	for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++)
		fprintf(out, ",%" PRIu32, labels->lines[i].label);
}

static void speedscope_put_stack(struct speedscope *speedscope, stack_id id)
{
	size_t len;
	const char *text = stack_text_of(&speedscope->stacks, id, &len);

	json_begin_array(&speedscope->json);
	if (len)
		json_raw(&speedscope->json, text + 1, len - 1); /* without the first comma */
	json_end_array(&speedscope->json);
}

static uint64_t weight_of_track(const struct tracks *tracks, uint32_t track)
{
	uint64_t weight = 0;

	for (size_t i = tracks->first[track]; i < tracks->first[track + 1]; i++)
		weight += tracks_weight(tracks, i);
	return weight;
}

/*
 * Returns the name of a track: "shop 100/101 worker 1", followed by the event
 * if there are several.
 */
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

/* Returns the viewer's name of the event's unit. */
static const char *speedscope_unit_of(const struct profile *profile, event_id id)
{
	static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds",
					    "seconds", "bytes"};
	const char *unit = profile_event_unit(profile, id);

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i], unit))
			return known[i];
	return "none";
}

static void put_track(struct speedscope *speedscope, uint32_t track, uint64_t weight)
{
	struct json *json = &speedscope->json;
	const struct tracks *tracks = &speedscope->tracks;
	const struct profile_stacks stacks = profile_stacks(speedscope->profile);
	uint32_t threads = profile_thread_count(speedscope->profile);
	CLEANUP(free_ptr)
	char *name = name_of_track(speedscope, track / threads, track % threads);

	json_begin_object(json);
	json_put_text(json, "type", "sampled");
	json_put_text(json, "name", name);
	json_put_text(json, "unit", speedscope_unit_of(speedscope->profile, track / threads));
	json_put_number(json, "startValue", 0);
	json_put_number(json, "endValue", weight);
	json_key(json, "samples");
	json_begin_array(json);
	for (size_t i = tracks->first[track]; i < tracks->first[track + 1]; i++) {
		__builtin_prefetch(
			&stacks.items[tracks_sample(tracks, tracks_ahead(tracks, i))->stack]);
		speedscope_put_stack(speedscope, tracks_sample(tracks, i)->stack);
	}
	json_end_array(json);
	json_key(json, "weights");
	json_begin_array(json);
	for (size_t i = tracks->first[track]; i < tracks->first[track + 1]; i++)
		json_number(json, tracks_weight(tracks, i));
	json_end_array(json);
	json_end_object(json);
}

/* The viewer rejects a file without tracks. */
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

/* Writes the tracks that have samples. The heaviest track of the chosen event is shown first. */
static void put_tracks(struct speedscope *speedscope)
{
	uint32_t threads = profile_thread_count(speedscope->profile);
	uint32_t written = 0, shown = 0;
	uint64_t most = 0, weight;

	json_key(&speedscope->json, "profiles");
	json_begin_array(&speedscope->json);
	for (uint32_t track = 0; track < speedscope->tracks.count; track++) {
		if (speedscope->tracks.first[track] == speedscope->tracks.first[track + 1])
			continue;
		weight = weight_of_track(&speedscope->tracks, track);
		put_track(speedscope, track, weight);
		if (weight > most && track / threads == speedscope->event) {
			most = weight;
			shown = written;
		}
		written++;
	}
	if (!written)
		put_empty_track(&speedscope->json);
	json_end_array(&speedscope->json);
	json_put_number(&speedscope->json, "activeProfileIndex", shown);
}

static void speedscope_put_file(struct speedscope *speedscope)
{
	struct json *json = &speedscope->json;
	CLEANUP(free_ptr) char *title = title_of(speedscope->profile);

	json_begin_object(json);
	json_put_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_put_text(json, "exporter", "prof");
	json_put_text(json, "name", *title ? title : "prof");
	json_key(json, "shared");
	json_begin_object(json);
	speedscope_put_frames(speedscope);
	json_end_object(json);
	put_tracks(speedscope);
	json_end_object(json);
	putc_unlocked('\n', json->out);
}

static void speedscope_deinit(struct speedscope *speedscope)
{
	display_labels_deinit(&speedscope->labels);
	tracks_deinit(&speedscope->tracks);
	stack_text_deinit(&speedscope->stacks);
}

static struct error *speedscope_write(const struct profile *profile,
				      const struct format_options *options, FILE *out)
{
	CLEANUP(speedscope_deinit)
	struct speedscope speedscope = {
		.json = json_to(out), .profile = profile, .event = options->event};
	struct error *err = tracks_init(&speedscope.tracks, profile, options->event,
					MOST_TIMED_SAMPLES);

	if (err)
		return err;
	display_labels_init_named(&speedscope.labels, profile, options->names);
	stack_text_init(&speedscope.stacks, profile, ROOT_FIRST, put_frame_text,
			&speedscope.labels);
	speedscope_put_file(&speedscope);
	if (fflush(out) || ferror(out))
		return error_errno(errno, "write the speedscope file");
	return NULL;
}

const struct format format_speedscope = {
	.name = "speedscope",
	.extensions = (const char *const[]){".speedscope.json", NULL},
	.summary = "for https://www.speedscope.app",
	.viewer = "npx speedscope FILE",
	.needs_timestamps = true,
	.write = speedscope_write,
	.media_type = "application/json",
	.download = "profile.speedscope.json",
};
