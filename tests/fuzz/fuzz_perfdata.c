/*
 * Fuzzes perf.data, as a file and from a pipe. It is refused, or every returned
 * record is inside its own bytes.
 */
#include "perfdata/writer.h"
#include "replay.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The capacity of a pipe without a reader. */
enum { PIPE_BYTES = 64 << 10 };

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* Reads each byte, so that the address sanitizer detects invalid ones. */
static size_t sum(struct bytes bytes)
{
	size_t sum = 0;

	while (bytes_left(&bytes))
		sum += bytes_u8(&bytes);
	return sum;
}

/* Returns the length after checking that the part belongs to the record. */
static size_t part(const struct record *record, struct bytes part)
{
	require(!bytes_left(&part) || (part.at >= record->raw.at && part.end <= record->raw.end));
	return sum(part);
}

static size_t check(const struct perfdata *perfdata, const struct record *record)
{
	const struct record_sample *sample = &record->sample;

	switch (record->type) {
	case RECORD_SAMPLE:
		note_number("samples", sample->event + 16 * sample->in_kernel);
		note_number("samples", sample->ip);
		note_number("samples", sample->period);
		note_number("samples", sample->field_count + 16 * sample->count_count);
		require(sample->event < perfdata_event_count(perfdata));
		require(perfdata_event(perfdata, sample->event)->name);
		return part(record, sample->kernel_chain) + part(record, sample->user_chain) +
		       part(record, sample->regs.values) + part(record, sample->stack) +
		       part(record, sample->raw_data);
	case RECORD_MMAP:
		note_text("records", record->mmap.path);
		note_number("maps", record->mmap.start);
		note_number("maps", record->mmap.length_bytes);
		note_number("maps", record->mmap.offset + record->mmap.executable);
		note("maps", record->mmap.build_id, record->mmap.build_id_bytes);
		require(record->mmap.build_id_bytes <= RECORD_BUILD_ID_MAX);
		return strlen(record->mmap.path);
	case RECORD_COMM:
		return strlen(record->comm.name);
	case RECORD_CGROUP:
		return strlen(record->cgroup.path);
	case RECORD_KSYMBOL:
		return strlen(record->ksymbol.name);
	case RECORD_DEFERRED_CHAIN:
		return part(record, record->deferred_chain.chain);
	case RECORD_OTHER:
		abort();
	default:
		return 0;
	}
}

static void note_description(const struct perfdata *perfdata)
{
	const struct perfdata_info *info = perfdata_info(perfdata);

	note_text("info", info->host);
	note_text("info", info->kernel_release);
	note_text("info", info->machine);
	note_text("info", info->command);
	note("info", info->kernel_build_id, info->kernel_build_id_bytes);
	note_number("info", info->kernel_start);
	note_number("info", info->kernel_end);
	for (unsigned i = 0; i < perfdata_event_count(perfdata); i++) {
		const struct perfdata_event *event = perfdata_event(perfdata, i);

		note_text("events", event->name);
		note_number("events", event->kind + 256 * event->is_monotonic);
		note_number("events", event->period);
		note_number("events", event->frequency_hz);
		note_number("events", event->regs_mask);
	}
}

struct copy {
	struct perf_event_attr attr;
	struct written_event event;
	struct perfdata_writer *writer;
	int fd;
};

static void begin_copy(struct copy *copy)
{
	static const uint64_t ids[] = {5, 6};

	copy->attr = (struct perf_event_attr){.size = sizeof(copy->attr),
					      .sample_type = PERF_SAMPLE_IDENTIFIER |
							     PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
							     PERF_SAMPLE_CPU};
	copy->event = (struct written_event){
		.name = "clock",
		.attr = bytes_of(&copy->attr, sizeof(copy->attr)),
		.ids = bytes_of(ids, sizeof(ids)),
	};
	copy->fd = memfd_create("copy", MFD_CLOEXEC);
	copy->writer = perfdata_writer_new(dup(copy->fd), &copy->event, 1);
}

/* Writes the record as the kernel wrote it, and as prof would. */
static void put_copy(struct copy *copy, const struct record *record)
{
	struct record made_up = *record;

	perfdata_writer_put(copy->writer, record);
	made_up.raw = (struct bytes){0};
	perfdata_writer_put(copy->writer, &made_up);
	if (record->type == RECORD_MMAP)
		perfdata_writer_add_build_id(copy->writer, record->mmap.path, record->mmap.build_id,
					     record->mmap.build_id_bytes);
}

static void end_copy(struct copy *copy)
{
	char text[] = "text";
	struct perfdata_info info = {
		.host = text, .kernel_release = text, .machine = text, .command = text};
	unsigned char bytes[4096];
	ssize_t len;

	perfdata_writer_set_tracing_data(copy->writer, bytes_of("format", 6));
	perfdata_writer_end_round(copy->writer);
	error_free(perfdata_writer_finish(copy->writer, &info));
	perfdata_writer_free(copy->writer);
	lseek(copy->fd, 0, SEEK_SET);
	while ((len = read(copy->fd, bytes, sizeof(bytes))) > 0)
		note("written", bytes, (size_t)len);
	close(copy->fd);
}

static void read_all(int fd)
{
	struct perfdata *perfdata = NULL;
	struct error *err = perfdata_open(fd, &perfdata);
	struct record record;
	struct copy copy;
	size_t seen = 0;

	if (err) {
		note_text("errors", error_text(err));
		error_free(err);
		return;
	}
	begin_copy(&copy);
	while (perfdata_next(perfdata, &record)) {
		put_copy(&copy, &record);
		note_number("records", record.type);
		note_number("records", record.time_ns + record.cpu);
		note_number("records", (uint64_t)record.tid << 32 | (uint32_t)record.pid);
		seen += check(perfdata, &record) < SIZE_MAX;
	}
	end_copy(&copy);
	require(!perfdata_next(perfdata, &record));
	note_description(perfdata);
	for (unsigned i = 0; perfdata_problem(perfdata, i); i++) {
		require(*perfdata_problem(perfdata, i));
		note_text("problems", perfdata_problem(perfdata, i));
	}
#ifndef HAVE_ZSTD
	if (perfdata_problem(perfdata, 0) && replay_skip)
		replay_skip();
#endif
	perfdata_free(perfdata);
	require(seen < SIZE_MAX);
}

static void read_as_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	read_all(fd);
}

static void read_down_a_pipe(const uint8_t *data, size_t size)
{
	int fds[2];

	require(pipe(fds) == 0 && write(fds[1], data, size) == (ssize_t)size);
	close(fds[1]);
	read_all(fds[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_as_file(data, size);
	if (size < PIPE_BYTES)
		read_down_a_pipe(data, size);
	return 0;
}
