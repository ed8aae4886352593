#include "cmd/options/output_options.h"

#include "cmd/options/selection.h"

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"
#include "profile/memory_events.h"

#include <string.h>

/* Finds a format by its name, or by that of py-spy. */
static const struct format *output_options_find_format(const char *name)
{
	static const struct {
		const char *name, *ours;
	} others[] = {{"flamegraph", "svg"}, {"raw", "folded"}, {"chrometrace", "firefox"}};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(name, others[i].name))
			return format_by_name(others[i].ours);
	return format_by_name(name);
}

struct error *output_take_format(void *field, const char *argument)
{
	const struct format *format = output_options_find_format(argument);
	const char *names[32];
	const char *near;
	size_t count = 0;

	if (format) {
		*(const struct format **)field = format;
		return NULL;
	}
	for (; formats[count]; count++)
		names[count] = formats[count]->name;
	names[count] = NULL;
	near = nearest(argument, names);
	return error_hint(error_new("unknown format \"%s\"", argument),
			  "%s%s%s--help lists the formats", near ? "did you mean " : "",
			  near ? near : "", near ? "? " : "");
}

struct error *output_take_weight(enum format_weight *weight, const char **name,
				 const char *argument)
{
	static const struct option_choice choices[] = {{"samples", WEIGHT_SAMPLES},
						       {"ns", WEIGHT_NS},
						       {"period", WEIGHT_PERIOD},
						       {"field:NAME", WEIGHT_PERIOD},
						       {0}};
	static const char field[] = "field:";

	if (!text_begins(argument, field) || !argument[strlen(field)])
		return option_choice("weight", choices, argument, (int *)weight);
	*name = argument + strlen(field);
	if (*weight == WEIGHT_USUAL)
		*weight = WEIGHT_PERIOD;
	return NULL;
}

struct error *output_choose_event(struct output_options *options, const struct profile *profile,
				  const char *path)
{
	struct error *err;

	options->format_options.event = memory_shown_event(profile);
	if (!options->event)
		return NULL;
	err = selection_find_event(options->event, profile, path, &options->format_options.event);
	options->format_options.event_only = !err;
	if (err)
		options->format_options.event = memory_shown_event(profile);
	return err;
}

void output_options_init(struct output_options *options)
{
	*options = (struct output_options){0};
}

void output_options_deinit(struct output_options *options)
{
	option_list_deinit(&options->outputs);
}
