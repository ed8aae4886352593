/* Writes any profile in every format. */
#ifndef PROF_TESTS_FUZZ_FORMATS_H
#define PROF_TESTS_FUZZ_FORMATS_H

#include "../unit/page_data.h"
#include "base/alloc.h"
#include "base/gzip.h"
#include "format/format.h"
#include "format/otlp/otlp.h"
#include "replay.h"
#include "report/function_sums.h"
#include "report/latency_sums.h"
#include "report/memory_text.h"
#include "report/quality_text.h"
#include "report/rows.h"

#include <stdlib.h>
#include <string.h>

/* Notes text before gzip, whose output depends on its library. */
static inline void note_plain(const char *name, char *text, size_t len)
{
	FILE *in = fmemopen(text, len, "r"), *gzip = gzip_reader(in, 1 << 24);
	unsigned char plain[4096];
	size_t got;

	if (len < 2 || memcmp(text, "\x1f\x8b", 2) != 0)
		note(name, text, len);
	else
		while ((got = fread(plain, 1, sizeof(plain), gzip)))
			note(name, plain, got);
	fclose(gzip);
	fclose(in);
}

static inline void write_as(const struct format *format, const struct profile *profile,
			    const struct format_options *options)
{
	CLEANUP(free_ptr) char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	/* Errors are only for what a format cannot express: no event, no
	 * sample. */
	struct error *err = format->write(profile, options, out);

	fclose(out);
	if (err)
		len = 0;
	error_free(err);
	/* For the HTML report, note its data. */
	if (len && format == &format_html) {
		char *data = page_data(text, &len);

		free(text);
		text = data;
	}
	if (len && format != &format_ndjson_gz)
		note_plain(format->name, text, len);
}

static inline void note_rows(const struct view *view, enum row_key key)
{
	CLEANUP(rows_deinit) struct rows rows;

	rows_init(&rows, view, key);
	for (size_t i = 0; i < rows.count; i++) {
		const struct row *row = &rows.items[i];

		note_text("rows", row->name);
		note_number("rows", row->self.weight ^ row->total.samples << 40);
		note_number("rows", row->total.weight ^ (uint64_t)row->line << 40);
		note_taken("rows", row_reason(view, row));
	}
}

static inline void note_sums(const struct view *view)
{
	CLEANUP(free_ptr) bool *chosen = xcalloc(view->labels.count, sizeof(*chosen));
	CLEANUP(function_sums_deinit) struct function_sums sums;

	for (uint32_t i = 0; i < view->labels.count; i += 2)
		chosen[i] = true;
	function_sums_init(&sums, view, chosen);
	note("sums", &sums.all, sizeof(sums.all));
	for (uint32_t i = 0; i < sums.line_count; i++)
		note("sums", &sums.lines[i].sum, sizeof(sums.lines[i].sum));
	for (uint32_t i = 0; i < sums.address_count; i++)
		note("sums", &sums.addresses[i].sum, sizeof(sums.addresses[i].sum));
}

/* Reports any profile. */
static inline void report_everything(const struct profile *profile)
{
	for (event_id event = 0; event < profile_event_count(profile) && event < 4; event++) {
		CLEANUP(view_deinit) struct view view;
		struct latency_sums latency;

		view_init(&view, profile, event);
		for (enum row_key key = ROW_FUNCTION; key <= ROW_THREAD; key++)
			note_rows(&view, key);
		note_sums(&view);
		latency = latency_sums_of(&view);
		if (latency.count)
			note_number("latency", latency_sums_quantile(&latency, 0.9));
	}
	note_taken("texts", memory_allocated_text(profile));
	note_taken("texts", memory_inuse_text(profile));
	note_taken("texts", quality_headline(profile_get_info(profile)));
}

static inline void write_everything(const struct profile *profile, const struct format *except)
{
	static const struct format_options options[] = {
		{.pprof.times = true},
		{.event = 1, .event_only = true, .folded.show_tid = true, .names = NAMES_SHORT},
		{.event = 1, .difference = DIFFERENCE_WEIGHTS},
		{.folded.weight = WEIGHT_PERIOD,
		 .folded.annotate = true,
		 .folded.show_pid = true,
		 .pprof.small = true},
	};
	struct wire_message request = {0};

	for (const struct format *const *format = formats; *format; format++)
		for (size_t i = 0; (*format)->write && *format != except && i < ARRAY_SIZE(options);
		     i++)
			if (options[i].event < profile_event_count(profile) || !i)
				write_as(*format, profile, &options[i]);
	error_free(otlp_encode(profile, &(struct otlp_options){0}, &request));
	note("otlp", request.bytes, request.len);
	free(request.bytes);
	report_everything(profile);
}

#endif
