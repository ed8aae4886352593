#include "cmd/record/record_completion.h"

#include "base/alloc.h"
#include "base/trusted_user.h"
#include "cmd/outputs.h"
#include "cmd/record/record_messages.h"
#include "cmd/ui/message.h"

#include <sys/utsname.h>

/* Returns lines that the caller frees. */
static char *remarks_of(const struct record_completion *completion)
{
	const char *recorder = recorder_remarks(completion->recording->recorder);

	return completion->reason
		       ? xasprintf("written because of %s\n%s", completion->reason, recorder)
		       : xstrdup(recorder);
}

/* Completes the profile's samples. Returns their window; *earlier counts those before it. */
static struct recorder_window record_completion_settle(const struct record_completion *completion,
						       struct session_counts *earlier)
{
	struct recorder *recorder = completion->recording->recorder;
	struct recorder_window window;

	if (completion->history) {
		window = history_window(completion->history);
		*earlier = history_counts(completion->history);
		history_gather(completion->history);
		return window;
	}
	window = recorder_profile_window(recorder);
	if (completion->ends_profile)
		recorder_settle_end(recorder);
	else
		recorder_settle(recorder);
	return window;
}

void record_complete(const struct record_completion *completion, struct finalize_result *ret)
{
	struct recording *recording = completion->recording;
	struct output_options *output = &completion->options->output;
	CLEANUP(free_ptr)
	char *command = outputs_command_line(completion->words, completion->word_count);
	CLEANUP(free_ptr) char *kernel = NULL;
	const struct pipeline *pipeline = recorder_pipeline(recording->recorder);
	struct listener listener = record_messages(!output->quiet, completion->shows_progress);
	struct session_counts earlier = {0};
	struct recorder_window window;
	CLEANUP(free_ptr) char *remarks = remarks_of(completion);
	struct symbol_options symbols = output->symbols;
	struct utsname system;

	window = record_completion_settle(completion, &earlier);
	/* No server is asked while the recording continues. */
	if (completion->is_snapshot)
		symbols.debuginfod = "no";
	uname(&system);
	kernel = xasprintf("%s %s %s", system.sysname, system.release, system.machine);
	finalize(
		&(struct finalize_options){
			.pipeline = pipeline,
			.loop = recording->loop,
			.cancel = &recording->cancel,
			.listener = &listener,
			.proc = "/proc",
			.caller = sudo_caller(),
			.symbols = symbols,
			.symbolizer = completion->is_snapshot ? NULL : completion->symbolizer,
			.unsampled = completion->history ? NULL
							 : recorder_unsampled(recording->recorder),
			.earlier = &earlier,
			.keeps_addresses = completion->keeps_addresses,
			.info = {.start_unix_ns = window.start_unix_ns,
				 .start_ns = window.start_ns,
				 .duration_ns = window.end_ns - window.start_ns,
				 .title = recording->title,
				 .command = command,
				 .host = system.nodename,
				 .quality = {.own_cpu_ns = completion->sampling_cpu_ns,
					     .waiting = recorder_waiting(recording->recorder),
					     .stat = recorder_stat(recording->recorder)},
				 .is_run = recording->is_of_command &&
					   recording->end == RECORDING_COMMAND_ENDED,
				 .kernel = kernel,
				 .remarks = remarks},
		},
		ret);
	message_progress_end();
	/* The event was recorded. If its name were wrong, outputs would show
	 * the first event. */
	output->event = completion->options->sampling.shown_event;
	error_free(output_choose_event(output, pipeline->profile, "the recording"));
}
