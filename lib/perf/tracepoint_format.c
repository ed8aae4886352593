#include "perf/tracepoint_format.h"

#include "base/alloc.h"
#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Lines of the kernel have a few hundred bytes, except "print fmt:" with up to
 * 5 KB. */
enum { LINE_BYTES_MAX = 512, PRINT_BYTES_MAX = 16 << 10 };

void tracepoint_format_deinit(struct tracepoint_format *format)
{
	for (size_t i = 0; i < format->count; i++)
		free(format->fields[i].name);
	free(format->fields);
	free(format->name);
	free(format->print);
	*format = (struct tracepoint_format){0};
}

/* Splits "char prev_comm[16]": returns the name without the array bounds. */
static char *cut_name(char *declaration, bool *is_array)
{
	size_t len;
	char *bracket = strrchr(declaration, '[');

	*is_array = bracket && !strchr(bracket, ' ');
	if (*is_array)
		*bracket = '\0';
	len = strlen(declaration);
	while (len && (isalnum((unsigned char)declaration[len - 1]) || declaration[len - 1] == '_'))
		len--;
	return declaration + len;
}

static enum tracepoint_field_kind tracepoint_format_kind_of(const char *declaration, bool is_array,
							    const struct tracepoint_field *field)
{
	if (is_array || field->is_located)
		return strstr(declaration, "char") ? FIELD_TEXT : FIELD_BYTES;
	return field->bytes == 1 || field->bytes == 2 || field->bytes == 4 || field->bytes == 8
		       ? FIELD_NUMBER
		       : FIELD_BYTES;
}

/* Parses "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;". */
static void tracepoint_format_take_field(char *line, struct tracepoint_format *format)
{
	char *declaration = line + strlen("\tfield:"), *end = strchr(declaration, ';');
	struct tracepoint_field field = {0};
	unsigned is_signed = 0;
	bool is_array;
	char *name;

	if (!end || format->count == TRACEPOINT_FIELDS_MAX ||
	    sscanf(end, ";\toffset:%u;\tsize:%u;\tsigned:%u;", &field.offset, &field.bytes,
		   &is_signed) < 2)
		return;
	*end = '\0';
	name = cut_name(declaration, &is_array);
	if (!*name)
		return;
	field.is_signed = is_signed;
	field.is_relative = text_begins(declaration, "__rel_loc ");
	field.is_located = field.is_relative || text_begins(declaration, "__data_loc ");
	field.name = xstrdup(name);
	*name = '\0';
	field.kind = tracepoint_format_kind_of(declaration, is_array, &field);
	field.is_pointer = field.kind == FIELD_NUMBER && strchr(declaration, '*');
	GROW(format->fields, format->count, format->room);
	format->fields[format->count++] = field;
}

static void tracepoint_format_take_line(char *line, struct tracepoint_format *format, bool *has_id)
{
	if (text_begins(line, "\tfield:"))
		tracepoint_format_take_field(line, format);
	else if (text_begins(line, "name: ") && !format->name)
		format->name = xstrdup(line + strlen("name: "));
	else if (text_begins(line, "ID: "))
		*has_id |= sscanf(line, "ID: %" SCNu64, &format->id) == 1;
}

static void take_print(struct bytes line, struct tracepoint_format *format)
{
	static const char start[] = "print fmt: ";

	if (!bytes_begin(line, start) || bytes_left(&line) > PRINT_BYTES_MAX || format->print)
		return;
	bytes_skip(&line, sizeof(start) - 1);
	format->print = xstrndup((const char *)line.at, bytes_left(&line));
}

bool tracepoint_format_parse(struct bytes text, struct tracepoint_format *ret)
{
	struct tracepoint_format format = {0};
	bool has_id = false;

	while (bytes_left(&text)) {
		const char *at = (const char *)text.at;
		const char *end = memchr(at, '\n', bytes_left(&text));
		size_t len = end ? (size_t)(end - at) : bytes_left(&text);
		char line[LINE_BYTES_MAX];

		bytes_skip(&text, len + (end != NULL));
		take_print(bytes_of(at, len), &format);
		if (len >= sizeof(line))
			continue;
		memcpy(line, at, len);
		line[len] = '\0';
		tracepoint_format_take_line(line, &format, &has_id);
	}
	if (has_id)
		*ret = format;
	else
		tracepoint_format_deinit(&format);
	return has_id;
}

const struct tracepoint_field *tracepoint_format_find(const struct tracepoint_format *format,
						      const char *name)
{
	for (size_t i = 0; i < format->count; i++)
		if (!strcmp(format->fields[i].name, name))
			return &format->fields[i];
	return NULL;
}

char *tracepoint_format_names(const struct tracepoint_format *format)
{
	const char *comma = "";
	char *names = NULL;
	size_t len;
	FILE *out = open_memstream(&names, &len);

	for (size_t i = 0; i < format->count; i++) {
		if (text_begins(format->fields[i].name, "common_"))
			continue;
		fprintf(out, "%s%s", comma, format->fields[i].name);
		comma = ", ";
	}
	fclose(out);
	return names;
}

bool tracepoint_data_id(struct bytes data, uint64_t *ret)
{
	*ret = bytes_u16(&data);
	return bytes_ok(&data);
}

bool tracepoint_field_number(const struct tracepoint_field *field, struct bytes data, uint64_t *ret)
{
	struct bytes at = bytes_at(data, field->offset);
	unsigned unused_bits;
	uint64_t value;

	if (field->kind != FIELD_NUMBER)
		return false;
	value = bytes_uint(&at, field->bytes);
	if (!bytes_ok(&at))
		return false;
	unused_bits = 64 - 8 * field->bytes;
	*ret = field->is_signed ? (uint64_t)((int64_t)(value << unused_bits) >> unused_bits)
				: value;
	return true;
}

/* Returns the location of a string of variable length. */
static struct bytes tracepoint_format_locate(const struct tracepoint_field *field,
					     struct bytes data)
{
	struct bytes at = bytes_at(data, field->offset), place = data;
	uint32_t location = bytes_u32(&at);
	uint64_t start = location & UINT16_MAX;

	if (!bytes_ok(&at))
		return at;
	if (field->is_relative)
		start += (uint64_t)field->offset + sizeof(location);
	bytes_skip(&place, start);
	return bytes_sub(&place, location >> 16);
}

bool tracepoint_field_text(const struct tracepoint_field *field, struct bytes data,
			   struct bytes *ret)
{
	struct bytes text, at = bytes_at(data, field->offset);
	const unsigned char *end;

	if (field->kind != FIELD_TEXT)
		return false;
	text = field->is_located ? tracepoint_format_locate(field, data)
				 : bytes_sub(&at, field->bytes);
	if (!bytes_ok(&text))
		return false;
	end = bytes_left(&text) ? memchr(text.at, '\0', bytes_left(&text)) : NULL;
	if (end)
		text.end = end;
	*ret = text;
	return true;
}
