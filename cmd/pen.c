#include "cmd/pen.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/figure.h"
#include "report/shorten.h"
#include "report/words.h"

#include <string.h>
#include <time.h>

static const char *text_of(const struct pen *pen, string_id id)
{
	return profile_string(pen->view->profile, id);
}

char *pen_name(const char *name, size_t columns)
{
	CLEANUP(free_ptr) char *text = printable(name);

	return shorten(text, columns);
}

void pen_padding(const struct pen *pen, size_t from, size_t to)
{
	fprintf(pen->out, "%*s", from < to ? (int)(to - from) : 0, "");
}

void pen_share(const struct pen *pen, uint64_t weight)
{
	uint64_t all = pen->view->stacks[STACK_EMPTY].total.weight;
	double share = all ? (double)weight / (double)all : 0;
	enum screen_style heat = share >= 0.1	 ? STYLE_HOT
				 : share >= 0.02 ? STYLE_WARM
						 : STYLE_PLAIN;
	CLEANUP(free_ptr)
	char *text = xasprintf("%*s", SHARE_COLUMNS, figure_share(weight, all).text);

	pen_styled(pen, heat, text);
}

void pen_styled(const struct pen *pen, enum screen_style style, const char *text)
{
	if (style == STYLE_PLAIN)
		fputs(text, pen->out);
	else
		fprintf(pen->out, "%s%s%s", screen_style(pen->screen, style), text,
			screen_style(pen->screen, STYLE_PLAIN));
}

const char *pen_module_name(const struct pen *pen, uint32_t id)
{
	return words_of_module(pen->view->profile, id);
}

enum screen_style pen_style_of_label(const struct pen *pen, uint32_t label)
{
	const struct labels *labels = &pen->view->labels;

	if (labels->items[label].is_address)
		return STYLE_FAINT;
	switch (labels_kind(labels, label)) {
	case PROFILE_MODULE_KERNEL:
		return STYLE_KERNEL;
	case PROFILE_MODULE_JIT:
		return STYLE_JIT;
	case PROFILE_MODULE_NOTE:
		return STYLE_FAINT;
	default:
		return STYLE_PLAIN;
	}
}

/* Made printable. */
static void put_line(const struct pen *pen, const char *text)
{
	CLEANUP(free_ptr) char *line = printable(text);

	fprintf(pen->out, "%s\n", line);
}

static void put_time(const struct pen *pen)
{
	const struct profile_info *info = profile_get_info(pen->view->profile);
	time_t seconds = (time_t)(info->start_unix_ns / 1000000000);
	char when[32] = "";
	struct tm local;
	CLEANUP(free_ptr) char *text = NULL;

	if (info->start_unix_ns && localtime_r(&seconds, &local))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &local);
	if (!*when && !info->duration_ns)
		return;
	text = xasprintf("%s%s%s%s%s", when, info->duration_ns ? (*when ? ", for " : "for ") : "",
			 info->duration_ns ? figure_time(info->duration_ns).text : "",
			 *info->host ? ", on " : "", info->host);
	put_line(pen, text);
}

static struct figure figure_weight(const struct pen *pen, const struct profile_event *event,
				   uint64_t weight)
{
	if (event->counts_ns || !strcmp(text_of(pen, event->unit), "nanoseconds"))
		return figure_time(weight);
	if (!strcmp(text_of(pen, event->unit), "bytes"))
		return figure_bytes(weight);
	return figure_count(weight);
}

static void put_event(const struct pen *pen, event_id id)
{
	const struct profile_event *event = profile_get_event(pen->view->profile, id);
	struct sum sum = view_event_sum(pen->view->profile, id);
	bool is_alone = profile_event_count(pen->view->profile) == 1;
	const char *mark = is_alone ? "" : id == pen->view->event ? "> " : "  ";
	struct figure weight = figure_weight(pen, event, sum.weight);
	CLEANUP(free_ptr) char *text = NULL;

	if (event->one_value)
		text = xasprintf("%s%s: %s", mark, text_of(pen, event->name), weight.text);
	else
		text = xasprintf("%s%s: %s samples, %s%s", mark, text_of(pen, event->name),
				 figure_count(sum.samples).text, weight.text,
				 event->counts_ns ? " of CPU time" : "");
	put_line(pen, text);
}

static void put_selection(const struct pen *pen)
{
	struct sum all = view_event_sum(pen->view->profile, pen->view->event);
	struct sum selected = pen->view->stacks[STACK_EMPTY].total;

	fprintf(pen->out, "selected: %s samples, %s of all: shares are of these\n",
		figure_count(selected.samples).text,
		figure_share(selected.weight, all.weight).text);
}

void pen_header(const struct pen *pen, const char *path, const struct selection_options *selection)
{
	const struct profile *profile = pen->view->profile;
	const struct profile_info *info = profile_get_info(profile);
	CLEANUP(free_ptr)
	char *title = xasprintf("%s%s%s", path, *info->command ? ": " : "", info->command);
	CLEANUP(free_ptr) char *line = printable(title);

	pen_styled(pen, STYLE_HEADING, line);
	fputc('\n', pen->out);
	put_time(pen);
	if (*info->quality)
		put_line(pen, info->quality);
	for (event_id i = 0; i < profile_event_count(profile); i++)
		put_event(pen, i);
	if (selection_is_part(selection))
		put_selection(pen);
}
