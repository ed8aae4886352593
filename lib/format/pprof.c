#include "format/format.h"

#include "base/alloc.h"
#include "base/gzip.h"
#include "format/pprof_mapping.h"
#include "format/pprof_read.h"
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

struct labels {
	Pprof__Label items[4];
	Pprof__Label *order[4];
	size_t count;
};

static Pprof__Label *add_label(struct writer *writer, struct labels *labels, const char *key)
{
	Pprof__Label *label = &labels->items[labels->count];

	pprof__label__init(label);
	label->key = pprof_string(&writer->stream, key);
	labels->order[labels->count++] = label;
	return label;
}

static void add_text(struct writer *writer, struct labels *labels, const char *key, string_id value)
{
	/* A label without a text would be the number 0. */
	if (value)
		add_label(writer, labels, key)->str = text(writer, value);
}

static void add_id(struct writer *writer, struct labels *labels, const char *key, pid_t value)
{
	Pprof__Label *label;

	if (value < 0)
		return;
	label = add_label(writer, labels, key);
	label->num = value;
	label->num_unit = pprof_string(&writer->stream, "id");
}

static void add_labels(struct writer *writer, struct labels *labels, thread_id id)
{
	const struct profile_thread *thread = profile_get_thread(writer->profile, id);

	add_text(writer, labels, "comm", thread->process);
	add_text(writer, labels, "thread", thread->name);
	add_id(writer, labels, "pid", thread->pid);
	add_id(writer, labels, "tid", thread->tid);
}

static void put_sample(struct writer *writer, const struct profile_cell *cell, int64_t *values)
{
	struct profile_stack stack = profile_get_stack(writer->profile, cell->stack);
	CLEANUP(free_ptr) uint64_t *locations = xcalloc(stack.depth, sizeof(*locations));
	Pprof__Sample message = PPROF__SAMPLE__INIT;
	struct labels labels = {0};

	message.n_location_id = stack.depth;
	message.location_id = locations;
	for (uint64_t *location = locations; stack.depth; location++) {
		*location = (uint64_t)stack.frame + 1;
		stack = profile_get_stack(writer->profile, stack.parent);
	}
	message.n_value = profile_event_count(writer->profile) + has_samples(writer->profile);
	message.value = values + !has_samples(writer->profile);
	add_labels(writer, &labels, cell->thread);
	message.n_label = labels.count;
	message.label = labels.order;
	pprof_put_sample(&writer->stream, &message);
}

/*
 * The place of each stack where the callees of a stack follow it directly. So a sample has most of
 * its callers in common with the one before, which compresses well, and is read with few steps. A
 * parent's id is below its children's, whose order stays.
 */
static uint32_t *rank_stacks(const struct profile *profile)
{
	uint32_t count = profile_stack_count(profile);
	uint32_t *rank = xcalloc(count, sizeof(*rank));
	CLEANUP(free_ptr) uint32_t *size = xcalloc(count, sizeof(*size)); /* with all callees */
	CLEANUP(free_ptr) uint32_t *next = xcalloc(count, sizeof(*next)); /* rank of a callee */

	for (stack_id i = count; i-- > 1;)
		size[profile_get_stack(profile, i).parent] += ++size[i];
	next[STACK_EMPTY] = 1;
	for (stack_id i = 1; i < count; i++) {
		stack_id parent = profile_get_stack(profile, i).parent;

		rank[i] = next[parent];
		next[parent] += size[i];
		next[i] = rank[i] + 1;
	}
	return rank;
}

struct cell_order {
	const struct profile *profile;
	const uint32_t *rank; /* of stacks */
};

static int compare_cells(const void *a, const void *b, void *context)
{
	const struct cell_order *order = context;
	const struct profile_cell *left = profile_get_cell(order->profile, *(const uint32_t *)a);
	const struct profile_cell *right = profile_get_cell(order->profile, *(const uint32_t *)b);

	if (left->stack != right->stack)
		return order->rank[left->stack] < order->rank[right->stack] ? -1 : 1;
	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return (left->event > right->event) - (left->event < right->event);
}

/* So that the cells of one stack and thread, one of each event, are next to each other. */
static uint32_t *sort_cells(const struct profile *profile)
{
	uint32_t count = (uint32_t)profile_cell_count(profile);
	uint32_t *order = xcalloc(count, sizeof(*order));
	CLEANUP(free_ptr) uint32_t *rank = rank_stacks(profile);
	struct cell_order by = {profile, rank};

	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	if (count)
		qsort_r(order, count, sizeof(*order), compare_cells, &by);
	return order;
}

/* The first value counts the samples of the first event; then comes the weight of each event. */
static void put_samples(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	CLEANUP(free_ptr) uint32_t *order = sort_cells(profile);
	size_t types = profile_event_count(profile) + 1;
	CLEANUP(free_ptr) int64_t *values = xcalloc(types, sizeof(*values));
	uint64_t count = profile_cell_count(profile);

	for (uint64_t i = 0; i < count; i++) {
		const struct profile_cell *cell = profile_get_cell(profile, order[i]);
		const struct profile_cell *next = i + 1 < count
							  ? profile_get_cell(profile, order[i + 1])
							  : NULL;

		if (cell->event == 0)
			values[0] = (int64_t)cell->samples;
		values[1 + cell->event] = (int64_t)cell->weight;
		if (next && next->stack == cell->stack && next->thread == cell->thread)
			continue;
		put_sample(writer, cell, values);
		memset(values, 0, types * sizeof(*values));
	}
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
	put_samples(&writer);
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
	.viewer = "go tool pprof -http=: FILE",
	.binary = true,
	.write = pprof_write,
	.recognize = pprof_recognize,
	.read = pprof_read,
};
