#include "perfdata/writer.h"

#include "base/alloc.h"
#include "perfdata/format.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BUFFER_BYTES = 256 << 10 };

/* PERF_RECORD_MISC_MMAP_BUILD_ID, Linux 5.12. */
enum { MISC_BUILD_ID = 1 << 14 };

/* Bytes under construction. */
struct writer_piece {
	unsigned char *bytes;
	size_t len, room;
};

struct perfdata_writer {
	int fd;
	FILE *out; /* stream over fd; NULL after an error */
	const struct written_event *events;
	size_t event_count;
	/* sample_type of the first event; side-band records of all events have
	 * the same trailer. */
	uint64_t sample_type;
	struct perfdata_header header;
	struct writer_piece build_ids, tracing_data;
	/* Buffer for one record, reused for the next. */
	struct writer_piece scratch;
	int error; /* errno, or 0 */
};

static void piece_deinit(struct writer_piece *piece)
{
	free(piece->bytes);
}

static void writer_add(struct writer_piece *piece, const void *data, size_t len)
{
	if (piece->room - piece->len < len) {
		piece->room = 2 * (piece->len + len);
		piece->bytes = xreallocarray(piece->bytes, piece->room, 1);
	}
	if (len)
		memcpy(piece->bytes + piece->len, data, len);
	piece->len += len;
}

static void add_bytes(struct writer_piece *piece, struct bytes bytes)
{
	writer_add(piece, bytes.at, bytes_left(&bytes));
}

static void add_u16(struct writer_piece *piece, uint16_t value)
{
	writer_add(piece, &value, sizeof(value));
}

static void add_u32(struct writer_piece *piece, uint32_t value)
{
	writer_add(piece, &value, sizeof(value));
}

static void add_u64(struct writer_piece *piece, uint64_t value)
{
	writer_add(piece, &value, sizeof(value));
}

/* Adds the text with its NUL, padded with zeros to a multiple of 8. */
static void add_padded(struct writer_piece *piece, const char *text)
{
	static const char zeros[8];
	size_t len = strlen(text) + 1;

	writer_add(piece, text, len);
	writer_add(piece, zeros, -len % sizeof(zeros));
}

/* Adds the length and the text. */
static void writer_add_string(struct writer_piece *piece, const char *text)
{
	size_t len = strlen(text) + 1;

	add_u32(piece, (uint32_t)(len + -len % 8));
	add_padded(piece, text);
}

static void write_bytes(struct perfdata_writer *writer, const void *data, size_t len)
{
	if (!writer->error && len && fwrite(data, 1, len, writer->out) != len)
		writer->error = errno;
}

static void writer_write_piece(struct perfdata_writer *writer, const struct writer_piece *piece)
{
	write_bytes(writer, piece->bytes, piece->len);
}

/* Writes the header, without the values that are known only at the end, the ids
 * of all events, and the events. */
static void writer_write_start(struct perfdata_writer *writer)
{
	CLEANUP(piece_deinit) struct writer_piece start = {0};
	CLEANUP(free_ptr)
	struct perfdata_section *ids = xcalloc(writer->event_count, sizeof(*ids));
	struct perfdata_header *header = &writer->header;
	size_t attr_bytes = bytes_left(&writer->events[0].attr);

	writer_add(&start, header, sizeof(*header));
	for (size_t i = 0; i < writer->event_count; i++) {
		ids[i].offset = start.len;
		add_bytes(&start, writer->events[i].ids);
		ids[i].size_bytes = start.len - ids[i].offset;
	}
	header->event_bytes = attr_bytes + sizeof(*ids);
	header->events.offset = start.len;
	for (size_t i = 0; i < writer->event_count; i++) {
		writer_add(&start, writer->events[i].attr.at, attr_bytes);
		writer_add(&start, &ids[i], sizeof(ids[i]));
	}
	header->events.size_bytes = start.len - header->events.offset;
	header->data.offset = start.len;
	memcpy(start.bytes, header, sizeof(*header));
	writer_write_piece(writer, &start);
}

struct perfdata_writer *perfdata_writer_new(int fd, const struct written_event *events,
					    size_t event_count)
{
	struct perfdata_writer *writer = xcalloc(1, sizeof(*writer));
	struct bytes sample_type = bytes_at(events[0].attr,
					    offsetof(struct perf_event_attr, sample_type));

	writer->events = events;
	writer->event_count = event_count;
	writer->sample_type = bytes_u64(&sample_type);
	writer->header = (struct perfdata_header){.magic = PERFDATA_MAGIC,
						  .size_bytes = sizeof(writer->header)};
	writer->out = fdopen(fd, "w");
	if (!writer->out) {
		writer->error = errno;
		close(fd);
		return writer;
	}
	setvbuf(writer->out, NULL, _IOFBF, BUFFER_BYTES);
	writer_write_start(writer);
	return writer;
}

void perfdata_writer_free(struct perfdata_writer *writer)
{
	if (!writer)
		return;
	if (writer->out)
		fclose(writer->out);
	free(writer->build_ids.bytes);
	free(writer->tracing_data.bytes);
	free(writer->scratch.bytes);
	free(writer);
}

static void writer_begin(struct writer_piece *piece, uint32_t type, uint16_t misc)
{
	piece->len = 0;
	add_u32(piece, type);
	add_u16(piece, misc);
	add_u16(piece, 0); /* the size, set by writer_end() */
}

static void set_size(struct writer_piece *piece)
{
	uint16_t size = (uint16_t)piece->len;

	memcpy(piece->bytes + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

/* Adds the trailer of a kernel record (sample_id_all). */
static void writer_end(struct writer_piece *piece, uint64_t types, const struct record *record)
{
	if (types & PERF_SAMPLE_TID) {
		add_u32(piece, (uint32_t)record->pid);
		add_u32(piece, (uint32_t)record->tid);
	}
	if (types & PERF_SAMPLE_TIME)
		add_u64(piece, record->time_ns);
	if (types & PERF_SAMPLE_CPU)
		add_u64(piece, record->cpu);
	if (types & PERF_SAMPLE_IDENTIFIER)
		add_u64(piece, 0);
	set_size(piece);
}

static void encode_mmap(struct writer_piece *piece, const struct record *record)
{
	const struct record_mmap *mmap = &record->mmap;
	uint16_t misc = record->pid == -1 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;

	writer_begin(piece, PERF_RECORD_MMAP2, mmap->build_id_bytes ? misc | MISC_BUILD_ID : misc);
	add_u32(piece, (uint32_t)record->pid);
	add_u32(piece, (uint32_t)record->tid);
	add_u64(piece, mmap->start);
	add_u64(piece, mmap->length_bytes);
	add_u64(piece, mmap->offset);
	if (mmap->build_id_bytes) {
		add_u32(piece, mmap->build_id_bytes);
		writer_add(piece, mmap->build_id, sizeof(mmap->build_id));
	} else {
		add_u32(piece, mmap->device_major);
		add_u32(piece, mmap->device_minor);
		add_u64(piece, mmap->inode);
		add_u64(piece, mmap->generation);
	}
	add_u32(piece, PROT_READ | (mmap->executable ? PROT_EXEC : 0));
	add_u32(piece, MAP_PRIVATE);
	add_padded(piece, mmap->path);
}

static void encode_comm(struct writer_piece *piece, const struct record *record)
{
	writer_begin(piece, PERF_RECORD_COMM, 0);
	add_u32(piece, (uint32_t)record->pid);
	add_u32(piece, (uint32_t)record->tid);
	add_padded(piece, record->comm.name);
}

static void encode_lost(struct writer_piece *piece, const struct record *record)
{
	writer_begin(piece, PERF_RECORD_LOST, 0);
	add_u64(piece, 0);
	add_u64(piece, record->lost.count);
}

/* Returns false for types of records that are never synthesized. */
static bool writer_encode(struct writer_piece *piece, uint64_t sample_type,
			  const struct record *record)
{
	switch (record->type) {
	case RECORD_MMAP:
		encode_mmap(piece, record);
		break;
	case RECORD_COMM:
		encode_comm(piece, record);
		break;
	case RECORD_LOST:
		encode_lost(piece, record);
		break;
	default:
		return false;
	}
	writer_end(piece, sample_type, record);
	return true;
}

/*
 * The events that write the side band are not in the file, so their records get
 * id 0, which belongs to no event.
 */
static void write_raw(struct perfdata_writer *writer, const struct record *record)
{
	static const uint64_t no_id;
	struct bytes raw = record->raw;
	bool ends_with_id = record->type != RECORD_SAMPLE &&
			    writer->sample_type & PERF_SAMPLE_IDENTIFIER &&
			    bytes_left(&raw) >= sizeof(no_id);

	if (ends_with_id)
		raw.end -= sizeof(no_id);
	write_bytes(writer, raw.at, bytes_left(&raw));
	if (ends_with_id)
		write_bytes(writer, &no_id, sizeof(no_id));
}

void perfdata_writer_put(struct perfdata_writer *writer, const struct record *record)
{
	if (bytes_left(&record->raw))
		write_raw(writer, record);
	else if (writer_encode(&writer->scratch, writer->sample_type, record))
		writer_write_piece(writer, &writer->scratch);
}

void perfdata_writer_end_round(struct perfdata_writer *writer)
{
	writer_begin(&writer->scratch, PERFDATA_FINISHED_ROUND, 0);
	set_size(&writer->scratch);
	writer_write_piece(writer, &writer->scratch);
}

void perfdata_writer_flush(struct perfdata_writer *writer)
{
	if (!writer->error && fflush(writer->out) != 0)
		writer->error = errno;
}

void perfdata_writer_add_build_id(struct perfdata_writer *writer, const char *path,
				  const uint8_t *id, unsigned len)
{
	struct writer_piece *piece = &writer->scratch;
	uint8_t field[24] = {0};

	if (!len || len > RECORD_BUILD_ID_MAX)
		return;
	memcpy(field, id, len);
	field[RECORD_BUILD_ID_MAX] = (uint8_t)len;
	writer_begin(piece, PERFDATA_BUILD_ID, PERF_RECORD_MISC_USER | PERFDATA_MISC_BUILD_ID_SIZE);
	add_u32(piece, UINT32_MAX); /* on this machine */
	writer_add(piece, field, sizeof(field));
	add_padded(piece, path);
	set_size(piece);
	writer_add(&writer->build_ids, piece->bytes, piece->len);
}

void perfdata_writer_set_tracing_data(struct perfdata_writer *writer, struct bytes section)
{
	writer->tracing_data.len = 0;
	add_bytes(&writer->tracing_data, section);
}

static void writer_add_names(struct writer_piece *piece, const struct perfdata_writer *writer)
{
	size_t attr_bytes = bytes_left(&writer->events[0].attr);

	add_u32(piece, (uint32_t)writer->event_count);
	add_u32(piece, (uint32_t)attr_bytes);
	for (size_t i = 0; i < writer->event_count; i++) {
		struct bytes ids = writer->events[i].ids;

		writer_add(piece, writer->events[i].attr.at, attr_bytes);
		add_u32(piece, (uint32_t)(bytes_left(&ids) / sizeof(uint64_t)));
		writer_add_string(piece, writer->events[i].name);
		add_bytes(piece, ids);
	}
}

/* Leaves the section empty if nothing is known. */
static void add_feature(struct writer_piece *piece, enum perfdata_feature feature,
			const struct perfdata_writer *writer, const struct perfdata_info *info)
{
	switch (feature) {
	case FEATURE_TRACING_DATA:
		writer_add(piece, writer->tracing_data.bytes, writer->tracing_data.len);
		break;
	case FEATURE_BUILD_ID:
		writer_add(piece, writer->build_ids.bytes, writer->build_ids.len);
		break;
	case FEATURE_HOSTNAME:
		writer_add_string(piece, info->host);
		break;
	case FEATURE_OSRELEASE:
		writer_add_string(piece, info->kernel_release);
		break;
	case FEATURE_ARCH:
		writer_add_string(piece, info->machine);
		break;
	case FEATURE_CMDLINE:
		add_u32(piece, 1);
		writer_add_string(piece, info->command);
		break;
	case FEATURE_EVENT_DESC:
		writer_add_names(piece, writer);
		break;
	case FEATURE_DIR_FORMAT:
		break;
	}
}

/* Writes the table of sections, then the sections, and sets their bits in the
 * header. */
static void write_features(struct perfdata_writer *writer, const struct perfdata_info *info)
{
	/* In ascending order, like the table. */
	static const enum perfdata_feature features[] = {
		FEATURE_TRACING_DATA, FEATURE_BUILD_ID, FEATURE_HOSTNAME,  FEATURE_OSRELEASE,
		FEATURE_ARCH,	      FEATURE_CMDLINE,	FEATURE_EVENT_DESC};
	/* perf takes an empty section for a damaged file. */
	size_t first = writer->tracing_data.len ? 0 : 1;
	CLEANUP(piece_deinit) struct writer_piece table = {0};
	CLEANUP(piece_deinit) struct writer_piece sections = {0};
	uint64_t at = writer->header.data.offset + writer->header.data.size_bytes +
		      (ARRAY_SIZE(features) - first) * sizeof(struct perfdata_section);

	for (size_t i = first; i < ARRAY_SIZE(features); i++) {
		struct perfdata_section section = {.offset = at + sections.len};

		add_feature(&sections, features[i], writer, info);
		section.size_bytes = at + sections.len - section.offset;
		writer_add(&table, &section, sizeof(section));
		writer->header.features[features[i] / 64] |= UINT64_C(1) << features[i] % 64;
	}
	writer_write_piece(writer, &table);
	writer_write_piece(writer, &sections);
}

static void write_end(struct perfdata_writer *writer, const struct perfdata_info *info)
{
	off_t end = ftello(writer->out);

	if (end < 0) {
		writer->error = errno;
		return;
	}
	writer->header.data.size_bytes = (uint64_t)end - writer->header.data.offset;
	write_features(writer, info);
	if (fseeko(writer->out, 0, SEEK_SET) != 0)
		writer->error = errno;
	write_bytes(writer, &writer->header, sizeof(writer->header));
}

struct error *perfdata_writer_finish(struct perfdata_writer *writer,
				     const struct perfdata_info *info)
{
	if (!writer->error)
		write_end(writer, info);
	if (writer->out && fclose(STEAL(writer->out)) != 0 && !writer->error)
		writer->error = errno;
	return writer->error ? error_errno(writer->error, "write the records") : NULL;
}
