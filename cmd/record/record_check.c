#include "cmd/record/record_check.h"

#include <inttypes.h>
#include <string.h>

static struct error *record_check_conditions(const struct record_options *options)
{
	const struct fail_conditions *conditions = &options->conditions;

	if (waiting_is_recorded(&options->sampling.waiting))
		return NULL;
	for (size_t i = 0; i < conditions->count; i++)
		if (!strcmp(conditions->items[i].what, "placeless"))
			return error_new("--fail-if placeless needs --wall or --off-cpu");
	return NULL;
}

/* Fails if the rate is above the kernel's limit. */
static struct error *check_rate(const struct sampling_options *options)
{
	uint64_t max_hz = event_max_frequency_hz();

	if (!max_hz || options->period || options->frequency_hz == RECORD_FREQUENCY_MAX ||
	    options->frequency_hz <= max_hz)
		return NULL;
	return error_hint(error_new("-F %" PRIu64 " is above the kernel's limit of %" PRIu64
				    " Hz (--strict-freq)",
				    options->frequency_hz, max_hz),
			  "sysctl kernel.perf_event_max_sample_rate=%" PRIu64
			  ", or -F max without --strict-freq",
			  options->frequency_hz);
}

struct error *record_check_options(struct record_options *options, const char *command)
{
	struct error *err;

	if (sampling_is_of_command(&options->sampling) && !command)
		return error_hint(error_new("nothing to record"),
				  "prof record COMMAND, prof record -p PID or prof record -a; see "
				  "prof record --help");
	if (options->delay.is_endless && !options->control)
		return error_hint(
			error_new("with -D -1 nothing is sampled until a command is received"),
			"add --control fifo:CTL[,ACK], fd:N[,M] or auto");
	sampling_choose_events(&options->sampling);
	err = sampling_options_check(&options->sampling);
	if (!err)
		err = waiting_check_command(&options->sampling.waiting, command);
	if (!err)
		err = memory_check_command(&options->sampling.memory, command);
	if (!err)
		err = rotation_options_settle(&options->rotation);
	if (!err && options->rotation.keep_ns && memory_is_recorded(&options->sampling.memory))
		err = error_hint(
			error_new("--alloc and --overwrite exclude each other"),
			"memory in use may have been allocated long before the last seconds");
	if (!err && options->strict_rate)
		err = check_rate(&options->sampling);
	return err ? err : record_check_conditions(options);
}

struct error *record_find_raw(const struct outputs *outputs, const struct record_config *config,
			      struct output **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < outputs->count; i++) {
		struct output *output = &outputs->items[i];

		if (output->format != &format_perfdata)
			continue;
		if (*ret)
			return error_new("%s and %s would be the same: one perf.data is enough",
					 (*ret)->path, output->path);
		if (!output->is_file)
			return error_hint(error_new("%s: perf.data is written into a file only",
						    output->path),
					  "name a file that ends in .data");
		if (config->events.via == RECORD_VIA_INSIDE)
			return error_hint(
				error_new("%s: perf.data cannot contain in-process samples",
					  output->path),
				"record it without --via inside, or write another format");
		if (config->waiting.is_recorded || config->waiting.records_awaits)
			return error_hint(error_new("%s: perf.data cannot contain off-CPU time",
						    output->path),
					  "record it without --wall, --elapsed, --off-cpu and "
					  "--await, or write another format");
		*ret = output;
	}
	return NULL;
}
