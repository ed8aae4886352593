#include "cmd/top/top_line.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "cmd/ui/bar.h"

#include <string.h>

enum {
	TOP_LINE_WIDE = 100, /* screens of this width have longer bars */
	GAP = 2,
	TOP_LINE_LEAST_NAME = 16,
};

void top_line_deinit(struct top_line *line)
{
	free(line->text);
}

struct top_columns top_columns_of(size_t columns, size_t module)
{
	struct top_columns ret = {.bar = columns < TOP_LINE_WIDE ? 6 : 10};
	size_t taken = TOP_SHARES_COLUMNS + GAP + ret.bar + GAP;

	if (module) {
		ret.module = module < columns / 5 ? module : columns / 5;
		taken += GAP + ret.module;
	}
	ret.name = columns > taken + TOP_LINE_LEAST_NAME ? columns - taken : TOP_LINE_LEAST_NAME;
	return ret;
}

char *top_line_heading(const struct top_columns *columns, const char *name, const char *detail)
{
	if (!columns->module)
		return xasprintf("%7s %8s  %*s  %s", "self", "total", (int)columns->bar, "", name);
	return xasprintf("%7s %8s  %*s  %-*s  %s", "self", "total", (int)columns->bar, "",
			 (int)columns->name, name, detail);
}

void top_line_init(struct top_line *line, const struct top_columns *columns,
		   const struct top_shares *shares, const char *names)
{
	CLEANUP(free_ptr) char *drawing = bar(shares->bar, shares->longest_bar, columns->bar);
	struct humanized self = humanize_share(shares->self.weight, shares->all);
	CLEANUP(free_ptr)
	char *left = xasprintf("%7s %8s  %s", shares->hides_self ? "" : self.text,
			       humanize_share(shares->total.weight, shares->all).text, drawing);

	*line = (struct top_line){
		.text = xasprintf("%s  %s", left, names),
		.names_at = (unsigned)strlen(left),
		.names_column = (unsigned)printable_columns(left),
		.heat = style_of_share(shares->bar, shares->all),
	};
}
