#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "cmd/annotate/annotate.h"
#include "cmd/annotate/source_text.h"
#include "profile/source_users.h"

#include <inttypes.h>
#include <string.h>

enum {
	LINE_COLUMNS = 6,
	ADDRESS_COLUMNS = 8,
	CODE_COLUMNS = 50,	  /* width of an instruction that is followed by its place */
	ANNOTATE_LEAST_NAME = 16, /* names are omitted if they would get fewer columns */
	/* a line is shown with context if it has 1/200 of the function's
	 * samples */
	LEAST_SHARE = 200,
};

static bool annotate_text_matters(const struct annotation *annotation, struct tally sum)
{
	return sum.total.weight &&
	       sum.total.weight >= annotation->sums.all.total.weight / LEAST_SHARE;
}

static void put_sum(const struct table_writer *writer, struct tally sum)
{
	if (sum.self.weight)
		table_share(writer, sum.self.weight);
	else
		table_padding(writer, 0, SHARE_COLUMNS);
	fputc(' ', writer->out);
	if (sum.total.weight)
		table_share(writer, sum.total.weight);
	else
		table_padding(writer, 0, SHARE_COLUMNS);
	fputs("  ", writer->out);
}

/* Returns text in printable form, cut off at `columns`. The caller frees it. */
static char *clipped(const char *text, size_t columns)
{
	char *line = printable(text);
	size_t end = strlen(line);
	bool is_whole = printable_columns(line) <= columns;

	while (!is_whole && end && printable_columns(line) + 1 > columns) {
		/* Removes the last character. */
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

/* Expands tabs to eight columns. */
static char *without_tabs(const char *text, size_t columns)
{
	char *expanded = NULL;
	size_t len, column = 0;
	FILE *out = open_memstream(&expanded, &len);

	/* Lines can be very long: expand only a little more than fits. */
	for (; *text && column < 8 * columns; text++) {
		do
			fputc(*text == '\t' ? ' ' : *text, out);
		while (++column % 8 && *text == '\t');
	}
	fclose(out);
	return expanded;
}

static void annotate_text_put_text(const struct table_writer *writer, const char *text, size_t used)
{
	size_t room = writer->pager->columns > used ? writer->pager->columns - used : 1;
	CLEANUP(free_ptr) char *expanded = without_tabs(text, room);
	CLEANUP(free_ptr) char *line = clipped(expanded, room);

	fputs(line, writer->out);
}

static const struct line_sum *annotate_text_find_line(const struct line_sum *lines, uint32_t count,
						      uint32_t number)
{
	for (uint32_t i = 0; i < count; i++)
		if (lines[i].line == number)
			return &lines[i];
	return NULL;
}

static void annotate_text_put_line(const struct table_writer *writer, const struct line_sum *known,
				   uint32_t number, const char *text)
{
	put_sum(writer, known ? known->sum : (struct tally){0});
	fprintf(writer->out, "%s%*" PRIu32 "%s", pager_sequence(writer->pager, STYLE_FAINT),
		LINE_COLUMNS, number, pager_sequence(writer->pager, STYLE_PLAIN));
	if (text && *text) {
		fputs("  ", writer->out);
		annotate_text_put_text(writer, text, 2 * SHARE_COLUMNS + 3 + LINE_COLUMNS + 2);
	}
	fputc('\n', writer->out);
}

static void put_gap(const struct table_writer *writer)
{
	table_padding(writer, 0, 2 * SHARE_COLUMNS + 3 + LINE_COLUMNS - 1);
	table_styled(writer, STYLE_FAINT, "…\n");
}

/* Returns true for the first line, and if a line that matters is within the
 * context of this one. */
static bool is_near(const struct annotation *annotation, const struct line_sum *lines,
		    uint32_t count, uint32_t number, uint32_t start)
{
	uint64_t context = annotation->options->context;

	if (number == start)
		return true;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t apart = number > lines[i].line ? number - lines[i].line
							: lines[i].line - number;

		if (lines[i].line && apart <= context &&
		    annotate_text_matters(annotation, lines[i].sum))
			return true;
		if (lines[i].line == number)
			return true;
	}
	return false;
}

static void annotate_text_put_source(const struct annotation *annotation,
				     const struct table_writer *writer,
				     const struct source_text *text, const struct line_sum *lines,
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
			annotate_text_put_line(writer,
					       annotate_text_find_line(lines, count, number),
					       number, source_text_line(text, number));
		else if (was_shown)
			put_gap(writer);
		was_shown = is_shown;
	}
}

static void put_numbers(const struct table_writer *writer, const struct line_sum *lines,
			uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		annotate_text_put_line(writer, &lines[i], lines[i].line,
				       lines[i].line ? "" : "(line unknown)");
}

static struct error *download_source(const struct annotation *annotation, const char *path,
				     struct source_text *text)
{
	const struct profile *profile = annotation->profile;
	uint32_t module = annotation->view.labels.items[annotation->label].module;
	int fd = -1;

	if (annotation->downloads && module < profile_module_count(profile))
		fd = source_download(
			annotation->downloads,
			profile_string(profile, profile_get_module(profile, module)->build_id),
			path);
	return fd < 0 ? error_new("no server has it") : source_text_read_download(fd, path, text);
}

/* Returns the reason why the source is not on this machine. */
static struct error *read_source(const struct annotation *annotation,
				 const struct source_users *users, string_id file,
				 struct source_text *text)
{
	const char *path = profile_string(annotation->profile, file);
	struct error *err, *err_download;

	if (!*path)
		return error_new("its source is unknown");
	err = source_text_read(path, annotation->options->source_dir, source_users_get(users, file),
			       text);
	if (!err)
		return NULL;
	err_download = download_source(annotation, path, text);
	if (err_download) {
		error_free(err_download);
		return err;
	}
	error_free(err);
	return NULL;
}

static void annotate_text_put_file(const struct annotation *annotation,
				   const struct table_writer *writer,
				   const struct source_users *users, const struct line_sum *lines,
				   uint32_t count)
{
	uint64_t recorded_ns = profile_get_info(annotation->profile)->start_unix_ns;
	CLEANUP(source_text_deinit) struct source_text text = {0};
	CLEANUP(error_cleanup)
	struct error *err = read_source(annotation, users, lines[0].file, &text);
	CLEANUP(free_ptr)
	char *title = xasprintf("%s%s", err ? error_text(err) : text.path,
				!err && recorded_ns && text.changed_unix_ns > recorded_ns
					? " (changed since it was recorded)"
					: "");
	CLEANUP(free_ptr) char *line = printable(title);

	fprintf(writer->out, "\n%s%*s %*s  %*s  %s%s\n",
		pager_sequence(writer->pager, STYLE_HEADING), SHARE_COLUMNS, "self", SHARE_COLUMNS,
		"total", LINE_COLUMNS, "line", line, pager_sequence(writer->pager, STYLE_PLAIN));
	/* The sum of samples without a line comes first. */
	if (!err && !lines[0].line) {
		annotate_text_put_line(writer, &lines[0], 0, "(line unknown)");
		lines++;
		count--;
	}
	if (err)
		put_numbers(writer, lines, count);
	else if (count)
		annotate_text_put_source(annotation, writer, &text, lines, count);
}

static void annotate_text_put_function(const struct annotation *annotation,
				       const struct table_writer *writer)
{
	const struct label *label = &annotation->view.labels.items[annotation->label];
	uint64_t all = annotation->view.stacks[STACK_EMPTY].total.weight;
	CLEANUP(free_ptr) char *name = table_name(label->shown, writer->pager->columns);
	CLEANUP(free_ptr)
	char *module = printable(display_module_name(writer->view->profile, label->module));

	fputc('\n', writer->out);
	table_styled(writer, STYLE_HEADING, name);
	if (annotation->instances > 1)
		fprintf(writer->out, " (and %" PRIu32 " more of the same source)",
			annotation->instances - 1);
	fprintf(writer->out, "%s%s: self %s, total %s\n", *module ? " in " : "", module,
		humanize_share(annotation->sums.all.self.weight, all).text,
		humanize_share(annotation->sums.all.total.weight, all).text);
}

static bool annotate_text_has_lines(const struct function_sums *sums)
{
	for (uint32_t i = 0; i < sums->line_count; i++)
		if (sums->lines[i].line)
			return true;
	return false;
}

void annotate_source(const struct annotation *annotation, const struct table_writer *writer)
{
	const struct function_sums *sums = &annotation->sums;
	CLEANUP(source_users_cleanup)
	struct source_users *users = source_users_new(annotation->profile);
	uint32_t next;

	annotate_text_put_function(annotation, writer);
	if (!annotate_text_has_lines(sums)) {
		fprintf(writer->out, "its source is unknown%s\n",
			annotation->options->shows_code ? "" : "; --asm shows the instructions");
		return;
	}
	for (uint32_t i = 0; i < sums->line_count; i = next) {
		struct sum sum = {0};

		for (next = i;
		     next < sums->line_count && sums->lines[next].file == sums->lines[i].file;
		     next++)
			sum_add(&sum, sums->lines[next].sum.total);
		if (sum.weight)
			annotate_text_put_file(annotation, writer, users, &sums->lines[i],
					       next - i);
	}
}

static const char *innermost_name(const struct display_labels *labels, frame_id frame)
{
	const struct labelled_line *line = &labels->lines[labels->first_line[frame + 1] - 1];

	return labels->items[line->label].shown;
}

/* Returns the place of an instruction: its source line and the function that is
 * inlined there. The caller frees it. */
static char *annotate_text_origin_of(const struct annotation *annotation,
				     const struct annotated_code *piece, size_t i, size_t columns)
{
	const struct profile *profile = annotation->profile;
	CLEANUP(free_ptr) char *file = NULL;
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
	file = printable(basename(profile_string(profile, function->file)));
	place = xasprintf("%s:%" PRIu32, file, frame.lines[0].line);
	if (frame.line_count == 1 || printable_columns(place) + ANNOTATE_LEAST_NAME > columns)
		return clipped(place, columns);
	name = table_name(innermost_name(&annotation->view.labels, piece->frames[i]),
			  columns - printable_columns(place) - 1);
	return xasprintf("%s %s", place, name);
}

/* Returns "call 0x1040 <malloc@plt>". The caller frees it. */
static char *text_of_instruction(const struct listed_instruction *instruction, size_t columns)
{
	const char *operands = strchr(instruction->text, '\t');
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(free_ptr) char *name = NULL;
	size_t used;

	if (!operands)
		return clipped(instruction->text, columns);
	text = xasprintf("%-7.*s %s", (int)(operands - instruction->text), instruction->text,
			 operands + 1);
	used = printable_columns(text) + strlen(" <>");
	if (!*instruction->target || used + ANNOTATE_LEAST_NAME > columns)
		return clipped(text, columns);
	name = table_name(instruction->target, columns - used);
	return xasprintf("%s <%s>", text, name);
}

static void annotate_text_put_instruction(const struct annotation *annotation,
					  const struct table_writer *writer,
					  const struct annotated_code *piece, size_t i)
{
	const struct listed_instruction *instruction = &piece->function->items[i];
	size_t room = writer->pager->columns - (2 * SHARE_COLUMNS + 3 + ADDRESS_COLUMNS + 2);
	size_t text_room = room > CODE_COLUMNS + ANNOTATE_LEAST_NAME ? CODE_COLUMNS : room;
	CLEANUP(free_ptr) char *text = text_of_instruction(instruction, text_room);

	put_sum(writer, piece->sums[i]);
	fprintf(writer->out, "%s%*" PRIx64 "%s  %s", pager_sequence(writer->pager, STYLE_FAINT),
		ADDRESS_COLUMNS, instruction->vaddr, pager_sequence(writer->pager, STYLE_PLAIN),
		text);
	if (text_room < room && piece->has_frame[i]) {
		CLEANUP(free_ptr)
		char *origin = annotate_text_origin_of(annotation, piece, i, room - text_room - 2);

		table_padding(writer, printable_columns(text), text_room + 2);
		table_styled(writer, STYLE_FAINT, origin);
	}
	fputc('\n', writer->out);
}

static bool is_near_instruction(const struct annotation *annotation,
				const struct annotated_code *piece, size_t i)
{
	size_t context = annotation->options->context;
	size_t first = i > context ? i - context : 0;

	if (!i || piece->sums[i].total.weight)
		return true;
	for (size_t j = first; j < piece->function->count && j <= i + context; j++)
		if (annotate_text_matters(annotation, piece->sums[j]))
			return true;
	return false;
}

static void put_piece(const struct annotation *annotation, const struct table_writer *writer,
		      const struct annotated_code *piece)
{
	CLEANUP(free_ptr) char *path = printable(annotation->code->path);
	bool was_shown = true;

	fprintf(writer->out, "\n%s%*s %*s  %8s  %s%s\n",
		pager_sequence(writer->pager, STYLE_HEADING), SHARE_COLUMNS, "self", SHARE_COLUMNS,
		"total", "address", path, pager_sequence(writer->pager, STYLE_PLAIN));
	for (size_t i = 0; i < piece->function->count; i++) {
		bool is_shown = is_near_instruction(annotation, piece, i);

		if (is_shown)
			annotate_text_put_instruction(annotation, writer, piece, i);
		else if (was_shown)
			put_gap(writer);
		was_shown = is_shown;
	}
}

void annotate_code(const struct annotation *annotation, const struct table_writer *writer)
{
	for (size_t i = 0; i < annotation->piece_count; i++)
		put_piece(annotation, writer, &annotation->pieces[i]);
}
