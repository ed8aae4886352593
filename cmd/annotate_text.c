#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/annotate.h"
#include "cmd/figure.h"
#include "cmd/source_text.h"
#include "symbol/demangle.h"

#include <inttypes.h>
#include <string.h>

enum {
	LINE_COLUMNS = 6,
	ADDRESS_COLUMNS = 8,
	CODE_COLUMNS = 50, /* of an instruction, where something stands behind it */
	LEAST_NAME = 16,   /* columns without which there is no use for a name */
	LEAST_SHARE =
		200, /* of the function that a line has, and more, is worth its surroundings */
};

static bool matters(const struct annotation *annotation, struct tally sum)
{
	return sum.total.weight &&
	       sum.total.weight >= annotation->listing.all.total.weight / LEAST_SHARE;
}

static void put_sum(const struct pen *pen, struct tally sum)
{
	if (sum.self.weight)
		pen_share(pen, sum.self.weight);
	else
		pen_padding(pen, 0, SHARE_COLUMNS);
	fputc(' ', pen->out);
	if (sum.total.weight)
		pen_share(pen, sum.total.weight);
	else
		pen_padding(pen, 0, SHARE_COLUMNS);
	fputs("  ", pen->out);
}

/* Printable, and no wider than there is room; to be freed. */
static char *clipped(const char *text, size_t columns)
{
	char *line = printable(text);
	size_t end = strlen(line);
	bool is_whole = printable_columns(line) <= columns;

	while (!is_whole && end && printable_columns(line) + 1 > columns) {
		/* From the end, a whole character. */
		do
			end--;
		while (end && (line[end] & 0xc0) == 0x80);
		line[end] = '\0';
	}
	if (!is_whole) {
		char *marked = xasprintf("%s…", line);

		free(line);
		line = marked;
	}
	return line;
}

/* A tab is eight columns in sources. */
static char *without_tabs(const char *text, size_t columns)
{
	char *expanded = NULL;
	size_t len, column = 0;
	FILE *out = open_memstream(&expanded, &len);

	/* More than fits does no harm, but lines may be of any length. */
	for (; *text && column < 8 * columns; text++) {
		do
			fputc(*text == '\t' ? ' ' : *text, out);
		while (++column % 8 && *text == '\t');
	}
	fclose(out);
	return expanded;
}

static void put_text(const struct pen *pen, const char *text, size_t used)
{
	size_t room = pen->screen->columns > used ? pen->screen->columns - used : 1;
	CLEANUP(free_ptr) char *expanded = without_tabs(text, room);
	CLEANUP(free_ptr) char *line = clipped(expanded, room);

	fputs(line, pen->out);
}

static const struct listing_line *find_line(const struct listing_line *lines, uint32_t count,
					    uint32_t number)
{
	for (uint32_t i = 0; i < count; i++)
		if (lines[i].line == number)
			return &lines[i];
	return NULL;
}

static void put_line(const struct pen *pen, const struct listing_line *known, uint32_t number,
		     const char *text)
{
	put_sum(pen, known ? known->sum : (struct tally){0});
	fprintf(pen->out, "%s%*" PRIu32 "%s", screen_style(pen->screen, STYLE_FAINT), LINE_COLUMNS,
		number, screen_style(pen->screen, STYLE_PLAIN));
	if (text && *text) {
		fputs("  ", pen->out);
		put_text(pen, text, 2 * SHARE_COLUMNS + 3 + LINE_COLUMNS + 2);
	}
	fputc('\n', pen->out);
}

static void put_gap(const struct pen *pen)
{
	pen_padding(pen, 0, 2 * SHARE_COLUMNS + 3 + LINE_COLUMNS - 1);
	pen_styled(pen, STYLE_FAINT, "…\n");
}

/* Is a line that matters within the context of this one? The first of the function always is. */
static bool is_near(const struct annotation *annotation, const struct listing_line *lines,
		    uint32_t count, uint32_t number, uint32_t start)
{
	uint64_t context = annotation->options->context;

	if (number == start)
		return true;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t apart = number > lines[i].line ? number - lines[i].line
							: lines[i].line - number;

		if (lines[i].line && apart <= context && matters(annotation, lines[i].sum))
			return true;
		if (lines[i].line == number)
			return true;
	}
	return false;
}

static void put_source(const struct annotation *annotation, const struct pen *pen,
		       const struct source_text *text, const struct listing_line *lines,
		       uint32_t count)
{
	uint32_t start = annotation->view.labels.items[annotation->label].start_line;
	uint32_t first = start && start < lines[0].line ? start : lines[0].line;
	uint64_t end = (uint64_t)lines[count - 1].line + annotation->options->context;
	bool was_shown = true;

	first = first > annotation->options->context
			? first - (uint32_t)annotation->options->context
			: 1;
	if (start && first < start && lines[0].line >= start)
		first = start;
	for (uint32_t number = first; number <= end && number <= text->count; number++) {
		bool is_shown = is_near(annotation, lines, count, number, start);

		if (is_shown)
			put_line(pen, find_line(lines, count, number), number,
				 source_text_line(text, number));
		else if (was_shown)
			put_gap(pen);
		was_shown = is_shown;
	}
}

static void put_numbers(const struct pen *pen, const struct listing_line *lines, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		put_line(pen, &lines[i], lines[i].line, lines[i].line ? "" : "(line unknown)");
}

static void put_file(const struct annotation *annotation, const struct pen *pen,
		     const struct listing_line *lines, uint32_t count)
{
	const char *path = profile_string(annotation->profile, lines[0].file);
	uint64_t recorded_ns = profile_get_info(annotation->profile)->start_unix_ns;
	CLEANUP(source_text_deinit) struct source_text text = {0};
	CLEANUP(error_cleanup)
	struct error *err = *path ? source_text_read(path, annotation->options->source_dir, &text)
				  : error_new("nothing is known of its source");
	CLEANUP(free_ptr)
	char *title = xasprintf("%s%s", err ? error_text(err) : text.path,
				!err && recorded_ns && text.changed_unix_ns > recorded_ns
					? " (changed since it was recorded)"
					: "");
	CLEANUP(free_ptr) char *line = printable(title);

	fprintf(pen->out, "\n%s%*s %*s  %*s  %s%s\n", screen_style(pen->screen, STYLE_HEADING),
		SHARE_COLUMNS, "self", SHARE_COLUMNS, "total", LINE_COLUMNS, "line", line,
		screen_style(pen->screen, STYLE_PLAIN));
	/* Of what has no line there is one, in front. */
	if (!err && !lines[0].line) {
		put_line(pen, &lines[0], 0, "(line unknown)");
		lines++;
		count--;
	}
	if (err)
		put_numbers(pen, lines, count);
	else if (count)
		put_source(annotation, pen, &text, lines, count);
}

static void put_function(const struct annotation *annotation, const struct pen *pen)
{
	const struct label *label = &annotation->view.labels.items[annotation->label];
	uint64_t all = annotation->view.stacks[STACK_EMPTY].total.weight;
	CLEANUP(free_ptr) char *name = pen_name(label->name, pen->screen->columns);

	fputc('\n', pen->out);
	pen_styled(pen, STYLE_HEADING, name);
	if (annotation->instances > 1)
		fprintf(pen->out, " (and %" PRIu32 " more of the same source)",
			annotation->instances - 1);
	fprintf(pen->out, " in %s: self %s, total %s\n", pen_module_name(pen, label->module),
		figure_share(annotation->listing.all.self.weight, all).text,
		figure_share(annotation->listing.all.total.weight, all).text);
}

static bool has_lines(const struct listing *listing)
{
	for (uint32_t i = 0; i < listing->line_count; i++)
		if (listing->lines[i].line)
			return true;
	return false;
}

void annotate_source(const struct annotation *annotation, const struct pen *pen)
{
	const struct listing *listing = &annotation->listing;
	uint32_t next;

	put_function(annotation, pen);
	if (!has_lines(listing)) {
		fprintf(pen->out, "nothing is known of its source%s\n",
			annotation->options->shows_code ? "" : "; --asm shows the instructions");
		return;
	}
	for (uint32_t i = 0; i < listing->line_count; i = next) {
		struct sum sum = {0};

		for (next = i; next < listing->line_count &&
			       listing->lines[next].file == listing->lines[i].file;
		     next++)
			sum_add(&sum, listing->lines[next].sum.total);
		if (sum.weight)
			put_file(annotation, pen, &listing->lines[i], next - i);
	}
}

/* What stands behind an instruction: the line it is of, and the function that is inlined there; to
 * be freed. */
static char *origin_of(const struct annotation *annotation, const struct annotated_code *piece,
		       size_t i, size_t columns)
{
	const struct profile *profile = annotation->profile;
	CLEANUP(free_ptr) char *place = NULL;
	CLEANUP(free_ptr) char *name = NULL;
	const struct profile_function *function;
	struct profile_frame frame;

	if (!piece->has_frame[i])
		return xstrdup("");
	frame = profile_get_frame(profile, piece->frames[i]);
	if (!frame.line_count || !frame.lines[0].line)
		return xstrdup("");
	function = profile_get_function(profile, frame.lines[0].function);
	place = xasprintf("%s:%" PRIu32, basename(profile_string(profile, function->file)),
			  frame.lines[0].line);
	if (frame.line_count == 1 || printable_columns(place) + LEAST_NAME > columns)
		return clipped(place, columns);
	name = pen_name(profile_string(profile, function->name),
			columns - printable_columns(place) - 1);
	return xasprintf("%s %s", place, name);
}

/* "call 0x1040 <malloc@plt>", to be freed. */
static char *text_of_instruction(const struct annotation *annotation,
				 const struct annotated_code *piece,
				 const struct instruction *instruction, size_t columns)
{
	const char *operands = strchr(instruction->text, '\t');
	struct code *code = (struct code *)&annotation->code;
	struct symbol target;
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(free_ptr) char *demangled = NULL;
	CLEANUP(free_ptr) char *name = NULL;
	size_t used;

	if (!operands)
		return clipped(instruction->text, columns);
	text = xasprintf("%-7.*s %s", (int)(operands - instruction->text), instruction->text,
			 operands + 1);
	used = printable_columns(text) + strlen(" <>");
	if (!instruction->target || !code_symbol(code, instruction->target, &target) ||
	    target.vaddr == piece->symbol.vaddr || used + LEAST_NAME > columns)
		return clipped(text, columns);
	demangled = demangle(target.name);
	name = pen_name(demangled ? demangled : target.name, columns - used);
	return xasprintf("%s <%s>", text, name);
}

static void put_instruction(const struct annotation *annotation, const struct pen *pen,
			    const struct annotated_code *piece, size_t i)
{
	const struct instruction *instruction = &piece->disassembly.items[i];
	size_t room = pen->screen->columns - (2 * SHARE_COLUMNS + 3 + ADDRESS_COLUMNS + 2);
	size_t text_room = room > CODE_COLUMNS + LEAST_NAME ? CODE_COLUMNS : room;
	CLEANUP(free_ptr)
	char *text = text_of_instruction(annotation, piece, instruction, text_room);

	put_sum(pen, piece->sums[i]);
	fprintf(pen->out, "%s%*" PRIx64 "%s  %s", screen_style(pen->screen, STYLE_FAINT),
		ADDRESS_COLUMNS, instruction->vaddr, screen_style(pen->screen, STYLE_PLAIN), text);
	if (text_room < room && piece->has_frame[i]) {
		CLEANUP(free_ptr)
		char *origin = origin_of(annotation, piece, i, room - text_room - 2);

		pen_padding(pen, printable_columns(text), text_room + 2);
		pen_styled(pen, STYLE_FAINT, origin);
	}
	fputc('\n', pen->out);
}

static bool is_near_instruction(const struct annotation *annotation,
				const struct annotated_code *piece, size_t i)
{
	size_t context = annotation->options->context;
	size_t first = i > context ? i - context : 0;

	if (!i || piece->sums[i].total.weight)
		return true;
	for (size_t j = first; j < piece->disassembly.count && j <= i + context; j++)
		if (matters(annotation, piece->sums[j]))
			return true;
	return false;
}

static void put_piece(const struct annotation *annotation, const struct pen *pen,
		      const struct annotated_code *piece)
{
	bool was_shown = true;

	fprintf(pen->out, "\n%s%*s %*s  %8s  %s%s\n", screen_style(pen->screen, STYLE_HEADING),
		SHARE_COLUMNS, "self", SHARE_COLUMNS, "total", "address",
		image_name(annotation->code.image), screen_style(pen->screen, STYLE_PLAIN));
	for (size_t i = 0; i < piece->disassembly.count; i++) {
		bool is_shown = is_near_instruction(annotation, piece, i);

		if (is_shown)
			put_instruction(annotation, pen, piece, i);
		else if (was_shown)
			put_gap(pen);
		was_shown = is_shown;
	}
}

void annotate_code(const struct annotation *annotation, const struct pen *pen)
{
	for (size_t i = 0; i < annotation->piece_count; i++)
		put_piece(annotation, pen, &annotation->pieces[i]);
}
