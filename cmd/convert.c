/*
 * prof convert: converts a perf recording or a profile to any format that prof
 * writes.
 */
#include "base/alloc.h"
#include "base/signals.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/input/input.h"
#include "cmd/options/selection.h"
#include "cmd/outputs.h"
#include "cmd/push/push.h"
#include "cmd/segment_rows.h"
#include "cmd/summary.h"
#include "cmd/ui/message.h"
#include "profile/part.h"
#include "segments/range.h"

#include <string.h>
#include <sys/stat.h>

struct convert_options {
	struct output_options output;
	struct input_options input;
	struct push_options push;
	const char *parallelism; /* of elapsed time; NULL for all */
};

struct conversion {
	struct convert_options options;
	char **words; /* prof's command line */
	int word_count;
	const char *path; /* "-" for stdin */
	struct outputs outputs;
	struct signals signals;
	struct input input;
	struct push push;
};

static struct error *take_weight(void *field, const char *argument)
{
	struct convert_options *options = field;

	return output_take_weight(&options->output.format_options.folded.weight,
				  &options->input.weight, argument);
}

static const struct option_entry convert_option_table[] = {
	INPUT_RANGE_ENTRIES(struct convert_options, input),
	INPUT_ELAPSED_ENTRY(struct convert_options, input),
	INPUT_LABEL_FIELD_ENTRY(struct convert_options, input),
	OPTION_COMMON(
		SELECTION, 'e', "event", "NAME",
		"write this event (default: the first one); formats with several events show it "
		"first",
		option_string, offsetof(struct convert_options, output.event)),
	SELECTION_PARALLELISM_ENTRY(struct convert_options, parallelism),
	LOGICAL_ENTRY(struct convert_options, input.logical, LOGICAL_OF_FILES),
	OUTPUT_ENTRIES(struct convert_options, output),
	OPTION_ENTRY(OUTPUT, 0, "weight", "samples|ns|period|field:NAME",
		     "count samples, ns or period in folded stacks; field:NAME weighs samples of "
		     "tracepoints in a perf.data file by this field, such as bytes",
		     take_weight, 0),
	INPUT_SYMFS_ENTRY(struct convert_options, input),
	PUSH_ENTRIES(struct convert_options, push),
	{0},
};

/* A file that does not contain the command of its recording is the title. */
static void convert_set_title(const struct conversion *conversion, const char *command)
{
	struct profile *profile = conversion->input.profile;
	struct profile_info info = *profile_get_info(profile);

	if (*info.title || strcmp(info.command, command) != 0 || !strcmp(conversion->path, "-"))
		return;
	info.title = basename(conversion->path);
	profile_set_info(profile, &info);
}

static struct error *read_input(struct conversion *conversion)
{
	CLEANUP(free_ptr)
	char *command = outputs_command_line(conversion->words, conversion->word_count);
	struct input_options options = conversion->options.input;
	struct error *err;

	options.symbols = conversion->options.output.symbols;
	options.command = command;
	options.keeps_timestamps = outputs_need_timestamps(&conversion->outputs);
	options.shows_progress = !conversion->options.output.quiet;
	options.signals = conversion->signals.guard;
	err = input_read(conversion->path, &options, &conversion->input);
	if (!err)
		convert_set_title(conversion, command);
	return err;
}

/* Drops elapsed time in which other numbers of threads ran, and chooses its
 * event. */
static struct error *convert_select(struct conversion *conversion)
{
	struct convert_options *options = &conversion->options;
	struct profile *all = conversion->input.profile;
	CLEANUP(free_ptr) bool *keeps = NULL;
	struct error *err;

	if (!options->parallelism)
		return NULL;
	if (!options->output.event)
		options->output.event = VALUE_ELAPSED_EVENT;
	keeps = xcalloc(profile_samples(all).count + 1, sizeof(*keeps));
	err = selection_by_parallelism(options->parallelism, all, conversion->path, keeps);
	if (err)
		return err;
	conversion->input.profile = profile_flagged_part(all, keeps);
	profile_free(all);
	return NULL;
}

/* A signal ends the wait for servers. */
static bool convert_is_interrupted(void *user)
{
	struct conversion *conversion = user;
	struct received_signal received;

	return signal_guard_next(conversion->signals.guard, &received);
}

/* A profile that is pushed is not written unless there is -o. */
static int convert_open_outputs(struct conversion *conversion)
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
	return err ? message_failure(err) : STATUS_OK;
}

static int convert_finish(struct conversion *conversion)
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
		.logical = options->input.logical == LOGICAL_YES,
		.options = &options->output.format_options,
		.outputs = &conversion->outputs,
	});

	if (err)
		return message_failure(err);
	if (!options->output.quiet)
		summary_print_files(conversion->outputs.items, conversion->outputs.count);
	return STATUS_OK;
}

static int convert_profile(struct conversion *conversion)
{
	struct input *input = &conversion->input;
	struct error *err = read_input(conversion);

	if (!err)
		err = convert_select(conversion);
	if (!err && conversion->options.input.logical == LOGICAL_YES)
		input_make_logical(input);
	if (!err)
		err = output_choose_event(&conversion->options.output, input->profile,
					  conversion->path);
	return err ? message_failure(err) : convert_finish(conversion);
}

static int convert_file(struct conversion *conversion)
{
	const struct input_options *options = &conversion->options.input;
	CLEANUP(free_ptr) char *directory = NULL;
	int status = convert_open_outputs(conversion);
	struct error *err = NULL;
	struct time_range range;

	if (status != STATUS_OK)
		return status;
	if (!conversion->push.target_count && outputs_are_rows(&conversion->outputs))
		err = segment_range_parse(conversion->path, options->since, options->until,
					  &directory, &range);
	if (err)
		return message_failure(err);
	return directory ? write_rows(conversion, directory, &range) : convert_profile(conversion);
}

static bool convert_is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Returns true for a directory whose profiles are pushed one by one. */
static bool is_queue(const struct conversion *conversion)
{
	const struct convert_options *options = &conversion->options;

	return convert_is_directory(conversion->path) && conversion->push.target_count &&
	       !options->output.outputs.count && !options->input.since && !options->input.until;
}

static struct error *convert_open_push(struct conversion *conversion)
{
	struct push *push = &conversion->push;
	struct error *err = push_open(&conversion->options.push, conversion->options.output.quiet,
				      push);

	push->guard = conversion->signals.guard;
	push->wait = (struct push_wait){convert_is_interrupted, conversion};
	return err;
}

/* The user has chosen to push these profiles, so their owner does not matter. */
static int push_queue(struct conversion *conversion)
{
	CLEANUP(output_directory_close) struct output_directory directory = {0};
	struct error *err = output_directory_open(conversion->path, false, &directory);

	if (err)
		return message_failure(err);
	directory.takes_all = true;
	return push_directory(&conversion->push, &directory, "") ? STATUS_OK : STATUS_FAILED;
}

static int convert(struct conversion *conversion)
{
	struct error *err = signals_open(&conversion->signals);

	if (!err)
		err = convert_open_push(conversion);
	if (err)
		return message_failure(err);
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

/* Options may stand in front of the file and behind it. */
static struct error *convert_parse(struct conversion *conversion, int argc, char **argv,
				   enum option_group *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(convert_option_table, argc, argv,
						  &conversion->options, &rest, help);

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
	enum option_group help = GROUP_NONE;
	struct error *err;

	output_options_init(&conversion.options.output);
	push_options_init(&conversion.options.push);
	err = convert_parse(&conversion, argc, argv, &help);
	if (!err && help)
		return help_print(&command_convert, help);
	if (!err && !conversion.path)
		err = error_new("no file to convert");
	if (err)
		return message_failure(error_usage(error_hint(err, "see prof convert --help")));
	return convert(&conversion);
}

const struct command command_convert = {
	.name = "convert",
	.summary = "convert a perf recording or a profile to another format",
	.usage = "FILE [-o OUTPUT] [options]",
	.description =
		"Unwinds and symbolizes a perf recording and writes a profile, or converts a "
		"profile (pprof, folded stacks, perf script text, heap files of jemalloc and "
		"tcmalloc) to another format. FILE may be - for stdin. With --push, FILE may "
		"be a directory, of which the undelivered profiles are pushed.",
	.examples = "prof convert perf.data -o out.html\n"
		    "perf record -g -o - ./app | prof convert - -o out.pb.gz\n"
		    "prof convert perf.data --symfs /mnt/target -o out.folded\n"
		    "prof convert prof.pb.gz --push otlp:http://localhost:4318",
	.options = convert_option_table,
	.writes_profiles = true,
	.run = convert_run,
};
