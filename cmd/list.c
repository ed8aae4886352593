/*
 * prof list: lists the events that can be sampled on this machine, what they
 * mean, and why others cannot be sampled.
 */
#include "base/alloc.h"
#include "base/json.h"
#include "base/printable.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/ui/message.h"
#include "cmd/ui/pager.h"
#include "inside/file.h"
#include "perf/event_list.h"
#include "perf/permissions.h"
#include "perf/tracepoint.h"

#include <fnmatch.h>
#include <string.h>

/* Events that prof itself implements follow the groups of the kernel. */
enum { EVENTS_OF_PROF = EVENTS_GROUPS, GROUPS };

static const struct {
	const char *name, *short_name; /* short_name: perf's short name, or NULL */
	const char *title;
} groups[GROUPS] = {
	[EVENTS_HARDWARE] = {"hardware", "hw", "Hardware events"},
	[EVENTS_SOFTWARE] = {"software", "sw", "Software events"},
	[EVENTS_CACHE] = {"cache", "hwcache", "Cache events"},
	[EVENTS_PMU] = {"pmu", NULL, "Events of PMUs"},
	[EVENTS_TRACEPOINT] = {"tracepoint", "tp", "Tracepoints"},
	[EVENTS_PROBE] = {"probe", "sdt", "Probes"},
	[EVENTS_OF_PROF] = {"prof", NULL, "Events of prof"},
};

static const struct {
	const char *name, *words;
} standings[] = {
	[EVENT_AVAILABLE] = {"available", "available"},
	[EVENT_NEEDS_ROOT] = {"needs-root", "needs root"},
	[EVENT_ABSENT] = {"absent", "not on this machine"},
};

enum { NAME_COLUMNS_MAX = 40, STANDING_COLUMNS = 19 /* "not on this machine" */ };

struct list_options {
	bool json, verbose;
	struct pager_options pager;
};

static const struct option_entry list_option_table[] = {
	OPTION_COMMON(OUTPUT, 'v', "verbose", NULL, "also list the fields of tracepoints",
		      option_true, offsetof(struct list_options, verbose)),
	OPTION_COMMON(OUTPUT, 0, "json", NULL, "print JSON; prof-list(1) describes the schema",
		      option_true, offsetof(struct list_options, json)),
	PAGER_ENTRIES(struct list_options, pager),
	{0},
};

struct list_listing {
	const struct list_options *options;
	const char *pattern; /* NULL for all events */
	struct event_list kernel;
	struct listed_event own[5]; /* prof's own events */
	size_t own_count;
};

static bool list_is_group(const char *word, int group)
{
	return !strcmp(word, groups[group].name) ||
	       (groups[group].short_name && !strcmp(word, groups[group].short_name));
}

static bool is_any_group(const char *word)
{
	for (int group = 0; group < GROUPS; group++)
		if (list_is_group(word, group))
			return true;
	return false;
}

/* pattern: the name of a group, a glob, or a part of the name. */
static bool list_matches(const char *pattern, int group, const char *name)
{
	if (!pattern)
		return true;
	if (is_any_group(pattern))
		return list_is_group(pattern, group);
	return strpbrk(pattern, "*?[") ? fnmatch(pattern, name, 0) == 0
				       : strstr(name, pattern) != NULL;
}

static bool wants(void *user, enum event_group group, const char *name)
{
	const struct list_listing *listing = user;

	return list_matches(listing->pattern, (int)group, name);
}

static void list_add_own(struct list_listing *listing, const char *name, const char *description,
			 enum event_standing standing)
{
	if (list_matches(listing->pattern, EVENTS_OF_PROF, name))
		listing->own[listing->own_count++] = (struct listed_event){
			.name = xstrdup(name),
			.description = xstrdup(description),
			.standing = standing,
		};
}

static bool has_library(void)
{
	CLEANUP(free_ptr) char *path = NULL;
	struct error *err = inside_library_path(&path);

	error_free(err);
	return !err;
}

static void add_all_own(struct list_listing *listing)
{
	struct permissions permissions;
	enum event_standing of_perf;

	permissions_probe(0, &permissions);
	of_perf = permissions.user ? EVENT_NEEDS_ROOT : EVENT_AVAILABLE;
	list_add_own(listing, "off-cpu",
		     "time that threads wait: --off-cpu, or --wall to sample the CPU, too",
		     of_perf);
	list_add_own(listing, "elapsed",
		     "time that has passed, shared among the threads that ran: --elapsed", of_perf);
	list_add_own(listing, "await", "where tokio tasks wait: --await", of_perf);
	list_add_own(listing, "alloc", "allocations and memory in use: --alloc",
		     has_library() ? EVENT_AVAILABLE : EVENT_ABSENT);
	list_add_own(listing, "growth", "where resident memory grows: --growth, or -e growth",
		     of_perf);
}

/* Returns the fields of a tracepoint. Returns NULL for other events, or if the
 * fields are not wanted. The caller frees them. */
static char *list_fields_of(const struct list_listing *listing, const struct listed_event *event)
{
	CLEANUP(tracepoint_format_deinit) struct tracepoint_format format = {0};
	struct error *err;

	if (!listing->options->verbose || event->group != EVENTS_TRACEPOINT)
		return NULL;
	err = tracepoint_read_format(event->name, NULL, &format);
	error_free(err);
	return err ? NULL : tracepoint_format_names(&format);
}

static int list_name_columns(const struct listed_event *events, size_t count)
{
	size_t columns = 0;

	for (size_t i = 0; i < count; i++)
		if (strlen(events[i].name) > columns)
			columns = strlen(events[i].name);
	return columns > NAME_COLUMNS_MAX ? NAME_COLUMNS_MAX : (int)columns;
}

static void print_event(const struct list_listing *listing, const struct pager *pager, int columns,
			const struct listed_event *event)
{
	static const enum style styles[] = {
		[EVENT_AVAILABLE] = STYLE_PLAIN,
		[EVENT_NEEDS_ROOT] = STYLE_WARM,
		[EVENT_ABSENT] = STYLE_FAINT,
	};
	CLEANUP(free_ptr) char *name = printable(event->name);
	CLEANUP(free_ptr)
	char *description = event->description ? printable(event->description) : NULL;
	CLEANUP(free_ptr) char *fields = list_fields_of(listing, event);
	const char *standing = standings[event->standing].words;

	fprintf(pager->out, "%s  %-*s  %-*s%s%s%s\n",
		pager_sequence(pager, styles[event->standing]), columns, name,
		description ? STANDING_COLUMNS : 0, standing, description ? "  " : "",
		description ? description : "", pager_sequence(pager, STYLE_PLAIN));
	if (fields)
		fprintf(pager->out, "    fields: %s\n", fields);
}

static void print_group(const struct list_listing *listing, const struct pager *pager, int group,
			const struct listed_event *events, size_t count)
{
	int columns = list_name_columns(events, count);

	if (!count)
		return;
	fprintf(pager->out, "%s%s%s\n", pager_sequence(pager, STYLE_HEADING), groups[group].title,
		pager_sequence(pager, STYLE_PLAIN));
	for (size_t i = 0; i < count; i++)
		print_event(listing, pager, columns, &events[i]);
	fputc('\n', pager->out);
}

static void print_groups(const struct list_listing *listing, const struct pager *pager)
{
	const struct event_list *list = &listing->kernel;

	for (int group = 0; group < EVENTS_GROUPS; group++) {
		struct listed_event *of_group = xcalloc(list->count + 1, sizeof(*of_group));
		size_t count = 0;

		for (size_t i = 0; i < list->count; i++)
			if ((int)list->items[i].group == group)
				of_group[count++] = list->items[i];
		print_group(listing, pager, group, of_group, count);
		free(of_group);
	}
	print_group(listing, pager, EVENTS_OF_PROF, listing->own, listing->own_count);
}

static void list_put_event(struct json *json, const struct list_listing *listing, int group,
			   const struct listed_event *event)
{
	CLEANUP(free_ptr) char *fields = list_fields_of(listing, event);

	json_begin_object(json);
	json_put_text(json, "group", groups[group].name);
	json_put_text(json, "name", event->name);
	json_put_text(json, "state", standings[event->standing].name);
	if (event->description)
		json_put_text(json, "description", event->description);
	if (fields) {
		json_key(json, "fields");
		json_begin_array(json);
		for (char *rest = fields, *field; (field = strsep(&rest, ", "));)
			if (*field)
				json_text(json, field);
		json_end_array(json);
	}
	json_end_object(json);
}

static void print_json(const struct list_listing *listing)
{
	struct json json = json_to(stdout);

	json_begin_object(&json);
	json_put_number(&json, "version", 1);
	json_key(&json, "events");
	json_begin_array(&json);
	for (size_t i = 0; i < listing->kernel.count; i++)
		list_put_event(&json, listing, (int)listing->kernel.items[i].group,
			       &listing->kernel.items[i]);
	for (size_t i = 0; i < listing->own_count; i++)
		list_put_event(&json, listing, EVENTS_OF_PROF, &listing->own[i]);
	json_end_array(&json);
	json_end_object(&json);
	putchar('\n');
}

static struct error *list_print_text(const struct list_listing *listing)
{
	struct pager pager;
	struct error *err;

	pager_open(&pager, &listing->options->pager);
	print_groups(listing, &pager);
	err = pager_show(&pager);
	pager_close(&pager);
	return err;
}

/* Without access to tracepoints the other events are still listed, unless the
 * user asked for tracepoints. */
static bool asks_for_tracepoints(const char *pattern)
{
	return pattern && (list_is_group(pattern, EVENTS_TRACEPOINT) || strchr(pattern, ':'));
}

static struct error *list_show(struct list_listing *listing)
{
	struct event_list *list = &listing->kernel;

	if (list->tracepoints && asks_for_tracepoints(listing->pattern) && !list->count)
		return STEAL(list->tracepoints);
	if (!list->count && !listing->own_count)
		return error_hint(error_new("no event matches \"%s\"", listing->pattern),
				  "prof list shows all; groups are hardware, software, cache, pmu, "
				  "tracepoint, probe and prof");
	if (list->tracepoints && (!listing->pattern || asks_for_tracepoints(listing->pattern)))
		message("no tracepoints are listed: %s; %s", error_text(list->tracepoints),
			error_hint_text(list->tracepoints));
	if (!listing->options->json)
		return list_print_text(listing);
	print_json(listing);
	return NULL;
}

static struct error *list_events(const struct list_options *options, const char *pattern)
{
	struct list_listing listing = {.options = options, .pattern = pattern};
	struct pmus pmus;
	struct error *err;

	pmus_read(NULL, &pmus);
	event_list_read(&pmus, wants, &listing, &listing.kernel);
	add_all_own(&listing);
	err = list_show(&listing);
	for (size_t i = 0; i < listing.own_count; i++) {
		free(listing.own[i].name);
		free(listing.own[i].description);
	}
	event_list_deinit(&listing.kernel);
	pmus_deinit(&pmus);
	return err;
}

static int list_run(int argc, char **argv)
{
	struct list_options options = {0};
	const char *pattern = NULL;
	struct error *err = NULL;
	enum option_group help;
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		err = options_parse(list_option_table, argc, argv, &options, &rest, &help);
		if (!err && help)
			return help_print(&command_list, help);
		if (!err && rest < argc && pattern)
			err = error_new("more than one pattern: %s and %s", pattern, argv[rest]);
		if (err)
			return message_failure(error_usage(err));
		if (rest < argc)
			pattern = argv[rest];
	}
	err = list_events(&options, pattern);
	return err ? message_failure(err) : STATUS_OK;
}

const struct command command_list = {
	.name = "list",
	.summary = "list the events of this machine",
	.usage = "[PATTERN] [options]",
	.description =
		"Lists the events that prof record -e accepts, and whether you can sample them "
		"on this machine. PATTERN is a group (hardware, software, cache, pmu, "
		"tracepoint, probe, prof), a glob such as 'sched:*', or a part of a name.",
	.examples = "prof list software\n"
		    "prof list 'block:*'\n"
		    "prof list -v sched:sched_switch\n"
		    "prof list --json",
	.options = list_option_table,
	.first_words = "hardware software cache pmu tracepoint probe prof",
	.operands = OPERANDS_FILES,
	.run = list_run,
};
