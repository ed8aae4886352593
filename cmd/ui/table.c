#include "cmd/ui/table.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "report/shorten.h"

#include <string.h>

char *table_name(const char *name, size_t columns)
{
	CLEANUP(free_ptr) char *text = printable(name);

	return shorten(text, columns);
}

void table_padding(const struct table_writer *writer, size_t from, size_t to)
{
	fprintf(writer->out, "%*s", from < to ? (int)(to - from) : 0, "");
}

void table_share(const struct table_writer *writer, uint64_t weight)
{
	uint64_t all = writer->view->stacks[STACK_EMPTY].total.weight;
	CLEANUP(free_ptr)
	char *text = xasprintf("%*s", SHARE_COLUMNS, humanize_share(weight, all).text);

	table_styled(writer, style_of_share(weight, all), text);
}

void table_styled(const struct table_writer *writer, enum style style, const char *text)
{
	if (style == STYLE_PLAIN)
		fputs(text, writer->out);
	else
		fprintf(writer->out, "%s%s%s", pager_sequence(writer->pager, style), text,
			pager_sequence(writer->pager, STYLE_PLAIN));
}

enum style table_style_of_label(const struct table_writer *writer, uint32_t label)
{
	const struct display_labels *labels = &writer->view->labels;

	if (labels->items[label].is_address)
		return STYLE_FAINT;
	switch (display_labels_kind(labels, label)) {
	case PROFILE_MODULE_KERNEL:
		return STYLE_KERNEL;
	case PROFILE_MODULE_JIT:
		return STYLE_JIT;
	case PROFILE_MODULE_INTERPRETED:
		return STYLE_INTERPRETED;
	case PROFILE_MODULE_SYNTHETIC:
		return STYLE_FAINT;
	default:
		return STYLE_PLAIN;
	}
}
