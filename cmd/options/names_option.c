#include "cmd/options/names_option.h"

enum name_style names_option_style(const struct names_option *option, enum name_style usual)
{
	return option->is_given ? option->style : usual;
}

struct error *names_option_take(void *field, const char *argument)
{
	static const struct option_choice choices[] = {{"short", NAMES_SHORT},
						       {"full", NAMES_FULL},
						       {"no-generics", NAMES_NO_GENERICS},
						       {0}};
	struct names_option *option = field;

	option->is_given = true;
	return option_choice("style of names", choices, argument, (int *)&option->style);
}
