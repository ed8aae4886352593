#include "format/format.h"

#include "base/alloc.h"
#include "base/gzip.h"
#include "format/pprof_mapping.h"
#include "format/pprof_read.h"
#include "format/pprof_samples.h"
#include "format/pprof_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Functions and locations have the profile's ids, plus one: 0 means none. */
struct writer {
	struct pprof_stream stream;
	const struct profile *profile;
	struct pprof_mappings mappings;
};

static int64_t text(struct writer *writer, string_id id)
{
	return pprof_string(&writer->stream, profile_string(writer->profile, id));
}

/* What the weights of an event measure: nanoseconds of "cpu", as Go's own profiles call it. */
static Pprof__ValueType type_of_event(struct writer *writer, event_id id)
{
	const struct profile_event *event = profile_get_event(writer->profile, id);
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;

	/* Of two clocks only the first is "cpu": readers choose a type by its name. */
	if (event->counts_ns && id == 0 && !event->unit)
		type.type = pprof_string(&writer->stream, "cpu");
	else
		type.type = text(writer, event->name);
	if (event->unit)
		type.unit = text(writer, event->unit);
	else
		type.unit = pprof_string(&writer->stream,
					 event->counts_ns ? "nanoseconds" : "count");
	return type;
}

static Pprof__ValueType type_of_samples(struct writer *writer)
{
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;

	type.type = pprof_string(&writer->stream, "samples");
	type.unit = pprof_string(&writer->stream, "count");
	return type;
}

/* A value before those of the events: the samples of the first one. */
static bool has_samples(const struct profile *profile)
{
	return !profile_event_count(profile) || !profile_get_event(profile, 0)->one_value;
}

static void put_sample_types(struct writer *writer)
{
	Pprof__ValueType type = type_of_samples(writer);

	if (has_samples(writer->profile))
		pprof_put_sample_type(&writer->stream, &type);
	for (event_id i = 0; i < profile_event_count(writer->profile); i++) {
		type = type_of_event(writer, i);
		pprof_put_sample_type(&writer->stream, &type);
	}
}

/* What was asked for, or follows from the frequency; or else the mean of the real ones. */
static uint64_t period_of_event(const struct profile *profile, event_id id)
{
	const struct profile_event *event = profile_get_event(profile, id);
	uint64_t samples = 0, weight = 0;

	if (event->period)
		return event->period;
	if (event->counts_ns && event->frequency_hz)
		return UINT64_C(1000000000) / event->frequency_hz;
	for (uint64_t i = 0; i < profile_cell_count(profile); i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);

		samples += cell->event == id ? cell->samples : 0;
		weight += cell->event == id ? cell->weight : 0;
	}
	return samples && weight > samples ? weight / samples : 1;
}

static void put_times(struct writer *writer)
{
	const struct profile_info *info = profile_get_info(writer->profile);
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType type = type_of_samples(writer);

	piece.time_nanos = (int64_t)info->start_unix_ns;
	piece.duration_nanos = (int64_t)info->duration_ns;
	if (profile_event_count(writer->profile)) {
		type = type_of_event(writer, 0);
		piece.period_type = &type;
		piece.period = (int64_t)period_of_event(writer->profile, 0);
	}
	piece.default_sample_type = type.type;
	pprof_put(&writer->stream, &piece);
}

/* A comment a line. */
static void put_remarks(struct writer *writer, const char *line)
{
	for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
		CLEANUP(free_ptr) char *comment = xstrndup(line, (size_t)(end - line));

		pprof_put_comment(&writer->stream, comment);
	}
}

static void put_comment(struct writer *writer, const char *title, const char *content)
{
	CLEANUP(free_ptr) char *comment = xasprintf("%s%s", title, content);

	if (*content)
		pprof_put_comment(&writer->stream, comment);
}

static void put_comments(struct writer *writer)
{
	const struct profile_info *info = profile_get_info(writer->profile);

	put_comment(writer, "command: ", info->command);
	put_comment(writer, "host: ", info->host);
	put_comment(writer, "kernel: ", info->kernel);
	put_comment(writer, "", info->is_run ? PPROF_RUN : "");
	put_comment(writer, "", info->quality);
	put_remarks(writer, info->remarks);
}

static void put_mapping(struct writer *writer, const struct pprof_mapping *mapping)
{
	const struct profile_module *module = profile_get_module(writer->profile, mapping->module);
	Pprof__Mapping message = PPROF__MAPPING__INIT;

	message.id = mapping->id;
	message.memory_start = mapping->start;
	message.memory_limit = mapping->limit;
	message.file_offset = mapping->offset;
	message.filename = module->path ? text(writer, module->path)
					: pprof_string(&writer->stream, "[unknown]");
	message.build_id = text(writer, module->build_id);
	message.has_functions = mapping->has_functions;
	message.has_filenames = mapping->has_filenames;
	message.has_line_numbers = mapping->has_line_numbers;
	message.has_inline_frames = mapping->has_inline_frames;
	pprof_put_mapping(&writer->stream, &message);
}

static void put_mappings(struct writer *writer)
{
	const struct pprof_mappings *mappings = &writer->mappings;

	for (uint32_t i = 0; i < mappings->count; i++)
		put_mapping(writer, &mappings->places[mappings->in_order[i]]);
}

static void put_functions(struct writer *writer)
{
	for (function_id i = 0; i < profile_function_count(writer->profile); i++) {
		const struct profile_function *function = profile_get_function(writer->profile, i);
		Pprof__Function message = PPROF__FUNCTION__INIT;

		message.id = (uint64_t)i + 1;
		message.name = text(writer, function->name);
		message.system_name = text(writer, function->system_name);
		message.filename = text(writer, function->file);
		message.start_line = function->start_line;
		pprof_put_function(&writer->stream, &message);
	}
}

/*
 * A frame without a name gets a function called by its address, since many readers show nothing of
 * a location without one. `go tool pprof` still looks for the real name, has_functions being false.
 */
static uint64_t function_of_address(const struct writer *writer, frame_id frame)
{
	return (uint64_t)profile_function_count(writer->profile) + 1 + frame;
}

static void put_functions_of_addresses(struct writer *writer)
{
	for (frame_id i = 0; i < profile_frame_count(writer->profile); i++) {
		CLEANUP(free_ptr) char *name = NULL;
		Pprof__Function message = PPROF__FUNCTION__INIT;

		if (profile_get_frame(writer->profile, i).line_count)
			continue;
		name = profile_frame_address_name(writer->profile, i);
		message.id = function_of_address(writer, i);
		message.name = pprof_string(&writer->stream, name);
		message.system_name = message.name;
		pprof_put_function(&writer->stream, &message);
	}
}

static Pprof__Line line_of_frame(const struct writer *writer, frame_id id, unsigned index)
{
	struct profile_frame frame = profile_get_frame(writer->profile, id);
	Pprof__Line line = PPROF__LINE__INIT;

	if (frame.line_count) {
		line.function_id = (uint64_t)frame.lines[index].function + 1;
		line.line = frame.lines[index].line;
	} else {
		line.function_id = function_of_address(writer, id);
	}
	return line;
}

static void put_location(struct writer *writer, frame_id id)
{
	unsigned named = profile_get_frame(writer->profile, id).line_count;
	unsigned count = named ? named : 1;
	CLEANUP(free_ptr) Pprof__Line *lines = xcalloc(count, sizeof(*lines));
	CLEANUP(free_ptr) Pprof__Line **order = xcalloc(count, sizeof(*order));
	const struct pprof_mapping *mapping = pprof_mapping_of(&writer->mappings, writer->profile,
							       id);
	uint32_t module = profile_get_frame(writer->profile, id).module;
	Pprof__Location message = PPROF__LOCATION__INIT;

	for (unsigned i = 0; i < count; i++) {
		lines[i] = line_of_frame(writer, id, i);
		order[i] = &lines[i];
	}
	message.id = (uint64_t)id + 1;
	message.mapping_id = mapping ? mapping->id : 0;
	message.address = module == PROFILE_NOTES ? 0 : pprof_address(writer->profile, id);
	message.n_line = count;
	message.line = order;
	pprof_put_location(&writer->stream, &message);
}

static void put_locations(struct writer *writer)
{
	for (frame_id i = 0; i < profile_frame_count(writer->profile); i++)
		put_location(writer, i);
}

static bool values_fit(const struct profile *profile)
{
	for (uint64_t i = 0; i < profile_cell_count(profile); i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);

		if (cell->samples > INT64_MAX || cell->weight > INT64_MAX)
			return false;
	}
	return true;
}

static int write_message(const struct profile *profile, FILE *out)
{
	struct writer writer = {.profile = profile};
	int error;

	pprof_stream_init(&writer.stream, out);
	pprof_mappings_init(&writer.mappings, profile);
	put_sample_types(&writer);
	put_times(&writer);
	put_comments(&writer);
	put_mappings(&writer);
	put_functions(&writer);
	put_functions_of_addresses(&writer);
	put_locations(&writer);
	pprof_put_samples(&writer.stream, profile, has_samples(profile));
	error = pprof_stream_finish(&writer.stream);
	pprof_mappings_deinit(&writer.mappings);
	pprof_stream_deinit(&writer.stream);
	return error;
}

static struct error *pprof_write(const struct profile *profile,
				 const struct format_options *options, FILE *out)
{
	FILE *gzip;
	int error;

	(void)options;
	if (!values_fit(profile))
		return error_new("a count of 2^63 or more has no place in a pprof profile");
	gzip = gzip_writer(out);
	if (!gzip)
		return error_errno(errno, "compress the profile");
	error = write_message(profile, gzip);
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
	.recognize = pprof_recognize,
	.read = pprof_read,
};
