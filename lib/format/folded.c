#include "format/format.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "format/folded_read.h"
#include "format/folded_tree.h"
#include "format/tracks.h"
#include "report/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct folded {
	const struct profile *profile;
	const struct format_options *options;
	struct strtab *names;	/* as they are written */
	string_id *roots;	/* by thread: the first frame */
	string_id *frame_names; /* outermost first … */
	uint32_t *first_name;	/* … those of frame i from here to first_name[i + 1] */
	struct folded_tree tree;
	uint32_t *nodes;  /* by stack: in the tree, below … */
	string_id *first; /* … this first frame; UINT32_MAX: none yet */
	stack_id *path;	  /* that is being added, leaf first */
	size_t path_len, path_room;
	char *text; /* the name that is being made */
	size_t text_len, text_room;
};

static void put(struct folded *folded, const void *data, size_t len)
{
	if (folded->text_room - folded->text_len < len) {
		folded->text_room = (folded->text_room + len) * 2;
		folded->text = xreallocarray(folded->text, folded->text_room, 1);
	}
	memcpy(folded->text + folded->text_len, data, len);
	folded->text_len += len;
}

static void put_text(struct folded *folded, const char *text)
{
	put(folded, text, strlen(text));
}

/* Ends a line, or is taken for the end of one by some reader. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}

static void put_name(struct folded *folded, const char *name)
{
	struct bytes text = bytes_of(name, strlen(name));

	if (!*name)
		put_text(folded, "[unnamed]");
	while (bytes_left(&text)) {
		const unsigned char *at = text.at;
		uint32_t c = utf8_next(&text);

		if (c == UTF8_BAD || is_control(c))
			put_text(folded, UTF8_REPLACEMENT);
		else if (c == ';')
			put_text(folded, ":");
		else
			put(folded, at, (size_t)(text.at - at));
	}
}

static string_id take_name(struct folded *folded)
{
	size_t len = folded->text_len;

	folded->text_len = 0;
	return strtab_add_len(folded->names, folded->text, len);
}

/* Readers take "name 12 34" for two counts, of a difference; so no name may end in a number. */
static void join_last_number(struct folded *folded)
{
	size_t at = folded->text_len;

	while (at && strchr("0123456789.", folded->text[at - 1]))
		at--;
	if (at && at < folded->text_len && folded->text[at - 1] == ' ')
		folded->text[at - 1] = '_';
}

static const char *kind_suffix(enum profile_module_kind kind, bool is_inlined)
{
	if (kind == PROFILE_MODULE_KERNEL)
		return "_[k]";
	if (kind == PROFILE_MODULE_JIT)
		return "_[j]";
	return is_inlined ? "_[i]" : "";
}

static string_id make_frame_name(struct folded *folded, uint32_t module, const char *name,
				 bool is_inlined)
{
	put_name(folded, name);
	if (folded->options->annotate)
		put_text(folded, kind_suffix(profile_get_module(folded->profile, module)->kind,
					     is_inlined));
	join_last_number(folded);
	return take_name(folded);
}

/* Adds the names of a frame at frame_names[at]: the function that is there, then those inlined. */
static uint32_t make_frame_names(struct folded *folded, frame_id id, uint32_t at)
{
	struct profile_frame frame = profile_get_frame(folded->profile, id);

	if (!frame.line_count) {
		CLEANUP(free_ptr) char *name = profile_frame_address_name(folded->profile, id);

		folded->frame_names[at++] = make_frame_name(folded, frame.module, name, false);
	}
	for (unsigned i = frame.line_count; i-- > 0;) {
		const struct profile_function *function =
			profile_get_function(folded->profile, frame.lines[i].function);

		folded->frame_names[at++] = make_frame_name(
			folded, frame.module, profile_string(folded->profile, function->name),
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

/* 0: the stack begins with its own first frame. */
static string_id make_root(struct folded *folded, const struct profile_thread *thread)
{
	const char *name = process_name(folded->profile, thread);
	char number[32];

	if (!name)
		return 0;
	put_name(folded, name);
	for (size_t i = 0; i < folded->text_len; i++)
		if (folded->text[i] == ' ')
			folded->text[i] = '_';
	if ((folded->options->show_pid || folded->options->show_tid) && thread->pid >= 0) {
		snprintf(number, sizeof(number), "-%d", thread->pid);
		put_text(folded, number);
	}
	if (folded->options->show_tid && thread->tid >= 0) {
		snprintf(number, sizeof(number), "/%d", thread->tid);
		put_text(folded, number);
	}
	return take_name(folded);
}

static void make_names_of_threads(struct folded *folded)
{
	uint32_t threads = profile_thread_count(folded->profile);

	folded->roots = xcalloc(threads, sizeof(*folded->roots));
	for (thread_id i = 0; i < threads; i++)
		folded->roots[i] = make_root(folded, profile_get_thread(folded->profile, i));
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

/* Up from the leaf to the first caller that has a node, and down again. */
static uint32_t node_of_stack(struct folded *folded, string_id root, stack_id stack)
{
	uint32_t node;

	while ((node = known_node(folded, root, stack)) == IDMAP_NONE) {
		GROW(folded->path, folded->path_len, folded->path_room);
		folded->path[folded->path_len++] = stack;
		stack = profile_get_stack(folded->profile, stack).parent;
	}
	while (folded->path_len) {
		stack = folded->path[--folded->path_len];
		node = node_of_frame(folded, node, profile_get_stack(folded->profile, stack).frame);
		folded->nodes[stack] = node;
		folded->first[stack] = root;
	}
	return node;
}

/* Not even a frame: it is still to be counted. */
static uint32_t node_of_nothing(struct folded *folded)
{
	return folded_tree_child(&folded->tree, FOLDED_TOP, strtab_add(folded->names, "[unnamed]"));
}

static void add_track(struct folded *folded, const struct tracks *tracks, uint32_t track,
		      string_id root)
{
	bool by_samples = folded->options->weight == WEIGHT_SAMPLES;

	if (track >= tracks->count)
		return;
	for (size_t i = tracks->first[track]; i < tracks->first[track + 1]; i++) {
		const struct profile_cell *cell = tracks_cell(tracks, i);
		uint32_t node = node_of_stack(folded, root, cell->stack);

		(cell->event == 0 ? folded_tree_add : folded_tree_add_before)(
			&folded->tree, node != FOLDED_TOP ? node : node_of_nothing(folded),
			by_samples ? cell->samples : cell->weight);
	}
}

/* By first frames: the nodes of one are remembered at a time. */
static void add_cells(struct folded *folded)
{
	uint32_t stacks = profile_stack_count(folded->profile);
	uint32_t roots = strtab_count(folded->names);
	CLEANUP(tracks_deinit) struct tracks tracks;

	tracks_init_groups(&tracks, folded->profile, folded->roots, roots);
	folded->nodes = xcalloc(stacks, sizeof(*folded->nodes));
	folded->first = xcalloc(stacks, sizeof(*folded->first));
	memset(folded->first, 0xff, stacks * sizeof(*folded->first));
	for (string_id i = 0; i < roots; i++) {
		add_track(folded, &tracks, i, i);
		if (folded->options->difference)
			add_track(folded, &tracks, roots + i, i);
	}
}

static void folded_deinit(struct folded *folded)
{
	folded_tree_deinit(&folded->tree);
	free(folded->nodes);
	free(folded->first);
	strtab_free(folded->names);
	free(folded->roots);
	free(folded->frame_names);
	free(folded->first_name);
	free(folded->path);
	free(folded->text);
}

static struct error *check_weight(const struct profile *profile, enum format_weight weight)
{
	const struct profile_event *event;

	if (weight != WEIGHT_NS || !profile_event_count(profile))
		return NULL;
	event = profile_get_event(profile, 0);
	if (event->counts_ns)
		return NULL;
	return error_hint(
		error_new("%s does not count nanoseconds", profile_string(profile, event->name)),
		"use --weight period, or record with -e cpu-clock");
}

static struct error *folded_write(const struct profile *profile,
				  const struct format_options *options, FILE *out)
{
	CLEANUP(folded_deinit) struct folded folded = {.profile = profile, .options = options};
	struct error *err = check_weight(profile, options->weight);

	if (err)
		return err;
	folded.names = strtab_new();
	folded_tree_init(&folded.tree, folded.names);
	folded.tree.is_difference = options->difference;
	make_names_of_frames(&folded);
	make_names_of_threads(&folded);
	add_cells(&folded);
	folded_tree_write(&folded.tree, out);
	if (fflush(out) || ferror(out))
		return error_errno(errno, "write folded stacks");
	return NULL;
}

const struct format format_folded = {
	.name = "folded",
	.extensions = (const char *const[]){".folded", ".collapsed", ".stacks", NULL},
	.summary =
		"folded stacks, one a line, for inferno-flamegraph, flamegraph.pl and speedscope",
	.viewer = "inferno-flamegraph FILE > flame.svg",
	.shows_differences = true,
	.write = folded_write,
	.recognize = folded_recognize,
	.read = folded_read,
};
