/* Fuzzes folded stacks. Profiles that were read must be writable, and a written
 * profile must not change when it is read and written again. */
#include "format/format.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

struct text {
	char *data;
	size_t len;
};

/* Returns an empty text if the input is refused. */
static struct text read_and_write(const void *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(close_file) FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
	CLEANUP(error_cleanup) struct error *err = format_folded.read(in, profile);
	struct format_options options = {0};
	struct text text = {0};
	FILE *out;

	if (err)
		return text;
	out = open_memstream(&text.data, &text.len);
	err = format_folded.write(profile, &options, out);
	if (err)
		abort();
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text first = {0}, second = {0};

	if (size)
		first = read_and_write(data, size);
	note("folded", first.data, first.len);
	if (first.len)
		second = read_and_write(first.data, first.len);
	if (first.len && (first.len != second.len || memcmp(first.data, second.data, first.len)))
		abort();
	free(first.data);
	free(second.data);
	return 0;
}
