#include "perfdata/file_header.h"

#include "base/alloc.h"
#include "perfdata/tracing_data.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	/* A longer section is damaged. This suffices for the ids of 10,000
	 * threads on 800 CPUs. */
	SECTION_BYTES_MAX = 64 << 20,
	EVENT_BYTES_MAX = 4096,
	/* Limit for all events, equal to four such sections. */
	IDS_BYTES_MAX = 256 << 20,
};

void file_header_init(struct file_header *header)
{
	*header = (struct file_header){0};
	file_build_ids_init(&header->build_ids);
}

void file_header_deinit(struct file_header *header)
{
	file_events_deinit(&header->events);
	file_build_ids_deinit(&header->build_ids);
	free(header->info.host);
	free(header->info.kernel_release);
	free(header->info.machine);
	free(header->info.command);
}

/* Takes a length and a string of that length, padded with zeros. */
static const char *file_header_take_string(struct bytes *from)
{
	struct bytes string = bytes_sub(from, bytes_u32(from));

	return bytes_cstr(&string);
}

static void set_string(char **to, struct bytes data)
{
	const char *text = file_header_take_string(&data);

	if (!text)
		return;
	free(*to);
	*to = xstrdup(text);
}

static void take_command(char **to, struct bytes data)
{
	uint32_t count = bytes_u32(&data);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	const char *word;

	for (uint32_t i = 0; i < count && (word = file_header_take_string(&data)); i++)
		fprintf(out, "%s%s", i ? " " : "", word);
	fclose(out);
	free(*to);
	*to = text;
}

/* The names have the order of the events. The attributes here are copies and
 * are ignored. */
static void file_header_take_names(struct file_events *events, struct bytes data)
{
	uint32_t count = bytes_u32(&data);
	uint32_t attr_bytes = bytes_u32(&data);

	for (uint32_t i = 0; i < count && i < events->layouts.count; i++) {
		uint32_t ids;
		const char *name;

		bytes_skip(&data, attr_bytes);
		ids = bytes_u32(&data);
		name = file_header_take_string(&data);
		bytes_skip(&data, (uint64_t)ids * sizeof(uint64_t));
		if (!name || !bytes_ok(&data))
			return;
		if (*name)
			file_events_set_name(events, i, name);
	}
}

static void take_formats(struct file_events *events, struct bytes section)
{
	struct tracing_data data;
	struct tracing_format format;

	if (!tracing_data_open(section, &data))
		return;
	while (tracing_data_next(&data, &format))
		file_events_add_format(events, format.subsystem, format.text);
}

void file_header_take_feature(struct file_header *header, uint64_t feature, struct bytes data)
{
	switch (feature) {
	case FEATURE_TRACING_DATA:
		take_formats(&header->events, data);
		break;
	case FEATURE_BUILD_ID:
		file_build_ids_add(&header->build_ids, data);
		break;
	case FEATURE_HOSTNAME:
		set_string(&header->info.host, data);
		break;
	case FEATURE_OSRELEASE:
		set_string(&header->info.kernel_release, data);
		break;
	case FEATURE_ARCH:
		set_string(&header->info.machine, data);
		break;
	case FEATURE_CMDLINE:
		take_command(&header->info.command, data);
		break;
	case FEATURE_EVENT_DESC:
		file_header_take_names(&header->events, data);
		break;
	case FEATURE_DIR_FORMAT:
		header->in_directory = true;
		break;
	default:
		break;
	}
}

/* Returns the next bytes of the input, which the caller frees, or NULL if it
 * has fewer. */
static unsigned char *read_section(struct file_input *input, uint64_t size_bytes)
{
	unsigned char *data;
	uint64_t got = 0;

	if (size_bytes > SECTION_BYTES_MAX)
		return NULL;
	data = xmalloc(size_bytes + 1);
	while (got < size_bytes) {
		uint64_t left = size_bytes - got;
		struct bytes part;

		file_input_look(input, left < FILE_INPUT_LOOK_MAX ? left : FILE_INPUT_LOOK_MAX,
				&part);
		if (!bytes_left(&part))
			break;
		memcpy(data + got, part.at, bytes_left(&part));
		got += bytes_left(&part);
		if (!file_input_skip(input, bytes_left(&part)))
			break;
	}
	if (got < size_bytes)
		free(STEAL(data));
	return data;
}

/* Returns the bytes of a section, which the caller frees, or NULL if it is
 * outside the file. */
static unsigned char *load(struct file_input *input, struct perfdata_section section)
{
	if (section.offset > UINT64_MAX - section.size_bytes)
		return NULL;
	file_input_seek(input, section.offset, section.offset + section.size_bytes);
	return read_section(input, section.size_bytes);
}

bool file_header_read_formats(struct file_header *header, struct file_input *input,
			      uint64_t size_bytes)
{
	CLEANUP(free_ptr) unsigned char *section = read_section(input, size_bytes);

	if (section)
		take_formats(&header->events, bytes_of(section, size_bytes));
	return section;
}

static struct error *read_event(struct file_header *header, struct file_input *input,
				struct bytes event, uint64_t *ids_left)
{
	struct bytes attr = bytes_sub(&event, bytes_left(&event) - sizeof(struct perfdata_section));
	struct perfdata_section section = {.offset = bytes_u64(&event),
					   .size_bytes = bytes_u64(&event)};
	CLEANUP(free_ptr) unsigned char *ids = NULL;

	/* All ids must fit into the file. ids_left bounds them for sparse files
	 * as well, which have any size. */
	if (section.size_bytes > *ids_left)
		return error_new("it claims more event ids than fit into the file");
	*ids_left -= section.size_bytes;
	ids = load(input, section);
	return ids ? file_events_add(&header->events, attr, bytes_of(ids, section.size_bytes))
		   : error_new("the ids of its events are outside the file");
}

static struct error *read_events(struct file_header *header, struct file_input *input,
				 const struct perfdata_header *raw, uint64_t size_bytes)
{
	CLEANUP(free_ptr) unsigned char *data = NULL;
	uint64_t ids_left = size_bytes < IDS_BYTES_MAX ? size_bytes : IDS_BYTES_MAX;
	struct bytes events;

	if (raw->event_bytes <= sizeof(struct perfdata_section) ||
	    raw->event_bytes > EVENT_BYTES_MAX || raw->events.size_bytes < raw->event_bytes)
		return error_new("it has no events");
	data = load(input, raw->events);
	if (!data)
		return error_new("its events are outside the file");
	events = bytes_of(data, raw->events.size_bytes);
	while (bytes_left(&events) >= raw->event_bytes) {
		struct error *err = read_event(header, input, bytes_sub(&events, raw->event_bytes),
					       &ids_left);

		if (err)
			return err;
	}
	return NULL;
}

static void read_features(struct file_header *header, struct file_input *input,
			  const struct perfdata_header *raw)
{
	uint64_t table = raw->data.offset + raw->data.size_bytes;

	for (unsigned feature = 0; feature < PERFDATA_FEATURES; feature++) {
		struct perfdata_section section;
		CLEANUP(free_ptr) unsigned char *entry = NULL;
		CLEANUP(free_ptr) unsigned char *data = NULL;

		if (!(raw->features[feature / 64] >> feature % 64 & 1))
			continue;
		entry = load(input, (struct perfdata_section){table, sizeof(section)});
		if (!entry)
			return;
		memcpy(&section, entry, sizeof(section));
		table += sizeof(section);
		data = load(input, section);
		if (data)
			file_header_take_feature(header, feature,
						 bytes_of(data, section.size_bytes));
	}
}

/* perf writes the size of the records last, so it is 0 if perf was killed. */
static bool file_header_is_cut_off(const struct perfdata_section *data, uint64_t size_bytes)
{
	return data->size_bytes == 0 || data->size_bytes > size_bytes - data->offset;
}

struct error *file_header_read(struct file_header *header, struct file_input *input, bool *cut_off)
{
	uint64_t size_bytes = input->map_bytes;
	struct perfdata_header raw;
	CLEANUP(free_ptr)
	unsigned char *start = load(input, (struct perfdata_section){0, sizeof(raw)});
	struct error *err;

	if (!start)
		return error_new("its header is truncated");
	memcpy(&raw, start, sizeof(raw));
	if (raw.data.offset > size_bytes)
		return error_new("its records are outside the file");
	err = read_events(header, input, &raw, size_bytes);
	if (err)
		return err;
	*cut_off = file_header_is_cut_off(&raw.data, size_bytes);
	if (!*cut_off)
		read_features(header, input, &raw);
	file_input_seek(input, raw.data.offset,
			*cut_off ? size_bytes : raw.data.offset + raw.data.size_bytes);
	return NULL;
}
