#include "perfdata/perfdata.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/text.h"
#include "perf/group_counts.h"
#include "perfdata/file_header.h"
#include "perfdata/inflater.h"
#include "perfdata/reorder.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { PROBLEMS_MAX = 8 };

struct perfdata {
	int fd;
	struct file_input input;
	struct file_header header;
	struct inflater *inflater; /* NULL until the first compressed record */
	bool inflating;		   /* the inflater may have more */
	struct group_counts group_counts;
	struct reorder reorder;
	struct pending_record current; /* the record that the caller holds */
	/* Copy of the record that is being read, if the file is mapped. */
	unsigned char *copy;
	/* Number of records so far; used as time if the recording has none. */
	uint64_t taken;
	bool ended; /* the input has ended */
	/* Problems that are known only at the end were reported. */
	bool reported;

	uint64_t undecodable;
	uint64_t lost;	 /* number of losses that were reported so far */
	bool has_traces; /* there are processor traces */
	uint32_t trace_kind;
	uint64_t trace_bytes;
	char *problems[PROBLEMS_MAX];
	unsigned problem_count;
};

/* Indexed by PERFDATA_AUXTRACE_INFO. Source: enum auxtrace_type of
 * tools/perf/util/auxtrace.h. */
static const char *trace_name(const struct perfdata *perfdata)
{
	static const char *const names[] = {
		"AUX",		 "Intel PT", "Intel BTS",
		"Arm CoreSight", "Arm SPE",  "s390 CPU measurement",
		"HiSilicon PTT",
	};
	const uint32_t kind = perfdata->trace_kind;

	return names[kind < ARRAY_SIZE(names) ? kind : 0];
}

__attribute__((format(printf, 2, 3))) static void add_problem(struct perfdata *perfdata,
							      const char *fmt, ...)
{
	va_list args;

	if (perfdata->problem_count == PROBLEMS_MAX)
		return;
	va_start(args, fmt);
	perfdata->problems[perfdata->problem_count++] = xvasprintf(fmt, args);
	va_end(args);
}

const char *perfdata_problem(struct perfdata *perfdata, unsigned index)
{
	return index < perfdata->problem_count ? perfdata->problems[index] : NULL;
}

const struct perfdata_info *perfdata_info(const struct perfdata *perfdata)
{
	return &perfdata->header.info;
}

unsigned perfdata_event_count(const struct perfdata *perfdata)
{
	return perfdata->header.events.sampling_count;
}

const struct perfdata_event *perfdata_event(const struct perfdata *perfdata, unsigned event)
{
	return &perfdata->header.events.sampling[event].event;
}

bool perfdata_has_switches(const struct perfdata *perfdata)
{
	return perfdata->header.events.switches;
}

/* Takes ownership of err. */
static bool is_found(struct error *err)
{
	bool has_failed = err;

	error_free(err);
	return !has_failed;
}

bool perfdata_choose_fields(struct perfdata *perfdata, const char *weight,
			    const char *const *labels, size_t label_count, const char **missing)
{
	struct file_events *events = &perfdata->header.events;
	bool weighs = false, *has_label = xcalloc(label_count + 1, sizeof(*has_label));

	for (uint32_t i = 0; i < events->sampling_count; i++) {
		struct sampling_event *sampling = &events->sampling[i];

		if (!sampling->reader)
			continue;
		if (weight && is_found(field_reader_set_weight(sampling->reader, weight))) {
			weighs = true;
			sampling->event.kind = field_reader_kind(sampling->reader);
		}
		for (size_t k = 0; k < label_count; k++)
			has_label[k] |=
				is_found(field_reader_add_label(sampling->reader, labels[k]));
	}
	*missing = weighs ? NULL : weight;
	for (size_t k = 0; k < label_count; k++)
		if (!has_label[k])
			*missing = labels[k];
	free(has_label);
	return !*missing;
}

static void report_losses(struct perfdata *perfdata)
{
	if (perfdata->reported)
		return;
	perfdata->reported = true;
	if (perfdata->input.error)
		add_problem(perfdata, "cannot read the rest of the recording: %s",
			    strerror(perfdata->input.error));
	if (file_input_is_cut(&perfdata->input))
		add_problem(perfdata, "the recording was truncated while it was read");
	if (perfdata->undecodable)
		add_problem(perfdata, "ignored %" PRIu64 " malformed records of the recording",
			    perfdata->undecodable);
	if (perfdata->reorder.late)
		add_problem(perfdata,
			    "%" PRIu64 " records of the recording are too far out of order: some "
			    "samples may be attributed to another program",
			    perfdata->reorder.late);
	if (perfdata->has_traces)
		add_problem(perfdata,
			    "ignored %s of processor traces (%s), which prof does not decode: only "
			    "samples are read",
			    humanize_bytes(perfdata->trace_bytes).text, trace_name(perfdata));
}

static void perfdata_end(struct perfdata *perfdata)
{
	if (!perfdata->ended)
		reorder_end(&perfdata->reorder);
	perfdata->ended = true;
}

static void end_damaged(struct perfdata *perfdata)
{
	add_problem(perfdata, "the recording is damaged at byte %" PRIu64 ": ignored the rest",
		    perfdata->input.offset);
	perfdata_end(perfdata);
}

static void end_cut_off(struct perfdata *perfdata)
{
	add_problem(perfdata, "the recording is cut off within a record");
	perfdata_end(perfdata);
}

/* Skips bytes that follow a record without being part of it. */
static void skip_payload(struct perfdata *perfdata, uint64_t len)
{
	if (!file_input_skip(&perfdata->input, len))
		end_cut_off(perfdata);
}

static void skip_traces(struct perfdata *perfdata, uint64_t len)
{
	perfdata->has_traces = true;
	perfdata->trace_bytes += len;
	skip_payload(perfdata, len);
}

/* The bytes after the record are padded to words. */
static void take_tracing_data(struct perfdata *perfdata, uint64_t len)
{
	uint64_t padding = -len & (sizeof(uint64_t) - 1);

	if (file_header_read_formats(&perfdata->header, &perfdata->input, len))
		skip_payload(perfdata, padding);
	else
		skip_payload(perfdata, len + padding);
}

static void take_attr_record(struct perfdata *perfdata, struct bytes body)
{
	struct bytes size = bytes_at(body, offsetof(struct perf_event_attr, size));
	struct bytes attr = bytes_sub(&body, bytes_u32(&size));
	struct error *err = file_events_add(&perfdata->header.events, attr, body);

	if (!err)
		return;
	add_problem(perfdata, "%s", error_text(err));
	error_free(err);
	perfdata_end(perfdata);
}

static void take_update(struct perfdata *perfdata, struct bytes body)
{
	bool is_name = bytes_u64(&body) == PERFDATA_UPDATE_NAME;
	uint32_t index = file_events_find(&perfdata->header.events, bytes_u64(&body));
	const char *name = bytes_cstr(&body);

	if (is_name && name && *name && index != IDMAP_NONE)
		file_events_set_name(&perfdata->header.events, index, name);
}

static void take_compressed(struct perfdata *perfdata, struct bytes body, bool tells_size)
{
	struct error *err = NULL;

	if (tells_size)
		body = bytes_sub(&body, bytes_u64(&body));
	if (!perfdata->inflater)
		err = inflater_new(&perfdata->inflater);
	if (err) {
		add_problem(perfdata, "%s", error_text(err));
		error_free(err);
		perfdata_end(perfdata);
		return;
	}
	inflater_feed(perfdata->inflater, body);
	perfdata->inflating = true;
}

static uint32_t type_of(struct bytes header)
{
	return bytes_u32(&header);
}

static uint16_t perfdata_size_of(struct bytes header)
{
	bytes_skip(&header, sizeof(uint32_t) + sizeof(uint16_t));
	return bytes_u16(&header);
}

/* perf synthesizes a mapping of the kernel with process -1. */
static void note_kernel(struct file_header *header, const struct record_layout *layout,
			struct bytes raw)
{
	static const char kernel[] = "[kernel.kallsyms]";
	struct perfdata_info *info = &header->info;
	struct record record;

	if (info->kernel_start || !layout || !record_decode(layout, raw, &record) ||
	    record.type != RECORD_MMAP || record.pid != -1 ||
	    strncmp(record.mmap.path, kernel, sizeof(kernel) - 1) != 0)
		return;
	info->kernel_start = record.mmap.start;
	info->kernel_end = record.mmap.start + record.mmap.length_bytes;
	info->kernel_build_id_bytes = file_build_ids_get(&header->build_ids, kernel,
							 info->kernel_build_id);
}

/* lasts: raw is a sample in a mapped file and need not be copied. */
static void take_in(struct perfdata *perfdata, struct bytes raw, uint64_t place, bool lasts)
{
	const struct record_layout *layout;
	uint64_t time_ns = 0;

	perfdata->taken++;
	if (!perfdata->header.events.layouts.count) {
		perfdata->undecodable++;
		return;
	}
	layout = layouts_find(&perfdata->header.events.layouts, raw);
	if (layout && !(layout->sample_type & PERF_SAMPLE_TIME))
		time_ns = perfdata->taken;
	else if (layout && !record_time(layout, raw, &time_ns))
		time_ns = perfdata->reorder.youngest_ns;
	if (!lasts && (type_of(raw) == PERF_RECORD_MMAP || type_of(raw) == PERF_RECORD_MMAP2))
		note_kernel(&perfdata->header, layout, raw);
	/* perf writes UINT64_MAX for a missing timestamp. */
	if (time_ns == UINT64_MAX)
		time_ns = 0;
	reorder_add(&perfdata->reorder, time_ns, place, raw, lasts);
}

/* raw is a whole record; place is its offset in the file, or the number of
 * records before it. */
static void perfdata_take_record(struct perfdata *perfdata, struct bytes raw, uint64_t place)
{
	struct bytes body = raw;
	uint32_t type = bytes_u32(&body);

	if (type < PERFDATA_FIRST_TYPE) {
		take_in(perfdata, raw, place, false);
		return;
	}
	bytes_skip(&body, sizeof(uint32_t));
	switch (type) {
	case PERFDATA_ATTR:
		take_attr_record(perfdata, body);
		break;
	case PERFDATA_TRACING_DATA:
		take_tracing_data(perfdata, bytes_u32(&body));
		break;
	case PERFDATA_BUILD_ID:
		file_build_ids_add(&perfdata->header.build_ids, raw);
		break;
	case PERFDATA_FINISHED_ROUND:
		reorder_end_round(&perfdata->reorder);
		break;
	case PERFDATA_AUXTRACE:
		skip_traces(perfdata, bytes_u64(&body));
		break;
	case PERFDATA_AUXTRACE_INFO:
		perfdata->has_traces = true;
		perfdata->trace_kind = bytes_u32(&body);
		break;
	case PERFDATA_EVENT_UPDATE:
		take_update(perfdata, body);
		break;
	case PERFDATA_FEATURE: {
		uint64_t feature = bytes_u64(&body);

		file_header_take_feature(&perfdata->header, feature, body);
		break;
	}
	case PERFDATA_COMPRESSED:
	case PERFDATA_COMPRESSED2:
		take_compressed(perfdata, body, type == PERFDATA_COMPRESSED2);
		break;
	default:
		break;
	}
}

/*
 * Samples are large and are read in place. Other records are copied first: they
 * contain names, whose NUL must not vanish while another program writes to the
 * file.
 */
static void take_from_input(struct perfdata *perfdata, struct bytes raw, uint64_t place)
{
	size_t len = bytes_left(&raw);

	if (!perfdata->input.map) {
		perfdata_take_record(perfdata, raw, place);
		return;
	}
	if (type_of(raw) == PERF_RECORD_SAMPLE) {
		take_in(perfdata, raw, place, true);
		return;
	}
	if (!perfdata->copy)
		perfdata->copy = xmalloc(UINT16_MAX);
	perfdata_take_record(perfdata, bytes_of(memcpy(perfdata->copy, raw.at, len), len), place);
}

static void advance_in_file(struct perfdata *perfdata)
{
	struct file_input *input = &perfdata->input;
	uint64_t place = input->offset;
	struct bytes raw;
	uint16_t size;

	file_input_look(input, sizeof(struct perf_event_header), &raw);
	if (!bytes_left(&raw)) {
		perfdata_end(perfdata);
		return;
	}
	size = perfdata_size_of(raw);
	if (!bytes_ok(&raw) || bytes_left(&raw) < sizeof(struct perf_event_header)) {
		end_cut_off(perfdata);
		return;
	}
	if (size < sizeof(struct perf_event_header)) {
		end_damaged(perfdata);
		return;
	}
	file_input_look(input, size, &raw);
	if (bytes_left(&raw) < size) {
		end_cut_off(perfdata);
		return;
	}
	file_input_skip(input, size);
	take_from_input(perfdata, raw, place);
}

/* A record may start in one compressed piece and end in the next. */
static void advance_in_piece(struct perfdata *perfdata)
{
	struct bytes raw;
	struct error *err = inflater_look(perfdata->inflater, sizeof(struct perf_event_header),
					  &raw);
	uint16_t size = perfdata_size_of(raw);
	bool whole = bytes_left(&raw) == sizeof(struct perf_event_header);

	if (!err && whole && size >= sizeof(struct perf_event_header)) {
		err = inflater_look(perfdata->inflater, size, &raw);
		whole = bytes_left(&raw) == size;
	}
	if (err) {
		add_problem(perfdata, "%s: ignored the rest", error_text(err));
		error_free(err);
		perfdata_end(perfdata);
		return;
	}
	if (whole && size < sizeof(struct perf_event_header)) {
		end_damaged(perfdata);
		return;
	}
	perfdata->inflating = whole;
	if (!whole)
		return;
	/* perf compresses only records of the kernel. */
	if (type_of(raw) < PERFDATA_FIRST_TYPE)
		take_in(perfdata, raw, perfdata->taken, false);
	inflater_skip(perfdata->inflater, size);
}

static void perfdata_advance(struct perfdata *perfdata)
{
	if (perfdata->inflating)
		advance_in_piece(perfdata);
	else
		advance_in_file(perfdata);
}

static struct error *refuse_directory(void)
{
	return error_hint(error_new("its records are in a directory (perf record --threads)"),
			  "record without --threads");
}

static struct error *refuse_magic(uint64_t magic)
{
	if (magic == PERFDATA_MAGIC_SWAPPED)
		return error_new("it was recorded on a machine with the other byte order");
	if (magic == PERFDATA_MAGIC_OLD)
		return error_new("it was recorded by a perf older than Linux 3.1");
	return error_new("it is not a perf.data file");
}

static struct error *perfdata_read_header(struct perfdata *perfdata)
{
	struct file_input *input = &perfdata->input;
	bool cut_off = false;
	struct bytes start;
	uint64_t magic, size;
	struct error *err;

	file_input_look(input, PERFDATA_PIPE_HEADER_BYTES, &start);
	if (!bytes_left(&start) && !input->error)
		return error_new("it is empty, not a perf.data file");
	magic = bytes_u64(&start);
	size = bytes_u64(&start);
	if (!bytes_ok(&start) || magic != PERFDATA_MAGIC)
		return input->error ? error_errno(input->error, "read it") : refuse_magic(magic);
	/* A regular file may also be in the pipe format. */
	if (size == PERFDATA_PIPE_HEADER_BYTES) {
		file_input_skip(input, size);
		return NULL;
	}
	if (!input->map)
		return error_hint(error_new("a perf.data file cannot be read from a pipe"),
				  "name the file");
	err = file_header_read(&perfdata->header, input, &cut_off);
	if (!err && perfdata->header.in_directory)
		err = refuse_directory();
	if (!err && cut_off)
		add_problem(perfdata, "the recording was not finished (perf was killed, or the "
				      "disk was full): read what was written");
	return err;
}

struct error *perfdata_open(int fd, struct perfdata **ret)
{
	CLEANUP(perfdata_cleanup) struct perfdata *perfdata = xcalloc(1, sizeof(*perfdata));
	struct stat st;
	struct error *err;

	perfdata->fd = fd;
	file_header_init(&perfdata->header);
	if (fstat(fd, &st) < 0)
		return error_errno(errno, "read the recording");
	if (S_ISDIR(st.st_mode))
		return error_hint(error_new("it is a directory"),
				  "if perf record --threads wrote it, record without --threads");
	err = file_input_init(&perfdata->input, fd, S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0);
	if (!err)
		err = perfdata_read_header(perfdata);
	if (err)
		return err;
	while (!perfdata->ended && !perfdata->reorder.count)
		perfdata_advance(perfdata);
	*ret = STEAL(perfdata);
	return NULL;
}

void perfdata_free(struct perfdata *perfdata)
{
	if (!perfdata)
		return;
	for (unsigned i = 0; i < perfdata->problem_count; i++)
		free(perfdata->problems[i]);
	pending_record_deinit(&perfdata->current);
	free(perfdata->copy);
	reorder_deinit(&perfdata->reorder);
	group_counts_deinit(&perfdata->group_counts);
	inflater_free(perfdata->inflater);
	file_header_deinit(&perfdata->header);
	file_input_deinit(&perfdata->input);
	close(perfdata->fd);
	free(perfdata);
}

/*
 * perf reports losses twice: by a LOST record in the ring where they occurred,
 * and at the end by a synthesized record without a time, which has the total of
 * each event.
 */
static bool is_new_loss(struct perfdata *perfdata, struct record *record)
{
	uint64_t reported = perfdata->lost < record->lost.count ? perfdata->lost
								: record->lost.count;

	if (record->time_ns) {
		perfdata->lost += record->lost.count;
		return true;
	}
	perfdata->lost -= reported;
	record->lost.count -= reported;
	return record->lost.count > 0;
}

/* perf reads most build-ids at the end and lists them by path. */
static void give_build_id(struct file_build_ids *ids, struct record_mmap *mmap)
{
	if (!mmap->build_id_bytes)
		mmap->build_id_bytes = file_build_ids_get(ids, mmap->path, mmap->build_id);
}

static bool perfdata_is_of_interest(struct perfdata *perfdata, struct record *record)
{
	switch (record->type) {
	case RECORD_OTHER:
		return false;
	case RECORD_SAMPLE:
		return record->sample.event != FILE_EVENT_SILENT;
	case RECORD_MMAP:
		give_build_id(&perfdata->header.build_ids, &record->mmap);
		return true;
	case RECORD_LOST:
		return is_new_loss(perfdata, record);
	default:
		return true;
	}
}

/* Counts of inherited events are per sampled thread. */
static bool is_of_threads(const struct file_events *events, unsigned event)
{
	return event != FILE_EVENT_SILENT && events->sampling[event].attr.inherit;
}

static void perfdata_read_fields(struct perfdata *perfdata, struct record *record)
{
	const struct file_events *events = &perfdata->header.events;
	struct record_sample *sample = &record->sample;

	if (sample->group_value_bytes)
		group_counts_read(&perfdata->group_counts, &events->layouts,
				  is_of_threads(events, sample->event) ? record->tid : 0, sample);
	if (sample->event != FILE_EVENT_SILENT && events->sampling[sample->event].reader)
		field_reader_read(events->sampling[sample->event].reader, sample);
}

/* A pending record has a time even if the raw record has none. */
static bool decode_current(struct perfdata *perfdata, struct record *ret)
{
	const struct pending_record *current = &perfdata->current;
	struct bytes raw = bytes_of(current->at, current->len);
	const struct record_layout *layout = layouts_find(&perfdata->header.events.layouts, raw);

	if (!current->copied)
		file_input_count(&perfdata->input, current->len);
	if (!layout || !record_decode(layout, raw, ret) ||
	    (!current->copied && ret->type != RECORD_SAMPLE)) {
		perfdata->undecodable++;
		return false;
	}
	ret->time_ns = current->time_ns;
	if (ret->type == RECORD_SAMPLE)
		perfdata_read_fields(perfdata, ret);
	return perfdata_is_of_interest(perfdata, ret);
}

bool perfdata_next(struct perfdata *perfdata, struct record *ret)
{
	pending_record_deinit(&perfdata->current);
	for (;;) {
		if (reorder_take(&perfdata->reorder, &perfdata->current)) {
			if (decode_current(perfdata, ret))
				return true;
			pending_record_deinit(&perfdata->current);
		} else if (perfdata->ended) {
			report_losses(perfdata);
			return false;
		} else {
			perfdata_advance(perfdata);
		}
	}
}

static bool perfdata_source_next(void *source, struct record *ret)
{
	return perfdata_next(source, ret);
}

static void perfdata_source_close(void *source)
{
	perfdata_free(source);
}

struct record_source perfdata_source(struct perfdata *perfdata)
{
	static const struct record_source_ops ops = {.next = perfdata_source_next,
						     .close = perfdata_source_close};

	return (struct record_source){.ops = &ops, .source = perfdata};
}
