#include "cmd/record/rotation_options.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define KEEP_NS (30 * NS_PER_SECOND)

void rotation_options_deinit(struct rotation_options *options)
{
	triggers_deinit(&options->triggers);
}

struct error *rotation_take_size(void *field, const char *argument)
{
	size_t len = strlen(argument);
	CLEANUP(free_ptr)
	char *size = xstrndup(argument, len && argument[len - 1] == 'B' ? len - 1 : len);

	return option_size(field, size);
}

struct error *rotation_take_time(void *field, const char *argument)
{
	static const struct {
		char letter;
		double seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	char *end = NULL;
	double number = *argument >= '0' && *argument <= '9' ? strtod(argument, &end) : 0;

	for (size_t i = 0; end && i < ARRAY_SIZE(units); i++) {
		double seconds = number * units[i].seconds;

		if (end[0] != units[i].letter || end[1] || !(seconds >= 1 && seconds <= 1e9))
			continue;
		*(uint64_t *)field = (uint64_t)(seconds * 1e9);
		return NULL;
	}
	return error_hint(error_new("\"%s\" is not a time of a second or more", argument),
			  "a number with s, m, h or d: 30s");
}

/* As in perf record, sizes have capital letters and times small ones. */
struct error *rotation_take_segments(void *field, const char *argument)
{
	struct rotation_choice *choice = field;
	size_t len = argument ? strlen(argument) : 0;
	struct error *err;

	*choice = (struct rotation_choice){.how = ROTATION_ON_SIGNAL};
	if (!argument || !strcmp(argument, "signal"))
		return NULL;
	choice->how = len && strchr("smhd", argument[len - 1]) ? ROTATION_BY_TIME
							       : ROTATION_BY_SIZE;
	if (choice->how == ROTATION_BY_TIME)
		return rotation_take_time(&choice->amount, argument);
	err = rotation_take_size(&choice->amount, argument);
	if (!err)
		return NULL;
	error_free(err);
	return error_hint(error_new("\"%s\" is not signal, a size or a time", argument),
			  "--switch-output=signal, --switch-output=10M, --switch-output=30s");
}

static struct error *check_flight(const struct rotation_options *options)
{
	if (options->segments.how > ROTATION_ON_SIGNAL)
		return error_hint(error_new("--switch-output by size or time writes everything, "
					    "--overwrite only the last seconds"),
				  "with --overwrite, SIGUSR2 and --trigger write");
	return NULL;
}

static struct error *settle_directory(struct rotation_options *options)
{
	if (options->segments.how || options->segment_event || options->max_segments)
		return error_new("--every and --switch-output exclude each other");
	if (options->overwrites || options->keep_ns)
		return error_hint(error_new("--every writes everything, --overwrite only the last "
					    "seconds"),
				  "--keep limits the age of segments");
	options->segments = (struct rotation_choice){.how = ROTATION_BY_TIME,
						     .amount = options->every_ns};
	options->retention.max_bytes = options->max_bytes;
	options->max_bytes = 0;
	return NULL;
}

struct error *rotation_options_settle(struct rotation_options *options)
{
	if (options->retention.keep_ns && !options->every_ns)
		return error_hint(error_new("--keep needs --every"),
				  "--every 1m --keep 24h -o DIRECTORY");
	if (options->every_ns) {
		struct error *err = settle_directory(options);

		if (err)
			return err;
	}
	if (options->overwrites && !options->keep_ns)
		options->keep_ns = KEEP_NS;
	if (options->segment_event && options->trigger_event)
		return error_new("--switch-output-event and --trigger-event exclude each other");
	if (options->keep_ns && options->segment_event)
		options->trigger_event = STEAL(options->segment_event);
	if (options->keep_ns)
		return check_flight(options);
	if (options->triggers.count || options->trigger_event)
		return error_hint(error_new("--trigger needs --overwrite or --keep-last TIME"),
				  "--switch-output-event EVENT writes everything up to an event");
	if (options->segment_event && !options->segments.how)
		options->segments.how = ROTATION_ON_SIGNAL;
	if (options->max_segments && !options->segments.how)
		return error_new("--switch-max-files needs --switch-output");
	return NULL;
}
