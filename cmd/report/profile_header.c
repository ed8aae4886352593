#include "cmd/report/profile_header.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "profile/cpu_records.h"
#include "report/memory_text.h"
#include "report/parallelism.h"
#include "report/quality_text.h"
#include "report/runtime_use.h"
#include "report/stat_text.h"
#include "report/title.h"
#include "report/waiting.h"

#include <string.h>

static const char *profile_header_text_of(const struct table_writer *writer, string_id id)
{
	return profile_string(writer->view->profile, id);
}

/* Prints a line of untrusted text. */
static void profile_header_put_line(const struct table_writer *writer, const char *text)
{
	CLEANUP(free_ptr) char *line = printable(text);

	fprintf(writer->out, "%s\n", line);
}

static void profile_header_put_time(const struct table_writer *writer)
{
	CLEANUP(free_ptr)
	char *text = title_recorded(profile_get_info(writer->view->profile), false);

	if (*text)
		profile_header_put_line(writer, text);
}

/* Returns the command that shows an event with a report of its own, or "". */
static const char *way_of(const struct table_writer *writer, event_id id)
{
	event_id branches;

	return id != writer->view->event &&
			       cpu_record_find(writer->view->profile, CPU_BRANCHES, &branches) &&
			       id == branches
		       ? ": prof report --branches"
		       : "";
}

static void profile_header_put_event(const struct table_writer *writer, event_id id)
{
	const struct profile_event *event = profile_get_event(writer->view->profile, id);
	struct sum sum = view_event_sum(writer->view->profile, id);
	bool is_alone = profile_event_count(writer->view->profile) == 1;
	const char *mark = is_alone ? "" : id == writer->view->event ? "> " : "  ";
	struct humanized weight = profile_humanize_weight(writer->view->profile, id, sum.weight);
	const char *name = profile_header_text_of(writer, event->name);
	const char *of = value_is_time(event->kind) ? " of " : "";
	const char *time = value_is_time(event->kind) ? value_words(event->kind, name) : "";
	CLEANUP(free_ptr) char *text = NULL;

	if (event->one_value)
		text = xasprintf("%s%s: %s%s%s%s", mark, name, weight.text, of, time,
				 way_of(writer, id));
	else
		text = xasprintf("%s%s: %s samples, %s%s%s%s", mark, name,
				 humanize_count(sum.samples).text, weight.text, of, time,
				 way_of(writer, id));
	profile_header_put_line(writer, text);
}

/* Prints bytes and objects of the same allocations on one line, named by the
 * event that is shown. */
static bool put_memory(const struct table_writer *writer, enum memory_event space)
{
	const struct profile *profile = writer->view->profile;
	enum memory_event shown = space;
	bool is_shown = memory_event_of(profile, writer->view->event, &shown) &&
			(shown == space || shown == space - 1);
	bool is_inuse = space == MEMORY_INUSE_SPACE;
	CLEANUP(free_ptr)
	char *sum = is_inuse ? memory_inuse_text(profile) : memory_allocated_text(profile);
	CLEANUP(free_ptr) char *text = NULL;

	if (!sum)
		return false;
	text = xasprintf("%s%s: %s%s", is_shown ? "> " : "  ",
			 memory_event_name(is_shown ? shown : space), sum,
			 is_inuse && !is_shown ? ": prof report --leaks" : "");
	profile_header_put_line(writer, text);
	return true;
}

/* Events that put_memory() prints on the line of another event have no line of
 * their own. */
static void profile_header_put_events(const struct table_writer *writer)
{
	const struct profile *profile = writer->view->profile;
	bool has_allocated = put_memory(writer, MEMORY_ALLOC_SPACE);
	bool has_inuse = put_memory(writer, MEMORY_INUSE_SPACE);
	enum memory_event which;

	for (event_id i = 0; i < profile_event_count(profile); i++)
		if (!memory_event_of(profile, i, &which) ||
		    !(which <= MEMORY_ALLOC_SPACE ? has_allocated : has_inuse))
			profile_header_put_event(writer, i);
}

/* Prints where the time of all threads went, whether selected or not. */
static void profile_header_put_waiting(const struct table_writer *writer)
{
	struct waiting_quality sums;
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(free_ptr) char *places = NULL;
	CLEANUP(free_ptr) char *left_out = NULL;

	if (!waiting_sums(writer->view->profile, &sums))
		return;
	text = waiting_text(&sums);
	profile_header_put_line(writer, text);
	places = waiting_places_text(&sums);
	if (places)
		profile_header_put_line(writer, places);
	left_out = waiting_left_out_text(&sums);
	if (left_out)
		profile_header_put_line(writer, left_out);
}

static void profile_header_put_parallelism(const struct table_writer *writer)
{
	CLEANUP(free_ptr) char *text = parallelism_text(writer->view->profile);

	if (text)
		profile_header_put_line(writer, text);
}

static void profile_header_put_stat(const struct table_writer *writer)
{
	CLEANUP(free_ptr) char *text = stat_line(profile_get_info(writer->view->profile));

	if (text)
		profile_header_put_line(writer, text);
}

static void profile_header_put_runtimes(const struct table_writer *writer)
{
	CLEANUP(free_ptr) char *text = runtime_use_text(writer->view->profile);

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		profile_header_put_line(writer, line);
}

/* Returns "85 samples", or "1.68 s" if samples are not counted. The caller
 * frees it. */
static char *selected_text(const struct table_writer *writer, struct sum selected)
{
	const struct profile *profile = writer->view->profile;
	event_id event = writer->view->event;

	if (!profile_counts_samples(profile, event))
		return xstrdup(profile_humanize_weight(profile, event, selected.weight).text);
	return xasprintf("%s samples", humanize_count(selected.samples).text);
}

static void put_selection(const struct table_writer *writer)
{
	struct sum all = view_event_sum(writer->view->profile, writer->view->event);
	struct sum selected = writer->view->stacks[STACK_EMPTY].total;
	CLEANUP(free_ptr) char *text = selected_text(writer, selected);

	fprintf(writer->out, "selected: %s, %s of all; shares are of these\n", text,
		humanize_share(selected.weight, all.weight).text);
}

void profile_header(const struct table_writer *writer, const char *path,
		    const struct selection_options *selection)
{
	const struct profile *profile = writer->view->profile;
	const struct profile_info *info = profile_get_info(profile);
	CLEANUP(free_ptr) char *title = title_of(profile);
	CLEANUP(free_ptr) char *heading = xasprintf("%s%s%s", path, *title ? ": " : "", title);
	CLEANUP(free_ptr) char *line = printable(heading);
	CLEANUP(free_ptr) char *quality = quality_headline(info);

	table_styled(writer, STYLE_HEADING, line);
	fputc('\n', writer->out);
	profile_header_put_time(writer);
	if (*quality && !quality_is_of_waiting(&info->quality))
		profile_header_put_line(writer, quality);
	profile_header_put_waiting(writer);
	profile_header_put_parallelism(writer);
	profile_header_put_stat(writer);
	profile_header_put_runtimes(writer);
	profile_header_put_events(writer);
	if (selection_is_part(selection))
		put_selection(writer);
}
