#include "cmd/options/waiting_options.h"

struct error *waiting_take_off_cpu(void *field, const char *argument)
{
	struct off_cpu *off_cpu = field;

	*off_cpu = (struct off_cpu){.is_given = true};
	return argument ? option_short_time(&off_cpu->least_ns, argument) : NULL;
}

struct error *waiting_take_elapsed(void *field, const char *argument)
{
	struct waiting_options *options = field;

	(void)argument;
	options->elapsed = options->wall = true;
	return NULL;
}

struct error *waiting_take_critical_path(void *field, const char *argument)
{
	struct waiting_options *options = field;

	options->critical_path = true;
	options->critical_thread = argument;
	return waiting_take_elapsed(field, argument);
}

bool waiting_is_recorded(const struct waiting_options *options)
{
	return options->wall || options->off_cpu.is_given;
}

const char *waiting_option_name(const struct waiting_options *options)
{
	return options->elapsed ? "--elapsed" : options->wall ? "--wall" : "--off-cpu";
}

struct error *waiting_options_check(const struct waiting_options *options)
{
	if (options->wall && options->off_cpu.is_given)
		return error_hint(error_new("%s and --off-cpu exclude each other",
					    waiting_option_name(options)),
				  "%s records off-CPU time like --off-cpu, and samples the CPU",
				  waiting_option_name(options));
	if (options->ignore_idle && !waiting_is_recorded(options))
		return error_hint(error_new("--ignore-idle needs --wall or --off-cpu"),
				  "without them only threads that run are sampled");
	if (options->wakers && !waiting_is_recorded(options))
		return error_hint(error_new("--wakers needs --wall or --off-cpu"),
				  "it adds to each wait the thread that ended it");
	return NULL;
}

struct error *waiting_check_command(const struct waiting_options *options, const char *word)
{
	CLEANUP(error_cleanup) struct error *not_a_time = NULL;

	if (!options->off_cpu.is_given || !word)
		return NULL;
	not_a_time = option_short_time(&(uint64_t){0}, word);
	return not_a_time ? NULL
			  : error_hint(error_new("--off-cpu takes its time after ="),
				       "--off-cpu=%s", word);
}

void waiting_options_apply(const struct waiting_options *options, struct record_config *config)
{
	config->waiting.is_recorded = waiting_is_recorded(options);
	config->waiting.records_elapsed = options->elapsed;
	config->waiting.least_ns = options->off_cpu.least_ns;
	config->waiting.ignores_idle = options->ignore_idle;
	config->waiting.finds_critical_path = options->critical_path;
	config->waiting.critical_thread = options->critical_thread;
	config->waiting.records_wakers = options->wakers;
	config->waiting.records_awaits = options->awaits;
}
