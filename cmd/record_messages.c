#include "cmd/record_messages.h"

#include "base/alloc.h"
#include "cmd/ui/message.h"

#include <inttypes.h>

static void print_progress(void *user, enum progress kind, uint64_t count)
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

static void print(void *user, const char *text)
{
	(void)user;
	message("%s", text);
}

struct listener record_messages(bool notices, bool progress)
{
	return (struct listener){
		.progress = progress ? print_progress : NULL,
		.downloading = notices || progress ? print_downloading : NULL,
		.notice = notices ? print : NULL,
		.problem = print,
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
		message("whole CPUs are sampled, and the target's process tree is kept%s",
			facts->is_filtered ? "; the kernel drops samples of other processes" : "");
}

void record_show_progress(const struct recording *recording)
{
	const struct recorder *recorder = recording->recorder;
	const struct session_counts *counts = session_counts(recorder_pipeline(recorder)->session);

	/* Those of allocations, too. */
	uint64_t samples = counts->samples + recorder_memory(recorder).samples;
	uint64_t lost = counts->lost + counts->lost_allocations;

	message_progress("%s: %.1f s, %" PRIu64 " samples, %" PRIu64 " lost",
			 recorder_is_paused(recorder) ? "paused" : "recording",
			 recording_seconds(recording), samples, lost);
}

static void say_left_out(const struct recording *recording)
{
	struct sample_filter_counts counts = recorder_left_out(recording->recorder);

	if (counts.own)
		message("left out: %" PRIu64 " samples of prof itself (--include-self keeps them)",
			counts.own);
	if (counts.threads)
		message("left out: %" PRIu64 " samples of other threads (--filter-thread)",
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
	if (recording->config.starts_paused && seconds <= 0)
		message("the command \"enable\" did not come (-D -1)");
	if (recording->end == RECORDING_TARGET_ENDED)
		message("the target ended after %.1f s", seconds);
	else if (recording->end == RECORDING_OVER && recording->has_command)
		message("stopped after %.1f s; the command gets SIGTERM", seconds);
}
