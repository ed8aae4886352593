/*
 * Measures what a machine with many CPUs costs: the samples of a recording are
 * repeated in a ring for each CPU, in memory, and processed like a live
 * recording, from the rings to the profile.
 *
 *	bench_readers RECORDING [CPUS]	RECORDING: perf.data, not compressed
 *
 * Each CPU starts at another sample, so that samples adjacent in time have
 * different stacks. The records about processes come first.
 */
#include "record/pipeline.h"

#include "base/alloc.h"
#include "perf/attr.h"
#include "perf/layouts.h"
#include "perf/ring_merge.h"
#include "unwind/arch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum {
	CPUS = 128,
	BATCHES = 40,
	SAMPLES_OF_BATCH = 100, /* samples of a CPU in 100 ms at 999 Hz */
	RING_BYTES = 4 << 20,
};

struct section {
	uint64_t offset, size;
};

struct recording {
	struct layouts layouts;
	struct bytes *samples, *others;
	size_t sample_count, sample_room, other_count, other_room;
	unsigned event_count;
	size_t time_at; /* offset in a sample */
};

/* The time precedes all fields of variable length. */
static size_t time_place(uint64_t sample_type)
{
	const uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;

	return sizeof(struct perf_event_header) +
	       8 * (size_t)__builtin_popcountll(sample_type & before);
}

static void read_events(struct recording *recording, struct bytes file)
{
	struct bytes header = bytes_at(file, 16);
	uint64_t entry_bytes = bytes_u64(&header);
	struct section attrs = {bytes_u64(&header), bytes_u64(&header)};

	for (uint64_t at = 0; entry_bytes && at + entry_bytes <= attrs.size; at += entry_bytes) {
		struct bytes entry = bytes_at(file, attrs.offset + at);
		struct bytes ids = bytes_at(entry, entry_bytes - 16);
		struct bytes id = bytes_at(file, bytes_u64(&ids));
		struct perf_event_attr attr = {0};
		struct record_layout layout;

		memcpy(&attr, entry.at,
		       entry_bytes - 16 < sizeof(attr) ? entry_bytes - 16 : sizeof(attr));
		layout = attr_layout(&attr);
		layout.event = recording->event_count++;
		layouts_add(&recording->layouts, &layout);
		for (uint64_t left = bytes_u64(&ids) / 8; left; left--)
			layouts_add_id(&recording->layouts, bytes_u64(&id),
				       recording->layouts.count - 1);
	}
}

static void read_records(struct recording *recording, struct bytes file)
{
	struct bytes header = bytes_at(file, 40);
	uint64_t from = bytes_u64(&header), until = from + bytes_u64(&header);

	for (uint64_t at = from; at < until;) {
		struct perf_event_header head;

		memcpy(&head, file.at + at, sizeof(head));
		if (head.size < sizeof(head))
			return;
		if (head.type == PERF_RECORD_SAMPLE) {
			GROW(recording->samples, recording->sample_count, recording->sample_room);
			recording->samples[recording->sample_count++] = bytes_of(file.at + at,
										 head.size);
		} else if (head.type < PERF_RECORD_MAX && head.type != PERF_RECORD_EXIT) {
			GROW(recording->others, recording->other_count, recording->other_room);
			recording->others[recording->other_count++] = bytes_of(file.at + at,
									       head.size);
		}
		at += head.size;
	}
}

static void pipeline_begin(struct pipeline *pipeline, const struct recording *recording)
{
	pipeline_open(pipeline, &(struct pipeline_options){
					.arch = arch_native(),
					.files =
						&(struct recorded_files){
							.debug_dir = "/usr/lib/debug",
							.same_kernel = true,
						},
					.depth = UNWIND_DEPTH_MAX,
				});
	for (unsigned i = 0; i < recording->event_count; i++) {
		struct profile_event event = {
			.name = strtab_add(profile_strings(pipeline->profile), "cpu-clock"),
			.kind = VALUE_CPU_TIME,
			.period = 1,
		};

		session_add_event(pipeline->session, &event);
	}
}

static void feed_others(struct pipeline *pipeline, const struct recording *recording)
{
	for (size_t i = 0; i < recording->other_count; i++) {
		const struct record_layout *layout = layouts_find(&recording->layouts,
								  recording->others[i]);
		struct record record;

		if (!layout || !record_decode(layout, recording->others[i], &record))
			continue;
		record.time_ns = i + 1;
		session_feed(pipeline->session, &record);
	}
}

/* The kernel's part: writes the next samples of each CPU. */
static void fill(const struct recording *recording, struct ring *rings, unsigned cpus,
		 unsigned batch)
{
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		struct ring *ring = &rings[cpu];
		unsigned char *data = (unsigned char *)(uintptr_t)ring->data;
		uint64_t head = ring->control->data_head;

		for (unsigned i = 0; i < SAMPLES_OF_BATCH; i++) {
			size_t number = (size_t)batch * SAMPLES_OF_BATCH + i;
			size_t chosen = (number + cpu * recording->sample_count / cpus) %
					recording->sample_count;
			struct bytes raw = recording->samples[chosen];
			uint64_t time_ns = (number + 1) * 1000000 + cpu * 1000;
			size_t len = bytes_left(&raw), at = head & (RING_BYTES - 1);
			size_t until_end = RING_BYTES - at < len ? RING_BYTES - at : len;
			unsigned char copy[UINT16_MAX];

			if (head + len - ring->tail > RING_BYTES)
				break;
			memcpy(copy, raw.at, len);
			memcpy(copy + recording->time_at, &time_ns, sizeof(time_ns));
			memcpy(data + at, copy, until_end);
			memcpy(data, copy + until_end, len - until_end);
			head += len;
		}
		__atomic_store_n(&ring->control->data_head, head, __ATOMIC_RELEASE);
	}
}

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct result {
	double wall_s, cpu_s;
	uint64_t samples, truncated;
	uint32_t stacks;
	long peak_kb;
};

static struct result measure(const struct recording *recording, unsigned cpus)
{
	struct pipeline pipeline;
	struct ring *rings = xcalloc(cpus, sizeof(*rings));
	size_t each = ring_control_bytes() + RING_BYTES;
	struct result result = {0};
	const struct ring_head *head;
	struct ring_merge merge;
	struct rusage usage;

	for (unsigned i = 0; i < cpus; i++)
		ring_init(&rings[i],
			  mmap(NULL, each, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0),
			  RING_BYTES);
	pipeline_begin(&pipeline, recording);
	feed_others(&pipeline, recording);
	ring_merge_init(&merge, rings, cpus, &recording->layouts);
	for (unsigned i = 0; i < BATCHES; i++) {
		fill(recording, rings, cpus, i);
		result.wall_s -= seconds(CLOCK_MONOTONIC);
		result.cpu_s -= seconds(CLOCK_PROCESS_CPUTIME_ID);
		ring_merge_batch(&merge, UINT64_MAX);
		while ((head = ring_merge_next(&merge)))
			session_feed(pipeline.session, &head->record);
		result.wall_s += seconds(CLOCK_MONOTONIC);
		result.cpu_s += seconds(CLOCK_PROCESS_CPUTIME_ID);
	}
	getrusage(RUSAGE_SELF, &usage);
	result.samples = session_counts(pipeline.session)->quality.samples;
	result.truncated = session_counts(pipeline.session)->quality.truncated;
	result.stacks = profile_stacks(pipeline.profile).count;
	result.peak_kb = usage.ru_maxrss - (long)(cpus * each / 1024);
	return result;
}

/* Runs in a process of its own, to measure its peak memory. */
static void report(const struct recording *recording, unsigned cpus)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct result result = measure(recording, cpus);

		printf("%u rings: %9.0f samples/s, %.2f us of CPU time each; %" PRIu64
		       " samples, %" PRIu32 " stacks, %" PRIu64 " truncated; peak %ld MiB\n",
		       cpus, (double)result.samples / result.wall_s,
		       result.cpu_s * 1e6 / (double)result.samples, result.samples, result.stacks,
		       result.truncated, result.peak_kb / 1024);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static struct bytes map(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;

	if (fd < 0 || fstat(fd, &st))
		return (struct bytes){0};
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	return bytes_of(data == MAP_FAILED ? NULL : data, (size_t)st.st_size);
}

int main(int argc, char **argv)
{
	struct recording recording = {0};
	unsigned cpus = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : CPUS;
	struct bytes file = argc > 1 ? map(argv[1]) : (struct bytes){0};

	if (file.at) {
		read_events(&recording, file);
		read_records(&recording, file);
	}
	if (!recording.sample_count) {
		fprintf(stderr, "bench_readers: no samples in the recording\n");
		return 1;
	}
	recording.time_at = time_place(recording.layouts.items[0].sample_type);
	report(&recording, cpus);
	return 0;
}
