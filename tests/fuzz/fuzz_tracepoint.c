/*
 * Fuzzes the format of a tracepoint, a filter, the names of fields and values,
 * and the data of a sample. Nothing outside of them may be read, and weights
 * and texts must be within bounds.
 *
 * Input: a line with the filter, a line with labels, a line with the field for
 * weights, the format up to a NUL, and the data. The whole input is also used
 * as the section of a perf.data file.
 */
#include "base/alloc.h"
#include "perf/field_filter.h"
#include "perf/field_names.h"
#include "perf/field_reader.h"
#include "perfdata/tracing_data.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 20 };

static void require(bool condition)
{
	if (!condition)
		abort();
}

static uint64_t sum_of(struct bytes text)
{
	uint64_t sum = 0;

	while (bytes_left(&text))
		sum += bytes_u8(&text);
	return sum;
}

static void read_section(struct bytes section)
{
	struct tracing_format format;
	struct tracing_data data;
	uint64_t sum = 0;

	if (!tracing_data_open(section, &data))
		return;
	while (tracing_data_next(&data, &format))
		sum += strlen(format.subsystem) + sum_of(format.text);
	require(sum < UINT64_MAX);
}

static void read_sample(struct field_reader *reader, struct bytes data)
{
	struct record_sample sample = {.period = 1, .raw_data = data};
	uint64_t sum = 0;

	field_reader_read(reader, &sample);
	require(sample.period <= FIELD_WEIGHT_MAX);
	require(sample.field_count <= FIELD_LABELS_MAX + 1);
	for (unsigned i = 0; i < sample.field_count; i++)
		if (sample.fields[i].is_text)
			sum += sum_of(sample.fields[i].text) + strlen(sample.fields[i].name);
	require(sum < UINT64_MAX);
}

/* filter may also be any word. */
static void read_names(const struct tracepoint_format *format, const struct tracepoint_field *field,
		       const char *filter, uint64_t value)
{
	struct field_names names = field_names_of(format, field);
	CLEANUP(free_ptr) char *list = NULL, *name = xmalloc(NAME_BYTES);
	uint64_t found = 0;

	if (!names.count)
		return;
	list = field_names_list(&names);
	require(field_names_write(&names, value, name, NAME_BYTES) <= NAME_BYTES);
	require(field_names_find(&names, bytes_of(filter, strlen(filter)), &found) || !found);
}

static void read_fields(const struct tracepoint_format *format, const char *filter,
			struct bytes data)
{
	for (size_t i = 0; i < format->count; i++) {
		struct bytes text;
		uint64_t number = 0;

		if (tracepoint_field_number(&format->fields[i], data, &number))
			require(format->fields[i].bytes <= sizeof(number));
		read_names(format, &format->fields[i], filter, number);
		if (tracepoint_field_text(&format->fields[i], data, &text))
			require(text.at >= data.at && text.end <= data.end);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_ptr) char *texts = xstrndup((const char *)data, size);
	CLEANUP(field_reader_cleanup) struct field_reader *reader = field_reader_new();
	size_t len = strlen(texts) + 1;
	struct bytes raw = bytes_of(data + len, len < size ? size - len : 0);
	char *rest = texts, *filter = strsep(&rest, "\n"), *labels = strsep(&rest, "\n"),
	     *weight = strsep(&rest, "\n");
	struct tracepoint_format format;
	CLEANUP(free_ptr) char *translation = NULL;

	read_section(bytes_of(data, size));
	if (!rest || !tracepoint_format_parse(bytes_of(rest, strlen(rest)), &format))
		return 0;
	require(format.count <= TRACEPOINT_FIELDS_MAX);
	error_free(field_filter_translate(filter, "a:b", &format, &translation));
	read_fields(&format, filter, raw);
	field_reader_add(reader, "a:b", &format);
	error_free(field_reader_add_labels(reader, labels));
	error_free(field_reader_set_weight(reader, weight));
	read_sample(reader, raw);
	return 0;
}
