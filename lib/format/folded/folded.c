#include "format/format.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "format/folded/read.h"
#include "format/folded/tree.h"
#include "format/tracks.h"
#include "profile/stack_path.h"
#include "report/function_names.h"
#include "report/process_names.h"
#include "report/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct folded {
	const struct profile *profile;
	const struct format_options *options;
	event_id beside;	   /* see format_event_beside() */
	enum format_weight weight; /* not WEIGHT_USUAL */
	struct function_names functions;
	struct strtab *names;	/* frame names as written */
	string_id *roots;	/* by label set: the name of the first frame */
	string_id *frame_names; /* the names of all frames, outermost first */
	/* Frame i's names are from first_name[i] to first_name[i + 1]. */
	uint32_t *first_name;
	struct folded_tree tree;
	uint32_t *nodes;  /* by stack: its node in the tree below the first frame in `first` */
	string_id *first; /* by stack: the first frame of its node; UINT32_MAX if unknown */
	struct stack_path path;
	uint64_t each;	  /* the average weight of a sample, or 0 if unknown */
	uint64_t carried; /* weight without samples that is less than one sample */
	char *text;	  /* the name that is being built */
	size_t text_len, text_room;
};

static void folded_put(struct folded *folded, const void *data, size_t len)
{
	if (folded->text_room - folded->text_len < len) {
		folded->text_room = (folded->text_room + len) * 2;
		folded->text = xreallocarray(folded->text, folded->text_room, 1);
	}
	memcpy(folded->text + folded->text_len, data, len);
	folded->text_len += len;
}

static void folded_put_text(struct folded *folded, const char *text)
{
	folded_put(folded, text, strlen(text));
}

static void folded_put_name(struct folded *folded, const char *name)
{
	struct bytes text = bytes_of(name, strlen(name));

	if (!*name)
		folded_put_text(folded, "[unnamed]");
	while (bytes_left(&text)) {
		const unsigned char *at = text.at;
		uint32_t c = utf8_next(&text);

		if (c == UTF8_BAD || printable_is_control(c))
			folded_put_text(folded, UTF8_REPLACEMENT);
		else if (c == ';')
			folded_put_text(folded, ":");
		else
			folded_put(folded, at, (size_t)(text.at - at));
	}
}

static string_id folded_take_name(struct folded *folded)
{
	size_t len = folded->text_len;

	folded->text_len = 0;
	return strtab_add_len(folded->names, folded->text, len);
}

/*
 * Readers parse "name 12 34" as a difference with two counts, so a name must
 * not end in a number.
 */
static void join_last_number(struct folded *folded)
{
	size_t at = folded->text_len;

	while (at && strchr("0123456789.", folded->text[at - 1]))
		at--;
	if (at && at < folded->text_len && folded->text[at - 1] == ' ')
		folded->text[at - 1] = '_';
}

/*
 * Returns the suffixes of flamegraph.pl, whose palettes have one colour for
 * everything that is not native code.
 */
static const char *kind_suffix(enum profile_module_kind kind, bool is_inlined)
{
	if (kind == PROFILE_MODULE_KERNEL)
		return "_[k]";
	if (is_inlined)
		return "_[i]";
	return kind == PROFILE_MODULE_JIT || kind == PROFILE_MODULE_INTERPRETED ? "_[j]" : "";
}

static string_id make_frame_name(struct folded *folded, uint32_t module, const char *name,
				 bool is_inlined)
{
	folded_put_name(folded, name);
	if (folded->options->folded.annotate)
		folded_put_text(
			folded,
			kind_suffix(profile_get_module(folded->profile, module)->kind, is_inlined));
	join_last_number(folded);
	return folded_take_name(folded);
}

/*
 * Appends the names of a frame to frame_names: the function and the functions
 * inlined in it.
 */
static uint32_t make_frame_names(struct folded *folded, frame_id id, uint32_t at)
{
	struct profile_frame frame = profile_get_frame(folded->profile, id);

	if (!frame.line_count) {
		CLEANUP(free_ptr) char *name = profile_frame_address_name(folded->profile, id);

		folded->frame_names[at++] = make_frame_name(folded, frame.module, name, false);
	}
	for (unsigned i = frame.line_count; i-- > 0;) {
		const char *name = function_names_get(&folded->functions, frame.lines[i].function);

		folded->frame_names[at++] = make_frame_name(folded, frame.module, name,
							    i + 1 < frame.line_count);
	}
	return at;
}

static void make_names_of_frames(struct folded *folded)
{
	uint32_t frames = profile_frame_count(folded->profile), names = 0;

	for (frame_id i = 0; i < frames; i++) {
		unsigned lines = profile_get_frame(folded->profile, i).line_count;

		names += lines ? lines : 1;
	}
	folded->frame_names = xcalloc(names, sizeof(*folded->frame_names));
	folded->first_name = xcalloc((size_t)frames + 1, sizeof(*folded->first_name));
	for (frame_id i = 0; i < frames; i++)
		folded->first_name[i + 1] = make_frame_names(folded, i, folded->first_name[i]);
}

/* Returns 0 if the stack gets no additional first frame. */
static string_id make_root(struct folded *folded, const struct profile_thread *thread)
{
	const char *name = process_name(folded->profile, thread);
	char number[32];

	if (!name)
		return 0;
	folded_put_name(folded, name);
	for (size_t i = 0; i < folded->text_len; i++)
		if (folded->text[i] == ' ')
			folded->text[i] = '_';
	if ((folded->options->folded.show_pid || folded->options->folded.show_tid) &&
	    thread->pid >= 0) {
		snprintf(number, sizeof(number), "-%d", thread->pid);
		folded_put_text(folded, number);
	}
	if (folded->options->folded.show_tid && thread->tid >= 0) {
		snprintf(number, sizeof(number), "/%d", thread->tid);
		folded_put_text(folded, number);
	}
	return folded_take_name(folded);
}

static void make_roots(struct folded *folded)
{
	uint32_t count = profile_label_set_count(folded->profile);

	folded->roots = xcalloc(count, sizeof(*folded->roots));
	for (label_set_id i = 0; i < count; i++)
		folded->roots[i] = make_root(folded, profile_thread_of(folded->profile, i));
}

static uint32_t node_of_frame(struct folded *folded, uint32_t node, frame_id frame)
{
	for (uint32_t i = folded->first_name[frame]; i < folded->first_name[frame + 1]; i++)
		node = folded_tree_child(&folded->tree, node, folded->frame_names[i]);
	return node;
}

static uint32_t known_node(struct folded *folded, string_id root, stack_id stack)
{
	if (stack == STACK_EMPTY)
		return root ? folded_tree_child(&folded->tree, FOLDED_TOP, root) : FOLDED_TOP;
	return folded->first[stack] == root ? folded->nodes[stack] : IDMAP_NONE;
}

static uint32_t node_of_stack(struct folded *folded, string_id root, stack_id stack)
{
	const struct profile_stacks stacks = profile_stacks(folded->profile);
	uint32_t node;

	while ((node = known_node(folded, root, stack)) == IDMAP_NONE)
		stack = stack_path_up(&folded->path, stacks, stack);
	while (stack_path_down(&folded->path, &stack)) {
		node = node_of_frame(folded, node, stacks.items[stack].frame);
		folded->nodes[stack] = node;
		folded->first[stack] = root;
	}
	return node;
}

static uint64_t average_weight(const struct profile *profile, event_id event)
{
	const struct profile_event *sampled;
	const struct profile_samples samples = profile_samples(profile);
	uint64_t count = 0;
	double weight = 0;

	for (uint64_t i = 0; i < samples.count; i++) {
		if (samples.items[i].event != event || !samples.items[i].samples)
			continue;
		count += samples.items[i].samples;
		weight += (double)samples.items[i].weight;
	}
	if (count)
		return (uint64_t)(weight / (double)count);
	sampled = event < profile_event_count(profile) ? profile_get_event(profile, event) : NULL;
	if (!sampled || sampled->kind != VALUE_CPU_TIME || !sampled->frequency_hz)
		return sampled ? sampled->period : 0;
	return NS_PER_SECOND / sampled->frequency_hz;
}

/*
 * Returns the number of samples. Weight without samples (unsampled weight, or
 * off-CPU time shown with CPU time) gets as many as it would have had.
 */
static uint64_t folded_samples_of(struct folded *folded, const struct profile_sample *sample)
{
	event_id event = folded->options->event;
	bool is_beside = sample->event == folded->beside && folded->beside != event;
	uint64_t samples;

	if ((sample->samples && !is_beside) || !folded->each)
		return sample->samples;
	samples = (folded->carried + sample->weight) / folded->each;
	folded->carried = (folded->carried + sample->weight) % folded->each;
	return samples;
}

static void folded_add_track(struct folded *folded, const struct tracks *tracks, uint32_t track,
			     string_id root, bool is_before)
{
	bool by_samples = folded->weight == WEIGHT_SAMPLES;

	for (size_t i = tracks->first[track]; i < tracks->first[track + 1]; i++) {
		const struct profile_sample *sample = tracks_sample(tracks, i);

		(is_before ? folded_tree_add_before : folded_tree_add)(
			&folded->tree, node_of_stack(folded, root, sample->stack),
			by_samples ? folded_samples_of(folded, sample) : sample->weight);
	}
}

/*
 * Samples are sorted by first frame, because nodes are cached for one first
 * frame at a time.
 */
static void folded_add_samples(struct folded *folded)
{
	uint32_t stacks = profile_stacks(folded->profile).count;
	/* The maximum, because a root is one of the names. */
	uint32_t roots = strtab_count(folded->names);
	CLEANUP(tracks_deinit) struct tracks tracks;

	tracks_init_groups(&tracks, folded->profile, folded->options->event, folded->beside,
			   folded->roots, roots);
	folded->nodes = xcalloc(stacks, sizeof(*folded->nodes));
	folded->first = xcalloc(stacks, sizeof(*folded->first));
	memset(folded->first, 0xff, stacks * sizeof(*folded->first));
	for (string_id i = 0; i < roots; i++) {
		folded_add_track(folded, &tracks, i, i, false);
		if (folded->options->difference)
			folded_add_track(folded, &tracks, roots + i, i, true);
	}
}

static void folded_deinit(struct folded *folded)
{
	folded_tree_deinit(&folded->tree);
	free(folded->nodes);
	free(folded->first);
	function_names_deinit(&folded->functions);
	strtab_free(folded->names);
	free(folded->roots);
	free(folded->frame_names);
	free(folded->first_name);
	free(folded->path.items);
	free(folded->text);
}

static struct error *check_weight(const struct profile *profile,
				  const struct format_options *options)
{
	const struct profile_event *event;

	if (options->folded.weight != WEIGHT_NS || !profile_event_count(profile))
		return NULL;
	event = profile_get_event(profile, options->event);
	if (value_is_time(event->kind) &&
	    value_scaled(event->kind, profile_event_unit(profile, options->event), 1) == 1)
		return NULL;
	return error_hint(
		error_new("%s does not count nanoseconds", profile_string(profile, event->name)),
		"use --weight period, or record with -e cpu-clock");
}

/* Elapsed time consists of intervals of any length, not of samples. */
static bool folded_has_intervals(const struct folded *folded)
{
	event_id event = folded->options->event;
	const char *name = event < profile_event_count(folded->profile)
				   ? profile_string(folded->profile,
						    profile_get_event(folded->profile, event)->name)
				   : "";

	return !strcmp(name, VALUE_ELAPSED_EVENT) || !strcmp(name, VALUE_CRITICAL_PATH_EVENT);
}

static enum format_weight folded_weight_of(const struct folded *folded)
{
	event_id waiting;
	bool shows_waiting = waiting_event(folded->profile, &waiting) && folded->beside == waiting;

	if (folded->options->folded.weight != WEIGHT_USUAL)
		return folded->options->folded.weight;
	return shows_waiting || folded_has_intervals(folded) ? WEIGHT_NS : WEIGHT_SAMPLES;
}

static struct error *folded_write(const struct profile *profile,
				  const struct format_options *options, FILE *out)
{
	CLEANUP(folded_deinit) struct folded folded = {.profile = profile, .options = options};
	struct error *err = check_weight(profile, options);

	if (err)
		return err;
	folded.beside = format_event_beside(profile, options);
	folded.weight = folded_weight_of(&folded);
	folded.names = strtab_new();
	folded.each = average_weight(profile, options->event);
	folded_tree_init(&folded.tree, folded.names);
	folded.tree.is_difference = options->difference;
	function_names_init(&folded.functions, profile, options->names);
	make_names_of_frames(&folded);
	make_roots(&folded);
	folded_add_samples(&folded);
	folded_tree_write(&folded.tree, out);
	if (fflush(out) || ferror(out))
		return error_errno(errno, "write folded stacks");
	return NULL;
}

const struct format format_folded = {
	.name = "folded",
	.extensions = (const char *const[]){".folded", ".collapsed", ".stacks", NULL},
	.summary = "stacks, one per line, for flamegraph.pl, inferno",
	.viewer = "inferno-flamegraph FILE > flame.svg",
	.shows_differences = true,
	.write = folded_write,
	.media_type = "text/plain; charset=utf-8",
	.recognize = folded_recognize,
	.read = folded_read,
};
