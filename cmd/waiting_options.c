#include "cmd/waiting_options.h"

struct error *waiting_take_off_cpu(void *field, const char *argument)
{
	struct off_cpu *off_cpu = field;

	*off_cpu = (struct off_cpu){.is_given = true};
	return argument ? option_short_time(&off_cpu->least_ns, argument) : NULL;
}

bool waiting_is_recorded(const struct waiting_options *options)
{
	return options->wall || options->off_cpu.is_given;
}

struct error *waiting_options_check(const struct waiting_options *options)
{
	if (options->wall && options->off_cpu.is_given)
		return error_hint(error_new("--wall and --off-cpu exclude each other"),
				  "--wall records what --off-cpu does, and samples the CPU");
	if (options->ignore_idle && !waiting_is_recorded(options))
		return error_hint(error_new("--ignore-idle needs --wall or --off-cpu"),
				  "without them only threads that run are sampled");
	if (options->wakers && !waiting_is_recorded(options))
		return error_hint(error_new("--wakers needs --wall or --off-cpu"),
				  "it adds to waits what has ended them");
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
	config->records_waiting = waiting_is_recorded(options);
	config->least_wait_ns = options->off_cpu.least_ns;
	config->ignores_idle = options->ignore_idle;
	config->records_wakers = options->wakers;
	config->records_awaits = options->awaits;
}
