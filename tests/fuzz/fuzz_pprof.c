/*
 * Any bytes as a pprof profile. What is read can be written, and then says the same: the second
 * profile is written as the first one was.
 */
#include "format/format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
	char *data;
	size_t len;
};

static struct profile *read_profile(const void *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(close_file) FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
	CLEANUP(error_cleanup) struct error *err = format_pprof.read(in, profile);

	return err ? NULL : STEAL(profile);
}

static struct text write_profile(const struct format *format, const struct profile *profile)
{
	struct format_options options = {.weight = WEIGHT_PERIOD};
	struct text text = {0};
	FILE *out = open_memstream(&text.data, &text.len);
	CLEANUP(error_cleanup) struct error *err = format->write(profile, &options, out);

	fclose(out);
	if (err)
		text.len = 0;
	return text;
}

static void compare(const struct profile *left, const struct profile *right,
		    const struct format *format)
{
	struct text first = write_profile(format, left), second = write_profile(format, right);

	if (first.len != second.len || memcmp(first.data, second.data, first.len))
		abort();
	free(first.data);
	free(second.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = size ? read_profile(data, size) : NULL;
	CLEANUP(profile_cleanup) struct profile *again = NULL;
	struct text text;

	if (!profile)
		return 0;
	text = write_profile(&format_pprof, profile);
	if (text.len)
		again = read_profile(text.data, text.len);
	if (text.len && !again)
		abort();
	if (again)
		compare(profile, again, &format_folded);
	free(text.data);
	return 0;
}
