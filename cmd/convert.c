/*
 * prof convert: converts a recording of perf or a profile to any format that prof writes.
 */
#include "base/signals.h"
#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/outputs.h"
#include "cmd/push.h"
#include "cmd/segment_range.h"
#include "cmd/segment_rows.h"
#include "cmd/summary.h"
#include "cmd/ui/message.h"

#include <sys/stat.h>

struct convert_options {
	struct output_options output;
	struct input_options input;
	struct push_options push;
};

struct conversion {
	struct convert_options options;
	char **words; /* prof's command line */
	int word_count;
	const char *path; /* "-": stdin */
	struct outputs outputs;
	struct signals signals;
	struct input input;
	struct push push;
};

static struct error *take_weight(void *field, const char *argument)
{
	struct convert_options *options = field;

	return output_take_weight(&options->output.format_options.weight, &options->input.weight,
				  argument);
}

static const struct option_entry table[] = {
	OPTION_ENTRY(
		'e', "event", "NAME",
		"write this event; formats with several events show it first (default: the first)",
		option_string, offsetof(struct convert_options, output.event)),
	INPUT_RANGE_ENTRIES(struct convert_options, input),
	INPUT_LOGICAL_ENTRY(struct convert_options, input),
	OUTPUT_ENTRIES(struct convert_options, output),
	OPTION_ENTRY(0, "weight", "samples|ns|period|field:NAME",
		     "let folded stacks count samples, ns or period; field:NAME: weigh samples of "
		     "tracepoints in a perf.data file by this field, such as bytes",
		     take_weight, 0),
	INPUT_LABEL_FIELD_ENTRY(struct convert_options, input),
	PUSH_ENTRIES(struct convert_options, push),
	INPUT_SYMFS_ENTRY(struct convert_options, input),
	{0},
};

static struct error *read_input(struct conversion *conversion)
{
	CLEANUP(free_ptr)
	char *command = outputs_command_line(conversion->words, conversion->word_count);
	struct input_options options = conversion->options.input;

	options.symbols = conversion->options.output.symbols;
	options.command = command;
	options.keeps_timestamps = outputs_need_timestamps(&conversion->outputs);
	options.shows_progress = !conversion->options.output.quiet;
	options.signals = conversion->signals.guard;
	return input_read(conversion->path, &options, &conversion->input);
}

/* A signal ends the waiting for servers. */
static bool is_interrupted(void *user)
{
	struct conversion *conversion = user;
	struct received_signal received;

	return signal_guard_next(conversion->signals.guard, &received);
}

/* Without -o, a profile that is pushed is not written. */
static int open_outputs(struct conversion *conversion)
{
	struct output_options *options = &conversion->options.output;
	struct error *err;
	int status;

	if (conversion->push.target_count && !options->outputs.count && !options->opens)
		return STATUS_OK;
	status = outputs_open(&conversion->outputs, options);
	if (status != STATUS_OK)
		return status;
	err = outputs_take_labels(&conversion->outputs, &options->format_options,
				  &conversion->push);
	return err ? message_failure(err, STATUS_USAGE) : STATUS_OK;
}

static int finish(struct conversion *conversion)
{
	const struct input *input = &conversion->input;
	int status = outputs_finish(&(struct outputs_finish){
		.options = &conversion->options.output,
		.outputs = &conversion->outputs,
		.profile = input->profile,
		.finalized = input->is_recording ? &input->finalized : NULL,
		.reading = true,
		.sampling_cpu_ns = input->reading_cpu_ns,
	});

	if (!push_profile(&conversion->push, input->profile) && status == STATUS_OK)
		status = STATUS_FAILED;
	return status;
}

static int write_rows(struct conversion *conversion, const char *directory,
		      const struct time_range *range)
{
	const struct convert_options *options = &conversion->options;
	struct error *err = segment_rows_write(&(struct segment_rows){
		.directory = directory,
		.range = *range,
		.event = options->output.event,
		.logical = options->input.logical,
		.options = &options->output.format_options,
		.outputs = &conversion->outputs,
	});

	if (err)
		return message_failure(err, STATUS_FAILED);
	if (!options->output.quiet)
		summary_print_files(conversion->outputs.items, conversion->outputs.count);
	return STATUS_OK;
}

static int convert_profile(struct conversion *conversion)
{
	const struct input *input = &conversion->input;
	struct error *err = read_input(conversion);

	if (!err && conversion->options.input.logical)
		input_make_logical(&conversion->input);
	if (!err)
		err = output_choose_event(&conversion->options.output, input->profile,
					  conversion->path);
	return err ? message_failure(err, STATUS_FAILED) : finish(conversion);
}

static int convert_file(struct conversion *conversion)
{
	const struct input_options *options = &conversion->options.input;
	CLEANUP(free_ptr) char *directory = NULL;
	int status = open_outputs(conversion);
	struct error *err = NULL;
	struct time_range range;

	if (status != STATUS_OK)
		return status;
	if (!conversion->push.target_count && outputs_are_rows(&conversion->outputs))
		err = segment_range_parse(conversion->path, options->since, options->until,
					  &directory, &range);
	if (err)
		return message_failure(err, STATUS_FAILED);
	return directory ? write_rows(conversion, directory, &range) : convert_profile(conversion);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Its profiles are pushed one by one, and not as one. */
static bool is_queue(const struct conversion *conversion)
{
	const struct convert_options *options = &conversion->options;

	return is_directory(conversion->path) && conversion->push.target_count &&
	       !options->output.outputs.count && !options->input.since && !options->input.until;
}

static struct error *open_push(struct conversion *conversion, bool *is_usage)
{
	struct push *push = &conversion->push;
	struct error *err = push_open(&conversion->options.push, conversion->options.output.quiet,
				      push, is_usage);

	push->guard = conversion->signals.guard;
	push->wait = (struct push_wait){is_interrupted, conversion};
	return err;
}

/* Whose profiles they are is the choice of the user. */
static int push_queue(struct conversion *conversion)
{
	CLEANUP(output_directory_close) struct output_directory directory = {0};
	struct error *err = output_directory_open(conversion->path, false, &directory);

	if (err)
		return message_failure(err, STATUS_FAILED);
	directory.takes_all = true;
	return push_directory(&conversion->push, &directory, "") ? STATUS_OK : STATUS_FAILED;
}

static int convert(struct conversion *conversion)
{
	bool is_usage = false;
	struct error *err = signals_open(&conversion->signals);

	if (!err)
		err = open_push(conversion, &is_usage);
	if (err)
		return message_failure(err, is_usage ? STATUS_USAGE : STATUS_FAILED);
	return is_queue(conversion) ? push_queue(conversion) : convert_file(conversion);
}

static void conversion_deinit(struct conversion *conversion)
{
	option_list_deinit(&conversion->options.input.labels);
	input_deinit(&conversion->input);
	outputs_close(&conversion->outputs);
	output_options_deinit(&conversion->options.output);
	push_close(&conversion->push);
	push_options_deinit(&conversion->options.push);
	signals_close(&conversion->signals);
}

static int print_help(void)
{
	printf("Usage: prof convert FILE [-o OUTPUT] [options]\n\n"
	       "Unwinds and symbolizes a recording made by perf record and writes a profile, or "
	       "writes "
	       "a profile\n(pprof, folded stacks, the text of perf script, heap files of jemalloc "
	       "and "
	       "tcmalloc) in\nanother format. FILE may be - for stdin, or with --push a "
	       "directory of profiles: those that\nwere not delivered yet are pushed.\n\n");
	options_help(table, stdout);
	outputs_help(false);
	return STATUS_OK;
}

/* Options may stand in front of the file and behind it. */
static struct error *parse(struct conversion *conversion, int argc, char **argv, bool *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(table, argc, argv, &conversion->options, &rest,
						  help);

		if (err || *help || rest >= argc)
			return err;
		if (conversion->path)
			return error_new("more than one file: %s and %s", conversion->path,
					 argv[rest]);
		conversion->path = argv[rest];
	}
	return NULL;
}

static int convert_run(int argc, char **argv)
{
	CLEANUP(conversion_deinit)
	struct conversion conversion = {.words = argv, .word_count = argc};
	bool help = false;
	struct error *err;

	output_options_init(&conversion.options.output);
	push_options_init(&conversion.options.push);
	err = parse(&conversion, argc, argv, &help);
	if (!err && help)
		return print_help();
	if (!err && !conversion.path)
		err = error_new("no file to convert");
	if (err)
		return message_failure(error_hint(err, "prof convert --help says more"),
				       STATUS_USAGE);
	return convert(&conversion);
}

const struct command command_convert = {
	.name = "convert",
	.summary = "convert a recording of perf or a profile to another format",
	.options = table,
	.run = convert_run,
};
