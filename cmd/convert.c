/*
 * prof convert: what was recorded before, by perf or into a profile, into any format that prof
 * writes.
 */
#include "cmd/command.h"
#include "cmd/delivery.h"
#include "cmd/input.h"
#include "cmd/message.h"

struct convert_options {
	struct delivery_options delivery;
	struct input_options input;
};

struct conversion {
	struct convert_options options;
	char **words; /* prof's own */
	int word_count;
	const char *path; /* "-": stdin */
	struct outputs outputs;
	struct signals signals;
	struct input input;
};

static const struct option_entry table[] = {
	DELIVERY_ENTRIES(struct convert_options, delivery),
	INPUT_SYMFS_ENTRY(struct convert_options, input),
	{0},
};

static struct error *read_input(struct conversion *conversion)
{
	CLEANUP(free_ptr)
	char *command = delivery_command(conversion->words, conversion->word_count);
	struct input_options options = conversion->options.input;
	struct error *err = signals_open(&conversion->signals);

	if (err)
		return err;
	options.debug_dir = conversion->options.delivery.debug_dir;
	options.no_inline = conversion->options.delivery.no_inline;
	options.command = command;
	options.keeps_moments = outputs_want_moments(&conversion->outputs);
	options.shows_progress = !conversion->options.delivery.quiet;
	options.signals = &conversion->signals;
	return input_read(conversion->path, &options, &conversion->input);
}

static int convert(struct conversion *conversion)
{
	int status = outputs_open(&conversion->outputs, &conversion->options.delivery);
	const struct input *input = &conversion->input;
	struct error *err;

	if (status != STATUS_OK)
		return status;
	err = read_input(conversion);
	if (err)
		return message_failure(err, STATUS_FAILED);
	return deliver(&(struct delivery){
		.options = &conversion->options.delivery,
		.outputs = &conversion->outputs,
		.profile = input->profile,
		.completeness = input->is_recording ? &input->completeness : NULL,
		.reading = true,
		.sampling_cpu_ns = input->reading_cpu_ns,
	});
}

static void conversion_deinit(struct conversion *conversion)
{
	input_deinit(&conversion->input);
	outputs_close(&conversion->outputs);
	delivery_options_deinit(&conversion->options.delivery);
	signals_close(&conversion->signals);
}

static int print_help(void)
{
	printf("Usage: prof convert FILE [-o OUTPUT] [options]\n\n"
	       "Unwinds, names and writes what perf record has recorded, or writes a profile "
	       "(pprof, folded\nstacks) in another format: FILE, or - for stdin.\n\n");
	options_help(table, stdout);
	delivery_help(false);
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
	struct conversion conversion = {.words = argv, .word_count = argc, .signals.fd = -1};
	bool help = false;
	struct error *err;

	delivery_options_init(&conversion.options.delivery);
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
	.summary = "turn a recording of perf, or a profile, into a profile",
	.run = convert_run,
};
