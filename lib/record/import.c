#include "record/import.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "perfdata/perfdata.h"
#include "proc/kernel.h"
#include "record/elapsed_import.h"
#include "record/field_labels.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum {
	/* The loop runs and progress is reported once per this many records. */
	RECORDS_AT_ONCE = 4096,
	/* The reading time is checked once per this many records. A crafted
	 * record takes 0.1 s. */
	RECORDS_UNTIL_LOOK = 32,
};

/* Limit of CPU time: a constant, plus a time per record. Records take a few
 * microseconds, with deep stacks 50 us. Crafted records can take minutes. */
#define READING_NS (10 * NS_PER_SECOND)
#define READING_NS_PER_RECORD (NS_PER_MS / 10)

struct import {
	const struct import_options *options;
	struct perfdata *perfdata;
	const struct arch *arch;     /* architecture of the recorded machine */
	struct record_source source; /* reads perfdata, which it owns */
	bool ours;		     /* recorded on this machine since it was booted */
	uint64_t end_unix_ns;
	uint64_t begun_ns; /* in CPU time of this thread */
	struct pipeline pipeline;
	struct elapsed_import *elapsed; /* NULL if not wanted, or before the first time */
	unsigned event_count;		/* number of events in the session */
	bool has_main;
	uint64_t first_ns, last_ns; /* of records that have a time */
};

static void import_deinit(struct import *import)
{
	elapsed_import_free(import->elapsed);
	pipeline_close(&import->pipeline);
	record_source_close(&import->source);
}

static const struct {
	const char *machine;
	const struct arch *arch;
} import_archs[] = {{"x86_64", &arch_x86_64}, {"aarch64", &arch_aarch64}};

static bool may_dump(const struct arch *arch, uint64_t mask)
{
	uint64_t needed = UINT64_C(1) << arch->perf_sp | UINT64_C(1) << arch->perf_pc;

	return mask >> arch->perf_count == 0 && (mask & needed) == needed;
}

/* The register masks of all known architectures differ. */
static const struct arch *arch_by_registers(const struct perfdata *perfdata)
{
	for (unsigned event = 0; event < perfdata_event_count(perfdata); event++)
		for (size_t i = 0; i < ARRAY_SIZE(import_archs); i++)
			if (may_dump(import_archs[i].arch,
				     perfdata_event(perfdata, event)->regs_mask))
				return import_archs[i].arch;
	return arch_native();
}

static const struct arch *import_arch_of(const struct perfdata *perfdata)
{
	const struct perfdata_info *info = perfdata_info(perfdata);

	if (!info->machine)
		return arch_by_registers(perfdata);
	for (size_t i = 0; i < ARRAY_SIZE(import_archs); i++)
		if (!strcmp(info->machine, import_archs[i].machine))
			return import_archs[i].arch;
	return NULL;
}

/* Returns when the file was last written, which is when the recording ended. A
 * perf.data file contains no wall-clock time. */
static uint64_t end_of_recording(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return (uint64_t)st.st_mtim.tv_sec * NS_PER_SECOND + (uint64_t)st.st_mtim.tv_nsec;
	return clock_unix_ns();
}

static struct error *import_open_recording(struct import *import, int fd)
{
	struct error *err;

	import->end_unix_ns = end_of_recording(fd);
	err = perfdata_open(fd, &import->perfdata);
	if (!err)
		import->source = perfdata_source(import->perfdata);
	if (!err)
		import->arch = import_arch_of(import->perfdata);
	if (!err && !import->arch)
		err = error_new("it was recorded on an unsupported architecture (%s)",
				perfdata_info(import->perfdata)->machine);
	return error_hint(
		err, "prof reads perf.data files, pprof profiles, folded stacks, and heap files of "
		     "jemalloc and tcmalloc");
}

/* Whether all events use CLOCK_MONOTONIC. */
static bool is_monotonic(const struct perfdata *perfdata)
{
	unsigned count = perfdata_event_count(perfdata);

	for (unsigned i = 0; i < count; i++)
		if (!perfdata_event(perfdata, i)->is_monotonic)
			return false;
	return count;
}

static void import_prepare(struct import *import)
{
	const struct perfdata_info *info = perfdata_info(import->perfdata);
	struct kernel_mark kernel = {
		.host = info->host,
		.release = info->kernel_release,
		.build_id.len = info->kernel_build_id_bytes,
		.start = info->kernel_start,
		.end = info->kernel_end,
	};

	memcpy(kernel.build_id.bytes, info->kernel_build_id, info->kernel_build_id_bytes);
	import->ours = kernel_is_ours(&kernel, "");
	pipeline_open(&import->pipeline,
		      &(struct pipeline_options){
			      .arch = import->arch,
			      .files =
				      &(struct recorded_files){
					      .symfs = import->options->symfs,
					      .debug_dir = import->options->symbols.debug_dir,
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

/* A pipe may describe an event after the first records. */
static void import_add_events(struct import *import)
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

/* The command that perf started is the first process to call exec. */
static void find_main(struct import *import, const struct record *record)
{
	if (import->has_main || record->type != RECORD_COMM || !record->comm.exec)
		return;
	import->has_main = true;
	session_set_main_process(import->pipeline.session, record->pid);
}

/* Returns the time between two samples of a running thread. */
static uint64_t import_period_ns(const struct import *import)
{
	const struct perfdata_event *event = import->event_count
						     ? perfdata_event(import->perfdata, 0)
						     : NULL;

	if (event && event->frequency_hz)
		return NS_PER_SECOND / event->frequency_hz;
	return event && value_is_time(event->kind) ? event->period : NS_PER_MS;
}

/* The events of a pipe are known only with its first records. */
static void import_begin_elapsed(struct import *import, uint64_t time_ns)
{
	if (import->elapsed || !time_ns || !import->options->adds_elapsed)
		return;
	import->elapsed =
		elapsed_import_new(import->pipeline.session,
				   &(struct elapsed_import_options){
					   .has_switches = perfdata_has_switches(import->perfdata),
					   .period_ns = import_period_ns(import),
				   });
	if (!perfdata_has_switches(import->perfdata))
		listener_notice(import->options->listener,
				"elapsed time is estimated from the samples: the recording has no "
				"context switches (perf record --switch-events)");
}

static void import_note_time(struct import *import, uint64_t time_ns)
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

/* Resets cancel, because the next cancellation applies to symbolization. */
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
	listener_problem(
		import->options->listener,
		"reading its records takes too long for their number: the rest is ignored");
	return true;
}

static void choose_fields(const struct import *import)
{
	const struct import_options *options = import->options;
	const char *missing;

	if (!perfdata_choose_fields(import->perfdata, options->weight, options->labels,
				    options->label_count, &missing))
		listener_problem(options->listener,
				 "no event of the recording has a field %s in a known format",
				 missing);
}

static void import_read_records(struct import *import)
{
	const struct session_counts *counts = session_counts(import->pipeline.session);
	struct record record;
	uint64_t records = 0;

	while (record_source_next(&import->source, &record)) {
		import_add_events(import);
		find_main(import, &record);
		import_note_time(import, record.time_ns);
		import_begin_elapsed(import, record.time_ns);
		elapsed_import_feed(import->elapsed, &record);
		session_feed(import->pipeline.session, &record);
		elapsed_import_feed_again(import->elapsed, &record);
		if (++records % RECORDS_UNTIL_LOOK)
			continue;
		if (takes_too_long(import, records))
			break;
		if (records % RECORDS_AT_ONCE)
			continue;
		listener_progress(import->options->listener, PROGRESS_READ,
				  counts->quality.samples);
		if (is_stopped(import)) {
			listener_problem(import->options->listener,
					 "stopped: the profile contains what was read so far");
			break;
		}
	}
	import_add_events(import);
	elapsed_import_settle(import->elapsed, import->last_ns);
}

static void import_tell_other_values(const struct import *import)
{
	uint64_t samples = session_counts(import->pipeline.session)->other_values;

	if (samples)
		listener_notice(import->options->listener, FIELD_OTHER_NOTICE, samples,
				FIELD_VALUES_MAX);
}

static void import_report_problems(const struct import *import)
{
	uint64_t stray = session_counts(import->pipeline.session)->strays;
	const char *problem;

	for (unsigned i = 0; (problem = perfdata_problem(import->perfdata, i)); i++)
		listener_problem(import->options->listener, "%s", problem);
	import_tell_other_values(import);
	if (stray)
		listener_problem(import->options->listener,
				 "ignored %" PRIu64 " user call chains that belong to no sample",
				 stray);
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
		.begun_ns = clock_thread_cpu_ns(),
	};
	struct error *err = import_open_recording(&import, fd);

	if (err)
		return err;
	import_prepare(&import);
	choose_fields(&import);
	import_read_records(&import);
	import_report_problems(&import);
	ret->reading_cpu_ns = clock_own_cpu_ns();
	finalize_import(&import, &ret->finalized);
	ret->profile = STEAL(import.pipeline.profile);
	return NULL;
}
