/*
 * Measures what writing costs: a profile of many samples with many distinct
 * stacks, about 30 frames deep, of 24 threads, in each format. Each format is
 * written by a process of its own, whose peak memory includes the profile.
 *
 *	bench_formats [FOLDER [SAMPLES STACKS [FORMAT …]]]
 *
 * FOLDER is where the files are written and kept. By default, all formats are
 * written except rows and the text of perf script, whose size grows with the
 * number of samples (13 GB).
 */
#include "base/alloc.h"
#include "format/format.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	FUNCTIONS = 20000,
	PLACES = 3, /* addresses and lines per function */
	THREADS = 24,
	DEPTH = 30,
	SPREAD = 8, /* leaves differ in depth by this much */
};

static uint32_t next_random(uint64_t *seed, uint32_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (uint32_t)((*seed >> 32) * below >> 32);
}

static void add_frames(struct profile *profile)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		CLEANUP(free_ptr)
		char *name = xasprintf("module%02u::function_%u", i % 40, i);
		CLEANUP(free_ptr)
		char *file = xasprintf("src/module%02u/file%03u.c", i % 40, i / 100);
		struct profile_function function = {
			.name = strtab_add(profile_strings(profile), name),
			.system_name = strtab_add(profile_strings(profile), name),
			.file = strtab_add(profile_strings(profile), file),
			.start_line = i % 100 * 20 + 1,
		};
		function_id id = profile_function(profile, &function);

		for (uint32_t place = 0; place < PLACES; place++) {
			struct profile_line line = {.function = id,
						    .line = function.start_line + place * 3};
			frame_id frame = profile_frame(profile, i % 40,
						       (i * PLACES + place) * 16 + 5, true);

			profile_set_lines(profile, frame, &line, 1);
		}
	}
}

/* Consecutive stacks share most of their callers, as in real programs. */
static void add_samples(struct profile *profile, uint64_t samples, uint32_t stacks)
{
	stack_id path[DEPTH + SPREAD + 1] = {STACK_EMPTY};
	uint32_t depth = DEPTH;
	uint64_t seed = 1;

	for (uint32_t i = 0; i < stacks; i++) {
		uint32_t shared = i ? depth - 1 : 0;

		while (shared && next_random(&seed, 2))
			shared--;
		if (next_random(&seed, 64) == 0)
			shared /= 2;
		depth += next_random(&seed, 3) - 1;
		depth = depth > DEPTH + SPREAD ? DEPTH + SPREAD : depth;
		depth = depth < DEPTH - SPREAD ? DEPTH - SPREAD : depth;
		for (; shared < depth; shared++)
			path[shared + 1] = profile_push(profile, path[shared],
							next_random(&seed, FUNCTIONS * PLACES));
		profile_add_samples(profile, next_random(&seed, THREADS), path[depth], 0,
				    samples / stacks, samples / stacks * 1001001);
	}
}

/*
 * Each aggregated sample gets the same number of timed samples, in a scattered
 * order. The prime is coprime to the number of samples.
 */
static void add_timed_samples(struct profile *profile, uint64_t count)
{
	uint64_t seed = 2, time_ns = 1000000000, samples = profile_samples(profile).count;
	const uint64_t prime = 2654435761;

	for (uint64_t i = 0; i < count; i++) {
		struct profile_timed_sample timed_sample = {
			.time_ns = time_ns += next_random(&seed, 100000),
			.sample = (uint32_t)(i * prime % samples),
			.cpu = next_random(&seed, 8),
		};

		profile_add_timed_sample(profile, &timed_sample);
	}
}

static struct profile *make_profile(uint64_t samples, uint32_t stacks)
{
	struct profile *profile = profile_new();

	profile_add_event(profile,
			  &(struct profile_event){
				  .name = strtab_add(profile_strings(profile), "cpu-clock"),
				  .kind = VALUE_CPU_TIME,
				  .frequency_hz = 999,
			  });
	for (uint32_t i = 0; i < 40; i++) {
		CLEANUP(free_ptr) char *path = xasprintf("/usr/lib/libmodule%02u.so", i);
		struct profile_segment segment = {0, 0, FUNCTIONS * PLACES * 16};
		struct profile_module module = {
			.path = strtab_add(profile_strings(profile), path),
			.segments = &segment,
			.segment_count = 1,
			.is_main = i == 0,
		};

		profile_describe_module(profile, i, &module);
	}
	for (int i = 0; i < THREADS; i++)
		profile_thread_labels(profile, 1000, 1000 + i, "server", i ? "worker" : "server");
	add_frames(profile);
	add_samples(profile, samples, stacks);
	profile_set_info(profile, &(struct profile_info){
					  .start_unix_ns = 1700000000000000000,
					  .start_ns = 1000000000,
					  .duration_ns = 500000000000,
					  .command = "bench_formats",
				  });
	return profile;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int write_file(const struct profile *profile, const struct format *format, const char *path)
{
	FILE *out = fopen(path, "w");
	CLEANUP(error_cleanup) struct error *err = NULL;

	if (!out) {
		perror(path);
		return 1;
	}
	setvbuf(out, NULL, _IOFBF, 256 * 1024); /* as prof does */
	err = format->write(profile, &(struct format_options){0}, out);
	if (err)
		fprintf(stderr, "%s: %s\n", path, error_text(err));
	return fclose(out) != 0 || err;
}

static int measure(const struct profile *profile, const struct format *format, const char *folder)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/bench%s", folder, format->extensions[0]);
	double began = seconds();
	struct rusage usage;
	struct stat st;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(write_file(profile, format, path));
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status || stat(path, &st) < 0)
		return 1;
	printf("%-12s %6.2f s %6.2f s CPU %8.1f MB written %6.0f MB peak\n", format->name,
	       seconds() - began,
	       (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
	       (double)st.st_size / 1e6, (double)usage.ru_maxrss / 1e3);
	fflush(stdout);
	return 0;
}

/* names ends with NULL. If it is empty, all formats except the largest ones are
 * written. */
static bool is_asked_for(const struct format *format, char **names)
{
	if (!*names)
		return format->write && !format->is_rows && format != &format_perf_script;
	while (*names && strcmp(*names, format->name) != 0)
		names++;
	return *names;
}

static int measure_all(const struct profile *profile, bool with_timestamps, const char *folder,
		       char **names)
{
	int failures = 0;

	for (const struct format *const *format = formats; *format; format++)
		if ((*format)->needs_timestamps == with_timestamps && is_asked_for(*format, names))
			failures += measure(profile, *format, folder);
	return failures;
}

static void print_size(const struct profile *profile, const char *title)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("%" PRIu64 " samples, %" PRIu32 " stacks with their callers, %s: %.0f MB\n",
	       profile_samples(profile).count, profile_stacks(profile).count, title,
	       (double)usage.ru_maxrss / 1e3);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	uint64_t samples = argc > 3 ? strtoull(argv[2], NULL, 10) : 10000000;
	uint32_t stacks = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1000000;
	char temporary[] = "/tmp/bench_formats.XXXXXX";
	const char *folder = argc > 1 ? argv[1] : mkdtemp(temporary);
	CLEANUP(profile_cleanup) struct profile *profile = make_profile(samples, stacks);
	int failures = 0;

	print_size(profile, "without times");
	failures += measure_all(profile, false, folder, argv + (argc > 4 ? 4 : argc));
	profile_keep_timestamps(profile);
	add_timed_samples(profile, samples);
	print_size(profile, "with the time of each sample");
	failures += measure_all(profile, true, folder, argv + (argc > 4 ? 4 : argc));
	return failures != 0;
}
