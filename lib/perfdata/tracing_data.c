#include "perfdata/tracing_data.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const unsigned char magic[] = {23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
static const char version[] = "0.6";
static const char page_name[] = "header_page", event_name[] = "header_event";

static bool is_big_endian(void)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

static void tracing_data_put_u32(FILE *out, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, out);
}

static void tracing_data_put_u64(FILE *out, uint64_t value)
{
	fwrite(&value, sizeof(value), 1, out);
}

static void put_sized(FILE *out, const void *data, size_t len)
{
	tracing_data_put_u64(out, len);
	if (len)
		fwrite(data, 1, len, out);
}

/* Returns how many formats, from the first on, have the subsystem of the
 * first. */
static size_t count_of_subsystem(const struct tracing_format *formats, size_t count)
{
	size_t same = 0;

	while (same < count && !strcmp(formats[same].subsystem, formats[0].subsystem))
		same++;
	return same;
}

static void put_formats(FILE *out, const struct tracing_format *formats, size_t count)
{
	uint32_t subsystems = 0;

	for (size_t at = 0; at < count; at += count_of_subsystem(formats + at, count - at))
		subsystems++;
	tracing_data_put_u32(out, subsystems);
	while (count) {
		size_t same = count_of_subsystem(formats, count);

		fwrite(formats->subsystem, 1, strlen(formats->subsystem) + 1, out);
		tracing_data_put_u32(out, (uint32_t)same);
		for (; same; same--, count--, formats++)
			put_sized(out, formats->text.at, bytes_left(&formats->text));
	}
}

char *tracing_data_encode(const char *header_page, const char *header_event,
			  const struct tracing_format *formats, size_t count, size_t *len)
{
	char *section = NULL;
	FILE *out = open_memstream(&section, len);

	fwrite(magic, sizeof(magic), 1, out);
	fwrite(version, sizeof(version), 1, out);
	putc(is_big_endian(), out);
	putc(sizeof(long), out);
	tracing_data_put_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
	fwrite(page_name, sizeof(page_name), 1, out);
	put_sized(out, header_page, strlen(header_page));
	fwrite(event_name, sizeof(event_name), 1, out);
	put_sized(out, header_event, strlen(header_event));
	tracing_data_put_u32(out, 0); /* events of ftrace itself */
	put_formats(out, formats, count);
	tracing_data_put_u32(out, 0); /* kallsyms */
	tracing_data_put_u32(out, 0); /* addresses of printk formats */
	tracing_data_put_u64(out, 0); /* names of threads */
	fclose(out);
	return section;
}

static bool take_literal(struct bytes *from, const void *literal, size_t len)
{
	const void *at = bytes_take(from, len);

	return at && memcmp(at, literal, len) == 0;
}

static struct bytes take_sized(struct bytes *from)
{
	return bytes_sub(from, bytes_u64(from));
}

static bool skip_start(struct bytes *from)
{
	if (!take_literal(from, magic, sizeof(magic)) || !bytes_cstr(from) ||
	    bytes_u8(from) != is_big_endian())
		return false;
	/* Sizes of a long and a page. */
	bytes_skip(from, sizeof(uint8_t) + sizeof(uint32_t));
	if (!take_literal(from, page_name, sizeof(page_name)))
		return false;
	take_sized(from);
	if (!take_literal(from, event_name, sizeof(event_name)))
		return false;
	take_sized(from);
	for (uint32_t count = bytes_u32(from); count && bytes_ok(from); count--)
		take_sized(from);
	return bytes_ok(from);
}

bool tracing_data_open(struct bytes section, struct tracing_data *ret)
{
	*ret = (struct tracing_data){.rest = section};
	if (!skip_start(&ret->rest))
		return false;
	ret->subsystems = bytes_u32(&ret->rest);
	return bytes_ok(&ret->rest);
}

bool tracing_data_next(struct tracing_data *data, struct tracing_format *ret)
{
	while (!data->formats) {
		if (!data->subsystems || !bytes_ok(&data->rest))
			return false;
		data->subsystems--;
		data->subsystem = bytes_cstr(&data->rest);
		data->formats = bytes_u32(&data->rest);
	}
	data->formats--;
	*ret = (struct tracing_format){.subsystem = data->subsystem,
				       .text = take_sized(&data->rest)};
	return bytes_ok(&data->rest) && data->subsystem;
}
