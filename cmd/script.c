/*
 * prof script: prints a profile like perf script, for tools that read that
 * text.
 */
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/input/input.h"
#include "cmd/ui/message.h"
#include "format/format.h"
#include "format/perf_script/fields.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct script_options {
	const char *path; /* NULL for input_default() */
	uint32_t fields;
	bool header;
	struct input_options input;
};

static struct error *script_take_fields(void *field, const char *argument)
{
	return script_fields_parse(argument, field);
}

static const struct option_entry script_option_table[] = {
	OPTION_COMMON(INPUT, 'i', "input", "FILE", "read FILE, as the argument FILE", option_string,
		      offsetof(struct script_options, path)),
	OPTION_COMMON(OUTPUT, 'F', "fields", "FIELDS",
		      "print these fields, separated by commas; comm, pid, tid, cpu, time, period, "
		      "event, "
		      "ip, sym, dso and srcline. +pid adds a field to the default, -time removes "
		      "one (default "
		      "comm,tid,cpu,time,period,event,ip,sym,dso)",
		      script_take_fields, offsetof(struct script_options, fields)),
	OPTION_COMMON(OUTPUT, 0, "header", NULL, "print host, kernel and command line first",
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

static void script_tell_missing(const struct script_options *options, const struct profile *profile)
{
	if (options->fields & SCRIPT_OTHERS)
		message("fields that profiles do not contain are omitted");
	if ((options->fields & (SCRIPT_TIME | SCRIPT_CPU)) &&
	    !profile_timed_samples(profile).count && !profile_intervals(profile).count)
		message("the profile has no times: time and cpu are omitted");
}

static struct error *print_samples(const struct script_options *options,
				   const struct profile *profile)
{
	struct format_options format = {
		.script = {.fields = options->fields,
			   .no_inlines = options->input.symbols.no_inlines},
		.names = NAMES_FULL,
	};
	struct error *err;

	script_tell_missing(options, profile);
	if (options->header)
		print_header(profile_get_info(profile));
	err = format_perf_script.write(profile, &format, stdout);
	if (err && error_number(err) == EPIPE) {
		error_free(err);
		return NULL;
	}
	return err;
}

/* Options may stand in front of the file and behind it. */
static struct error *script_parse(struct script_options *options, int argc, char **argv,
				  enum option_group *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(script_option_table, argc, argv, options, &rest,
						  help);

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
	enum option_group help = GROUP_NONE;
	struct error *err = script_parse(&options, argc, argv, &help);

	if (!err && help)
		return help_print(&command_script, help);
	if (!err && !options.path && !(options.path = input_default()))
		err = error_new("no file to print: there is neither prof.pb.gz nor perf.data");
	if (err)
		return message_failure(error_usage(error_hint(err, "see prof script --help")));
	options.input.keeps_timestamps = true;
	options.input.shows_progress = true;
	err = input_read(options.path, &options.input, &input);
	if (!err)
		err = print_samples(&options, input.profile);
	return err ? message_failure(err) : STATUS_OK;
}

const struct command command_script = {
	.name = "script",
	.summary = "print samples in the format of perf script",
	.usage = "[FILE] [options]",
	.description =
		"Prints each sample in the format of perf script, for FlameGraph, the Firefox "
		"Profiler and other tools. FILE is any file that prof report reads; - is stdin "
		"(default prof.pb.gz, else perf.data).",
	.examples = "prof script -i perf.data | stackcollapse-perf.pl | flamegraph.pl > flame.svg\n"
		    "prof script prof.pb.gz | inferno-collapse-perf\n"
		    "prof script -F +pid perf.data > firefox.perf\n"
		    "prof script --header -F comm,tid,time,event,ip,sym perf.data",
	.options = script_option_table,
	.run = script_run,
};
