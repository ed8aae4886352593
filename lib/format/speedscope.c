/*
 * speedscope's own JSON: a sampled profile for each thread and event. Up to MOST_MOMENTS samples
 * stand in the order of time; beyond, and where the times are not known, each distinct stack stands
 * once: no viewer takes more.
 * Source: https://www.speedscope.app/file-format-schema.json.
 */
#include "format/format.h"

#include "base/alloc.h"
#include "base/json.h"
#include "format/tracks.h"
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
	struct tracks tracks;
	char *texts;	/* of the frames, as parts of a stack: ",12,13" … */
	size_t *first;	/* … that of frame i from here to first[i + 1] */
	frame_id *path; /* of the stack that is written, leaf first */
	size_t path_room;
	char *stack; /* that is written */
	size_t stack_room;
};

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

static void make_texts(struct speedscope *speedscope)
{
	const struct labels *labels = &speedscope->labels;
	uint32_t frames = profile_frame_count(speedscope->profile);
	size_t len;
	FILE *out = open_memstream(&speedscope->texts, &len);

	speedscope->first = xcalloc((size_t)frames + 1, sizeof(*speedscope->first));
	for (frame_id i = 0; i < frames; i++) {
		for (uint32_t line = labels->first_line[i]; line < labels->first_line[i + 1];
		     line++)
			fprintf(out, ",%" PRIu32, labels->lines[line].label);
		speedscope->first[i + 1] = (size_t)ftello(out);
	}
	fclose(out);
}

static size_t text_len(const struct speedscope *speedscope, frame_id frame)
{
	return speedscope->first[frame + 1] - speedscope->first[frame];
}

/* The frames of a stack into path: how many. len: of all their texts. */
static size_t find_path(struct speedscope *speedscope, stack_id id, size_t *len)
{
	struct profile_stack stack = profile_get_stack(speedscope->profile, id);
	size_t depth = 0;

	if (speedscope->path_room < stack.depth) {
		speedscope->path_room = (size_t)stack.depth * 2;
		speedscope->path = xreallocarray(speedscope->path, speedscope->path_room,
						 sizeof(*speedscope->path));
	}
	for (*len = 0; stack.depth; stack = profile_get_stack(speedscope->profile, stack.parent)) {
		*len += text_len(speedscope, stack.frame);
		speedscope->path[depth++] = stack.frame;
	}
	return depth;
}

/* Root first. The first comma becomes the bracket. */
static void put_stack(struct speedscope *speedscope, stack_id id)
{
	size_t len, depth = find_path(speedscope, id, &len);
	char *to;

	if (speedscope->stack_room < len + 2) {
		speedscope->stack_room = (len + 2) * 2;
		speedscope->stack = xreallocarray(speedscope->stack, speedscope->stack_room, 1);
	}
	to = speedscope->stack;
	while (depth--) {
		frame_id frame = speedscope->path[depth];

		to = mempcpy(to, speedscope->texts + speedscope->first[frame],
			     text_len(speedscope, frame));
	}
	if (to == speedscope->stack)
		to++;
	speedscope->stack[0] = '[';
	*to++ = ']';
	json_raw(&speedscope->json, speedscope->stack, (size_t)(to - speedscope->stack));
}

static uint64_t weight_of_track(const struct tracks *tracks, uint32_t track)
{
	uint64_t weight = 0;

	for (size_t i = tracks->first[track]; i < tracks->first[track + 1]; i++)
		weight += tracks_weight(tracks, i);
	return weight;
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
	const struct tracks *tracks = &speedscope->tracks;
	uint32_t threads = profile_thread_count(speedscope->profile);
	CLEANUP(free_ptr)
	char *name = name_of_track(speedscope, track / threads, track % threads);

	json_begin_object(json);
	json_put_text(json, "type", "sampled");
	json_put_text(json, "name", name);
	json_put_text(json, "unit", unit_of(speedscope->profile, track / threads));
	json_put_number(json, "startValue", 0);
	json_put_number(json, "endValue", weight_of_track(tracks, track));
	json_key(json, "samples");
	json_begin_array(json);
	for (size_t i = tracks->first[track]; i < tracks->first[track + 1]; i++)
		put_stack(speedscope, tracks_cell(tracks, i)->stack);
	json_end_array(json);
	json_key(json, "weights");
	json_begin_array(json);
	for (size_t i = tracks->first[track]; i < tracks->first[track + 1]; i++)
		json_number(json, tracks_weight(tracks, i));
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
	uint64_t most = 0, weight;

	json_key(&speedscope->json, "profiles");
	json_begin_array(&speedscope->json);
	for (uint32_t track = 0; track < speedscope->tracks.count; track++) {
		if (speedscope->tracks.first[track] == speedscope->tracks.first[track + 1])
			continue;
		put_track(speedscope, track);
		weight = track < threads ? weight_of_track(&speedscope->tracks, track) : 0;
		if (weight > most) {
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
	tracks_deinit(&speedscope->tracks);
	free(speedscope->texts);
	free(speedscope->first);
	free(speedscope->path);
	free(speedscope->stack);
}

static struct error *speedscope_write(const struct profile *profile,
				      const struct format_options *options, FILE *out)
{
	CLEANUP(speedscope_deinit)
	struct speedscope speedscope = {.json = json_to(out), .profile = profile};

	(void)options;
	labels_init(&speedscope.labels, profile);
	make_texts(&speedscope);
	tracks_init(&speedscope.tracks, profile, MOST_MOMENTS);
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
