/* Any profile can be written in every format. */
#ifndef PROF_TESTS_FUZZ_FORMATS_H
#define PROF_TESTS_FUZZ_FORMATS_H

#include "base/alloc.h"
#include "base/gzip.h"
#include "format/format.h"
#include "format/otlp/otlp.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

/* As it was before gzip, whose bytes depend on its library. */
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

	/* An error is for what a format cannot say: no event, no sample. */
	error_free(format->write(profile, options, out));
	fclose(out);
	/* The page's programs would change the outcome; tests/unit/test_page.c tests its data. */
	if (len && format != &format_html && format != &format_ndjson_gz)
		note_plain(format->name, text, len);
}

static inline void write_everything(const struct profile *profile, const struct format *except)
{
	static const struct format_options options[] = {
		{.times = true},
		{.event = 1, .event_only = true, .show_tid = true, .names = NAMES_SHORT},
		{.weight = WEIGHT_PERIOD, .annotate = true, .show_pid = true, .small = true},
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
}

#endif
