#include "format/firefox/meta.h"

#include "base/alloc.h"
#include "base/value.h"
#include "format/firefox/tables.h"
#include "report/parallelism.h"
#include "report/quality_text.h"
#include "report/title.h"
#include "report/waiting.h"

enum { VERSION = 66, GECKO_VERSION = 36 };

#define DEFAULT_INTERVAL_NS UINT64_C(1000000)

const struct firefox_marker firefox_markers[FIREFOX_MARKERS] = {
	[PROFILE_MARKER_FORK] = {"fork", "process", "string"},
	[PROFILE_MARKER_EXEC] = {"exec", "program", "string"},
	[PROFILE_MARKER_EXIT] = {"exit", NULL, NULL},
	[PROFILE_MARKER_LOST] = {"lost", "samples", "integer"},
	[PROFILE_MARKER_THROTTLED] = {"throttled", NULL, NULL},
	[FIREFOX_SILENT] = {"no thread ran", NULL, NULL},
	[FIREFOX_CRITICAL] = {"critical path", NULL, NULL},
	[FIREFOX_WAIT] = {"wait", "reason", "string"},
};

static void meta_put_ms(struct json *json, const char *key, uint64_t ns)
{
	json_key(json, key);
	json_decimal(json, ns, FIREFOX_MS_DIGITS);
}

uint64_t firefox_interval_ns(const struct profile *profile, event_id id)
{
	const struct profile_event *event;

	if (!profile_event_count(profile))
		return DEFAULT_INTERVAL_NS;
	event = profile_get_event(profile, id);
	if (value_is_time(event->kind) && event->period)
		return event->period;
	return event->frequency_hz ? UINT64_C(1000000000) / event->frequency_hz
				   : DEFAULT_INTERVAL_NS;
}

static bool meta_has_waiting(const struct profile *profile)
{
	return waiting_event(profile, &(event_id){0});
}

/* The names and colours are those of the HTML report (web/page/colours.js). */
static void put_categories(const struct profile *profile, struct json *json)
{
	static const struct {
		const char *name, *color;
	} categories[] = {
		[FIREFOX_OTHER] = {"other", "grey"},
		[FIREFOX_USER] = {"user", "orange"},
		[FIREFOX_INLINED] = {"inlined", "yellow"},
		[FIREFOX_KERNEL] = {"kernel", "blue"},
		[FIREFOX_JIT] = {"JIT", "green"},
		[FIREFOX_INTERPRETED] = {"interpreted", "purple"},
		[FIREFOX_UNSYMBOLIZED] = {"unsymbolized", "darkgrey"},
		[FIREFOX_NOTE] = {"note", "lightred"},
		[FIREFOX_WAITING] = {"waiting", "lightblue"},
		[FIREFOX_RUNNABLE] = {"runnable", "red"},
	};
	size_t count = meta_has_waiting(profile) ? ARRAY_SIZE(categories) : FIREFOX_WAITING;

	json_key(json, "categories");
	json_begin_array(json);
	for (size_t i = 0; i < count; i++) {
		json_begin_object(json);
		json_put_text(json, "name", categories[i].name);
		json_put_text(json, "color", categories[i].color);
		json_key(json, "subcategories");
		json_begin_array(json);
		json_text(json, "Other");
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}

static bool meta_has_marker(const struct profile *profile, size_t kind)
{
	event_id event;

	return kind == FIREFOX_WAIT	? meta_has_waiting(profile)
	       : kind == FIREFOX_SILENT ? parallelism_event(profile, &event)
	       : kind == FIREFOX_CRITICAL
		       ? parallelism_find_event(profile, VALUE_CRITICAL_PATH_EVENT, &event)
		       : true;
}

static void put_marker_schema(const struct profile *profile, struct json *json)
{
	json_key(json, "markerSchema");
	json_begin_array(json);
	for (size_t i = 0; i < FIREFOX_MARKERS; i++) {
		if (!meta_has_marker(profile, i))
			continue;
		json_begin_object(json);
		json_put_text(json, "name", firefox_markers[i].name);
		json_key(json, "display");
		json_begin_array(json);
		json_text(json, "marker-chart");
		json_text(json, "marker-table");
		if (i < FIREFOX_SILENT) /* ranges would hide all other markers there */
			json_text(json, "timeline-overview");
		json_end_array(json);
		json_key(json, "fields");
		json_begin_array(json);
		if (firefox_markers[i].field) {
			json_begin_object(json);
			json_put_text(json, "key", firefox_markers[i].field);
			json_put_text(json, "label", firefox_markers[i].field);
			json_put_text(json, "format", firefox_markers[i].format);
			json_end_object(json);
		}
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_fact(struct json *json, const char *label, const char *value)
{
	if (!*value)
		return;
	json_begin_object(json);
	json_put_text(json, "label", label);
	json_put_text(json, "format", "string");
	json_put_text(json, "value", value);
	json_end_object(json);
}

static const char *name_of_event(const struct profile *profile, event_id id)
{
	return profile_string(profile, profile_get_event(profile, id)->name);
}

/* The caller frees the result. */
static char *meta_names_of_events(const struct firefox_meta *meta)
{
	if (!profile_event_count(meta->profile))
		return xstrdup("");
	if (meta->beside == meta->event)
		return xstrdup(name_of_event(meta->profile, meta->event));
	return xasprintf("%s and %s", name_of_event(meta->profile, meta->event),
			 name_of_event(meta->profile, meta->beside));
}

static void put_threads_time(const struct profile *profile, struct json *json)
{
	struct waiting_quality sums;
	CLEANUP(free_ptr) char *text = NULL;

	if (!waiting_sums(profile, &sums))
		return;
	text = waiting_text(&sums);
	put_fact(json, "Time of the threads", text);
}

/* Writes further entries of the viewer's panel about the profile. */
static void put_facts(const struct firefox_meta *meta, struct json *json)
{
	const struct profile_info *info = profile_get_info(meta->profile);
	CLEANUP(free_ptr) char *quality = quality_headline(info);
	CLEANUP(free_ptr) char *events = meta_names_of_events(meta);

	json_key(json, "extra");
	json_begin_array(json);
	json_begin_object(json);
	json_put_text(json, "label", "Recording");
	json_key(json, "entries");
	json_begin_array(json);
	put_fact(json, "Command", info->command);
	if (profile_event_count(meta->profile) > 1)
		put_fact(json, meta->beside == meta->event ? "Event" : "Events", events);
	put_threads_time(meta->profile, json);
	put_fact(json, "Quality", quality);
	put_fact(json, "Host", info->host);
	if (!meta->has_times)
		put_fact(json, "Times",
			 "unknown: samples are evenly spaced, in no particular order");
	json_end_array(json);
	json_end_object(json);
	json_end_array(json);
}

void firefox_put_meta(const struct firefox_meta *meta, struct json *json)
{
	const struct profile_info *info = profile_get_info(meta->profile);
	CLEANUP(free_ptr) char *title = title_of(meta->profile);

	json_key(json, "meta");
	json_begin_object(json);
	json_put_number(json, "version", GECKO_VERSION);
	json_put_number(json, "preprocessedProfileVersion", VERSION);
	json_put_text(json, "product", *title ? title : "prof");
	json_put_text(json, "importedFrom", "prof");
	meta_put_ms(json, "interval", firefox_interval_ns(meta->profile, meta->event));
	meta_put_ms(json, "startTime", info->start_unix_ns);
	meta_put_ms(json, "profilingStartTime", 0);
	meta_put_ms(json, "profilingEndTime", meta->window_ns);
	json_put_number(json, "processType", 0);
	json_put_number(json, "stackwalk", 1);
	json_put_text(json, "oscpu", info->kernel);
	json_put_bool(json, "symbolicated", true);
	json_put_bool(json, "usesOnlyOneStackType", true);
	json_put_bool(json, "sourceCodeIsNotOnSearchfox", true);
	json_key(json, "sampleUnits");
	json_begin_object(json);
	json_put_text(json, "time", "ms");
	json_put_text(json, "eventDelay", "ms");
	json_put_text(json, "threadCPUDelta", "µs");
	json_end_object(json);
	put_categories(meta->profile, json);
	put_marker_schema(meta->profile, json);
	put_facts(meta, json);
	json_end_object(json);
}
