#include "report/function_names.h"

#include "base/alloc.h"

#include <stdlib.h>

/*
 * A function has the name of its label. Frames without lines have a label, too.
 */
static void function_names_take_names(struct function_names *names)
{
	const struct display_labels *labels = &names->labels;

	for (frame_id id = 0; id < profile_frame_count(names->profile); id++) {
		struct profile_frame frame = profile_get_frame(names->profile, id);
		uint32_t last = labels->first_line[id + 1] - 1;

		for (unsigned i = 0; i < frame.line_count; i++) {
			uint32_t label = labels->lines[last - i].label;

			names->shown[frame.lines[i].function] = labels->items[label].shown;
		}
	}
}

void function_names_init(struct function_names *names, const struct profile *profile,
			 enum name_style style)
{
	*names = (struct function_names){.profile = profile};
	if (style == NAMES_FULL)
		return;
	display_labels_init_named(&names->labels, profile, style);
	names->shown = xcalloc(profile_function_count(profile), sizeof(*names->shown));
	function_names_take_names(names);
}

void function_names_deinit(struct function_names *names)
{
	if (names->shown)
		display_labels_deinit(&names->labels);
	free(names->shown);
	*names = (struct function_names){0};
}

const char *function_names_get(const struct function_names *names, function_id function)
{
	if (names->shown && names->shown[function])
		return names->shown[function];
	return profile_string(names->profile, profile_get_function(names->profile, function)->name);
}
