/*
 * prof script: prints a profile as perf script does, for the tools that read that text.
 */
#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/ui/message.h"
#include "format/format.h"
#include "format/perf_script/fields.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct script_options {
	const char *path; /* NULL: input_default() */
	uint32_t fields;
	bool header;
	struct input_options input;
};

static struct error *take_fields(void *field, const char *argument)
{
	return script_fields_parse(argument, field);
}

static const struct option_entry table[] = {
	OPTION_ENTRY('F', "fields", "FIELDS",
		     "print these fields: comm,pid,tid,cpu,time,period,event,trace,ip,sym,dso,"
		     "srcline; +pid adds a field, -time removes one (default "
		     "comm,tid,cpu,time,period,event,ip,sym,dso)",
		     take_fields, offsetof(struct script_options, fields)),
	OPTION_ENTRY('i', "input", "FILE", "read FILE; - is stdin", option_string,
		     offsetof(struct script_options, path)),
	OPTION_ENTRY(0, "header", NULL, "print a header first: host, kernel and command line",
		     option_true, offsetof(struct script_options, header)),
	INPUT_ENTRIES(struct script_options, input),
	{0},
};

static void put_header(const char *key, const char *value)
{
	if (*value)
		printf("# %s : %.*s\n", key, (int)strcspn(value, "\n"), value);
}

static void print_header(const struct profile_info *info)
{
	printf("# ========\n");
	put_header("hostname", info->host);
	put_header("os release", info->kernel);
	put_header("cmdline", info->command);
	printf("# ========\n#\n");
}

static void tell_missing(const struct script_options *options, const struct profile *profile)
{
	if (options->fields & SCRIPT_OTHERS)
		message("fields that profiles do not hold are left out");
	if ((options->fields & (SCRIPT_TIME | SCRIPT_CPU)) &&
	    !profile_timed_samples(profile).count && !profile_intervals(profile).count)
		message("the profile has no times: time and cpu are left out");
}

static struct error *print_samples(const struct script_options *options,
				   const struct profile *profile)
{
	struct format_options format = {
		.script_fields = options->fields,
		.no_inlines = options->input.symbols.no_inlines,
		.names = NAMES_FULL,
	};
	struct error *err;

	tell_missing(options, profile);
	if (options->header)
		print_header(profile_get_info(profile));
	err = format_perf_script.write(profile, &format, stdout);
	if (err && error_number(err) == EPIPE) {
		error_free(err);
		return NULL;
	}
	return err;
}

static int print_help(void)
{
	printf("Usage: prof script [FILE] [options]\n\n"
	       "Prints each sample of a profile or of a recording as perf script does, for "
	       "FlameGraph, the Firefox\nProfiler and other tools that read that text. FILE is "
	       "anything that prof report reads; - is stdin\n(default prof.pb.gz, else "
	       "perf.data).\n\n");
	options_help(table, stdout);
	return STATUS_OK;
}

/* Options may stand in front of the file and behind it. */
static struct error *parse(struct script_options *options, int argc, char **argv, bool *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(table, argc, argv, options, &rest, help);

		if (err || *help || rest >= argc)
			return err;
		if (options->path)
			return error_new("more than one file: %s and %s", options->path,
					 argv[rest]);
		options->path = argv[rest];
	}
	return NULL;
}

static int script_run(int argc, char **argv)
{
	CLEANUP(input_deinit) struct input input = {0};
	struct script_options options = {.fields = SCRIPT_DEFAULT_FIELDS};
	bool help = false;
	struct error *err = parse(&options, argc, argv, &help);

	if (!err && help)
		return print_help();
	if (!err && !options.path && !(options.path = input_default()))
		err = error_new("no file to print: there is neither prof.pb.gz nor perf.data");
	if (err)
		return message_failure(error_hint(err, "prof script --help says more"),
				       STATUS_USAGE);
	options.input.keeps_timestamps = true;
	options.input.shows_progress = true;
	err = input_read(options.path, &options.input, &input);
	if (!err)
		err = print_samples(&options, input.profile);
	return err ? message_failure(err, STATUS_FAILED) : STATUS_OK;
}

const struct command command_script = {
	.name = "script",
	.summary = "print samples as perf script does",
	.options = table,
	.run = script_run,
};
