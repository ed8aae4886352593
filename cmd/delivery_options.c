#include "cmd/delivery_options.h"

#include <string.h>

struct error *delivery_take_format(void *field, const char *argument)
{
	const struct format *format = format_by_name(argument);
	const char *names[32];
	const char *nearest;
	size_t count = 0;

	if (format) {
		*(const struct format **)field = format;
		return NULL;
	}
	for (; formats[count]; count++)
		names[count] = formats[count]->name;
	names[count] = NULL;
	nearest = option_nearest(argument, names);
	return error_hint(error_new("there is no format \"%s\"", argument),
			  "%s%s%s--help lists the formats", nearest ? "did you mean " : "",
			  nearest ? nearest : "", nearest ? "? " : "");
}

struct error *delivery_take_weight(void *field, const char *argument)
{
	enum format_weight *weight = field;

	if (!strcmp(argument, "samples"))
		*weight = WEIGHT_SAMPLES;
	else if (!strcmp(argument, "ns"))
		*weight = WEIGHT_NS;
	else if (!strcmp(argument, "period"))
		*weight = WEIGHT_PERIOD;
	else
		return error_new("\"%s\" is none of samples, ns and period", argument);
	return NULL;
}

void delivery_options_init(struct delivery_options *options)
{
	*options = (struct delivery_options){.debug_dir = "/usr/lib/debug"};
}

void delivery_options_deinit(struct delivery_options *options)
{
	option_list_deinit(&options->outputs);
}
