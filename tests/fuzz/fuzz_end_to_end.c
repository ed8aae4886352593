/*
 * Fuzzes perf recordings: they are refused, or read, unwound, symbolized and
 * written in every format. The only files are those below FUZZ_SYMFS: the
 * program that was recorded for the corpus. Stacks are therefore unwound and
 * symbolized as for real programs, with the same results on every machine.
 */
#include "base/alloc.h"
#include "formats.h"
#include "perfdata/perfdata.h"
#include "record/session.h"
#include "symbol/symbolizer.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* libFuzzer's function. It does not exist in a replay of the corpus. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_bytes);

struct import {
	struct perfdata *perfdata;
	struct address_spaces *spaces;
	struct names *names;
	struct unwinder *unwinder;
	struct profile *profile;
	struct session *session;
	unsigned event_count;
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

static bool import_open(struct import *import, const uint8_t *data, size_t size)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	struct error *err;

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	err = perfdata_open(fd, &import->perfdata);
	error_free(err);
	if (err)
		return false;
	import->spaces = address_spaces_new_recorded(
		&(struct recorded_files){.symfs = FUZZ_SYMFS, .debug_dir = FUZZ_SYMFS});
	import->names = names_new(NULL);
	import->unwinder = unwinder_new(import->spaces, &arch_x86_64, false);
	import->profile = profile_new();
	profile_keep_timestamps(import->profile);
	import->session = session_new(import->spaces, import->names, import->unwinder, &arch_x86_64,
				      import->profile);
	return true;
}

static void import_close(struct import *import)
{
	session_free(import->session);
	profile_free(import->profile);
	unwinder_free(import->unwinder);
	names_free(import->names);
	address_spaces_free(import->spaces);
	perfdata_free(import->perfdata);
}

static void add_events(struct import *import)
{
	while (import->event_count < perfdata_event_count(import->perfdata)) {
		const struct perfdata_event *event = perfdata_event(import->perfdata,
								    import->event_count++);
		string_id name = strtab_add(profile_strings(import->profile), event->name);

		session_add_event(import->session,
				  &(struct profile_event){.name = name,
							  .kind = event->kind,
							  .period = event->period,
							  .frequency_hz = event->frequency_hz});
	}
}

static void read_records(struct import *import)
{
	struct record record;

	while (perfdata_next(import->perfdata, &record)) {
		add_events(import);
		if (record.type == RECORD_COMM && record.comm.exec)
			session_set_main_process(import->session, record.pid);
		session_feed(import->session, &record);
	}
	add_events(import);
	session_end(import->session);
	session_finish(import->session);
}

static void set_info(struct import *import)
{
	const struct perfdata_info *info = perfdata_info(import->perfdata);

	profile_set_info(import->profile,
			 &(struct profile_info){.start_unix_ns = 1,
						.duration_ns = 1,
						.command = info->command ? info->command : "",
						.host = info->host ? info->host : "",
						.kernel = "",
						.remarks = ""});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(import_close) struct import import = {0};
	struct symbolize_outcome outcome;

	if (!import_open(&import, data, size))
		return 0;
	read_records(&import);
	symbolize(import.profile, import.spaces,
		  &(struct symbolize_options){
			  .threads = 1,
			  .in_process = true,
			  .symbols = {.symbolizer = size % 2 ? SYMBOLIZER_LIBDW : SYMBOLIZER_AUTO},
		  },
		  &outcome);
	symbolize_outcome_deinit(&outcome);
	set_info(&import);
#ifndef HAVE_ZSTD
	if (perfdata_problem(import.perfdata, 0) && replay_skip)
		replay_skip();
#endif
	write_everything(import.profile, NULL);
	return 0;
}

/* Returns the records and the data after them. They are found by the file's
 * header, or follow that of a pipe. */
static struct bytes records_of(const uint8_t *data, size_t size)
{
	struct bytes file = bytes_of(data, size), sizes = bytes_at(file, 8);
	struct bytes place = bytes_at(file, 40);
	uint64_t start = 16;

	if (bytes_u64(&sizes) > 16)
		start = bytes_u64(&place);
	return bytes_at(file, start);
}

/* Returns one of the records, or the whole input if there are none. */
static struct bytes choose_record(const uint8_t *data, size_t size, unsigned seed)
{
	struct bytes records = records_of(data, size), chosen = bytes_of(data, size);
	unsigned count = 0;

	while (bytes_left(&records)) {
		struct bytes length = bytes_at(records, 6);
		uint16_t record_bytes = bytes_u16(&length);
		struct bytes record = bytes_sub(&records, record_bytes);

		if (record_bytes < 8 || !bytes_ok(&record))
			break;
		if (seed % ++count == 0)
			chosen = record;
		seed = seed * 1664525 + 1013904223;
	}
	return chosen;
}

enum { HEADER_BYTES = 8, TYPE_AND_FLAGS_BYTES = 6, WINDOW_BYTES = 64 };

/* Returns the part of a record to damage: its type and flags, some of its
 * contents, or all of it. */
static struct bytes choose_part(struct bytes record, unsigned seed)
{
	struct bytes content = bytes_at(record, HEADER_BYTES);
	size_t words = bytes_left(&content) / 8;

	if (seed % 8 == 1)
		return bytes_sub(&record, TYPE_AND_FLAGS_BYTES);
	if (seed % 8 > 5 || words <= WINDOW_BYTES / 8)
		return content;
	bytes_skip(&content, (seed >> 8) % (words - WINDOW_BYTES / 8) * 8);
	return bytes_sub(&content, WINDOW_BYTES);
}

static void damage_part(struct bytes part)
{
	uint8_t changed[1 << 16];
	size_t len = bytes_left(&part);

	if (!len || len > sizeof(changed))
		return;
	memcpy(changed, part.at, len);
	len = LLVMFuzzerMutate(changed, len, len);
	memcpy((uint8_t *)(uintptr_t)part.at, changed, len);
}

/* Sets a type of the kernel or of perf. */
static void set_type(struct bytes record, unsigned seed)
{
	uint32_t type = seed % 2 ? 1 + seed / 2 % 22 : 64 + seed / 2 % 20;

	memcpy((uint8_t *)(uintptr_t)record.at, &type, sizeof(type));
}

/* Copies a word, so that a process, a time, an address or an id of one record
 * occurs in another one. */
static void copy_word(struct bytes from, struct bytes to, unsigned seed)
{
	size_t from_words = bytes_left(&from) / 8, to_words = bytes_left(&to) / 8;

	if (from_words < 2 || to_words < 2)
		return;
	memmove((uint8_t *)(uintptr_t)to.at + (1 + seed % (to_words - 1)) * 8,
		from.at + (1 + (seed >> 8) % (from_words - 1)) * 8, 8);
}

static void exchange(struct bytes left, struct bytes right)
{
	uint8_t saved[UINT16_MAX];
	size_t len = bytes_left(&left);

	if (len != bytes_left(&right) || len > sizeof(saved))
		return;
	memcpy(saved, left.at, len);
	memmove((uint8_t *)(uintptr_t)left.at, right.at, len);
	memcpy((uint8_t *)(uintptr_t)right.at, saved, len);
}

/* Returns the header and the descriptions of events, or the data after the
 * records. */
static struct bytes choose_description(const uint8_t *data, size_t size, unsigned seed)
{
	struct bytes records = records_of(data, size), file = bytes_of(data, size);
	struct bytes end = bytes_at(file, 48);
	uint64_t records_bytes = bytes_u64(&end);

	if (!records.at)
		return file;
	if (seed % 2 && records_bytes < bytes_left(&records))
		return bytes_at(records, records_bytes);
	return bytes_of(data, (size_t)(records.at - data));
}

/*
 * Damages records but keeps their sizes, so that the following records are
 * still found. Sometimes damages the descriptions, or anything.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_bytes, unsigned seed)
{
	struct bytes record = choose_record(data, size, seed);
	struct bytes other = choose_record(data, size, seed * 2654435761u);

	if (bytes_left(&record) < HEADER_BYTES || bytes_left(&other) < HEADER_BYTES)
		return LLVMFuzzerMutate(data, size, max_bytes);
	switch (seed / 8 % 16) {
	case 0:
		return LLVMFuzzerMutate(data, size, max_bytes);
	case 1:
		damage_part(choose_description(data, size, seed));
		break;
	case 2:
		set_type(record, seed / 128);
		break;
	case 3:
	case 4:
		copy_word(other, record, seed / 128);
		break;
	case 5:
		exchange(record, other);
		break;
	default:
		damage_part(choose_part(record, seed));
	}
	return size;
}
