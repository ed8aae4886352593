#include "cmd/record/record_messages.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "cmd/ui/message.h"

#include <inttypes.h>

static void record_messages_print_progress(void *user, enum progress kind, uint64_t count)
{
	(void)user;
	switch (kind) {
	case PROGRESS_READ:
		message_progress("reading: %" PRIu64 " samples", count);
		break;
	case PROGRESS_SYMBOLIZED:
		message_progress("symbolizing: %" PRIu64 " units", count);
		break;
	}
}

static void print_downloading(void *user, const struct download_progress *progress)
{
	CLEANUP(free_ptr) char *others = NULL, *what = NULL;

	(void)user;
	others = progress->others ? xasprintf(", and %zu more", progress->others) : xstrdup("");
	if (progress->total_bytes)
		what = xasprintf("%s %.0f of %.0f MB", progress->name,
				 (double)progress->bytes / 1e6,
				 (double)progress->total_bytes / 1e6);
	else
		what = xasprintf("asking for %s", progress->name);
	message_progress("downloading debug information: %s%s (Ctrl-C goes on without)", what,
			 others);
}

static void record_messages_print(void *user, const char *text)
{
	(void)user;
	message("%s", text);
}

struct listener record_messages(bool notices, bool progress)
{
	return (struct listener){
		.progress = progress ? record_messages_print_progress : NULL,
		.downloading = notices || progress ? print_downloading : NULL,
		.notice = notices ? record_messages_print : NULL,
		.problem = record_messages_print,
	};
}

void record_say_details(const struct recording *recording)
{
	const struct sampler_facts *facts = recorder_facts(recording->recorder);

	if (!facts->descriptors)
		return;
	message("%zu descriptors on %u CPUs, ring buffers of %zu KiB", facts->descriptors,
		facts->cpus, facts->ring_bytes / 1024);
	if (facts->is_tree)
		message("whole CPUs are sampled; only samples of the target's process tree are "
			"kept%s",
			facts->is_filtered ? "; the kernel drops samples of other processes" : "");
}

void record_show_progress(const struct recording *recording)
{
	const struct recorder *recorder = recording->recorder;
	const struct session_counts *counts = session_counts(recorder_pipeline(recorder)->session);

	/* Includes samples of allocations. */
	uint64_t samples = counts->quality.samples + recorder_memory(recorder).samples;
	uint64_t lost = counts->quality.lost + counts->lost_allocations;

	message_progress("%s: %.1f s, %" PRIu64 " samples, %" PRIu64 " lost",
			 recorder_is_paused(recorder) ? "paused" : "recording",
			 recording_seconds(recording), samples, lost);
}

static void say_left_out(const struct recording *recording)
{
	struct sample_filter_counts counts = recorder_left_out(recording->recorder);

	if (counts.own)
		message("omitted %" PRIu64 " samples of prof itself (--include-self keeps them)",
			counts.own);
	if (counts.threads)
		message("omitted %" PRIu64 " samples of other threads (--filter-thread)",
			counts.threads);
}

static void say_lost_execs(const struct lost_execs *lost)
{
	for (size_t i = 0; i < lost->count; i++) {
		CLEANUP(free_ptr) char *text = lost_exec_text(&lost->items[i], lost->command);

		message("%s", text);
	}
	if (lost->unlisted)
		message("%" PRIu64 " executions of further programs were not sampled for the same "
			"reasons",
			lost->unlisted);
}

void record_say_end(const struct recording *recording)
{
	double seconds = recording_seconds(recording);

	say_lost_execs(recorder_lost_execs(recording->recorder));
	say_left_out(recording);
	if (recording->config.control.starts_paused && seconds <= 0)
		message("no \"enable\" command was received (-D -1)");
	if (recording->end == RECORDING_TARGET_ENDED)
		message("the target ended after %.1f s", seconds);
	else if (recording->end == RECORDING_OVER && recording->has_command)
		message("stopped after %.1f s; the command gets SIGTERM", seconds);
}

/* ---- libprof-inside.so ---- */

static void say_no_allocation(uint64_t period_bytes)
{
	message("no allocation was sampled: the program allocated less than a few times %s "
		"(--alloc=1k sees more), has its own allocator, or allocates only in children "
		"that cannot load the agent",
		humanize_bytes(period_bytes).text);
}

static void say_unhooked_loads(uint32_t loads, bool of_memory)
{
	message("%" PRIu32 " calls of dlopen() with RTLD_DEEPBIND or of dlmopen(): %s", loads,
		of_memory ? "allocations by the libraries that they loaded are not recorded; as "
			    "root, --alloc=uprobe records their calls of malloc()"
			  : "threads that the libraries start are not sampled; --via perf samples "
			    "them");
}

void record_say_inside(const struct recording *recording)
{
	struct inside_counts counts = recorder_inside(recording->recorder);
	bool is_alone = !recorder_facts(recording->recorder)->descriptors;

	if (is_alone && recording->is_of_command && !counts.processes && !counts.other_namespace)
		message("%s did not load libprof-inside.so: it has ended at once, or it executes "
			"a program that does not load libraries of others (static, Go, musl, "
			"set-user-ID)",
			recording->command[0]);
	else if (recording->config.memory.alloc_period &&
		 !recorder_memory(recording->recorder).samples)
		say_no_allocation(recording->config.memory.alloc_period);
	if (counts.processes > 1)
		message("%" PRIu32 " processes ran prof's library", counts.processes);
	if (counts.other_namespace)
		message("%" PRIu32
			" processes were not recorded: they are in another pid namespace",
			counts.other_namespace);
	if (counts.unhooked_loads)
		say_unhooked_loads(counts.unhooked_loads, recording->config.memory.alloc_period);
	if (counts.timers_refused)
		message("%" PRIu32 " threads were not sampled: no timer could be created for them",
			counts.timers_refused);
	if (counts.lost_mappings)
		message("%" PRIu64 " mmap records were lost: some frames lack symbols",
			counts.lost_mappings);
	if (counts.lost_frees)
		message("%" PRIu64 " frees were lost; in-use memory is overstated",
			counts.lost_frees);
	if (counts.strangers)
		message("%" PRIu64 " records were ignored: the program wrote them for processes "
			"that do not share its memory with prof",
			counts.strangers);
	if (counts.skipped)
		message("%" PRIu64 " records were dropped: the program wrote more than prof can "
			"read in time",
			counts.skipped);
	if (counts.damaged)
		message("the program overwrote the shared buffer %" PRIu64
			" times; samples are missing",
			counts.damaged);
}
