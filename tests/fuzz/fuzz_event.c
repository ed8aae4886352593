/*
 * Fuzzes events in the user's notation, with a PMU from sysfs. The first line
 * is the event, the second a format, and the third the terms of an event. Any
 * text gives an event or an error.
 */
#include "base/alloc.h"
#include "perf/event.h"
#include "perf/event_terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LINES = 3 };

static char root[] = "/tmp/prof-fuzz-event-XXXXXX";

static void write_file(const char *name, const char *text)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/pmu/%s", root, name);
	CLEANUP(close_file) FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) < 0)
		abort();
}

static void remove_file(const char *name)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", root, name);

	remove(path);
}

static void end(void)
{
	static const char *const names[] = {"pmu/type",
					    "pmu/cpus",
					    "pmu/format/event",
					    "pmu/events/known",
					    "pmu/format",
					    "pmu/events",
					    "pmu",
					    ""};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		remove_file(names[i]);
}

static void begin(void)
{
	static const char *const directories[] = {"pmu", "pmu/format", "pmu/events"};

	if (!mkdtemp(root))
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", root, directories[i]);

		if (mkdir(path, 0700) < 0)
			abort();
	}
	write_file("type", "4");
	write_file("cpus", "0-3");
	atexit(end);
}

/* The text is a list of events. Each of them is split, named and parsed. */
static void parse_all(const char *text, const struct pmus *pmus)
{
	for (;;) {
		size_t len = event_spec_len(text);
		CLEANUP(free_ptr) char *spec = xstrndup(text, len);
		CLEANUP(free_ptr) char *name = event_spec_name(spec);
		struct event event;
		struct error *err = event_parse(spec, pmus, &event);

		if (!err) {
			if (strcmp(event.name, name) != 0 || event.precise > 3)
				abort();
			event_deinit(&event);
		}
		error_free(err);
		if (!text[len])
			return;
		text += len + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool has_begun;
	CLEANUP(free_ptr) char *text = xstrndup((const char *)data, size);
	char *lines[LINES] = {NULL}, *rest = text;
	struct pmu_format format;
	struct pmus pmus;

	if (!has_begun)
		begin();
	has_begun = true;
	for (unsigned i = 0; i < LINES; i++)
		lines[i] = strsep(&rest, "\n");
	write_file("format/event", lines[1] ? lines[1] : "");
	write_file("events/known", lines[2] ? lines[2] : "");
	if (lines[1] && pmu_format_parse(lines[1], &format) && (format.field > 3 || !format.bits))
		abort();
	pmus_read(root, &pmus);
	parse_all(lines[0], &pmus);
	pmus_deinit(&pmus);
	return 0;
}
