#include "perfdata/format.h"
#include "perfdata/perfdata.h"
#include "perfdata/reorder.h"
#include "perfdata/tracing_data.h"
#include "perfdata/writer.h"

#include "base/alloc.h"

#include "lacking.h"
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	CPU_CLOCK_TYPE = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
	PID = 71,
	TID = 72,
};

/* Bytes under construction. */
struct blob {
	unsigned char *bytes;
	size_t len, room;
};

static void blob_deinit(struct blob *blob)
{
	free(blob->bytes);
}

static void put(struct blob *blob, const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		GROW(blob->bytes, blob->len, blob->room);
		blob->bytes[blob->len++] = ((const unsigned char *)data)[i];
	}
}

static void put_blob(struct blob *blob, const struct blob *from)
{
	put(blob, from->bytes, from->len);
}

static void put_u32(struct blob *blob, uint32_t value)
{
	put(blob, &value, sizeof(value));
}

static void put_u64(struct blob *blob, uint64_t value)
{
	put(blob, &value, sizeof(value));
}

/* Adds a string, padded with zeros to a multiple of 8. */
static void put_string(struct blob *blob, const char *str)
{
	put(blob, str, strlen(str) + 1);
	while (blob->len % 8)
		put(blob, "", 1);
}

static void put_counted_string(struct blob *blob, const char *str)
{
	put_u32(blob, (uint32_t)strlen(str) + 1);
	put(blob, str, strlen(str) + 1);
}

static void put_record(struct blob *blob, uint32_t type, uint16_t misc, const struct blob *body)
{
	struct perf_event_header header = {
		.type = type, .misc = misc, .size = (uint16_t)(sizeof(header) + body->len)};

	put(blob, &header, sizeof(header));
	put_blob(blob, body);
}

static void put_round(struct blob *blob)
{
	put_record(blob, PERFDATA_FINISHED_ROUND, 0, &(struct blob){0});
}

/* Adds a sample with the layout of CPU_CLOCK_TYPE: ip, tid, time, period. */
static void put_sample(struct blob *blob, uint64_t ip, uint64_t time_ns)
{
	CLEANUP(blob_deinit) struct blob body = {0};

	put_u64(&body, ip);
	put_u32(&body, PID);
	put_u32(&body, TID);
	put_u64(&body, time_ns);
	put_u64(&body, 1000);
	put_record(blob, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body);
}

/* Adds the fields that follow every other record: tid, time. */
static void put_trailer(struct blob *body, uint64_t time_ns)
{
	put_u32(body, PID);
	put_u32(body, TID);
	put_u64(body, time_ns);
}

static void put_comm(struct blob *blob, const char *name, uint16_t misc, uint64_t time_ns)
{
	CLEANUP(blob_deinit) struct blob body = {0};

	put_u32(&body, PID);
	put_u32(&body, TID);
	put_string(&body, name);
	put_trailer(&body, time_ns);
	put_record(blob, PERF_RECORD_COMM, misc, &body);
}

static void put_mmap(struct blob *blob, uint32_t pid, uint64_t start, uint64_t len,
		     const char *path, uint64_t time_ns)
{
	CLEANUP(blob_deinit) struct blob body = {0};

	put_u32(&body, pid);
	put_u32(&body, pid);
	put_u64(&body, start);
	put_u64(&body, len);
	put_u64(&body, 0);
	put_string(&body, path);
	put_trailer(&body, time_ns);
	put_record(blob, PERF_RECORD_MMAP, 0, &body);
}

static void put_lost(struct blob *blob, uint32_t type, uint64_t count, uint64_t time_ns)
{
	CLEANUP(blob_deinit) struct blob body = {0};

	if (type == PERF_RECORD_LOST)
		put_u64(&body, 0);
	put_u64(&body, count);
	put_trailer(&body, time_ns);
	put_record(blob, type, 0, &body);
}

static struct perf_event_attr clock_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(struct perf_event_attr),
		.sample_type = CPU_CLOCK_TYPE,
		.sample_freq = 999,
		.freq = 1,
		.sample_id_all = 1,
	};
}

struct event {
	struct perf_event_attr attr;
	uint64_t id;
};

struct feature {
	unsigned number;
	const struct blob *data;
};

/* A whole file: header, ids, events, records, and features in order of their
 * numbers. */
struct file {
	const struct event *events;
	size_t event_count;
	const struct blob *records;
	const struct feature *features;
	size_t feature_count;
};

static void put_events(struct blob *blob, const struct file *file, struct perfdata_header *header)
{
	uint64_t ids = blob->len;

	for (size_t i = 0; i < file->event_count; i++)
		put_u64(blob, file->events[i].id);
	header->event_bytes = sizeof(struct perf_event_attr) + sizeof(struct perfdata_section);
	header->events.offset = blob->len;
	for (size_t i = 0; i < file->event_count; i++) {
		put(blob, &file->events[i].attr, sizeof(file->events[i].attr));
		put_u64(blob, ids + i * sizeof(uint64_t));
		put_u64(blob, sizeof(uint64_t));
	}
	header->events.size_bytes = blob->len - header->events.offset;
}

static void put_features(struct blob *blob, const struct file *file, struct perfdata_header *header)
{
	uint64_t at = blob->len + file->feature_count * sizeof(struct perfdata_section);

	for (size_t i = 0; i < file->feature_count; i++) {
		const struct feature *feature = &file->features[i];

		header->features[feature->number / 64] |= UINT64_C(1) << feature->number % 64;
		put_u64(blob, at);
		put_u64(blob, feature->data->len);
		at += feature->data->len;
	}
	for (size_t i = 0; i < file->feature_count; i++)
		put_blob(blob, file->features[i].data);
}

static void put_file(struct blob *blob, const struct file *file)
{
	struct perfdata_header header = {.magic = PERFDATA_MAGIC, .size_bytes = sizeof(header)};

	put(blob, &header, sizeof(header));
	put_events(blob, file, &header);
	header.data.offset = blob->len;
	put_blob(blob, file->records);
	header.data.size_bytes = blob->len - header.data.offset;
	put_features(blob, file, &header);
	memcpy(blob->bytes, &header, sizeof(header));
}

static int descriptor_of(const struct blob *blob)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, blob->bytes, blob->len), (ssize_t)blob->len);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* The records of a test; freed after it. */
static struct blob records;
static struct perfdata *perfdata;

static void close_recording(void)
{
	perfdata_free(perfdata);
	perfdata = NULL;
}

static int tear_down(void **state)
{
	(void)state;
	close_recording();
	blob_deinit(&records);
	records = (struct blob){0};
	return 0;
}

static void open_blob(const struct blob *blob)
{
	struct error *err = perfdata_open(descriptor_of(blob), &perfdata);

	if (err)
		fail_msg("%s", error_text(err));
}

static void open_file(const struct file *file)
{
	CLEANUP(blob_deinit) struct blob blob = {0};

	put_file(&blob, file);
	open_blob(&blob);
}

/* Opens a file with one event, cpu-clock. */
static void open_records(void)
{
	struct event event = {.attr = clock_attr(), .id = 5};

	open_file(&(struct file){.events = &event, .event_count = 1, .records = &records});
}

static struct record next(void)
{
	struct record record;

	assert_true(perfdata_next(perfdata, &record));
	return record;
}

static void assert_end(void)
{
	struct record record;

	assert_false(perfdata_next(perfdata, &record));
}

static void assert_no_problem(void)
{
	const char *problem = perfdata_problem(perfdata, 0);

	if (problem)
		fail_msg("%s", problem);
}

static void assert_problem(unsigned index, const char *part)
{
	const char *problem = perfdata_problem(perfdata, index);

	assert_non_null(problem);
	if (!strstr(problem, part))
		fail_msg("\"%s\" does not say \"%s\"", problem, part);
}

TEST_WITH(NULL, tear_down, records_come_out_decoded)
{
	struct record record;

	put_comm(&records, "shop", PERF_RECORD_MISC_COMM_EXEC, 10);
	put_mmap(&records, PID, 0x1000, 0x2000, "/usr/bin/shop", 11);
	put_sample(&records, 0x1234, 12);
	open_records();
	record = next();
	assert_int_equal(record.type, RECORD_COMM);
	assert_string_equal(record.comm.name, "shop");
	assert_true(record.comm.exec);
	record = next();
	assert_int_equal(record.type, RECORD_MMAP);
	assert_string_equal(record.mmap.path, "/usr/bin/shop");
	record = next();
	assert_int_equal(record.type, RECORD_SAMPLE);
	assert_int_equal(record.sample.ip, 0x1234);
	assert_int_equal(record.sample.event, 0);
	assert_int_equal(record.sample.period, 1000);
	assert_int_equal(record.time_ns, 12);
	assert_end();
	assert_no_problem();
}

TEST_WITH(NULL, tear_down, an_event_is_named_by_its_numbers_where_perf_gives_no_name)
{
	open_records();
	assert_int_equal(perfdata_event_count(perfdata), 1);
	assert_string_equal(perfdata_event(perfdata, 0)->name, "cpu-clock");
	assert_true(perfdata_event(perfdata, 0)->kind == VALUE_CPU_TIME);
	assert_int_equal(perfdata_event(perfdata, 0)->frequency_hz, 999);
	assert_int_equal(perfdata_event(perfdata, 0)->period, 0);
}

static void assert_times(const uint64_t *times, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(next().time_ns, times[i]);
	assert_end();
}

TEST_WITH(NULL, tear_down, reorder_put_records_in_order)
{
	static const uint64_t expected[] = {10, 20, 30, 40, 50, 60, 70};

	/* The ring of one CPU follows the ring of another. */
	put_sample(&records, 1, 10);
	put_sample(&records, 1, 40);
	put_sample(&records, 1, 20);
	put_round(&records);
	put_sample(&records, 1, 60);
	put_sample(&records, 1, 30);
	put_sample(&records, 1, 50);
	put_round(&records);
	put_sample(&records, 1, 70);
	open_records();
	assert_times(expected, ARRAY_SIZE(expected));
	assert_no_problem();
}

TEST_WITH(NULL, tear_down, on_equal_times_the_order_of_the_file_decides)
{
	for (unsigned i = 0; i < 100; i++)
		put_sample(&records, i, 10);
	open_records();
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(next().sample.ip, i);
	assert_end();
}

TEST_WITH(NULL, tear_down, what_perf_made_up_has_no_time_and_comes_first)
{
	put_sample(&records, 1, 10);
	put_mmap(&records, PID, 0x1000, 0x1000, "/usr/bin/shop", 0);
	put_comm(&records, "shop", 0, UINT64_MAX);
	open_records();
	assert_int_equal(next().type, RECORD_MMAP);
	assert_int_equal(next().type, RECORD_COMM);
	assert_int_equal(next().type, RECORD_SAMPLE);
	assert_end();
	assert_no_problem();
}

TEST_WITH(NULL, tear_down, records_that_come_too_late_are_counted)
{
	put_sample(&records, 1, 10);
	put_round(&records);
	put_sample(&records, 1, 20);
	put_round(&records);
	put_sample(&records, 1, 5);
	open_records();
	for (unsigned i = 0; i < 3; i++)
		next();
	assert_end();
	assert_problem(0, "too far out of order");
}

TEST_WITH(NULL, tear_down, without_times_the_order_of_the_file_is_that_of_time)
{
	struct event event = {.attr = clock_attr()};
	uint64_t last_ns = 0;

	event.attr.sample_type = PERF_SAMPLE_IP;
	for (uint64_t ip = 1; ip <= 3; ip++) {
		CLEANUP(blob_deinit) struct blob body = {0};

		put_u64(&body, ip);
		put_record(&records, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body);
	}
	open_file(&(struct file){.events = &event, .event_count = 1, .records = &records});
	for (uint64_t ip = 1; ip <= 3; ip++) {
		struct record record = next();

		assert_int_equal(record.sample.ip, ip);
		assert_true(record.time_ns > last_ns);
		last_ns = record.time_ns;
	}
}

TEST_WITH(NULL, tear_down, each_event_has_its_own_layout)
{
	struct event events[] = {{clock_attr(), 5}, {clock_attr(), 6}};
	CLEANUP(blob_deinit) struct blob first = {0};
	CLEANUP(blob_deinit) struct blob second = {0};
	struct record record;

	events[0].attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	events[1].attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_CPU;
	events[1].attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	events[1].attr.freq = 0;
	events[1].attr.sample_period = 7;
	put_u64(&first, 5);
	put_u64(&first, 0x100);
	put_u64(&second, 6);
	put_u64(&second, 0x200);
	put_u32(&second, 3);
	put_u32(&second, 0);
	put_record(&records, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &second);
	put_record(&records, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &first);
	open_file(&(struct file){.events = events, .event_count = 2, .records = &records});
	record = next();
	assert_int_equal(record.sample.event, 1);
	assert_int_equal(record.sample.ip, 0x200);
	assert_int_equal(record.cpu, 3);
	assert_int_equal(record.sample.period, 7);
	record = next();
	assert_int_equal(record.sample.event, 0);
	assert_int_equal(record.sample.ip, 0x100);
	assert_string_equal(perfdata_event(perfdata, 1)->name, "page-faults");
}

/* perf writes an event per kind of CPU, with the name of its PMU. */
TEST_WITH(NULL, tear_down, an_event_on_several_kinds_of_cpu_is_one)
{
	static const char *const names[] = {"cpu_core/cycles/u", "cpu_atom/cycles/u",
					    "cpu_core/branches/u"};
	struct event events[] = {{clock_attr(), 5}, {clock_attr(), 6}, {clock_attr(), 7}};
	CLEANUP(blob_deinit) struct blob described = {0};

	put_u32(&described, ARRAY_SIZE(events));
	put_u32(&described, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		CLEANUP(blob_deinit) struct blob body = {0};

		events[i].attr.type = PERF_TYPE_HARDWARE;
		events[i].attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
		events[i].attr.config = (i == 1 ? UINT64_C(10) : UINT64_C(4)) << 32 |
					(i == 2 ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS
						: PERF_COUNT_HW_CPU_CYCLES);
		/* perf requests the side band from one event */
		events[i].attr.mmap = i == 0;
		put_u64(&body, events[i].id);
		put_u64(&body, 0x100);
		put_record(&records, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body);
		put(&described, &events[i].attr, sizeof(events[i].attr));
		put_u32(&described, 1);
		put_counted_string(&described, names[i]);
		put_u64(&described, events[i].id);
	}
	open_file(&(struct file){
		.events = events,
		.event_count = ARRAY_SIZE(events),
		.records = &records,
		.features = (struct feature[]){{FEATURE_EVENT_DESC, &described}},
		.feature_count = 1,
	});
	assert_int_equal(perfdata_event_count(perfdata), 2);
	assert_string_equal(perfdata_event(perfdata, 0)->name, "cycles:u");
	assert_string_equal(perfdata_event(perfdata, 1)->name, "cpu_core/branches/u");
	assert_int_equal(next().sample.event, 0);
	assert_int_equal(next().sample.event, 0);
	assert_int_equal(next().sample.event, 1);
}

TEST_WITH(NULL, tear_down, an_id_may_stand_between_other_fields)
{
	struct event events[] = {{clock_attr(), 5}, {clock_attr(), 6}};
	CLEANUP(blob_deinit) struct blob body = {0};

	events[0].attr.sample_type = events[1].attr.sample_type = PERF_SAMPLE_IP |
								  PERF_SAMPLE_TIME | PERF_SAMPLE_ID;
	put_u64(&body, 0x100);
	put_u64(&body, 44);
	put_u64(&body, 6);
	put_record(&records, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body);
	open_file(&(struct file){.events = events, .event_count = 2, .records = &records});
	assert_int_equal(next().sample.event, 1);
}

TEST_WITH(NULL, tear_down, events_that_cannot_be_told_apart_are_refused)
{
	struct event events[] = {{clock_attr(), 5}, {clock_attr(), 6}};
	CLEANUP(blob_deinit) struct blob blob = {0};
	CLEANUP(error_cleanup) struct error *err = NULL;

	events[1].attr.sample_type |= PERF_SAMPLE_ADDR;
	put_file(&blob, &(struct file){.events = events, .event_count = 2, .records = &records});
	err = perfdata_open(descriptor_of(&blob), &perfdata);
	assert_non_null(err);
	assert_string_equal(error_text(err),
			    "the recording's events have their ids at different places");
}

TEST_WITH(NULL, tear_down, more_ids_than_the_file_has_room_for_are_refused)
{
	struct event events[] = {{clock_attr(), 5}};
	CLEANUP(blob_deinit) struct blob blob = {0};
	CLEANUP(error_cleanup) struct error *err = NULL;
	struct perfdata_header header;
	uint64_t size_bytes = UINT64_C(1) << 60;

	put_file(&blob, &(struct file){.events = events, .event_count = 1, .records = &records});
	memcpy(&header, blob.bytes, sizeof(header));
	memcpy(blob.bytes + header.events.offset + header.event_bytes - sizeof(size_bytes),
	       &size_bytes, sizeof(size_bytes));
	err = perfdata_open(descriptor_of(&blob), &perfdata);
	assert_non_null(err);
	assert_non_null(strstr(error_text(err), "it claims more event ids than fit into the file"));
}

TEST_WITH(NULL, tear_down, the_event_of_the_side_band_is_none_of_those_that_sample)
{
	struct event events[] = {{clock_attr(), 5}, {clock_attr(), 6}};
	CLEANUP(blob_deinit) struct blob body = {0};

	events[0].attr.sample_type = events[1].attr.sample_type = PERF_SAMPLE_IDENTIFIER |
								  PERF_SAMPLE_IP;
	events[0].attr.config = PERF_COUNT_SW_DUMMY;
	put_u64(&body, 6);
	put_u64(&body, 0x100);
	put_record(&records, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body);
	open_file(&(struct file){.events = events, .event_count = 2, .records = &records});
	assert_int_equal(perfdata_event_count(perfdata), 1);
	assert_string_equal(perfdata_event(perfdata, 0)->name, "cpu-clock");
	assert_int_equal(next().sample.event, 0);
	assert_end();
}

TEST_WITH(NULL, tear_down, features_tell_where_it_was_recorded)
{
	struct event event = {.attr = clock_attr(), .id = 5};
	CLEANUP(blob_deinit) struct blob host = {0};
	CLEANUP(blob_deinit) struct blob release = {0};
	CLEANUP(blob_deinit) struct blob machine = {0};
	CLEANUP(blob_deinit) struct blob command = {0};
	CLEANUP(blob_deinit) struct blob names = {0};
	const struct perfdata_info *info;

	put_sample(&records, 1, 10);
	put_counted_string(&host, "harbour");
	put_counted_string(&release, "6.1.0");
	put_counted_string(&machine, "x86_64");
	put_u32(&command, 2);
	put_counted_string(&command, "perf");
	put_counted_string(&command, "record");
	put_u32(&names, 1);
	put_u32(&names, sizeof(struct perf_event_attr));
	put(&names, &event.attr, sizeof(event.attr));
	put_u32(&names, 1);
	put_counted_string(&names, "cpu-clock:u");
	put_u64(&names, event.id);
	open_file(&(struct file){
		.events = &event,
		.event_count = 1,
		.records = &records,
		.features = (const struct feature[]){{FEATURE_HOSTNAME, &host},
						     {FEATURE_OSRELEASE, &release},
						     {FEATURE_ARCH, &machine},
						     {FEATURE_CMDLINE, &command},
						     {FEATURE_EVENT_DESC, &names}},
		.feature_count = 5,
	});
	info = perfdata_info(perfdata);
	assert_string_equal(info->host, "harbour");
	assert_string_equal(info->kernel_release, "6.1.0");
	assert_string_equal(info->machine, "x86_64");
	assert_string_equal(info->command, "perf record");
	assert_string_equal(perfdata_event(perfdata, 0)->name, "cpu-clock:u");
}

static void put_build_id(struct blob *data, const char *path, unsigned len)
{
	CLEANUP(blob_deinit) struct blob body = {0};
	unsigned char id[24] = {1, 2, 3};

	id[20] = (unsigned char)len;
	put_u32(&body, UINT32_MAX);
	put(&body, id, sizeof(id));
	put_string(&body, path);
	put_record(data, PERFDATA_BUILD_ID, PERFDATA_MISC_BUILD_ID_SIZE, &body);
}

TEST_WITH(NULL, tear_down, mappings_get_the_build_id_of_their_path)
{
	struct event event = {.attr = clock_attr(), .id = 5};
	CLEANUP(blob_deinit) struct blob ids = {0};
	struct record record;

	put_build_id(&ids, "/usr/bin/other", 20);
	put_build_id(&ids, "/usr/bin/shop", 16);
	put_mmap(&records, PID, 0x1000, 0x1000, "/usr/bin/shop", 10);
	put_mmap(&records, PID, 0x3000, 0x1000, "/usr/bin/unknown", 11);
	open_file(&(struct file){
		.events = &event,
		.event_count = 1,
		.records = &records,
		.features = (const struct feature[]){{FEATURE_BUILD_ID, &ids}},
		.feature_count = 1,
	});
	record = next();
	assert_int_equal(record.mmap.build_id_bytes, 16);
	assert_memory_equal(record.mmap.build_id, "\1\2\3\0", 4);
	assert_int_equal(next().mmap.build_id_bytes, 0);
}

TEST_WITH(NULL, tear_down, the_kernels_mappings_tell_where_it_was_and_are_of_no_process)
{
	put_mmap(&records, UINT32_MAX, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text", 0);
	put_mmap(&records, UINT32_MAX, 0xffffffffc0000000, 0x1000, "[nf_tables]", 0);
	put_sample(&records, 1, 10);
	open_records();
	assert_int_equal(perfdata_info(perfdata)->kernel_start, 0xffffffff81000000);
	assert_int_equal(perfdata_info(perfdata)->kernel_end, 0xffffffff82000000);
	for (unsigned i = 0; i < 2; i++) {
		struct record record = next();

		assert_int_equal(record.type, RECORD_MMAP);
		assert_int_equal(record.pid, -1);
	}
	assert_int_equal(next().type, RECORD_SAMPLE);
	assert_end();
}

TEST_WITH(NULL, tear_down, losses_that_are_told_twice_count_once)
{
	uint64_t lost = 0;
	struct record record;

	put_lost(&records, PERF_RECORD_LOST, 10, 100);
	put_lost(&records, PERF_RECORD_LOST, 5, 200);
	put_round(&records);
	put_round(&records);
	/* Losses of two events at the end. The last event has no records. */
	put_lost(&records, PERF_RECORD_LOST_SAMPLES, 12, 0);
	put_lost(&records, PERF_RECORD_LOST_SAMPLES, 4, 0);
	open_records();
	while (perfdata_next(perfdata, &record))
		lost += record.lost.count;
	assert_int_equal(lost, 16);
}

static void put_kernel_record(struct blob *blob, uint32_t type, uint16_t misc,
			      const struct blob *start, uint64_t time_ns)
{
	CLEANUP(blob_deinit) struct blob body = {0};

	put_blob(&body, start);
	put_trailer(&body, time_ns);
	put_record(blob, type, misc, &body);
}

TEST_WITH(NULL, tear_down, switches_and_the_like_come_in_order_between_samples)
{
	CLEANUP(blob_deinit) struct blob next_thread = {0};
	CLEANUP(blob_deinit) struct blob cgroup = {0};
	CLEANUP(blob_deinit) struct blob deferred = {0};
	struct record record;

	put_u32(&next_thread, 8);
	put_u32(&next_thread, 9);
	put_u64(&cgroup, 4242);
	put_string(&cgroup, "/shop");
	put_u64(&deferred, 777);
	put_u64(&deferred, 0);
	put_kernel_record(&records, 22, 0, &deferred, 50);
	put_kernel_record(&records, PERF_RECORD_CGROUP, 0, &cgroup, 40);
	put_kernel_record(&records, PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT,
			  &next_thread, 20);
	put_sample(&records, 0x1000, 30);
	put_kernel_record(&records, PERF_RECORD_SWITCH, 0, &(struct blob){0}, 10);
	put_round(&records);
	open_records();

	record = next();
	assert_int_equal(record.type, RECORD_SWITCH);
	assert_int_equal(record.time_ns, 10);
	assert_int_equal(record.tid, TID);
	record = next();
	assert_true(record.switched.is_out);
	assert_int_equal(record.switched.other_tid, 9);
	assert_int_equal(next().type, RECORD_SAMPLE);
	record = next();
	assert_int_equal(record.type, RECORD_CGROUP);
	assert_string_equal(record.cgroup.path, "/shop");
	assert_int_equal(next().type, RECORD_DEFERRED_CHAIN);
	assert_end();
	assert_null(perfdata_problem(perfdata, 0));
}

static void put_pipe_header(struct blob *blob)
{
	put_u64(blob, PERFDATA_MAGIC);
	put_u64(blob, PERFDATA_PIPE_HEADER_BYTES);
}

static void put_attr_record(struct blob *blob, const struct event *event)
{
	CLEANUP(blob_deinit) struct blob body = {0};

	put(&body, &event->attr, sizeof(event->attr));
	put_u64(&body, event->id);
	put_record(blob, PERFDATA_ATTR, 0, &body);
}

static void put_feature_record(struct blob *blob, uint64_t number, const char *text)
{
	CLEANUP(blob_deinit) struct blob body = {0};

	put_u64(&body, number);
	put_counted_string(&body, text);
	put_record(blob, PERFDATA_FEATURE, 0, &body);
}

static void put_name_record(struct blob *blob, uint64_t id, const char *name)
{
	CLEANUP(blob_deinit) struct blob body = {0};

	put_u64(&body, PERFDATA_UPDATE_NAME);
	put_u64(&body, id);
	put_string(&body, name);
	put_record(blob, PERFDATA_EVENT_UPDATE, 0, &body);
}

static void open_down_a_pipe(const struct blob *blob)
{
	struct error *err;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], blob->bytes, blob->len), (ssize_t)blob->len);
	close(fds[1]);
	err = perfdata_open(fds[0], &perfdata);
	if (err)
		fail_msg("%s", error_text(err));
}

TEST_WITH(NULL, tear_down, down_a_pipe_all_comes_as_records)
{
	struct event event = {.attr = clock_attr(), .id = 5};
	CLEANUP(blob_deinit) struct blob blob = {0};

	put_pipe_header(&blob);
	put_attr_record(&blob, &event);
	put_feature_record(&blob, FEATURE_HOSTNAME, "harbour");
	put_name_record(&blob, 5, "cpu-clock:u");
	put_sample(&blob, 0x1234, 20);
	put_sample(&blob, 0x1230, 10);
	open_down_a_pipe(&blob);
	assert_string_equal(perfdata_info(perfdata)->host, "harbour");
	assert_string_equal(perfdata_event(perfdata, 0)->name, "cpu-clock:u");
	assert_int_equal(next().sample.ip, 0x1230);
	assert_int_equal(next().sample.ip, 0x1234);
	assert_end();
	assert_no_problem();
}

/* Adds a record that is padded to words. */
static void put_tracing_record(struct blob *blob, const char *section, size_t len)
{
	static const char padding[8];
	CLEANUP(blob_deinit) struct blob body = {0};

	put_u32(&body, (uint32_t)len);
	put_record(blob, PERFDATA_TRACING_DATA, 0, &body);
	put(blob, section, len);
	put(blob, padding, -len & 7);
}

TEST_WITH(NULL, tear_down, formats_of_tracepoints_come_down_a_pipe)
{
	static const char *const labels[] = {"vec"};
	static const char text[] = "name: softirq_entry\nID: 77\n"
				   "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n";
	struct tracing_format format = {"irq", bytes_of(text, sizeof(text) - 1)};
	struct event event = {.attr = clock_attr(), .id = 5};
	CLEANUP(blob_deinit) struct blob blob = {0};
	CLEANUP(free_ptr) char *section = NULL;
	const char *missing;
	size_t len, before, whole;

	section = tracing_data_encode("page", "event", &format, 1, &len);
	event.attr.type = PERF_TYPE_TRACEPOINT;
	event.attr.config = 77;
	put_pipe_header(&blob);
	put_attr_record(&blob, &event);
	put_tracing_record(&blob, section, len);
	before = blob.len;
	put_sample(&blob, 0x1234, 20);
	whole = blob.len;
	for (; blob.len > before - len; blob.len--) {
		struct record record;

		close_recording();
		open_down_a_pipe(&blob);
		if (blob.len == whole)
			assert_int_equal(next().sample.ip, 0x1234);
		assert_false(perfdata_next(perfdata, &record));
		assert_true((blob.len < whole && blob.len != before) ==
			    (perfdata_problem(perfdata, 0) != NULL));
		if (blob.len < before)
			continue;
		assert_string_equal(perfdata_event(perfdata, 0)->name, "irq:softirq_entry");
		assert_true(perfdata_choose_fields(perfdata, NULL, labels, 1, &missing));
	}
}

TEST_WITH(NULL, tear_down, what_came_down_a_pipe_may_be_kept_in_a_file)
{
	struct event event = {.attr = clock_attr(), .id = 5};
	CLEANUP(blob_deinit) struct blob blob = {0};

	put_pipe_header(&blob);
	put_attr_record(&blob, &event);
	put_sample(&blob, 0x1234, 20);
	open_blob(&blob);
	assert_int_equal(next().sample.ip, 0x1234);
	assert_end();
}

TEST_WITH(NULL, tear_down, traces_are_passed_over_and_told_of)
{
	CLEANUP(blob_deinit) struct blob body = {0};

	put_u64(&body, 32);
	put_u64(&body, 0);
	put_record(&records, PERFDATA_AUXTRACE, 0, &body);
	for (unsigned i = 0; i < 4; i++)
		put_u64(&records, UINT64_MAX);
	put_sample(&records, 0x1234, 20);
	open_records();
	assert_int_equal(next().sample.ip, 0x1234);
	assert_end();
	assert_problem(0, "ignored 32 B of processor traces (AUX), which prof does not decode");
}

TEST_WITH(NULL, tear_down, what_wrote_the_traces_is_named)
{
	CLEANUP(blob_deinit) struct blob body = {0};

	put_u64(&body, 1);
	put_record(&records, PERFDATA_AUXTRACE_INFO, 0, &body);
	put_sample(&records, 0x1234, 20);
	open_records();
	next();
	assert_end();
	assert_problem(0, "processor traces (Intel PT)");
}

/* A zstd frame may contain uncompressed blocks (RFC 8878, 3.1.1). */
static void put_frame_start(struct blob *blob)
{
	static const unsigned char start[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58};

	put(blob, start, sizeof(start));
}

static void put_plain_block(struct blob *blob, const unsigned char *data, size_t len)
{
	uint32_t header = (uint32_t)len << 3;

	put(blob, &header, 3);
	put(blob, data, len);
}

TEST_WITH(NULL, tear_down, compressed_records_go_on_from_piece_to_piece)
{
	enum { IN_THE_MIDDLE = 60 };
	CLEANUP(blob_deinit) struct blob plain = {0};
	CLEANUP(blob_deinit) struct blob first = {0};
	CLEANUP(blob_deinit) struct blob second = {0};

#ifndef HAVE_ZSTD
	RETURN_LACKING("built without zstd");
#endif
	for (uint64_t i = 0; i < 3; i++)
		put_sample(&plain, 0x100 + i, 10 + i);
	put_frame_start(&first);
	put_plain_block(&first, plain.bytes, IN_THE_MIDDLE);
	put_plain_block(&second, plain.bytes + IN_THE_MIDDLE, plain.len - IN_THE_MIDDLE);
	put_record(&records, PERFDATA_COMPRESSED, 0, &first);
	put_record(&records, PERFDATA_COMPRESSED, 0, &second);
	open_records();
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(next().sample.ip, 0x100 + i);
	assert_end();
	assert_no_problem();
}

TEST_WITH(NULL, tear_down, damaged_compression_ends_the_recording)
{
	CLEANUP(blob_deinit) struct blob junk = {0};

#ifndef HAVE_ZSTD
	RETURN_LACKING("built without zstd");
#endif
	put_u64(&junk, 0x1122334455667788);
	put_sample(&records, 0x1234, 20);
	put_record(&records, PERFDATA_COMPRESSED, 0, &junk);
	open_records();
	assert_int_equal(next().sample.ip, 0x1234);
	assert_end();
	assert_problem(0, "damaged");
}

/* A block of equal bytes needs only four: records of 0x808 bytes of an unknown
 * type. */
static void put_repeated_block(struct blob *blob)
{
	static const unsigned char repeated[] = {0x02, 0x00, 0x10, 0x08}; /* 128 KiB */

	put(blob, repeated, sizeof(repeated));
}

TEST_WITH(NULL, tear_down, records_that_unpack_to_gigabytes_end_the_recording)
{
	enum { BLOCKS = 10000 };
	CLEANUP(blob_deinit) struct blob bomb = {0};

#ifndef HAVE_ZSTD
	RETURN_LACKING("built without zstd");
#endif
	put_frame_start(&bomb);
	for (unsigned i = 0; i < BLOCKS; i++)
		put_repeated_block(&bomb);
	put_sample(&records, 0x1234, 20);
	put_record(&records, PERFDATA_COMPRESSED, 0, &bomb);
	open_records();
	assert_int_equal(next().sample.ip, 0x1234);
	assert_end();
	assert_problem(0, "expand to an implausible size");
}

TEST_WITH(NULL, tear_down, a_recording_cut_off_anywhere_gives_what_it_holds)
{
	struct event event = {.attr = clock_attr(), .id = 5};
	CLEANUP(blob_deinit) struct blob whole = {0};
	size_t sample_bytes, data_offset;

	put_sample(&records, 1, 10);
	sample_bytes = records.len;
	put_sample(&records, 2, 20);
	put_sample(&records, 3, 30);
	put_file(&whole, &(struct file){.events = &event, .event_count = 1, .records = &records});
	data_offset = whole.len - records.len;
	for (size_t len = 0; len < whole.len; len++) {
		struct blob cut = {.bytes = whole.bytes, .len = len};
		CLEANUP(error_cleanup)
		struct error *err = perfdata_open(descriptor_of(&cut), &perfdata);
		struct record record;
		size_t count = 0;

		if (len < data_offset) {
			assert_non_null(err);
			continue;
		}
		assert_null(err);
		while (perfdata_next(perfdata, &record))
			assert_int_equal(record.sample.ip, ++count);
		assert_int_equal(count, (len - data_offset) / sample_bytes);
		assert_problem(0, "not finished");
		if ((len - data_offset) % sample_bytes)
			assert_problem(1, "cut off within a record");
		close_recording();
	}
}

/* Handles the signal as prof does (base/signals.h). */
static void put_zeros(int number, siginfo_t *info, void *context)
{
	size_t page = (size_t)getpagesize();

	(void)number, (void)context;
	mmap((void *)((uintptr_t)info->si_addr & ~(page - 1)), page, PROT_READ,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

TEST_WITH(NULL, tear_down, a_file_that_is_cut_while_it_is_read_gives_what_was_read_by_then)
{
	const struct sigaction action = {.sa_sigaction = put_zeros, .sa_flags = SA_SIGINFO};
	struct event event = {.attr = clock_attr(), .id = 5};
	CLEANUP(blob_deinit) struct blob blob = {0};
	int fd;

	sigaction(SIGBUS, &action, NULL);
	put_sample(&records, 1, 10);
	put_round(&records);
	put_round(&records);
	put_sample(&records, 2, 20);
	put_file(&blob, &(struct file){.events = &event, .event_count = 1, .records = &records});
	fd = descriptor_of(&blob);
	assert_null(perfdata_open(fd, &perfdata));
	assert_int_equal(next().sample.ip, 1);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_end();
	assert_problem(0, "damaged at byte");
	assert_problem(1, "truncated while it was read");
}

enum { STACK_BYTES = 60000, STACKS = 3000 };

/* A file of samples with stacks of zeros. */
static int descriptor_of_stacks(void)
{
	struct event event = {.attr = clock_attr(), .id = 5};
	CLEANUP(close_file) FILE *file = tmpfile();
	struct blob none = {0};
	CLEANUP(blob_deinit) struct blob head = {0};

	assert_non_null(file);
	event.attr.sample_type |= PERF_SAMPLE_STACK_USER;
	put_file(&head, &(struct file){.events = &event, .event_count = 1, .records = &none});
	fwrite(head.bytes, head.len, 1, file);
	for (uint64_t i = 1; i <= STACKS; i++) {
		CLEANUP(blob_deinit) struct blob sample = {0};
		uint64_t len = STACK_BYTES;

		put_sample(&sample, i, i);
		put_u64(&sample, len);
		((struct perf_event_header *)sample.bytes)->size =
			(uint16_t)(sample.len + len + sizeof(len));
		fwrite(sample.bytes, sample.len, 1, file);
		fseek(file, (long)len, SEEK_CUR);
		fwrite(&len, sizeof(len), 1, file);
	}
	fflush(file);
	return dup(fileno(file));
}

static size_t resident_bytes(void)
{
	CLEANUP(close_file) FILE *file = fopen("/proc/self/statm", "re");
	unsigned long size, resident;

	assert_int_equal(fscanf(file, "%lu %lu", &size, &resident), 2);
	return resident * (size_t)getpagesize();
}

TEST_WITH(NULL, tear_down, a_large_file_takes_little_memory)
{
	enum { MORE_BYTES_MAX = 64 << 20 };
	size_t before = resident_bytes();
	struct record record;
	unsigned count = 0, sum = 0;

	if (HAS_THREAD_SANITIZER)
		RETURN_LACKING("memory without that of the thread sanitizer");
	assert_null(perfdata_open(descriptor_of_stacks(), &perfdata));
	while (perfdata_next(perfdata, &record)) {
		assert_int_equal(bytes_left(&record.sample.stack), STACK_BYTES);
		while (bytes_left(&record.sample.stack))
			sum += bytes_u8(&record.sample.stack);
		if (++count % 100 == 0)
			assert_true(resident_bytes() < before + MORE_BYTES_MAX);
	}
	assert_int_equal(count, STACKS);
	assert_int_equal(sum, 0);
}

TEST_WITH(NULL, tear_down, a_killed_perf_has_not_told_how_much_it_wrote)
{
	struct event event = {.attr = clock_attr(), .id = 5};
	CLEANUP(blob_deinit) struct blob blob = {0};

	put_sample(&records, 0x1234, 20);
	put_file(&blob, &(struct file){.events = &event, .event_count = 1, .records = &records});
	memset(blob.bytes + offsetof(struct perfdata_header, data.size_bytes), 0, sizeof(uint64_t));
	open_blob(&blob);
	assert_int_equal(next().sample.ip, 0x1234);
	assert_end();
	assert_problem(0, "perf was killed");
}

TEST_WITH(NULL, tear_down, behind_a_record_without_a_size_nothing_is_read)
{
	put_sample(&records, 1, 10);
	put_u64(&records, 0);
	put_sample(&records, 2, 20);
	open_records();
	assert_int_equal(next().sample.ip, 1);
	assert_end();
	assert_problem(0, "damaged at byte");
}

TEST_WITH(NULL, tear_down, records_that_make_no_sense_are_left_out_and_counted)
{
	struct blob body = {0};

	put_record(&records, PERF_RECORD_SAMPLE, 0, &body);
	put_sample(&records, 2, 20);
	open_records();
	assert_int_equal(next().sample.ip, 2);
	assert_end();
	assert_problem(0, "ignored 1 malformed records");
}

static void assert_refused(const void *bytes, size_t len, const char *part)
{
	CLEANUP(blob_deinit) struct blob blob = {0};
	CLEANUP(error_cleanup) struct error *err = NULL;

	put(&blob, bytes, len);
	err = perfdata_open(descriptor_of(&blob), &perfdata);
	assert_non_null(err);
	if (!strstr(error_text(err), part))
		fail_msg("\"%s\" does not say \"%s\"", error_text(err), part);
}

TEST_WITH(NULL, tear_down, what_is_no_recording_is_refused)
{
	CLEANUP(blob_deinit) struct blob blob = {0};
	CLEANUP(free_ptr) char *path = NULL;
	CLEANUP(error_cleanup) struct error *err = NULL;
	int fd;

	assert_refused("", 0, "not a perf.data file");
	assert_refused("main;work 12\nmain;play 3\n", 25, "not a perf.data file");
	assert_refused("2ELIFREP\0\0\0\0\0\0\0\x68", 16, "other byte order");
	assert_refused("PERFFILE\x68\0\0\0\0\0\0\0", 16, "older than Linux 3.1");
	/* The descriptor is write-only. */
	put_u64(&blob, PERFDATA_MAGIC);
	fd = descriptor_of(&blob);
	path = xasprintf("/proc/self/fd/%d", fd);
	err = perfdata_open(open(path, O_WRONLY | O_CLOEXEC), &perfdata);
	close(fd);
	assert_non_null(strstr(error_text(err), "map the recording into memory"));
}

static struct bytes numbered(const uint64_t *number)
{
	return bytes_of(number, sizeof(*number));
}

TEST_WITH(NULL, tear_down, reorder_that_cannot_be_kept_go_out_half_by_half)
{
	enum { MANY = 3 << 18 };
	CLEANUP(reorder_deinit) struct reorder reorder = {0};
	struct pending_record waiting;
	uint64_t out = 0;

	for (uint64_t i = 0; i < MANY; i++) {
		reorder_add(&reorder, i + 1, i, numbered(&i), false);
		while (reorder_take(&reorder, &waiting)) {
			assert_int_equal(waiting.time_ns, ++out);
			pending_record_deinit(&waiting);
		}
	}
	assert_true(out > 0);
	reorder_end(&reorder);
	while (reorder_take(&reorder, &waiting)) {
		assert_int_equal(waiting.time_ns, ++out);
		pending_record_deinit(&waiting);
	}
	assert_int_equal(out, MANY);
	assert_int_equal(reorder.late, 0);
}

TEST_WITH(NULL, tear_down, what_lasts_is_not_copied_however_much_waits)
{
	enum { LEN = 60000, MANY = 1000 };
	CLEANUP(reorder_deinit) struct reorder reorder = {0};
	CLEANUP(free_ptr) unsigned char *data = xcalloc(1, LEN);
	struct pending_record waiting;
	unsigned count = 0;

	for (uint64_t i = 0; i < MANY; i++)
		reorder_add(&reorder, MANY - i, i, bytes_of(data, LEN), true);
	reorder_end(&reorder);
	while (reorder_take(&reorder, &waiting)) {
		assert_int_equal(waiting.time_ns, ++count);
		assert_ptr_equal(waiting.at, data);
		pending_record_deinit(&waiting);
	}
	assert_int_equal(count, MANY);
}

/* The output of a writer, opened again. */
struct written {
	int fd;
	struct perf_event_attr attrs[2];
	struct written_event events[2];
	uint64_t ids[2];
	struct record_layout layout; /* layout of both */
	struct perfdata_writer *writer;
};

static void begin_writing(struct written *written, size_t event_count)
{
	*written = (struct written){
		.attrs = {clock_attr(), clock_attr()},
		.ids = {5, 6},
		.layout = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
					  PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU},
	};
	written->attrs[1].config = PERF_COUNT_SW_PAGE_FAULTS;
	for (size_t i = 0; i < event_count; i++) {
		written->attrs[i].sample_type = written->layout.sample_type;
		written->events[i] = (struct written_event){
			.name = i ? "faults" : "clock",
			.attr = bytes_of(&written->attrs[i], sizeof(written->attrs[i])),
			.ids = bytes_of(&written->ids[i], event_count > 1 ? sizeof(uint64_t) : 0),
		};
	}
	written->fd = memfd_create("perf.data", MFD_CLOEXEC);
	assert_true(written->fd >= 0);
	written->writer = perfdata_writer_new(dup(written->fd), written->events, event_count);
}

static void read_what_was_written(struct written *written)
{
	struct perfdata_info info = {.host = xstrdup("harbour"),
				     .kernel_release = xstrdup("6.1.0"),
				     .machine = xstrdup("x86_64"),
				     .command = xstrdup("prof record shop")};
	struct error *err = perfdata_writer_finish(written->writer, &info);

	if (!err)
		err = perfdata_open(written->fd, &perfdata);
	if (err)
		fail_msg("%s", error_text(err));
	perfdata_writer_free(written->writer);
	free(info.host);
	free(info.kernel_release);
	free(info.machine);
	free(info.command);
}

/* Writes the record as the event of the side band would. */
static void put_raw_comm(struct perfdata_writer *writer, const struct record_layout *layout)
{
	CLEANUP(blob_deinit) struct blob body = {0};
	CLEANUP(blob_deinit) struct blob raw = {0};
	struct record record;

	put_u32(&body, PID);
	put_u32(&body, TID);
	put_string(&body, "shop");
	put_trailer(&body, 50);
	put_u64(&body, 3);  /* cpu */
	put_u64(&body, 99); /* the id of an event that is not in the file */
	put_record(&raw, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, &body);
	assert_true(record_decode(layout, bytes_of(raw.bytes, raw.len), &record));
	perfdata_writer_put(writer, &record);
}

static void put_raw_sample(struct perfdata_writer *writer, uint64_t id, uint64_t time_ns)
{
	CLEANUP(blob_deinit) struct blob body = {0};
	CLEANUP(blob_deinit) struct blob raw = {0};
	struct record record = {.type = RECORD_SAMPLE};

	put_u64(&body, id);
	put_u64(&body, 0x1234);
	put_u32(&body, PID);
	put_u32(&body, TID);
	put_u64(&body, time_ns);
	put_u64(&body, 3);
	put_record(&raw, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body);
	record.raw = bytes_of(raw.bytes, raw.len);
	perfdata_writer_put(writer, &record);
}

TEST_WITH(NULL, tear_down, what_is_written_is_read_again)
{
	struct written written;
	struct record record;

	begin_writing(&written, 2);
	put_raw_comm(written.writer, &written.layout);
	perfdata_writer_end_round(written.writer);
	put_raw_sample(written.writer, 6, 70);
	put_raw_sample(written.writer, 5, 60);
	perfdata_writer_end_round(written.writer);
	read_what_was_written(&written);
	assert_int_equal(perfdata_event_count(perfdata), 2);
	assert_string_equal(perfdata_event(perfdata, 1)->name, "faults");
	assert_string_equal(perfdata_info(perfdata)->host, "harbour");
	assert_string_equal(perfdata_info(perfdata)->kernel_release, "6.1.0");
	assert_string_equal(perfdata_info(perfdata)->machine, "x86_64");
	assert_string_equal(perfdata_info(perfdata)->command, "prof record shop");
	record = next();
	assert_string_equal(record.comm.name, "shop");
	assert_true(record.comm.exec);
	assert_int_equal(record.time_ns, 50);
	record = next();
	assert_int_equal(record.sample.event, 0);
	assert_int_equal(record.time_ns, 60);
	record = next();
	assert_int_equal(record.sample.event, 1);
	assert_int_equal(record.sample.ip, 0x1234);
	assert_int_equal(record.tid, TID);
	assert_end();
	assert_no_problem();
}

TEST_WITH(NULL, tear_down, a_file_that_was_not_finished_reads_as_one_that_was_cut_off)
{
	struct written written;
	struct error *err;

	begin_writing(&written, 1);
	put_raw_sample(written.writer, 5, 60);
	perfdata_writer_free(written.writer);
	err = perfdata_open(written.fd, &perfdata);
	assert_null(err);
	assert_int_equal(next().time_ns, 60);
	assert_end();
	assert_problem(0, "not finished");
}

TEST_WITH(NULL, tear_down, a_full_disk_is_told_at_the_end)
{
	struct written written;
	struct perfdata_info info = {0};
	CLEANUP(perfdata_writer_cleanup) struct perfdata_writer *writer = NULL;
	CLEANUP(error_cleanup) struct error *err = NULL;
	char nothing[] = "";

	begin_writing(&written, 1);
	perfdata_writer_free(written.writer);
	close(written.fd);
	writer = perfdata_writer_new(open("/dev/full", O_WRONLY | O_CLOEXEC), written.events, 1);
	for (unsigned i = 0; i < 10000; i++)
		put_raw_sample(writer, 5, 60 + i);
	info.host = info.kernel_release = info.machine = info.command = nothing;
	err = perfdata_writer_finish(writer, &info);
	assert_non_null(err);
	assert_int_equal(error_number(err), ENOSPC);
}
