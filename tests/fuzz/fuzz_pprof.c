/*
 * Fuzzes pprof profiles. A profile that was read must be writable in every
 * format. When its pprof file is read, the sums must be the same, and from the
 * second time on the written bytes must be the same.
 */
#include "format/pprof/head.h"
#include "formats.h"

#include <stdlib.h>
#include <string.h>

struct text {
	char *data;
	size_t len;
};

static bool is_gzip(const uint8_t *data, size_t size)
{
	return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

static struct profile *read_profile(const void *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(close_file) FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
	CLEANUP(error_cleanup) struct error *err = format_pprof.read(in, profile);

	/* decompression libraries have errors of their own */
	if (err && !is_gzip(data, size))
		note_text("error", error_text(err));
	return err ? NULL : STEAL(profile);
}

static struct text write_profile(const struct format *format, const struct profile *profile)
{
	struct format_options options = {.folded.weight = WEIGHT_PERIOD};
	struct text text = {0};
	FILE *out = open_memstream(&text.data, &text.len);
	CLEANUP(error_cleanup) struct error *err = format->write(profile, &options, out);

	fclose(out);
	if (err)
		text.len = 0;
	return text;
}

static uint64_t total(const struct profile *profile)
{
	uint64_t weight = 0;

	for (uint64_t i = 0; i < profile_samples(profile).count; i++)
		weight += profile_samples(profile).items[i].weight;
	return weight;
}

static struct profile *read_again(struct text text)
{
	struct profile *profile = read_profile(text.data, text.len);

	if (!profile)
		abort();
	return profile;
}

/* A file that prof has written must not change. */
static void check_written(struct text first)
{
	CLEANUP(profile_cleanup) struct profile *again = read_again(first);
	struct text second = write_profile(&format_pprof, again);
	CLEANUP(profile_cleanup) struct profile *third = read_again(second);
	struct text last = write_profile(&format_pprof, third);

	if (second.len != last.len || memcmp(second.data, last.data, last.len))
		abort();
	free(second.data);
	free(last.data);
}

static void check_sum(const struct profile *profile, struct text written)
{
	CLEANUP(profile_cleanup) struct profile *again = read_again(written);

	if (total(again) != total(profile))
		abort();
}

static void read_head(const uint8_t *data, size_t size)
{
	CLEANUP(close_file) FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
	struct pprof_head head;

	note_number("head", pprof_head_read(in, &head));
	note_number("head", head.start_unix_ns);
	note_number("head", head.duration_ns);
	note("head", head.segments, head.segment_count * sizeof(*head.segments));
	free(head.segments);
}

static void note_modules(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile_module_count(profile); i++) {
		const struct profile_module *module = profile_get_module(profile, i);

		note_number("modules", module->kind + 16 * module->is_main + 32 * module->named);
		note_text("modules", profile_string(profile, module->path));
		note_text("modules", profile_string(profile, module->build_id));
		note("modules", module->segments,
		     module->segment_count * sizeof(*module->segments));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = size ? read_profile(data, size) : NULL;
	struct text pprof;

	if (size)
		read_head(data, size);
	if (!profile)
		return 0;
	note_modules(profile);
	/* Each claimed sample would get a block in this format. */
	write_everything(profile, &format_perf_script);
	pprof = write_profile(&format_pprof, profile);
	if (pprof.len) { /* empty if the sums are too large */
		check_sum(profile, pprof);
		check_written(pprof);
	}
	free(pprof.data);
	return 0;
}
