/*
 * Any bytes are a recording or are refused; every record that is given out lies in its own bytes.
 * As a file, and as what comes down a pipe.
 */
#include "perfdata/perfdata.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A pipe takes so much before anybody reads. */
enum { PIPE_BYTES = 64 << 10 };

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* Reads each byte, so that the address sanitizer sees one that is not there. */
static size_t sum(struct bytes bytes)
{
	size_t sum = 0;

	while (bytes_left(&bytes))
		sum += bytes_u8(&bytes);
	return sum;
}

/* Its bytes, all of the record's own: behind them a map goes on. */
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
		require(sample->event < perfdata_event_count(perfdata));
		require(perfdata_event(perfdata, sample->event)->name);
		return part(record, sample->kernel_chain) + part(record, sample->user_chain) +
		       part(record, sample->regs.values) + part(record, sample->stack) +
		       part(record, sample->raw_data);
	case RECORD_MMAP:
		note_text("records", record->mmap.path);
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

static void read_all(int fd)
{
	struct perfdata *perfdata = NULL;
	struct error *err = perfdata_open(fd, &perfdata);
	struct record record;
	size_t seen = 0;

	error_free(err);
	if (err)
		return;
	for (unsigned i = 0; i < perfdata_event_count(perfdata); i++)
		note_text("events", perfdata_event(perfdata, i)->name);
	while (perfdata_next(perfdata, &record)) {
		note_number("records", record.type);
		note_number("records", record.time_ns + record.cpu);
		note_number("records", (uint64_t)record.tid << 32 | (uint32_t)record.pid);
		seen += check(perfdata, &record) < SIZE_MAX;
	}
	require(!perfdata_next(perfdata, &record));
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
