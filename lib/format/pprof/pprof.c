#include "format/format.h"

#include "base/alloc.h"
#include "base/gzip.h"
#include "base/idmap.h"
#include "format/pprof/limits.h"
#include "format/pprof/mapping.h"
#include "format/pprof/read.h"
#include "format/pprof/sample_type.h"
#include "format/pprof/samples.h"
#include "format/pprof/stream.h"
#include "profile/memory_events.h"
#include "profile/source_users.h"
#include "report/function_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Function and location ids are the profile's ids plus one, because 0 means
 * none.
 */
struct pprof_writer {
	struct pprof_stream stream;
	struct wire_message message,
		nested; /* scratch buffers, empty between two fields of the profile */
	const struct profile *profile;
	event_id event; /* the default sample type, whose samples are counted */
	struct pprof_mappings mappings;
	struct function_names names;
	/* For each frame without lines, the first frame of its function. */
	frame_id *first_of_function;
	bool is_small; /* omit what readers know without it */
};

static uint64_t pprof_text(struct pprof_writer *writer, string_id id)
{
	return pprof_string(&writer->stream, profile_string(writer->profile, id));
}

/* String table indices. */
struct value_type {
	uint64_t type, unit;
};

static struct value_type type_of_event(struct pprof_writer *writer, event_id id)
{
	struct value_type type;

	type.type = pprof_string(&writer->stream, pprof_type_name(writer->profile, id));
	type.unit = pprof_string(&writer->stream, profile_event_unit(writer->profile, id));
	return type;
}

static struct value_type type_of_samples(struct pprof_writer *writer)
{
	return (struct value_type){
		.type = pprof_string(&writer->stream, "samples"),
		.unit = pprof_string(&writer->stream, "count"),
	};
}

static void pprof_put_type(struct pprof_writer *writer, enum pprof_profile_field field,
			   struct value_type type)
{
	wire_put_number(&writer->message, PPROF_TYPE_TYPE, type.type);
	wire_put_number(&writer->message, PPROF_TYPE_UNIT, type.unit);
	pprof_put_message(&writer->stream, field, &writer->message);
}

/*
 * Returns whether the first value of a sample counts the samples of the chosen
 * event. Profiles of memory have one value per event, like in Go.
 */
static bool has_samples(const struct pprof_writer *writer)
{
	enum memory_event which;

	return !profile_event_count(writer->profile) ||
	       !(profile_get_event(writer->profile, writer->event)->one_value ||
		 memory_event_of(writer->profile, writer->event, &which));
}

static void put_sample_types(struct pprof_writer *writer)
{
	/*
	 * Its strings come first in the table, even if the type is not written.
	 */
	struct value_type samples = type_of_samples(writer);
	uint32_t count = profile_event_count(writer->profile);
	CLEANUP(free_ptr) size_t *indexes = pprof_value_indexes(writer->profile);
	CLEANUP(free_ptr) event_id *events = xcalloc(count, sizeof(*events));

	if (has_samples(writer))
		pprof_put_type(writer, PPROF_PROFILE_SAMPLE_TYPE, samples);
	for (event_id i = 0; i < count; i++)
		events[indexes[i]] = i;
	for (uint32_t i = 0; i < count; i++)
		pprof_put_type(writer, PPROF_PROFILE_SAMPLE_TYPE, type_of_event(writer, events[i]));
}

static void pprof_put_times(struct pprof_writer *writer)
{
	const struct profile_info *info = profile_get_info(writer->profile);
	struct value_type type = type_of_samples(writer);
	uint64_t period = 0;

	pprof_put_number(&writer->stream, PPROF_PROFILE_TIME, info->start_unix_ns);
	pprof_put_number(&writer->stream, PPROF_PROFILE_DURATION, info->duration_ns);
	if (profile_event_count(writer->profile)) {
		type = type_of_event(writer, writer->event);
		period = pprof_type_period(writer->profile, writer->event);
		pprof_put_type(writer, PPROF_PROFILE_PERIOD_TYPE, type);
	}
	pprof_put_number(&writer->stream, PPROF_PROFILE_PERIOD, period);
	pprof_put_number(&writer->stream, PPROF_PROFILE_DEFAULT_TYPE, type.type);
}

static void put_segments(struct pprof_writer *writer, const struct pprof_options *options)
{
	uint64_t former = 0;

	if (!options->segment_count)
		return;
	for (size_t i = 0; i < options->segment_count; i++) {
		wire_put_varint(&writer->message, options->segments[i] - former);
		former = options->segments[i];
	}
	pprof_put_message(&writer->stream, PPROF_PROFILE_SEGMENTS, &writer->message);
}

static void put_comment(struct pprof_writer *writer, const char *title, const char *content)
{
	CLEANUP(free_ptr) char *comment = xasprintf("%s%s", title, content);

	if (!*content)
		return;
	wire_put_varint(&writer->message, pprof_string(&writer->stream, comment));
	pprof_put_message(&writer->stream, PPROF_PROFILE_COMMENT, &writer->message);
}

/* Writes each line as a comment. */
static void put_remarks(struct pprof_writer *writer, const char *line)
{
	for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
		CLEANUP(free_ptr) char *comment = xstrndup(line, (size_t)(end - line));

		put_comment(writer, "", comment);
	}
}

/* Returns the name of the sample type of an event. */
static const char *written_name(const struct profile *profile, const char *event)
{
	for (event_id i = 0; i < profile_event_count(profile); i++)
		if (!strcmp(profile_string(profile, profile_get_event(profile, i)->name), event))
			return pprof_type_name(profile, i);
	return event;
}

static void pprof_put_quality(struct pprof_writer *writer, const struct profile_quality *quality)
{
	CLEANUP(free_ptr) char *waiting = quality_encode_waiting(&quality->waiting);
	CLEANUP(free_ptr) char *stat = stat_counts_encode(&quality->stat);
	CLEANUP(free_ptr) char *whole = NULL;

	put_comment(writer, "", waiting);
	put_comment(writer, "", stat);
	if (!quality->is_known)
		return;
	whole = quality_encode(quality);
	put_comment(writer, "", whole);
	for (size_t i = 0; i < quality->event_count; i++) {
		struct event_quality event = quality->events[i];
		CLEANUP(free_ptr) char *encoded = NULL;

		event.event = written_name(writer->profile, event.event);
		encoded = quality_encode_event(&event);
		put_comment(writer, "", encoded);
	}
}

static void put_owners(struct pprof_writer *writer)
{
	const struct pprof_mappings *mappings = &writer->mappings;
	CLEANUP(free_ptr) char *owners = NULL;
	size_t len;
	FILE *out = open_memstream(&owners, &len);

	for (uint32_t i = 0; i < mappings->count; i++) {
		const struct pprof_mapping *mapping = &mappings->places[mappings->in_order[i]];
		uid_t owner = profile_get_module(writer->profile, mapping->module)->source_user;

		if (owner != SOURCE_USER_PROF)
			fprintf(out, "%s%" PRIu32 "=%u", ftello(out) ? " " : "", mapping->id,
				(unsigned)owner);
	}
	fclose(out);
	put_comment(writer, PPROF_OWNERS, owners);
}

static void pprof_put_polls(struct pprof_writer *writer)
{
	uint32_t count = profile_polls_count(writer->profile);

	for (uint32_t i = 0; i < count && i < PPROF_POLLS_MAX; i++) {
		const struct profile_polls *polls = profile_get_polls(writer->profile, i);
		CLEANUP(free_ptr)
		char *text = xasprintf("%" PRIu64 " %s", polls->polls,
				       profile_string(writer->profile, polls->task));

		put_comment(writer, PPROF_POLLS, text);
	}
}

static void put_comments(struct pprof_writer *writer)
{
	const struct profile_info *info = profile_get_info(writer->profile);

	put_comment(writer, PPROF_TITLE, info->title);
	put_comment(writer, "command: ", info->command);
	put_comment(writer, "host: ", info->host);
	put_comment(writer, "kernel: ", info->kernel);
	put_comment(writer, "", info->is_run ? PPROF_RUN : "");
	put_comment(writer, "", info->headline);
	pprof_put_quality(writer, &info->quality);
	put_owners(writer);
	pprof_put_polls(writer);
	put_remarks(writer, info->remarks);
}

static void pprof_put_mapping(struct pprof_writer *writer, const struct pprof_mapping *mapping)
{
	const struct profile_module *module = profile_get_module(writer->profile, mapping->module);
	struct wire_message *message = &writer->message;
	uint64_t filename = module->path ? pprof_text(writer, module->path)
					 : pprof_string(&writer->stream, "[unknown]");

	wire_put_number(message, PPROF_MAPPING_ID, mapping->id);
	wire_put_number(message, PPROF_MAPPING_START, mapping->start);
	wire_put_number(message, PPROF_MAPPING_LIMIT, mapping->limit);
	wire_put_number(message, PPROF_MAPPING_OFFSET, mapping->offset);
	wire_put_number(message, PPROF_MAPPING_FILENAME, filename);
	wire_put_number(message, PPROF_MAPPING_BUILD_ID, pprof_text(writer, module->build_id));
	wire_put_number(message, PPROF_MAPPING_HAS_FUNCTIONS, mapping->has_functions);
	wire_put_number(message, PPROF_MAPPING_HAS_FILENAMES, mapping->has_filenames);
	wire_put_number(message, PPROF_MAPPING_HAS_LINE_NUMBERS, mapping->has_line_numbers);
	wire_put_number(message, PPROF_MAPPING_HAS_INLINE_FRAMES, mapping->has_inline_frames);
	pprof_put_message(&writer->stream, PPROF_PROFILE_MAPPING, message);
}

static void pprof_put_mappings(struct pprof_writer *writer)
{
	const struct pprof_mappings *mappings = &writer->mappings;

	for (uint32_t i = 0; i < mappings->count; i++)
		pprof_put_mapping(writer, &mappings->places[mappings->in_order[i]]);
}

static void pprof_put_function(struct pprof_writer *writer, function_id id)
{
	const struct profile_function *function = profile_get_function(writer->profile, id);
	struct wire_message *message = &writer->message;

	wire_put_number(message, PPROF_FUNCTION_ID, (uint64_t)id + 1);
	wire_put_number(message, PPROF_FUNCTION_NAME,
			pprof_string(&writer->stream, function_names_get(&writer->names, id)));
	if (!writer->is_small || function->system_name != function->name)
		wire_put_number(message, PPROF_FUNCTION_SYSTEM_NAME,
				pprof_text(writer, function->system_name));
	wire_put_number(message, PPROF_FUNCTION_FILENAME, pprof_text(writer, function->file));
	wire_put_number(message, PPROF_FUNCTION_START_LINE, function->start_line);
	pprof_put_message(&writer->stream, PPROF_PROFILE_FUNCTION, message);
}

static void pprof_put_functions(struct pprof_writer *writer)
{
	for (function_id i = 0; i < profile_function_count(writer->profile); i++)
		pprof_put_function(writer, i);
}

static void group_addresses(struct pprof_writer *writer)
{
	const struct profile *profile = writer->profile;
	uint32_t count = profile_frame_count(profile);
	CLEANUP(idmap_deinit) struct idmap first = {0};

	writer->first_of_function = xcalloc(count, sizeof(*writer->first_of_function));
	for (frame_id i = 0; i < count; i++) {
		struct profile_frame frame = profile_get_frame(profile, i);
		uint32_t *id;

		if (frame.line_count)
			continue;
		id = idmap_put(&first, profile_frame_function_address(profile, i), frame.module);
		if (*id == IDMAP_NONE)
			*id = i;
		writer->first_of_function[i] = *id;
	}
}

/*
 * Gives the function of an unsymbolized frame its address as name, because many
 * readers show nothing for a location without a function. `go tool pprof` still
 * looks up the real name, because has_functions is false.
 */
static uint64_t function_of_address(const struct pprof_writer *writer, frame_id frame)
{
	return (uint64_t)profile_function_count(writer->profile) + 1 +
	       writer->first_of_function[frame];
}

static void put_function_of_address(struct pprof_writer *writer, frame_id frame)
{
	CLEANUP(free_ptr) char *address = profile_frame_address_name(writer->profile, frame);
	uint64_t name = pprof_string(&writer->stream, address);
	struct wire_message *message = &writer->message;

	wire_put_number(message, PPROF_FUNCTION_ID, function_of_address(writer, frame));
	wire_put_number(message, PPROF_FUNCTION_NAME, name);
	wire_put_number(message, PPROF_FUNCTION_SYSTEM_NAME, name);
	pprof_put_message(&writer->stream, PPROF_PROFILE_FUNCTION, message);
}

static void put_functions_of_addresses(struct pprof_writer *writer)
{
	for (frame_id i = 0; i < profile_frame_count(writer->profile); i++)
		if (!profile_get_frame(writer->profile, i).line_count &&
		    writer->first_of_function[i] == i)
			put_function_of_address(writer, i);
}

static void pprof_add_line(struct pprof_writer *writer, uint64_t function, uint32_t line)
{
	writer->nested.len = 0;
	wire_put_number(&writer->nested, PPROF_LINE_FUNCTION, function);
	wire_put_number(&writer->nested, PPROF_LINE_LINE, line);
	wire_put_message(&writer->message, PPROF_LOCATION_LINE, &writer->nested);
}

static void pprof_put_location(struct pprof_writer *writer, frame_id id)
{
	struct profile_frame frame = profile_get_frame(writer->profile, id);
	const struct pprof_mapping *mapping = pprof_mapping_of(&writer->mappings, writer->profile,
							       id);
	struct wire_message *message = &writer->message;

	wire_put_number(message, PPROF_LOCATION_ID, (uint64_t)id + 1);
	if (mapping)
		wire_put_number(message, PPROF_LOCATION_MAPPING, mapping->id);
	if (frame.module != PROFILE_SYNTHETIC)
		wire_put_number(message, PPROF_LOCATION_ADDRESS,
				pprof_address(writer->profile, id));
	for (unsigned i = 0; i < frame.line_count; i++)
		pprof_add_line(writer, (uint64_t)frame.lines[i].function + 1, frame.lines[i].line);
	if (!frame.line_count)
		pprof_add_line(writer, function_of_address(writer, id), 0);
	pprof_put_message(&writer->stream, PPROF_PROFILE_LOCATION, message);
}

static void pprof_put_locations(struct pprof_writer *writer)
{
	for (frame_id i = 0; i < profile_frame_count(writer->profile); i++)
		pprof_put_location(writer, i);
}

static int write_message(const struct profile *profile, const struct format_options *options,
			 FILE *out)
{
	event_id event = options->event_only ? options->event
					     : memory_default_type(profile, options->event);
	struct pprof_writer writer = {
		.profile = profile, .event = event, .is_small = options->pprof.small};
	int error;

	pprof_stream_init(&writer.stream, out);
	pprof_mappings_init(&writer.mappings, profile);
	function_names_init(&writer.names, profile, options->names);
	group_addresses(&writer);
	put_sample_types(&writer);
	pprof_put_times(&writer);
	put_segments(&writer, &options->pprof);
	put_comments(&writer);
	pprof_put_mappings(&writer);
	pprof_put_functions(&writer);
	put_functions_of_addresses(&writer);
	pprof_put_locations(&writer);
	pprof_put_samples(&writer.stream, profile, event, has_samples(&writer),
			  options->pprof.times);
	error = pprof_stream_finish(&writer.stream);
	pprof_mappings_deinit(&writer.mappings);
	function_names_deinit(&writer.names);
	free(writer.first_of_function);
	pprof_stream_deinit(&writer.stream);
	free(writer.message.bytes);
	free(writer.nested.bytes);
	return error;
}

static struct error *pprof_write(const struct profile *profile,
				 const struct format_options *options, FILE *out)
{
	FILE *gzip;
	int error;

	if (!pprof_values_fit(profile))
		return error_new("pprof profiles cannot hold counts of 2^63 or more");
	gzip = options->pprof.small ? gzip_small_writer(out) : gzip_writer(out);
	if (!gzip)
		return error_errno(errno, "compress the profile");
	error = write_message(profile, options, gzip);
	if (fclose(gzip) && !error)
		error = errno;
	if (fflush(out) && !error)
		error = errno;
	return error ? error_errno(error, "write the pprof profile") : NULL;
}

const struct format format_pprof = {
	.name = "pprof",
	.extensions = (const char *const[]){".pb.gz", ".pprof", NULL},
	.summary = "for go tool pprof, Pyroscope, Parca and others",
	.viewer = "prof report FILE",
	.binary = true,
	.write = pprof_write,
	.media_type = "application/octet-stream",
	.download = "profile",
	.recognize = pprof_recognize,
	.read = pprof_read,
};
