#include "record/import.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "perfdata/perfdata.h"
#include "proc/kernel.h"
#include "record/field_labels.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum {
	/* The loop runs, and progress is reported, every so many records. */
	RECORDS_AT_ONCE = 4096,
	/* The time that reading takes is looked at every so many; a hostile record takes 0.1 s. */
	RECORDS_UNTIL_LOOK = 32,
};

/*
 * CPU time of reading, and for each record. A record takes 2 us, one with a deep stack 50 us; those
 * that are made for that purpose can take minutes.
 */
#define READING_NS (10 * NS_PER_SECOND)
#define READING_NS_PER_RECORD (NS_PER_MS / 10)

struct import {
	const struct import_options *options;
	const char *debug_dir;
	struct perfdata *perfdata;
	const struct arch *arch;     /* of the machine that was recorded */
	struct record_source source; /* perfdata; owns it */
	bool ours;		     /* recorded here, since this machine was booted */
	uint64_t end_unix_ns;
	uint64_t begun_ns; /* in CPU time of this thread */
	struct pipeline pipeline;
	unsigned event_count; /* that the session knows */
	bool has_main;
	uint64_t first_ns, last_ns; /* of the records that have a time */
};

static void import_deinit(struct import *import)
{
	pipeline_close(&import->pipeline);
	record_source_close(&import->source);
}

static const struct {
	const char *machine;
	const struct arch *arch;
} known[] = {{"x86_64", &arch_x86_64}, {"aarch64", &arch_aarch64}};

static bool may_dump(const struct arch *arch, uint64_t mask)
{
	uint64_t needed = UINT64_C(1) << arch->perf_sp | UINT64_C(1) << arch->perf_pc;

	return mask >> arch->perf_count == 0 && (mask & needed) == needed;
}

/* Registers are numbered so that no other architecture has those of all of a known one. */
static const struct arch *arch_by_registers(const struct perfdata *perfdata)
{
	for (unsigned event = 0; event < perfdata_event_count(perfdata); event++)
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			if (may_dump(known[i].arch, perfdata_event(perfdata, event)->regs_mask))
				return known[i].arch;
	return arch_native();
}

static const struct arch *arch_of(const struct perfdata *perfdata)
{
	const struct perfdata_info *info = perfdata_info(perfdata);

	if (!info->machine)
		return arch_by_registers(perfdata);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(info->machine, known[i].machine))
			return known[i].arch;
	return NULL;
}

/* A perf.data file has no time of day; it was last written when the recording ended. */
static uint64_t end_of_recording(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return (uint64_t)st.st_mtim.tv_sec * NS_PER_SECOND + (uint64_t)st.st_mtim.tv_nsec;
	return clock_unix_ns();
}

static struct error *open_recording(struct import *import, int fd)
{
	struct error *err;

	import->end_unix_ns = end_of_recording(fd);
	err = perfdata_open(fd, &import->perfdata);
	if (!err)
		import->source = perfdata_source(import->perfdata);
	if (!err)
		import->arch = arch_of(import->perfdata);
	if (!err && !import->arch)
		err = error_new("it is of a machine that prof cannot unwind (%s)",
				perfdata_info(import->perfdata)->machine);
	return error_hint(
		err,
		"prof reads recordings of perf, pprof profiles, folded stacks and heap files of "
		"jemalloc and tcmalloc");
}

/* Whether all its events have times of CLOCK_MONOTONIC. */
static bool is_monotonic(const struct perfdata *perfdata)
{
	unsigned count = perfdata_event_count(perfdata);

	for (unsigned i = 0; i < count; i++)
		if (!perfdata_event(perfdata, i)->is_monotonic)
			return false;
	return count;
}

static void prepare(struct import *import)
{
	const struct perfdata_info *info = perfdata_info(import->perfdata);
	struct kernel_mark kernel = {
		.host = info->host,
		.release = info->kernel_release,
		.build_id.len = info->kernel_build_id_bytes,
		.start = info->kernel_start,
		.end = info->kernel_end,
	};
	const char *home = getenv("HOME");
	CLEANUP(free_ptr) char *cache = home ? xasprintf("%s/.debug", home) : NULL;

	memcpy(kernel.build_id.bytes, info->kernel_build_id, info->kernel_build_id_bytes);
	import->ours = kernel_is_ours(&kernel, "");
	pipeline_open(&import->pipeline,
		      &(struct pipeline_options){
			      .arch = import->arch,
			      .files =
				      &(struct recorded_files){
					      .symfs = import->options->symfs,
					      .debug_dir = import->debug_dir,
					      .cache_dir = cache,
					      .writer = import->options->writer,
					      .same_kernel = import->ours,
					      .is_monotonic = is_monotonic(import->perfdata),
					      .release = info->kernel_release,
					      .kernel_build_id = kernel.build_id,
				      },
			      .depth = UNWIND_DEPTH_MAX,
			      .needs_timestamps = import->options->needs_timestamps,
			      .counts_polls = true,
		      });
}

/* In a pipe an event may be described late. */
static void add_events(struct import *import)
{
	struct strtab *strings = profile_strings(import->pipeline.profile);
	unsigned count = perfdata_event_count(import->perfdata);

	while (import->event_count < count) {
		const unsigned number = import->event_count++;
		const struct perfdata_event *event = perfdata_event(import->perfdata, number);
		struct profile_event description = {
			.name = strtab_add(strings, event->name),
			.kind = event->kind,
			.period = event->period,
			.frequency_hz = event->frequency_hz,
		};

		session_add_event(import->pipeline.session, &description);
		if (event->counts_occurrences)
			session_count_occurrences(import->pipeline.session, number);
	}
}

/* The program that perf started is the first to execute anything. */
static void find_main(struct import *import, const struct record *record)
{
	if (import->has_main || record->type != RECORD_COMM || !record->comm.exec)
		return;
	import->has_main = true;
	session_set_main_process(import->pipeline.session, record->pid);
}

static void note_time(struct import *import, uint64_t time_ns)
{
	if (!time_ns)
		return;
	if (!import->first_ns)
		import->first_ns = time_ns;
	if (time_ns / NS_PER_SECOND > import->last_ns / NS_PER_SECOND && time_ns > NS_PER_SECOND)
		session_forget(import->pipeline.session, time_ns - NS_PER_SECOND);
	if (time_ns > import->last_ns)
		import->last_ns = time_ns;
}

/* The next cancellation is about the symbolizing. */
static bool is_stopped(const struct import *import)
{
	loop_run(import->options->loop, 0);
	return atomic_exchange(import->options->cancel, false);
}

static bool takes_too_long(const struct import *import, uint64_t records)
{
	uint64_t used_ns = clock_thread_cpu_ns() - import->begun_ns;

	if (used_ns < READING_NS + records * READING_NS_PER_RECORD)
		return false;
	listener_problem(import->options->listener,
			 "its records take too long to read for their number: ignored the rest");
	return true;
}

static void choose_fields(const struct import *import)
{
	const struct import_options *options = import->options;
	const char *missing;

	if (!perfdata_choose_fields(import->perfdata, options->weight, options->labels,
				    options->label_count, &missing))
		listener_problem(options->listener,
				 "no event of the recording has a field %s whose format it tells",
				 missing);
}

static void read_records(struct import *import)
{
	const struct session_counts *counts = session_counts(import->pipeline.session);
	struct record record;
	uint64_t records = 0;

	while (record_source_next(&import->source, &record)) {
		add_events(import);
		find_main(import, &record);
		note_time(import, record.time_ns);
		session_feed(import->pipeline.session, &record);
		if (++records % RECORDS_UNTIL_LOOK)
			continue;
		if (takes_too_long(import, records))
			break;
		if (records % RECORDS_AT_ONCE)
			continue;
		listener_progress(import->options->listener, PROGRESS_READ, counts->samples);
		if (is_stopped(import)) {
			listener_problem(import->options->listener,
					 "stopped: this is what was read so far");
			break;
		}
	}
	add_events(import);
}

static void tell_other_values(const struct import *import)
{
	uint64_t samples = session_counts(import->pipeline.session)->other_values;

	if (samples)
		listener_notice(import->options->listener, FIELD_OTHER_NOTICE, samples,
				FIELD_VALUES_MAX);
}

static void report_problems(const struct import *import)
{
	uint64_t stray = session_counts(import->pipeline.session)->strays;
	const char *problem;

	for (unsigned i = 0; (problem = perfdata_problem(import->perfdata, i)); i++)
		listener_problem(import->options->listener, "%s", problem);
	tell_other_values(import);
	if (stray)
		listener_problem(
			import->options->listener,
			"ignored %" PRIu64 " user parts of stacks that belong to no sample", stray);
}

static void finalize_import(const struct import *import, struct finalize_result *ret)
{
	const struct perfdata_info *info = perfdata_info(import->perfdata);
	const struct import_options *options = import->options;
	CLEANUP(free_ptr)
	char *kernel = xasprintf("Linux %s %s", info->kernel_release ? info->kernel_release : "",
				 info->machine ? info->machine : "");
	uint64_t duration_ns = import->last_ns - import->first_ns;

	finalize(
		&(struct finalize_options){
			.pipeline = &import->pipeline,
			.loop = options->loop,
			.cancel = options->cancel,
			.listener = options->listener,
			.proc = import->ours ? "/proc" : NULL,
			.caller = options->caller,
			.symbols = options->symbols,
			.info = {.start_unix_ns = import->end_unix_ns - duration_ns,
				 .start_ns = import->first_ns,
				 .duration_ns = duration_ns,
				 .command = info->command ? info->command : options->command,
				 .host = info->host ? info->host : "",
				 .kernel = kernel},
		},
		ret);
}

struct error *import_perfdata(int fd, const struct import_options *options,
			      struct import_result *ret)
{
	CLEANUP(import_deinit)
	struct import import = {
		.options = options,
		.debug_dir = options->symbols.debug_dir ? options->symbols.debug_dir
							: "/usr/lib/debug",
		.begun_ns = clock_thread_cpu_ns(),
	};
	struct error *err = open_recording(&import, fd);

	if (err)
		return err;
	prepare(&import);
	choose_fields(&import);
	read_records(&import);
	report_problems(&import);
	ret->reading_cpu_ns = clock_own_cpu_ns();
	finalize_import(&import, &ret->finalized);
	ret->profile = STEAL(import.pipeline.profile);
	return NULL;
}
