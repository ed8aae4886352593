/*
 * Collects the output of a format in memory, and compares it with a file in
 * tests/golden/.
 */
#ifndef PROF_TESTS_OUTPUT_H
#define PROF_TESTS_OUTPUT_H

#include "format/format.h"

#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

struct output {
	char *data; /* with a NUL after it */
	size_t len;
};

static inline void output_deinit(struct output *output)
{
	free(output->data);
}

static inline struct output output_of(const struct format *format, const struct profile *profile,
				      struct format_options options)
{
	struct output output = {0};
	FILE *out = open_memstream(&output.data, &output.len);
	CLEANUP(error_cleanup) struct error *err = format->write(profile, &options, out);

	assert_null(err);
	assert_int_equal(fclose(out), 0);
	return output;
}

static inline void assert_holds(const struct output *output, const char *part)
{
	if (!memmem(output->data, output->len, part, strlen(part)))
		fail_msg("%s is not in %s", part, output->data);
}

static inline void assert_lacks(const struct output *output, const char *part)
{
	if (strstr(output->data, part))
		fail_msg("there is %s", strstr(output->data, part));
}

/* If UPDATE_GOLDEN is set in the environment, the file is written instead. */
static inline void assert_golden(const char *name, const char *text)
{
	char path[4096];
	CLEANUP(free_ptr) char *golden = calloc(1, strlen(text) + 2);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", GOLDEN_DIR, name);
	file = fopen(path, getenv("UPDATE_GOLDEN") ? "w+" : "r");
	if (!file)
		fail_msg("cannot open %s", path);
	if (getenv("UPDATE_GOLDEN")) {
		fputs(text, file);
		rewind(file);
	}
	/* One byte more than expected, so that a longer file differs. */
	size_t len = fread(golden, 1, strlen(text) + 1, file);

	fclose(file);
	golden[len] = '\0';
	assert_string_equal(text, golden);
}

#endif
