/*
 * Writes a flame graph as one SVG file: roots at the top, as in the HTML
 * report, siblings sorted by name. The header and the legend come first, so
 * that a viewer opens on them and on the widest frames. The file is complete
 * without its script, which adds zoom, search and fitting to the window's
 * width. Source: SVG 1.1; https://www.brendangregg.com/flamegraphs.html.
 */
#include "format/format.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "format/embedded.h"
#include "format/tracks.h"
#include "report/call_tree.h"
#include "report/process_names.h"
#include "report/quality_text.h"
#include "report/shorten.h"
#include "report/title.h"
#include "report/waiting.h"
#include "web/svg_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Sizes are in pixels, unless a comment states otherwise. */
enum {
	WIDTH = 1200,
	MARGIN = 10,
	HEAD = 76,
	FOOT = 10,
	NARROW_LINE = 16, /* the line about frames that are too narrow */
	ROW = 16,
	CANVAS = WIDTH - 2 * MARGIN,
	COLUMN_TENTHS = 72, /* width of a character, in tenths */
	TEXT_ROOM = 6,	    /* padding left and right of a name */
	LEAST_COLUMNS = 4,
	EDGED = 4,		 /* minimum width of frames with an edge */
	NARROWEST = CANVAS * 10, /* frames narrower than 1/NARROWEST are omitted */
	SVG_NAME_COLUMNS = 1000, /* in longer names the text in brackets is shortened */
	TITLE_COLUMNS = 115,
};

struct svg {
	FILE *out;
	const struct profile *profile;
	struct display_labels labels;
	struct call_tree tree;
	struct process_names processes; /* the groups of the tree */
	enum name_style names;
	event_id event, beside; /* the shown events: see format_event_beside() */
	const char *counted;	/* the unit of samples, or NULL if time is shown */
	uint64_t all;		/* total weight */
	uint64_t *widths;	/* by node, in units of weight; less for unsampled weight */
	unsigned rows;
	unsigned height;
	uint32_t narrow;
	uint64_t *starts; /* by depth: where the current frame starts */
	size_t start_room;
};

#define NO_CODE (CODE_NOTE + 1)

/* Colours match those of the HTML report (web/page/colours.js). */
static const struct {
	const char *class, *text;
} kinds[] = {
	[CODE_USER] = {"user", "user"},
	[CODE_INLINED] = {"inlined", "inlined"},
	[CODE_KERNEL] = {"kernel", "kernel"},
	[CODE_JIT] = {"jit", "JIT"},
	[CODE_INTERPRETED] = {"interpreted", "interpreted"},
	[CODE_NAMELESS] = {"nameless", "unsymbolized"},
	[CODE_NOTE] = {"note", "note"},
	[NO_CODE] = {"process", NULL},
};

/*
 * XML cannot represent control characters. Characters that change the text
 * direction would change the rest of the line.
 */
static bool svg_is_written(uint32_t c)
{
	return !printable_is_control(c) && c != 0xfffe && c != 0xffff;
}

static const char *entity_of(uint32_t c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

static void svg_put_text(struct svg *svg, const char *str)
{
	struct bytes text = bytes_of(str, strlen(str));

	while (bytes_left(&text)) {
		const unsigned char *at = text.at;
		uint32_t c = utf8_next(&text);
		const char *entity = entity_of(c);

		if (c == UTF8_BAD || !svg_is_written(c))
			fputs_unlocked(UTF8_REPLACEMENT, svg->out);
		else if (entity)
			fputs_unlocked(entity, svg->out);
		else
			fwrite_unlocked(at, 1, (size_t)(text.at - at), svg->out);
	}
}

/* Writes "1,234,567". */
static void svg_put_count(struct svg *svg, uint64_t count)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, count);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			putc_unlocked(',', svg->out);
		putc_unlocked(digits[i], svg->out);
	}
}

/* Writes part / all in percent, correctly rounded. */
static void put_percent(struct svg *svg, uint64_t part, uint64_t all, unsigned digits)
{
	unsigned scale = digits == 2 ? 100 : 10000;
	uint64_t share = (uint64_t)(((hash_wide)part * 100 * scale + all / 2) / all);

	fprintf(svg->out, "%" PRIu64 ".%0*u%%", share / scale, (int)digits,
		(unsigned)(share % scale));
}

/* Returns the name in the box of a node, or its full name. */
static const char *svg_name_of(const struct svg *svg, const struct call_tree_node *node, bool full)
{
	const char *name;

	if (node->label != CALL_TREE_NO_LABEL)
		name = full ? svg->labels.items[node->label].name
			    : svg->labels.items[node->label].shown;
	else if (node->depth == 0)
		return "all";
	else
		name = svg->processes.names[node->group];
	return *name ? name : "[unnamed]";
}

/* Returns the class of a frame's code, or NO_CODE for a process. */
static enum code_kind svg_kind_of(const struct svg *svg, const struct call_tree_node *node)
{
	return node->label == CALL_TREE_NO_LABEL
		       ? NO_CODE
		       : display_labels_code(&svg->labels, node->label, node->is_inlined);
}

/*
 * Adds the event's samples by process. Samples without a process come last,
 * with their frames as roots.
 */
static void svg_add_samples(struct svg *svg)
{
	uint32_t processes = svg->processes.count;
	CLEANUP(tracks_deinit) struct tracks tracks;

	tracks_init_groups(&tracks, svg->profile, svg->event, svg->beside, svg->processes.of_labels,
			   processes + 1);
	for (uint32_t i = 0; i <= processes; i++) {
		uint32_t first = tracks.first[i], end = tracks.first[i + 1];
		uint32_t group = first == end || i == processes ? CALL_TREE_TOP
								: call_tree_group(&svg->tree, i);

		for (size_t j = first; j < end; j++) {
			const struct profile_sample *sample = tracks_sample(&tracks, j);

			call_tree_add(&svg->tree,
				      call_tree_node_of(&svg->tree, group, sample->stack),
				      sample->samples, sample->weight);
		}
	}
}

/* Unsampled weight gets at most this share of the canvas, in percent. */
enum { BAND = 4 };

static bool is_unsampled(const struct call_tree *tree, const struct call_tree_node *node)
{
	return node->label != CALL_TREE_NO_LABEL &&
	       display_labels_is_unsampled(tree->labels, node->label);
}

/* By name, and unsampled weight last, next to the samples. */
static int svg_order(const struct call_tree *tree, uint32_t a, uint32_t b)
{
	int order = is_unsampled(tree, &tree->nodes[a]) - is_unsampled(tree, &tree->nodes[b]);

	return order ? order : call_tree_by_name(tree, a, b);
}

static void make_narrower(struct svg *svg, uint32_t node, uint64_t by)
{
	for (uint32_t at = node;; at = svg->tree.nodes[at].parent) {
		svg->widths[at] -= by;
		if (at == CALL_TREE_TOP)
			break;
	}
}

/*
 * Widths are weights, except that unsampled weight is one frame without
 * details, in a band next to the samples.
 */
static void find_widths(struct svg *svg)
{
	const struct call_tree_node *nodes = svg->tree.nodes;
	uint64_t unsampled = 0, most;

	svg->widths = xcalloc(svg->tree.count, sizeof(*svg->widths));
	for (uint32_t i = 0; i < svg->tree.count; i++) {
		svg->widths[i] = nodes[i].total.weight;
		unsampled += is_unsampled(&svg->tree, &nodes[i]) ? nodes[i].total.weight : 0;
	}
	most = (svg->all - unsampled) / (100 - BAND) * BAND;
	for (uint32_t i = 0; most && unsampled > most && i < svg->tree.count; i++)
		if (is_unsampled(&svg->tree, &nodes[i]))
			make_narrower(svg, i,
				      (uint64_t)((hash_wide)nodes[i].total.weight *
						 (unsampled - most) / unsampled));
}

static void lay_out(struct svg *svg)
{
	uint64_t least;

	display_labels_init_named(&svg->labels, svg->profile,
				  svg->names == NAMES_FULL ? NAMES_SHORT : svg->names);
	process_names_init(&svg->processes, svg->profile);
	call_tree_init(&svg->tree, &svg->labels);
	svg_add_samples(svg);
	call_tree_sum_up(&svg->tree);
	svg->all = svg->tree.nodes[CALL_TREE_TOP].total.weight;
	find_widths(svg);
	least = svg->widths[CALL_TREE_TOP] / NARROWEST +
		(svg->widths[CALL_TREE_TOP] % NARROWEST != 0);
	svg->narrow = call_tree_prune(&svg->tree, least);
	/*
	 * Sorting by name gives two recordings side by side the same frames at
	 * the same positions.
	 */
	call_tree_sort(&svg->tree, svg_order);
	for (uint32_t i = 0; i < svg->tree.count; i++)
		if (svg->tree.nodes[i].total.weight >= least &&
		    svg->tree.nodes[i].depth >= svg->rows)
			svg->rows = svg->tree.nodes[i].depth + 1;
	svg->height = HEAD + svg->rows * ROW + FOOT + (svg->narrow ? NARROW_LINE : 0);
}

static void put_amount(struct svg *svg, struct sum sum)
{
	if (!svg->counted) {
		svg_put_text(svg, humanize_time(sum.weight).text);
		return;
	}
	svg_put_count(svg, sum.samples);
	fputs_unlocked(" ", svg->out);
	svg_put_text(svg, svg->counted);
}

static void put_title(struct svg *svg, const struct call_tree_node *node, const char *name)
{
	enum code_kind code = svg_kind_of(svg, node);
	const char *kind = code == CODE_USER || code == CODE_NOTE ? NULL : kinds[code].text;

	fputs_unlocked("<title>", svg->out);
	svg_put_text(svg, name);
	fputs_unlocked(" (", svg->out);
	put_amount(svg, node->total);
	fputs_unlocked(", ", svg->out);
	put_percent(svg, node->total.weight, svg->all, 2);
	if (kind)
		fprintf(svg->out, ", %s", kind);
	fputs_unlocked(")</title>", svg->out);
}

static void svg_put_place(struct svg *svg, uint64_t width)
{
	put_percent(svg, width, svg->widths[CALL_TREE_TOP], 4);
}

static unsigned frame_y(const struct call_tree_node *node)
{
	return node->depth * ROW;
}

static void svg_put_name(struct svg *svg, const struct call_tree_node *node, uint64_t start,
			 uint64_t pixels, const char *name)
{
	CLEANUP(free_ptr) char *shown = NULL;

	if (pixels * 10 < TEXT_ROOM * 10 + LEAST_COLUMNS * COLUMN_TENTHS)
		return;
	shown = shorten(name, (size_t)(pixels - TEXT_ROOM) * 10 / COLUMN_TENTHS);
	fputs_unlocked("<text x=\"", svg->out);
	svg_put_place(svg, start);
	fprintf(svg->out, "\" y=\"%u\" dx=\"3\">", frame_y(node) + 11);
	svg_put_text(svg, shown);
	fputs_unlocked("</text>", svg->out);
}

/*
 * Adjacent frames of one kind differ in shade. A function has the same shade
 * everywhere.
 */
static const char *shade_of(const char *name)
{
	static const char *const shades[] = {"", " b", " c"};

	return shades[hash_bytes(name, strlen(name)) % ARRAY_SIZE(shades)];
}

/* Starts a frame. Its script needs the name in the box if that is not the full name. */
static void svg_put_group(struct svg *svg, const char *full, const char *name)
{
	if (!strcmp(full, name)) {
		fputs_unlocked("<g>", svg->out);
		return;
	}
	fputs_unlocked("<g data-name=\"", svg->out);
	svg_put_text(svg, name);
	fputs_unlocked("\">", svg->out);
}

static void svg_put_frame(struct svg *svg, const struct call_tree_node *node, uint64_t start)
{
	uint64_t width = svg->widths[node - svg->tree.nodes];
	uint64_t pixels = (uint64_t)((hash_wide)width * CANVAS / svg->widths[CALL_TREE_TOP]);
	CLEANUP(free_ptr) char *full = shorten(svg_name_of(svg, node, true), SVG_NAME_COLUMNS);
	CLEANUP(free_ptr) char *name = shorten(svg_name_of(svg, node, false), SVG_NAME_COLUMNS);

	svg_put_group(svg, full, name);
	put_title(svg, node, full);
	fprintf(svg->out, "<rect class=\"%s%s%s\" x=\"", kinds[svg_kind_of(svg, node)].class,
		shade_of(name), pixels < EDGED ? "" : " edged");
	svg_put_place(svg, start);
	fprintf(svg->out, "\" y=\"%u\" width=\"", frame_y(node));
	svg_put_place(svg, width);
	fprintf(svg->out, "\" height=\"%u\"/>", ROW - 1);
	svg_put_name(svg, node, start, pixels, name);
	fputs_unlocked("</g>\n", svg->out);
}

/*
 * Returns the next node of the walk from the roots up, and sets where it
 * starts.
 */
static uint32_t next_node(struct svg *svg, uint32_t at)
{
	const struct call_tree_node *nodes = svg->tree.nodes;

	if (nodes[at].first_child) {
		GROW(svg->starts, (size_t)nodes[at].depth + 1, svg->start_room);
		svg->starts[nodes[at].depth + 1] = svg->starts[nodes[at].depth];
		return nodes[at].first_child;
	}
	for (; at != CALL_TREE_TOP; at = nodes[at].parent) {
		svg->starts[nodes[at].depth] += svg->widths[at];
		if (nodes[at].next_sibling)
			return nodes[at].next_sibling;
	}
	return CALL_TREE_TOP;
}

static void svg_put_frames(struct svg *svg)
{
	uint32_t at = CALL_TREE_TOP;

	svg->starts = xcalloc(svg->start_room = 16, sizeof(*svg->starts));
	fprintf(svg->out, "<svg id=\"frames\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%u\"%s>\n",
		MARGIN, HEAD, CANVAS, svg->rows * ROW,
		svg->widths[CALL_TREE_TOP] < svg->all ? " data-scale=\"other\"" : "");
	do {
		svg_put_frame(svg, &svg->tree.nodes[at], svg->starts[svg->tree.nodes[at].depth]);
		at = next_node(svg, at);
	} while (at != CALL_TREE_TOP);
	fputs_unlocked("</svg>\n", svg->out);
}

/*
 * Writes the legend: each kind of code that occurs, with its colour and name.
 */
static void svg_put_legend(struct svg *svg)
{
	bool is_there[ARRAY_SIZE(kinds)] = {false};
	unsigned x = MARGIN;

	for (uint32_t i = 0; i < svg->tree.count; i++)
		is_there[svg_kind_of(svg, &svg->tree.nodes[i])] = true;
	fputs_unlocked("<g id=\"legend\">", svg->out);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!is_there[i] || !kinds[i].text)
			continue;
		fprintf(svg->out,
			"<rect class=\"%s\" x=\"%u\" y=\"53\" width=\"11\" height=\"11\"/>"
			"<text x=\"%u\" y=\"63\">%s</text>",
			kinds[i].class, x, x + 16, kinds[i].text);
		x += 16 + (unsigned)strlen(kinds[i].text) * COLUMN_TENTHS / 10 + 18;
	}
	fputs_unlocked("</g>\n", svg->out);
}

static void svg_put_narrow(struct svg *svg)
{
	fprintf(svg->out, "<text id=\"narrow\" class=\"end\" x=\"100%%\" dx=\"-10\" y=\"%u\">",
		svg->height - 9);
	svg_put_count(svg, svg->narrow);
	fprintf(svg->out, " frame%s too narrow to draw</text>\n", svg->narrow == 1 ? "" : "s");
}

/*
 * For CPU time and off-CPU time together, it shows where the time of the
 * threads went.
 */
static char *headline(const struct svg *svg)
{
	struct waiting_quality sums;

	if (svg->beside != svg->event && waiting_sums(svg->profile, &sums))
		return waiting_text(&sums);
	return quality_event_headline(svg->profile, svg->event);
}

static void put_subtitle(struct svg *svg)
{
	CLEANUP(free_ptr) char *quality = headline(svg);

	fprintf(svg->out, "<text id=\"subtitle\" x=\"%d\" y=\"43\">", MARGIN);
	svg_put_text(svg, quality);
	fputs_unlocked("</text>\n", svg->out);
}

/*
 * Writes the header: what was recorded, and its quality. Long titles keep
 * their start.
 */
static void svg_put_heading(struct svg *svg)
{
	CLEANUP(free_ptr) char *title = title_of(svg->profile);
	size_t columns = 0;
	const char *end = title;

	for (; *end && columns < TITLE_COLUMNS; columns++)
		while ((*++end & 0xc0) == 0x80)
			continue;
	CLEANUP(free_ptr) char *shown = xstrndup(title, (size_t)(end - title));

	fprintf(svg->out, "<text id=\"title\" x=\"%d\" y=\"25\">", MARGIN);
	svg_put_text(svg, *shown ? shown : "Flame graph");
	fprintf(svg->out, "%s</text>\n", *end ? "…" : "");
	put_subtitle(svg);
}

/* Returns an errno. */
static int put_head(struct svg *svg)
{
	int error;

	fprintf(svg->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\">\n<style>\n",
		WIDTH, svg->height, WIDTH, svg->height);
	error = EMBEDDED_WRITE(svg_style, svg->out);
	fputs("</style>\n<rect id=\"paper\" width=\"100%\" height=\"100%\"/>\n", svg->out);
	svg_put_heading(svg);
	fprintf(svg->out,
		"<text id=\"details\" x=\"%d\" y=\"43\"></text>\n"
		"<text id=\"reset\" class=\"button hidden\" x=\"%d\" y=\"%d\">reset zoom</text>\n"
		"<text id=\"matched\" y=\"%d\"></text>\n",
		MARGIN, MARGIN, HEAD + 12, HEAD + 12);
	return error;
}

static void svg_deinit(struct svg *svg)
{
	call_tree_deinit(&svg->tree);
	display_labels_deinit(&svg->labels);
	process_names_deinit(&svg->processes);
	free(svg->starts);
	free(svg->widths);
}

/*
 * Returns what samples count. A file without numbers of samples has only
 * weights: "bytes", "objects", "contentions". Returns NULL for off-CPU time,
 * because the number of waits is not informative.
 */
static const char *counted(const struct profile *profile, event_id id)
{
	const struct profile_event *event;
	event_id waiting;

	if (waiting_event(profile, &waiting) && id == waiting)
		return NULL;
	if (!profile_event_count(profile) || !profile_get_event(profile, id)->one_value)
		return "samples";
	event = profile_get_event(profile, id);
	return value_is_time(event->kind) || event->kind == VALUE_BYTES
		       ? profile_event_unit(profile, id)
		       : value_words(event->kind, profile_string(profile, event->name));
}

static struct error *svg_write(const struct profile *profile, const struct format_options *options,
			       FILE *out)
{
	event_id beside = format_event_beside(profile, options);
	CLEANUP(svg_deinit)
	struct svg svg = {.out = out,
			  .profile = profile,
			  .event = options->event,
			  .names = options->names,
			  .beside = beside,
			  .counted = counted(profile, beside)};

	int error;

	lay_out(&svg);
	error = put_head(&svg);
	svg_put_legend(&svg);
	if (svg.all)
		svg_put_frames(&svg);
	else
		fprintf(out,
			"<text x=\"%d\" y=\"%d\">No samples: there is nothing to draw.</text>\n",
			MARGIN, HEAD);
	if (svg.narrow)
		svg_put_narrow(&svg);
	fputs("<script><![CDATA[\n", out);
	if (svg.all && !error)
		error = EMBEDDED_WRITE(svg_script, out);
	fputs("]]></script>\n</svg>\n", out);
	if ((fflush(out) || ferror(out)) && !error)
		error = errno;
	if (error)
		return error_errno(error, "write the flame graph");
	return NULL;
}

const struct format format_svg = {
	.name = "svg",
	.extensions = (const char *const[]){".svg", NULL},
	.summary = "flame graph for browsers, e-mail and wikis",
	.viewer = "xdg-open FILE",
	.write = svg_write,
	.media_type = "image/svg+xml",
};
