#include "format/format.h"

#include "report/waiting.h"

#include <string.h>

const struct format format_perfdata = {
	.name = "perf.data",
	.extensions = (const char *const[]){".data", NULL},
	.summary = "perf records; only from prof record",
	.viewer = "perf report -i FILE",
	.binary = true,
};

const struct format *const formats[] = {&format_html,	     &format_pprof,    &format_folded,
					&format_svg,	     &format_firefox,  &format_speedscope,
					&format_perf_script, &format_ndjson,   &format_ndjson_gz,
					&format_summary,     &format_perfdata, NULL};

event_id format_event_beside(const struct profile *profile, const struct format_options *options)
{
	event_id waiting;

	if (options->event_only || options->difference ||
	    !waiting_adds_to(profile, options->event, &waiting))
		return options->event;
	return waiting;
}

const struct format *format_by_name(const char *name)
{
	for (const struct format *const *format = formats; *format; format++)
		if (!strcmp((*format)->name, name))
			return *format;
	return NULL;
}

const struct format *format_by_content(const unsigned char *first, size_t len)
{
	for (const struct format *const *format = formats; *format; format++)
		if ((*format)->recognize && (*format)->recognize(first, len))
			return *format;
	return NULL;
}

static size_t matched_bytes(const struct format *format, const char *path)
{
	size_t path_len = strlen(path), longest = 0;

	for (const char *const *extension = format->extensions; *extension; extension++) {
		size_t len = strlen(*extension);

		if (len > longest && len < path_len && !strcmp(path + path_len - len, *extension))
			longest = len;
	}
	return longest;
}

const struct format *format_by_path(const char *path)
{
	const struct format *best = NULL;
	size_t best_bytes = 0;

	for (const struct format *const *format = formats; *format; format++) {
		size_t bytes = matched_bytes(*format, path);

		if (bytes > best_bytes) {
			best = *format;
			best_bytes = bytes;
		}
	}
	return best;
}
