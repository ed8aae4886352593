#include "perf/perfdata.h"

#include "base/alloc.h"
#include "perf/file_header.h"
#include "perf/inflater.h"
#include "perf/rounds.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { PROBLEMS_MAX = 8 };

struct perfdata {
	int fd;
	struct window window;
	struct file_header header;
	struct inflater *inflater; /* NULL until a compressed record has come */
	bool inflating;		   /* there may be more in it */
	struct rounds rounds;
	struct waiting current; /* what the caller holds */
	unsigned char *copy;	/* of the record that is taken in, where the file is mapped */
	uint64_t taken;		/* records that were taken in: their time where they have none */
	bool ended;		/* nothing more will be taken in */
	bool reported;		/* nor given out */

	uint64_t undecodable;
	uint64_t lost; /* as told so far */
	bool traces;   /* there were traces of the processor */
	char *problems[PROBLEMS_MAX];
	unsigned problem_count;
};

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
	const struct file_events *events = &perfdata->header.events;

	return &events->items[events->sampling[event]].event;
}

static void report_losses(struct perfdata *perfdata)
{
	if (perfdata->reported)
		return;
	perfdata->reported = true;
	if (perfdata->window.error)
		add_problem(perfdata, "the rest of the recording cannot be read: %s",
			    strerror(perfdata->window.error));
	if (window_is_cut(&perfdata->window))
		add_problem(perfdata, "the recording was cut short while it was read");
	if (perfdata->undecodable)
		add_problem(perfdata,
			    "%" PRIu64 " records of the recording make no sense and are left out",
			    perfdata->undecodable);
	if (perfdata->rounds.late)
		add_problem(perfdata,
			    "%" PRIu64 " records came too late to be put in order: some samples "
			    "may be taken for those of another program",
			    perfdata->rounds.late);
	if (perfdata->traces)
		add_problem(perfdata, "traces of the processor (AUX) are passed over: the samples "
				      "alone are read");
}

static void end(struct perfdata *perfdata)
{
	if (!perfdata->ended)
		rounds_end(&perfdata->rounds);
	perfdata->ended = true;
}

static void end_damaged(struct perfdata *perfdata)
{
	add_problem(perfdata,
		    "the recording is damaged at byte %" PRIu64 ": what follows is left out",
		    perfdata->window.offset);
	end(perfdata);
}

static void end_cut_off(struct perfdata *perfdata)
{
	add_problem(perfdata, "the recording is cut off within a record");
	end(perfdata);
}

/* What follows a record without being part of it. */
static void skip_payload(struct perfdata *perfdata, uint64_t len)
{
	if (!window_skip(&perfdata->window, len))
		end_cut_off(perfdata);
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
	end(perfdata);
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
		end(perfdata);
		return;
	}
	inflater_feed(perfdata->inflater, body);
	perfdata->inflating = true;
}

static uint32_t type_of(struct bytes header)
{
	return bytes_u32(&header);
}

static uint16_t size_of(struct bytes header)
{
	bytes_skip(&header, sizeof(uint32_t) + sizeof(uint16_t));
	return bytes_u16(&header);
}

/* perf tells of the kernel as of a mapping of process -1. */
static void note_kernel(struct file_header *header, const struct file_event *event,
			struct bytes raw)
{
	static const char kernel[] = "[kernel.kallsyms]";
	struct perfdata_info *info = &header->info;
	struct record record;

	if (info->kernel_start || !event || !record_decode(&event->layout, raw, &record) ||
	    record.type != RECORD_MMAP || record.pid != -1 ||
	    strncmp(record.mmap.path, kernel, sizeof(kernel) - 1) != 0)
		return;
	info->kernel_start = record.mmap.start;
	info->kernel_end = record.mmap.start + record.mmap.length_bytes;
	info->kernel_build_id_bytes = file_build_ids_get(&header->build_ids, kernel,
							 info->kernel_build_id);
}

/* lasts: raw is a sample that lies in a mapped file. */
static void take_in(struct perfdata *perfdata, struct bytes raw, uint64_t place, bool lasts)
{
	const struct file_event *event;
	uint64_t time_ns = 0;

	perfdata->taken++;
	if (!perfdata->header.events.count) {
		perfdata->undecodable++;
		return;
	}
	event = file_events_of(&perfdata->header.events, raw);
	if (event && !(event->layout.sample_type & PERF_SAMPLE_TIME))
		time_ns = perfdata->taken;
	else if (event && !record_time(&event->layout, raw, &time_ns))
		time_ns = perfdata->rounds.youngest_ns;
	if (!lasts && (type_of(raw) == PERF_RECORD_MMAP || type_of(raw) == PERF_RECORD_MMAP2))
		note_kernel(&perfdata->header, event, raw);
	/* How perf, too, writes that there is none. */
	if (time_ns == UINT64_MAX)
		time_ns = 0;
	rounds_add(&perfdata->rounds, time_ns, place, raw, lasts);
}

/* raw: a whole record; place: where it is in the file, or how many came before it. */
static void take_record(struct perfdata *perfdata, struct bytes raw, uint64_t place)
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
		skip_payload(perfdata, (bytes_u32(&body) + UINT64_C(7)) & ~UINT64_C(7));
		break;
	case PERFDATA_BUILD_ID:
		file_build_ids_add(&perfdata->header.build_ids, raw);
		break;
	case PERFDATA_FINISHED_ROUND:
		rounds_end_round(&perfdata->rounds);
		break;
	case PERFDATA_AUXTRACE:
		perfdata->traces = true;
		skip_payload(perfdata, bytes_u64(&body));
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
 * Samples are large, and read where they lie. Others hold names, which must end where they did when
 * they were looked at, whoever writes to the file: they are copied first.
 */
static void take_where_it_lies(struct perfdata *perfdata, struct bytes raw, uint64_t place)
{
	size_t len = bytes_left(&raw);

	if (!perfdata->window.map) {
		take_record(perfdata, raw, place);
		return;
	}
	if (type_of(raw) == PERF_RECORD_SAMPLE) {
		take_in(perfdata, raw, place, true);
		return;
	}
	if (!perfdata->copy)
		perfdata->copy = xmalloc(UINT16_MAX);
	take_record(perfdata, bytes_of(memcpy(perfdata->copy, raw.at, len), len), place);
}

static void advance_in_file(struct perfdata *perfdata)
{
	struct window *window = &perfdata->window;
	uint64_t place = window->offset;
	struct bytes raw;
	uint16_t size;

	window_look(window, sizeof(struct perf_event_header), &raw);
	if (!bytes_left(&raw)) {
		end(perfdata);
		return;
	}
	size = size_of(raw);
	if (!bytes_ok(&raw) || bytes_left(&raw) < sizeof(struct perf_event_header)) {
		end_cut_off(perfdata);
		return;
	}
	if (size < sizeof(struct perf_event_header)) {
		end_damaged(perfdata);
		return;
	}
	window_look(window, size, &raw);
	if (bytes_left(&raw) < size) {
		end_cut_off(perfdata);
		return;
	}
	window_skip(window, size);
	take_where_it_lies(perfdata, raw, place);
}

/* A record may begin in one piece of the stream and end in the next. */
static void advance_in_piece(struct perfdata *perfdata)
{
	struct bytes raw;
	struct error *err = inflater_look(perfdata->inflater, sizeof(struct perf_event_header),
					  &raw);
	uint16_t size = size_of(raw);
	bool whole = bytes_left(&raw) == sizeof(struct perf_event_header);

	if (!err && whole && size >= sizeof(struct perf_event_header)) {
		err = inflater_look(perfdata->inflater, size, &raw);
		whole = bytes_left(&raw) == size;
	}
	if (err || (whole && size < sizeof(struct perf_event_header))) {
		error_free(err);
		end_damaged(perfdata);
		return;
	}
	perfdata->inflating = whole;
	if (!whole)
		return;
	/* perf compresses what the kernel wrote, and nothing of its own. */
	if (type_of(raw) < PERFDATA_FIRST_TYPE)
		take_in(perfdata, raw, perfdata->taken, false);
	inflater_skip(perfdata->inflater, size);
}

static void advance(struct perfdata *perfdata)
{
	if (perfdata->inflating)
		advance_in_piece(perfdata);
	else
		advance_in_file(perfdata);
}

static struct error *refuse_folder(void)
{
	return error_hint(error_new("its records are in a folder (perf record --threads)"),
			  "record without --threads");
}

static struct error *refuse_magic(uint64_t magic)
{
	if (magic == PERFDATA_MAGIC_SWAPPED)
		return error_new("it was recorded on a machine of the other byte order");
	if (magic == PERFDATA_MAGIC_OLD)
		return error_new("it was recorded by a perf older than Linux 3.1");
	return error_new("it is no recording of perf");
}

static struct error *read_header(struct perfdata *perfdata)
{
	struct window *window = &perfdata->window;
	bool cut_off = false;
	struct bytes start;
	uint64_t magic, size;
	struct error *err;

	window_look(window, PERFDATA_PIPE_HEADER_BYTES, &start);
	if (!bytes_left(&start) && !window->error)
		return error_new("it is empty, and no recording of perf");
	magic = bytes_u64(&start);
	size = bytes_u64(&start);
	if (!bytes_ok(&start) || magic != PERFDATA_MAGIC)
		return window->error ? error_errno(window->error, "read it") : refuse_magic(magic);
	/* So a file may hold what came down a pipe. */
	if (size == PERFDATA_PIPE_HEADER_BYTES) {
		window_skip(window, size);
		return NULL;
	}
	if (!window->map)
		return error_hint(error_new("it is a file, and cannot be read down a pipe"),
				  "name the file");
	err = file_header_read(&perfdata->header, window, &cut_off);
	if (!err && perfdata->header.in_folder)
		err = refuse_folder();
	if (!err && cut_off)
		add_problem(perfdata, "the recording was not finished (perf was killed, or the "
				      "disk full): what was written by then is read");
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
		return error_hint(error_new("it is a folder"),
				  "of perf record --threads? record without --threads");
	err = window_init(&perfdata->window, fd, S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0);
	if (!err)
		err = read_header(perfdata);
	if (err)
		return err;
	while (!perfdata->ended && !perfdata->rounds.count)
		advance(perfdata);
	*ret = STEAL(perfdata);
	return NULL;
}

void perfdata_free(struct perfdata *perfdata)
{
	if (!perfdata)
		return;
	for (unsigned i = 0; i < perfdata->problem_count; i++)
		free(perfdata->problems[i]);
	waiting_deinit(&perfdata->current);
	free(perfdata->copy);
	rounds_deinit(&perfdata->rounds);
	inflater_free(perfdata->inflater);
	file_header_deinit(&perfdata->header);
	window_deinit(&perfdata->window);
	close(perfdata->fd);
	free(perfdata);
}

/*
 * What perf has lost it says twice: a LOST record in the ring where it happened, and at the end,
 * made up and so without a time, how many each event lost in all.
 */
static bool is_untold_loss(struct perfdata *perfdata, struct record *record)
{
	uint64_t told = perfdata->lost < record->lost.count ? perfdata->lost : record->lost.count;

	if (record->time_ns) {
		perfdata->lost += record->lost.count;
		return true;
	}
	perfdata->lost -= told;
	record->lost.count -= told;
	return record->lost.count > 0;
}

/* perf reads most build-ids at the end, and tells of them by name. */
static void give_build_id(struct file_build_ids *ids, struct record_mmap *mmap)
{
	if (!mmap->build_id_bytes)
		mmap->build_id_bytes = file_build_ids_get(ids, mmap->path, mmap->build_id);
}

static bool is_of_interest(struct perfdata *perfdata, const struct file_event *event,
			   struct record *record)
{
	switch (record->type) {
	case RECORD_OTHER:
		return false;
	case RECORD_SAMPLE:
		record->sample.event = event->number;
		return event->number != FILE_EVENT_SILENT;
	case RECORD_MMAP:
		if (record->pid == -1)
			return false;
		give_build_id(&perfdata->header.build_ids, &record->mmap);
		return true;
	case RECORD_LOST:
		return is_untold_loss(perfdata, record);
	default:
		return true;
	}
}

/* What waits has a time, also where the record tells none. */
static bool decode_current(struct perfdata *perfdata, struct record *ret)
{
	const struct waiting *current = &perfdata->current;
	struct bytes raw = bytes_of(current->at, current->len);
	const struct file_event *event = file_events_of(&perfdata->header.events, raw);

	if (!current->copied)
		window_count(&perfdata->window, current->len);
	if (!event || !record_decode(&event->layout, raw, ret) ||
	    (!current->copied && ret->type != RECORD_SAMPLE)) {
		perfdata->undecodable++;
		return false;
	}
	ret->time_ns = current->time_ns;
	return is_of_interest(perfdata, event, ret);
}

bool perfdata_next(struct perfdata *perfdata, struct record *ret)
{
	waiting_deinit(&perfdata->current);
	for (;;) {
		if (rounds_take(&perfdata->rounds, &perfdata->current)) {
			if (decode_current(perfdata, ret))
				return true;
			waiting_deinit(&perfdata->current);
		} else if (perfdata->ended) {
			report_losses(perfdata);
			return false;
		} else {
			advance(perfdata);
		}
	}
}
