#include "cmd/top/top_source.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "base/text.h"
#include "cmd/annotate/annotate.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXT_LINES = 5 };

struct top_source {
	struct annotate_options options;
	struct module_code *code; /* does not change at most updates */
	struct error *refusal;	  /* why the code cannot be shown */
	char **lines;
	size_t count, room;
};

struct top_source *top_source_new(const char *name, const struct symbol_options *symbols)
{
	struct top_source *source = xcalloc(1, sizeof(*source));

	source->options = (struct annotate_options){
		.function = name,
		.input.symbols = *symbols,
		.shows_code = true,
		.context = CONTEXT_LINES,
	};
	return source;
}

static void forget_lines(struct top_source *source)
{
	while (source->count)
		free(source->lines[--source->count]);
}

void top_source_free(struct top_source *source)
{
	if (!source)
		return;
	forget_lines(source);
	free(source->lines);
	error_free(source->refusal);
	module_code_free(source->code);
	free(source);
}

static void top_source_add_line(struct top_source *source, const char *text)
{
	GROW(source->lines, source->count, source->room);
	source->lines[source->count++] = xstrdup(text);
}

static void top_source_add_lines(struct top_source *source, char *text)
{
	char *line;

	/* The first line is empty, because the header of a report precedes it. */
	text += *text == '\n';
	while ((line = strsep(&text, "\n")))
		if (text || *line)
			top_source_add_line(source, line);
}

static void add_refusal(struct top_source *source)
{
	CLEANUP(free_ptr) char *text = printable(error_text(source->refusal));

	top_source_add_line(source, "");
	top_source_add_line(source, text);
}

/* The choice of the hottest function does not matter for its lines, only for
 * where they start. */
static void top_source_choose(struct annotation *annotation, const bool *chosen)
{
	uint32_t count = annotation->view.labels.count;

	annotation->chosen = xcalloc(count, sizeof(*chosen));
	for (uint32_t i = 0; i < count; i++) {
		if (!chosen[i])
			continue;
		annotation->chosen[i] = true;
		annotation->label = i;
		annotation->instances = 1;
	}
}

static void write_annotation(struct top_source *source, struct annotation *annotation,
			     size_t columns)
{
	struct pager pager = {.columns = (unsigned)columns};
	struct table_writer writer = {.pager = &pager, .view = &annotation->view};

	writer.out = pager.out = open_memstream(&pager.text, &pager.len);
	annotate_source(annotation, &writer);
	if (!source->refusal) {
		annotation->code = source->code;
		source->refusal = annotation_read_code(annotation);
		source->code = annotation->code;
	}
	annotate_code(annotation, &writer);
	fflush(writer.out);
	top_source_add_lines(source, pager.text);
	if (source->refusal)
		add_refusal(source);
	pager_close(&pager);
}

void top_source_update(struct top_source *source, const struct view *view, const bool *chosen,
		       size_t columns)
{
	struct annotation annotation = {
		.options = &source->options, .profile = view->profile, .view = *view};

	forget_lines(source);
	top_source_choose(&annotation, chosen);
	function_sums_init(&annotation.sums, view, annotation.chosen);
	if (annotation.sums.all.total.weight)
		write_annotation(source, &annotation, columns);
	annotation_deinit(&annotation);
}

size_t top_source_count(const struct top_source *source)
{
	return source->count;
}

/* Returns the share in percent at the start of a line of code with samples, or
 * 0 if the line has none. */
static double share_at(const struct top_source *source, size_t index)
{
	char *end;
	double share = strtod(source->lines[index], &end);

	return end == source->lines[index] + SHARE_COLUMNS - strlen(" %") && text_begins(end, " %")
		       ? share
		       : 0;
}

void top_source_line(const struct top_source *source, size_t index, struct top_line *ret)
{
	*ret = (struct top_line){
		.text = xstrdup(source->lines[index]),
		.heat = style_of_share((uint64_t)(share_at(source, index) * 10), 1000),
	};
	if (strlen(ret->text) > TOP_SHARES_COLUMNS)
		ret->names_at = ret->names_column = TOP_SHARES_COLUMNS;
}

size_t top_source_hottest(const struct top_source *source)
{
	size_t hottest = 0;

	for (size_t i = 0; i < source->count; i++)
		if (share_at(source, i) > share_at(source, hottest))
			hottest = i;
	return hottest;
}
